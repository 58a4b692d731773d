"""Passages that one text copies from another, with both places, for a side-by-side display.

Runs of equal shingles (`text.tiles`) that follow each other in both texts at a small distance are one passage: the
words between them were replaced, inserted or deleted.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.text.origins import trace
from stream_lsh.text.passages.tiles import Tile, tiles
from stream_lsh.text.shingles import Shingler

GAP = 12
"""Shingles between two runs of one passage: a replaced word breaks as many as it has units, so some words in a row."""

_UNLIKE = (0, 1)
"""The replacements for shingles that do not count, on either side: different, and equal to a hash by chance only."""


class Copied(NamedTuple):
    """A passage of two texts: from `left_start` to before `left_end`, likewise on the right side, in code points.

    `units` of it (words, or the other units of the shingles) are the same on both sides.
    """

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    units: int


class TracedText(NamedTuple):
    """The shingles of a text in order, the first unit of each, and the start and end of each unit in the text."""

    hashes: U64
    firsts: I64
    starts: I64
    ends: I64


def copied_passages(
    left: str, right: str, forms: Sequence[str], shingler: Shingler, common: U64, *, least_units: int = 1
) -> list[Copied]:
    """The passages that two texts share, in the order of the left one.

    Args:
        left: an original text.
        right: the other original text.
        forms: the normal forms for the comparison.
        shingler: makes their shingles.
        common: shingles that do not count, ascending.
        least_units: the least number of equal units in a passage.

    Guarantees:
        every counted unit lies in a common shingle, in the same order on both sides; the runs of equal shingles do not
        overlap, but passages may, if a part of one was moved into another.
    Cost:
        some ten microseconds a word.

    Example:
        >>> from stream_lsh.text.shinglers.word import WordShingler
        >>> left, right = "He wrote: it was the best of times.", "In short, it was the very best of times. Really."
        >>> (found,) = copied_passages(left, right, ("nfc",), WordShingler(2), np.empty(0, np.uint64))
        >>> left[found.left_start : found.left_end], right[found.right_start : found.right_end], found.units
        ('it was the best of times', 'it was the very best of times', 6)
    """
    left_traced, right_traced = (traced_text(text, forms, shingler) for text in (left, right))
    return passages_between(left_traced, right_traced, shingler.k, common, least_units=least_units)


def traced_text(text: str, forms: Sequence[str], shingler: Shingler) -> TracedText:
    """The shingles of a text with their places, for several comparisons; arguments as for `copied_passages`."""
    normal, origins = trace(forms, text)
    units = shingler.units(normal)
    hashes = shingler([normal]).hashes
    return TracedText(hashes, units.firsts, origins.starts[units.starts], origins.ends[units.ends - 1])


def passages_between(left: TracedText, right: TracedText, k: int, common: U64, *, least_units: int = 1) -> list[Copied]:
    """`copied_passages` of two texts that were traced; `k` is that of the shingles."""
    found = tiles(_without(left.hashes, common, _UNLIKE[0]), _without(right.hashes, common, _UNLIKE[1]))
    passages = (_passage(chain, left, right, k) for chain in _chains(found))
    return [passage for passage in passages if passage.units >= least_units]


def _without(hashes: U64, common: U64, unlike: int) -> U64:
    """The shingles of a text, those that do not count replaced."""
    if not common.size:
        return hashes
    is_common = common.take(common.searchsorted(hashes), mode="clip") == hashes
    return np.where(is_common, np.uint64(unlike), hashes)


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


def _passage(chain: Sequence[Tile], left_text: TracedText, right_text: TracedText, k: int) -> Copied:
    first, last = chain[0], chain[-1]
    left = _span(left_text, first.left, last.left + last.length - 1, k)
    right = _span(right_text, first.right, last.right + last.length - 1, k)
    covered = np.zeros(left_text.starts.size, np.bool_)
    for tile in chain:
        for at in left_text.firsts[tile.left : tile.left + tile.length].tolist():
            covered[at : at + k] = True
    return Copied(*left, *right, int(np.count_nonzero(covered)))


def _span(traced: TracedText, first: int, last: int, k: int) -> tuple[int, int]:
    """The start and the end in the text of the units of shingles `first` to `last`."""
    end = min(int(traced.firsts[last]) + k, traced.ends.size) - 1
    return int(traced.starts[traced.firsts[first]]), int(traced.ends[end])
