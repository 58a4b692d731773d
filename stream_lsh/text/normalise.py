"""Normal forms of a text, by name, applied in the given order.  They are part of the scheme's fingerprint.

The Unicode forms, cases and classes are those of Python's `unicodedata`.  `UNICODE_VERSION` is its version, and part of
the fingerprint as well: another version may produce another text.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from stream_lsh.arrays import Bools
from stream_lsh.errors import ConfigError
from stream_lsh.spelling import suggestion

UNICODE_VERSION = unicodedata.unidata_version
"""The version of the Unicode tables, such as `15.0.0`."""

Form = Callable[[str], str]

MOST_MARKS = 30
"""The most combining marks in a row; joiners separate longer runs."""
JOINER = "\u034f"
"""Combining grapheme joiner: invisible, and no mark moves across it."""
_MARKS_START, _MARKS_END = 0x300, 0x20000  # all marks have code points from here, and before there


def stream_safe(text: str) -> str:
    """The text with a joiner after every 30 characters of a run of marks.

    Ordering marks takes time quadratic in their number: minutes for a document of nothing else.  No script has more
    than a few in a row.

    Cost: some 5 ns a character, 2 where all are of Latin scripts.

    Source: Unicode Standard Annex 15, section 13, Stream-Safe Text Format; there, decomposed marks are counted.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    if codes.max(initial=0) < _MARKS_START:
        return text
    marks = _marks().take(codes, mode="clip")
    if np.count_nonzero(marks) <= MOST_MARKS:
        return text
    others = np.flatnonzero(np.concatenate(([True], ~marks, [True]))) - 1
    long = np.flatnonzero(np.diff(others) > MOST_MARKS + 1)
    if not long.size:
        return text
    parts, done = list[str](), 0
    for first, last in zip((others[long] + 1).tolist(), others[long + 1].tolist(), strict=True):
        for at in range(first + MOST_MARKS, last, MOST_MARKS):
            parts += (text[done:at], JOINER)
            done = at
    return "".join((*parts, text[done:]))


@cache
def _marks() -> Bools:
    """The code points that marks can change places with; the last entry stands for all further ones."""
    is_mark = np.zeros(_MARKS_END + 1, np.bool_)
    is_mark[_MARKS_START:_MARKS_END] = [moves(chr(code)) for code in range(_MARKS_START, _MARKS_END)]
    return is_mark


def moves(character: str) -> bool:
    """Whether marks can change places with a character: it is one, or begins with one."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", stream_safe(text))


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", stream_safe(text))


def _space(text: str) -> str:
    return " ".join(text.split())


def _accents(text: str) -> str:
    letters = (c for c in unicodedata.normalize("NFD", stream_safe(text)) if unicodedata.category(c) != "Mn")
    return unicodedata.normalize("NFC", "".join(letters))


_SPACE = ord(" ")


class _Spaces(dict[int, int]):
    """The table for `str.translate` that maps punctuation to a space; filled on demand."""

    def __missing__(self, code: int) -> int:
        self[code] = _SPACE if unicodedata.category(chr(code))[0] == "P" else code
        return self[code]


_PUNCTUATION = _Spaces()


def _punctuation(text: str) -> str:
    return text.translate(_PUNCTUATION)


FORMS: Mapping[str, Form] = {
    "nfc": _nfc,
    "nfkc": _nfkc,
    "casefold": str.casefold,
    "space": _space,
    "accents": _accents,
    "punctuation": _punctuation,
}
"""nfc, nfkc: the Unicode forms; casefold: case removed; space: runs of white space become one space, none at the ends;
accents: without combining marks; punctuation: each mark of punctuation (category P, so no signs of arithmetic or money)
becomes a space, `space` after it makes one of several."""

UNICODE_FORMS = frozenset({"nfc", "nfkc", "accents"})
"""The forms that compose and decompose: they do not change ASCII, and first separate long runs of marks."""


class Normaliser:
    """Applies the named forms to a text, one after the other.

    Args:
        forms: names out of FORMS, in order; an empty sequence changes no text.

    Raises:
        ConfigError: an unknown form -> use the name that the message suggests.

    Example:
        >>> Normaliser(("nfkc", "casefold", "space"))("  Ｆｕｌｌ   WIDTH, Straße ")
        'full width, strasse'
    """

    version = 2

    def __init__(self, forms: Sequence[str] = ("nfc",)) -> None:
        if isinstance(forms, str):
            raise ConfigError(f"normal forms: got {forms!r}, expected a sequence of names, such as [{forms!r}]")
        unknown = [name for name in forms if name not in FORMS]
        if unknown:
            raise ConfigError([_unknown_form(name) for name in unknown])
        self.forms = tuple(forms)
        self._all = tuple(FORMS[name] for name in self.forms)
        self._for_ascii = tuple(FORMS[name] for name in self.forms if name not in UNICODE_FORMS)

    def __call__(self, text: str) -> str:
        """The normal form of one text."""
        for form in self._for_ascii if text.isascii() else self._all:
            text = form(text)
        return text


def _unknown_form(name: str) -> str:
    return f"normal form: got {name!r}, expected one of {', '.join(FORMS)}{suggestion(name, FORMS)}"
