"""Finds the pairs that a removal brings within the caps.

A removed document may have been the only link between others, because the caps omitted the pairs of these.  In each
bucket of the document there are two kinds of such pairs:

    adjacent    the next newer and the next older posting
    entering    postings that come within the cap on postings of each other

No cap omits adjacent pairs, neither here nor at an arrival (`prober`), nor pairs of copies.  So the live documents of a
bucket form a chain of compared pairs, whatever was removed.  Of the entering pairs those with most buckets are taken,
as of the candidates of an arrival.
"""

from bisect import bisect_left
from collections.abc import Sequence
from operator import neg
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.index.hits import NUMBER_BITS, NUMBER_MASK, ROW_SHIFT, Hits, no_hits
from stream_lsh.index.sealed import Sealed
from stream_lsh.index.segment import Segment
from stream_lsh.index.walk import Probe, Walk, refs_of

_SHALLOW = 32
"""Buckets with more live postings are read one by one."""
_MOST_PAIRS = 1 << 22
"""Entering pairs of one call, before those of several buckets are merged: some 80 MB."""
_SHIFT, _MASK = np.int64(NUMBER_BITS), np.int64(NUMBER_MASK)


class Caps(NamedTuple):
    """`postings` that a probe follows in a bucket, `candidates` of a document; 0: all."""

    postings: int
    candidates: int


class _Found(NamedTuple):
    """Pairs of document numbers, each once per bucket.

    Attributes:
        newer, older: int64[n].
        identical: bool[n], found in a digest bucket.
        required: bool[n], adjacent, or of copies.
        known: bool[n], returned before.
    """

    newer: I64
    older: I64
    identical: Bools
    required: Bools
    known: Bools


def healed(segments: Sequence[Segment | Sealed], buckets: U64, numbers: I64, caps: Caps, *, in_parts: bool) -> Hits:
    """The pairs of live documents that a removal brings within the caps, newest first.

    Args:
        segments: oldest first, without the removed postings.
        buckets: uint64[m], of the removed postings.
        numbers: int64[m], their documents.
        caps: of the table.
        in_parts: whether a ref may have several numbers.

    Guarantees:
        No two live postings of a bucket were apart by more than `caps.postings`, or separated by removed postings only,
        and are not any more, unless the pair is in the result, is known from an earlier call, or is an entering one
        beyond `caps.candidates` for each removed document (or beyond four million in one call).

    Cost:
        For each bucket of a removed document, the postings newer than it and `caps.postings` older ones are read: some
        .3 us each in open segments.  The pairs are at most `caps.candidates` for each removed document, one more for
        each of its buckets, and those of copies, at most `caps.postings`.
    """
    distinct, rows = np.unique(buckets, return_inverse=True)
    newest = len(segments) - 1
    probe = Probe(newest, np.arange(len(distinct)), distinct, segments[newest].heads(distinct))
    walk = Walk(segments, [probe], min(caps.postings or _SHALLOW, _SHALLOW))
    keys = np.concatenate(walk.keys) if walk.keys else np.empty(0, np.uint64)
    live = (keys >> ROW_SHIFT).astype(np.int64) << _SHIFT
    live |= (NUMBER_MASK - (keys >> np.uint64(1) & NUMBER_MASK)).astype(np.int64) + segments[0].base
    live.sort()
    deep = np.zeros(len(distinct), np.bool_)
    deep[np.array(walk.capped_rows, np.int64)] = True
    if caps.postings:
        postings = np.bincount(live >> _SHIFT, minlength=len(distinct)) + np.bincount(rows, minlength=len(distinct))
        deep |= postings > caps.postings + 1
    found = [_adjacent(live, rows[~deep[rows]] << _SHIFT | numbers[~deep[rows]], distinct)] if caps.candidates else []
    by_row, room = numbers[np.argsort(rows, kind="stable")], _MOST_PAIRS
    ends = np.cumsum(np.bincount(rows, minlength=len(distinct)))
    for row in deep.nonzero()[0].tolist():
        gone = by_row[ends[row - 1] if row else 0 : ends[row]]
        found.append(_of_bucket(segments, distinct.item(row), gone, caps, room))
        room -= len(found[-1].newer)
    most = caps.candidates * len(np.unique(numbers))
    if not found:
        return no_hits()
    hits = _hits(segments, _Found(*map(np.concatenate, zip(*found, strict=True))), most)
    return _of_distinct_refs(hits) if in_parts and len(hits) else hits


def _adjacent(live: I64, gone: I64, buckets: U64) -> _Found:
    """The pairs around removed postings of buckets of which all postings were within the cap.

    Args:
        live: int64[n], row of the bucket << 40 | number of the document, ascending.
        gone: int64[m], the same of removed postings.
        buckets: uint64[rows].
    """
    at = np.searchsorted(live, gone)
    inside = ((at > 0) & (at < len(live))).nonzero()[0]
    newer, older, row = live[at[inside]], live[at[inside] - 1], gone[inside] >> _SHIFT
    same = ((newer >> _SHIFT == row) & (older >> _SHIFT == row)).nonzero()[0]
    identical = buckets[row[same]] & np.uint64(1) == 1
    # No cap on candidates omits copies, so these pairs were returned before.
    return _Found(newer[same] & _MASK, older[same] & _MASK, identical, ~identical, identical)


