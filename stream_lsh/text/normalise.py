"""Normal forms of a text, by name, applied in the order given.  They are part of the scheme's fingerprint.

The Unicode forms, cases and classes are those of Python's `unicodedata`; `UNICODE_VERSION` tells which, and belongs
to the fingerprint as well: another version may give another text.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence

from stream_lsh.errors import ConfigError
from stream_lsh.text.spelling import nearest

UNICODE_VERSION = unicodedata.unidata_version
"""The version of the Unicode tables, such as `15.0.0`."""

Form = Callable[[str], str]


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _space(text: str) -> str:
    return " ".join(text.split())


def _accents(text: str) -> str:
    letters = (c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    return unicodedata.normalize("NFC", "".join(letters))


FORMS: Mapping[str, Form] = {
    "nfc": _nfc,
    "nfkc": _nfkc,
    "casefold": str.casefold,
    "space": _space,
    "accents": _accents,
}
"""nfc, nfkc: the Unicode forms; casefold: case removed; space: runs of white space become one space, none at the ends;
accents: without combining marks."""

_UNCHANGED_ASCII = frozenset({"nfc", "nfkc", "accents"})


class Normaliser:
    """Applies the named forms to a text, one after the other.

    Args:
        forms: names out of FORMS, in order; none at all leaves every text as it is.

    Raises:
        ConfigError: a name that is no form -> take the name that the message proposes.

    Example:
        >>> Normaliser(("nfkc", "casefold", "space"))("  Ｆｕｌｌ   WIDTH, Straße ")
        'full width, strasse'
    """

    version = 1

    def __init__(self, forms: Sequence[str] = ("nfc",)) -> None:
        unknown = [name for name in forms if name not in FORMS]
        if unknown:
            raise ConfigError([_unknown_form(name) for name in unknown])
        self.forms = tuple(forms)
        self._all = tuple(FORMS[name] for name in self.forms)
        self._for_ascii = tuple(FORMS[name] for name in self.forms if name not in _UNCHANGED_ASCII)

    def __call__(self, text: str) -> str:
        """The normal form of one text."""
        for form in self._for_ascii if text.isascii() else self._all:
            text = form(text)
        return text


def _unknown_form(name: str) -> str:
    return f"normal form: got {name!r}, expected one of {', '.join(FORMS)}; did you mean {nearest(name, FORMS)!r}?"
