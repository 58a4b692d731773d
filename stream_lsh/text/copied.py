"""Passages that one text has from another one, with both places: what a reader is shown side by side.

Runs of equal shingles (`text.tiles`) that follow each other in both texts at a small distance are one passage: the
words between them were replaced, put in or left out.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.text.origins import trace
from stream_lsh.text.shingles import Shingler
from stream_lsh.text.tiles import Tile, tiles

GAP = 12
"""Shingles between two runs of one passage: a replaced word breaks as many as it has units, so some words in a row."""

_UNLIKE = (0, 1)
"""In place of shingles that do not count, on either side: unlike each other, and hashes of none but by accident."""


class Copied(NamedTuple):
    """A passage of two texts: from `left_start` to before `left_end` in the one, likewise in the other, in code points.

    `units` of it (words, or whatever shingles are made of) are the same on both sides.
    """

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    units: int


class _Traced(NamedTuple):
    """The shingles of a text in order, the first unit of each, where each unit starts and ends in the text."""

    hashes: U64
    firsts: I64
    starts: I64
    ends: I64


def copied_passages(
    left: str, right: str, forms: Sequence[str], shingler: Shingler, common: U64, *, least_units: int = 1
) -> list[Copied]:
    """The passages that two texts share, in the order of the left one.

    Args:
        left: a text as it came.
        right: the other one.
        forms: the normal forms that they are compared in.
        shingler: makes their shingles.
        common: shingles that do not count, ascending.
        least_units: that are the same in a passage.

    Guarantees:
        every unit that is counted lies in a shingle that both have, in the same order on both sides; the runs of equal
        shingles do not overlap, though passages may, where a part of one was moved into another one.
    Cost:
        some ten microseconds a word.

    Example:
        >>> from stream_lsh.text.word import WordShingler
        >>> left, right = "He said: it was the best of times.", "In short, it was the very best of times. Really."
        >>> (found,) = copied_passages(left, right, ("nfc",), WordShingler(2), np.empty(0, np.uint64))
        >>> left[found.left_start : found.left_end], right[found.right_start : found.right_end], found.units
        ('it was the best of times', 'it was the very best of times', 6)
    """
    left_traced, right_traced = (
        _traced(text, forms, shingler, common, unlike) for text, unlike in zip((left, right), _UNLIKE, strict=True)
    )
    passages = (
        _passage(chain, left_traced, right_traced, shingler.k)
        for chain in _chains(tiles(left_traced.hashes, right_traced.hashes))
    )
    return [passage for passage in passages if passage.units >= least_units]


def _traced(text: str, forms: Sequence[str], shingler: Shingler, common: U64, unlike: int) -> _Traced:
    normal, origins = trace(forms, text)
    units = shingler.units(normal)
    hashes = shingler([normal]).hashes
    if common.size:
        is_common = common.take(common.searchsorted(hashes), mode="clip") == hashes
        hashes = np.where(is_common, np.uint64(unlike), hashes)
    return _Traced(hashes, units.firsts, origins.starts[units.starts], origins.ends[units.ends - 1])


def _chains(tiles: Sequence[Tile]) -> Iterator[list[Tile]]:
    """Tiles that follow each other in both texts at a small distance, together."""
    chain: list[Tile] = []
    for tile in tiles:
        if chain:
            last = chain[-1]
            apart = tile.left - last.left - last.length, tile.right - last.right - last.length
            if not (0 <= apart[0] <= GAP and 0 <= apart[1] <= GAP):
                yield chain
                chain = []
        chain.append(tile)
    if chain:
        yield chain


def _passage(chain: Sequence[Tile], left_text: _Traced, right_text: _Traced, k: int) -> Copied:
    first, last = chain[0], chain[-1]
    left = _span(left_text, first.left, last.left + last.length - 1, k)
    right = _span(right_text, first.right, last.right + last.length - 1, k)
    covered = np.zeros(left_text.starts.size, np.bool_)
    for tile in chain:
        for at in left_text.firsts[tile.left : tile.left + tile.length].tolist():
            covered[at : at + k] = True
    return Copied(*left, *right, int(np.count_nonzero(covered)))


def _span(traced: _Traced, first: int, last: int, k: int) -> tuple[int, int]:
    """Where the units of shingles `first` to `last` start and end in the text."""
    end = min(int(traced.firsts[last]) + k, traced.ends.size) - 1
    return int(traced.starts[traced.firsts[first]]), int(traced.ends[end])
