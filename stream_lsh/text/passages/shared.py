"""Finds the passages of a text that another text also contains: the runs covered by shared shingles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.text.origins import trace
from stream_lsh.text.shingles import Shingler, Units


class Passage(NamedTuple):
    """A part of a text, `start` to before `end` in code points: all of it shared, or none."""

    start: int
    end: int
    shared: bool


def passages(text: str, forms: Sequence[str], shingler: Shingler, shared: U64) -> list[Passage]:
    """The shared passages of a text and the others between them, in order.

    A unit of the shingles (a character, a word) belongs to a shared passage if a shared shingle contains it, and to
    another passage if only other shingles do.  A unit in no shingle was not compared, and is in no passage.  The text
    between words belongs to the passage around it; between two passages it belongs to neither.

    Args:
        text: the original text.
        forms: the normal forms for the comparison.
        shingler: makes its shingles.
        shared: the shingles that count as shared, ascending and without repetitions.

    Returns:
        maximal passages that do not overlap; empty for a text without shingles.

    Example:
        >>> from stream_lsh.text.shinglers.word import WordShingler
        >>> from stream_lsh.measure.jaccard import sorted_unique
        >>> shingler = WordShingler(2)
        >>> text, other = "At noon it rained, again.", "Today at noon it rained"
        >>> found = passages(text, ("nfc",), shingler, sorted_unique(shingler([other]).hashes))
        >>> [(text[start:end], shared) for start, end, shared in found]
        [('At noon it rained', True), ('again', False)]
    """
    normal, origins = trace(forms, text)
    units = shingler.units(normal)
    if not units.firsts.size:
        return []
    shared_firsts = units.firsts[_within(shared, shingler([normal]).hashes)]
    # 0: not compared, 1: in shingles that are not shared, 2: in a shared one.
    state = _covered(units, units.firsts, shingler.k) * 1 + _covered(units, shared_firsts, shingler.k)
    edges = np.flatnonzero(state[1:] != state[:-1]) + 1
    first, last = np.concatenate(([0], edges)), np.concatenate((edges, [state.size])) - 1
    begins, stops = origins.starts[units.starts[first]].tolist(), origins.ends[units.ends[last] - 1].tolist()
    parts, done, continues = list[Passage](), 0, False
    for origin, stop, kind in zip(begins, stops, state[first].tolist(), strict=True):
        begin = max(origin, done)  # one character can be several in the normal form
        if begin < stop and kind:
            before = parts.pop() if continues and parts[-1].shared == (kind > 1) else None
            parts.append(Passage(begin if before is None else before.start, stop, kind > 1))
            done = stop
        continues = bool(kind and parts)
    return parts


def _within(shared: U64, hashes: U64) -> Bools:
    if not shared.size:
        return np.zeros(hashes.size, np.bool_)
    within: Bools = shared.take(shared.searchsorted(hashes), mode="clip") == hashes
    return within


def _covered(units: Units, firsts: I64, k: int) -> Bools:
    """Whether each unit lies in one of these shingles."""
    changes = np.zeros(units.starts.size + k, np.int64)
    changes[firsts] += 1
    changes[firsts + k] -= 1
    covered: Bools = np.cumsum(changes)[: units.starts.size] > 0
    return covered
