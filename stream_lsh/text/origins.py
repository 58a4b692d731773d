"""Where in a text each character of its normal form comes from, so that what was compared can be shown in the text.

A normal form can make one character of several, and several of one; what it makes of a *piece* of the text does not
depend on what stands around the piece, and every character of the piece's normal form comes from all of it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.text.normalise import FORMS, UNICODE_FORMS, Form, moves, stream_safe

_SHORT = 8  # characters: pieces that come again and again
_NOT_ALWAYS_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


class Origins(NamedTuple):
    """Of each character of a normal form the part of the text that it comes from: `starts` to before `ends`, int64[n].

    Both are ascending; characters of one piece have the same part.
    """

    starts: I64
    ends: I64

    def of(self, inner: "Origins") -> "Origins":
        """Those of a normal form of this normal form, back to where these lead."""
        return Origins(self.starts[inner.starts], self.ends[inner.ends - 1])


def trace(forms: Sequence[str], text: str) -> tuple[str, Origins]:
    """A text in these normal forms, one after the other, as `Normaliser` gives it, and where its characters come from.

    Cost:
        some 10 ns a character where nothing changes; at most some microseconds for one that is not ASCII.

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


def lowered(text: str) -> tuple[str, Origins]:
    """The text in lower case, and where its characters come from."""
    lower = text.lower()
    return lower, _unchanged(len(text)) if len(lower) == len(text) else _by_character(text, str.lower)


def unchanged(text: str) -> tuple[str, Origins]:
    """The text as it is, whose characters come from where they are."""
    return text, _unchanged(len(text))


def _unchanged(length: int) -> Origins:
    places = np.arange(length + 1)
    return Origins(places[:-1], places[1:])


def _pieces_of(name: str, text: str) -> Origins:
    if name in UNICODE_FORMS:
        return _by_pieces(text, FORMS[name])
    return _by_runs_of_space(text) if name == "space" else _by_character(text, FORMS[name])


def _by_joiners(text: str, parted: str) -> Origins:
    """Of a text with joiners put in before some of its marks: each comes from where the character before it does."""
    at, starts = -1, list[int]()
    for character in parted:
        at += text[at + 1 : at + 2] == character
        starts.append(at)
    places = np.array(starts, np.int64)
    return Origins(places, places + 1)


def _origins(taken: I64, produced: I64) -> Origins:
    """From the characters that each piece has in the text, and in the normal form."""
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
    """The smallest pieces whose normal forms, one after the other, are that of the whole text.

    A piece begins with a character that no mark can move across, and that does not join with what is before it.  Marks
    may vanish (`accents`), so a character that does is part of the piece before it: its neighbours may join.
    """
    start = 0
    for at in range(1, len(text)):
        made = "" if moves(text[at]) else form(text[at])
        if made and form(text[start : at + 1]) == form(text[start:at]) + made:
            yield text[start:at]
            start = at
    yield text[start:]
