"""Maps each character of a normal form to its origin in the text, to show compared passages in the original text.

A normal form can map several characters to one, and one to several.  The normal form of a *piece* of the text does not
depend on the text around it, and every character of it originates from the whole piece.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.text.normalise import FORMS, UNICODE_FORMS, Form, moves, stream_safe

_SHORT = 8  # characters: short pieces recur, so their normal forms are cached
_NOT_ALWAYS_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


class Origins(NamedTuple):
    """The origin of each character of a normal form in the text: from `starts` to before `ends`, int64[n].

    Both are ascending; characters of one piece have the same origin.
    """

    starts: I64
    ends: I64

    def of(self, inner: "Origins") -> "Origins":
        """Compose with the origins of a normal form of this normal form."""
        return Origins(self.starts[inner.starts], self.ends[inner.ends - 1])


def trace(forms: Sequence[str], text: str) -> tuple[str, Origins]:
    """A text in these normal forms, applied in order like `Normaliser`, and the origins of its characters.

    Cost:
        some 10 ns for an unchanged character; at most some microseconds for one outside ASCII.

    Example:
        >>> normal, origins = trace(("nfc", "casefold"), "Cafe\u0301 Straße")
        >>> normal, origins.starts.tolist()
        ('café strasse', [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 10, 11])
    """
    origins = _unchanged(len(text))
    for name in forms:
        parted = stream_safe(text) if name in UNICODE_FORMS else text
        if len(parted) != len(text):
            text, origins = parted, origins.of(_by_joiners(text, parted))
        normal = FORMS[name](text)
        if normal != text:
            text, origins = normal, origins.of(_pieces_of(name, text))
    return text, origins


def lowered(text: str, form: Form = str.lower) -> tuple[str, Origins]:
    """The text in lower case, and the origins of its characters; `form` is `str.lower` or one of the same lengths."""
    lower = form(text)
    return lower, _unchanged(len(text)) if len(lower) == len(text) else _by_character(text, str.lower)


def unchanged(text: str) -> tuple[str, Origins]:
    """The unchanged text, with identical origins."""
    return text, _unchanged(len(text))


def _unchanged(length: int) -> Origins:
    places = np.arange(length + 1)
    return Origins(places[:-1], places[1:])


def _pieces_of(name: str, text: str) -> Origins:
    if name in UNICODE_FORMS:
        return _by_pieces(text, FORMS[name])
    return _by_runs_of_space(text) if name == "space" else _by_character(text, FORMS[name])


def _by_joiners(text: str, parted: str) -> Origins:
    """The origins of a text with joiners inserted before some marks; a joiner has that of the character before it."""
    at, starts = -1, list[int]()
    for character in parted:
        at += text[at + 1 : at + 2] == character
        starts.append(at)
    places = np.array(starts, np.int64)
    return Origins(places, places + 1)


def _origins(taken: I64, produced: I64) -> Origins:
    """The origins for pieces of the given lengths in the text and in the normal form."""
    ends = np.cumsum(taken)
    return Origins(np.repeat(ends - taken, produced), np.repeat(ends, produced))


def _by_character(text: str, form: Form) -> Origins:
    produced = {character: len(form(character)) for character in set(text)}
    return _origins(np.ones(len(text), np.int64), np.fromiter(map(produced.__getitem__, text), np.int64, len(text)))


def _by_runs_of_space(text: str) -> Origins:
    space = np.fromiter(map(str.isspace, text), np.bool_, len(text))
    starts = np.flatnonzero(~(space[1:] & space[:-1])) + 1
    starts = np.concatenate(([0], starts))
    produced = np.ones(starts.size, np.int64)
    produced[[0, -1]] = ~space[[0, -1]]  # none at the ends
    return _origins(np.diff(starts, append=len(text)), produced)


def _by_pieces(text: str, form: Form) -> Origins:
    remembered = lru_cache(maxsize=1 << 14)(form)

    def quick(piece: str) -> str:
        return remembered(piece) if len(piece) <= _SHORT else form(piece)

    taken, produced = list[int](), list[int]()
    done = 0
    for match in _NOT_ALWAYS_ASCII.finditer(text):
        taken += [1] * (match.start() - done)
        produced += [1] * (match.start() - done)
        for piece in _pieces(match[0], quick):
            taken.append(len(piece))
            produced.append(len(quick(piece)))
        done = match.end()
    left = [1] * (len(text) - done)
    return _origins(np.array(taken + left, np.int64), np.array(produced + left, np.int64))


def _pieces(text: str, form: Form) -> Iterator[str]:
    """The smallest pieces whose concatenated normal forms are that of the whole text.

    A piece begins with a character that no mark can move across, and that does not join with the previous text.  A
    character that vanishes (marks with `accents`) belongs to the piece before it, because its neighbours may join.
    """
    start = 0
    for at in range(1, len(text)):
        made = "" if moves(text[at]) else form(text[at])
        if made and form(text[start : at + 1]) == form(text[start:at]) + made:
            yield text[start:at]
            start = at
    yield text[start:]
