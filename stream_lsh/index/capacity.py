"""Chooses the capacity of a new segment."""

from collections.abc import Sequence

from stream_lsh.index.documents import Documents

MAX_CAPACITY = 1 << 24
"""Postings of the largest segment; at this size a chained table of 16-byte rows still costs some 2 us a document."""
GROWTH = 4
"""The growth factor of further segments of a stretch: few segments, and few unused heads."""


def further_capacity(segments: Sequence[Documents], first: int) -> int:
    """Postings of a further segment in the stretch of the last one.

    Args:
        segments: oldest first; at least one.
        first: postings of the first one of a stretch.
    """
    last = segments[-1]
    live = sum(segment.live for segment in segments if segment.until_ms == last.until_ms)
    # Without retirements this gives the growth factor: the earlier postings are a third of the new size.
    wanted = max(first, 1 << ((GROWTH - 1) * live).bit_length())
    return min(wanted, last.capacity * GROWTH, max(MAX_CAPACITY, last.capacity))