def _of_bucket(segments: Sequence[Segment | Sealed], bucket: int, gone: I64, caps: Caps, room: int) -> _Found:
    """The pairs of a bucket that had more postings than the cap, or has many; `room` for entering ones, at least."""
    window, is_digest = caps.postings or 1, bucket & 1 == 1
    gone = np.sort(gone)
    alive = np.array(bucket_numbers(segments, bucket, gone.item(0), gone.item(-1), window), np.int64)
    # The number of removed postings that are newer than each one that is left.
    newer = len(gone) - np.searchsorted(gone, alive)
    found = [entering(alive, newer, window)] if caps.postings and (room > 0 or is_digest) else []
    entered = sum(map(len, found))
    if caps.candidates and not is_digest:
        at = (newer[1:] > newer[:-1]).nonzero()[0]
        found.append(np.stack((alive[at], alive[at + 1]), axis=1))
    pairs = np.concatenate([np.empty((0, 2), np.int64), *found])
    required = np.full(len(pairs), is_digest)
    required[entered:] = True
    none = np.zeros(len(pairs), np.bool_)
    return _Found(pairs[:, 0], pairs[:, 1], np.full(len(pairs), is_digest), required, none)


def entering(alive: I64, gone: I64, window: int) -> I64:
    """The pairs of a bucket that come within `window` of each other because postings between them were removed.

    Args:
        alive: int64[n], numbers of the remaining postings, newest first, as far as the window needs them.
        gone: int64[n], for each of them the number of removed postings that are newer.
        window: k; each live posting has been paired with its k next older ones.

    Returns:
        int64[m, 2]: (newer, older), from newest to oldest; at most `window` for each removed posting.

    Example:
        >>> entering(np.array([9, 8, 6, 5, 4]), np.array([0, 0, 1, 1, 1]), 2).tolist()  # 7 was removed
        [[9, 6], [8, 5]]
    """
    places = np.arange(len(alive))
    before = places + gone
    first = np.searchsorted(before, before + window, side="right")
    counts = np.maximum(np.minimum(places + window + 1, len(alive)) - first, 0)
    newer = np.repeat(places, counts)
    older = np.arange(len(newer)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
    return np.stack((alive[newer], alive[older]), axis=1)


def _hits(segments: Sequence[Segment | Sealed], found: _Found, most: int) -> Hits:
    """Each pair once; of those that are not required at most `most`, with the most buckets; 0: all."""
    if not len(found.newer):
        return no_hits()
    order = np.lexsort((found.older, found.newer))[::-1]
    newer, older = found.newer[order], found.older[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (newer[1:] != newer[:-1]) | (older[1:] != older[:-1])
    at = first.nonzero()[0]
    identical, required, known = (np.logical_or.reduceat(flags[order], at) for flags in found[2:])
    bands = np.diff(at, append=len(order)).astype(np.uint32)
    kept = ~known
    optional = (kept & ~required).nonzero()[0]
    if most and len(optional) > most:
        kept[optional[np.argsort(-bands[optional].astype(np.int64), kind="stable")[most:]]] = False
    at = at[kept]
    new, old = refs_of(segments, newer[at]), refs_of(segments, older[at])
    return Hits(new, old, bands[kept], identical[kept])


def _of_distinct_refs(hits: Hits) -> Hits:
    """The same without pairs of the same refs under different numbers."""
    _, first = np.unique(np.stack((hits.new, hits.old)), axis=1, return_index=True)
    first.sort()
    return Hits(hits.new[first], hits.old[first], hits.bands[first], hits.identical[first])


def bucket_numbers(
    segments: Sequence[Segment | Sealed], bucket: int, oldest: int, newest: int, further: int
) -> list[int]:
    """The numbers of a bucket's live postings from `oldest` to `newest`, and `further` on both sides; newest first.

    It runs in plain Python, posting by posting: for single buckets, a round of numpy would cost as much as twenty
    steps.

    Cost: some .3 us per posting newer than `oldest` in an open segment.  There is no cap, because a chain leads from
        newer postings to older ones only.
    """
    numbers: list[int] = []
    left = further
    for segment in reversed(segments):
        run = (
            segment.live_run(bucket) if isinstance(segment, Sealed) else segment.run(bucket, segment.first_row(bucket))
        )
        for ordinal in run:
            number = segment.base + ordinal
            numbers.append(number)
            if number < oldest:
                left -= 1
                if left == 0:
                    break
        if left == 0:
            break
    above = bisect_left(numbers, -newest, key=neg)
    return numbers[max(0, above - further) :]
