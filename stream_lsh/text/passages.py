"""Which passages of a text another one has as well: the runs of it that shared shingles cover."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import U64, Bools
from stream_lsh.text.origins import trace
from stream_lsh.text.shingles import Shingler


class Passage(NamedTuple):
    """A part of a text, `start` to before `end` in code points: all of it shared, or none."""

    start: int
    end: int
    shared: bool


def passages(text: str, forms: Sequence[str], shingler: Shingler, shared: U64) -> list[Passage]:
    """The shared passages of a text and the others between them, in order.

    What shingles are made of (a character, a word) belongs to a shared passage if any shared shingle contains it.  What
    stands between words belongs to the passage around it; between two passages it belongs to neither.

    Args:
        text: as it came.
        forms: the normal forms that it is compared in.
        shingler: makes its shingles.
        shared: the shingles that count as shared, ascending and without repetitions.

    Returns:
        passages that do not overlap, shared and other ones in turns; none for a text without shingles.

    Example:
        >>> from stream_lsh.text.word import WordShingler
        >>> from stream_lsh.measure.jaccard import sorted_unique
        >>> shingler = WordShingler(2)
        >>> text, other = "At noon it rained, again.", "Today at noon it rained"
        >>> found = passages(text, ("nfc",), shingler, sorted_unique(shingler([other]).hashes))
        >>> [(text[start:end], shared) for start, end, shared in found]
        [('At noon it rained', True), ('again', False)]
    """
    normal, origins = trace(forms, text)
    starts, ends = shingler.units(normal)
    if not starts.size:
        return []
    covered = _covered(_within(shared, shingler([normal]).hashes), starts.size, shingler.k)
    edges = np.flatnonzero(covered[1:] != covered[:-1]) + 1
    first, last = np.concatenate(([0], edges)), np.concatenate((edges, [starts.size])) - 1
    begins, stops = origins.starts[starts[first]].tolist(), origins.ends[ends[last] - 1].tolist()
    found = list[Passage]()
    for origin, stop, alike in zip(begins, stops, covered[first].tolist(), strict=True):
        begin = max(origin, found[-1].end if found else 0)  # one character can be several in the normal form
        if begin < stop:
            before = found.pop() if found and found[-1].shared == alike else None
            found.append(Passage(begin if before is None else before.start, stop, alike))
    return found


def _within(shared: U64, hashes: U64) -> Bools:
    if not shared.size:
        return np.zeros(hashes.size, np.bool_)
    found: Bools = shared.take(shared.searchsorted(hashes), mode="clip") == hashes
    return found


def _covered(shared: Bools, units: int, k: int) -> Bools:
    """Which units lie in a shared shingle; shingle i has the units from i to before i + k, as far as there are."""
    changes = np.zeros(shared.size + k, np.int64)
    changes[: shared.size] += shared
    changes[k:] -= shared
    covered: Bools = np.cumsum(changes)[:units] > 0
    return covered
