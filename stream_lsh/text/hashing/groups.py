"""Groups texts for processing.

A numpy call has a fixed cost of a microsecond, so texts are processed in groups; the groups are limited so that
temporaries stay in the caches.  65,536 characters are a good compromise: 32 K is a fifth slower, 256 K no faster.
"""

from collections.abc import Iterator, Sequence

import numpy as np

GROUP = 65_536
"""Characters processed at once."""

BLOCK = 32_768
"""Values that a kernel processes in one pass over a long text."""


def _let_the_allocator_keep_arrays() -> None:
    """Free one untouched array of 32 MB.

    glibc maps every array of 128 KB or more and unmaps it again, with page faults that cost three times the arithmetic
    of the kernels.  Freeing a large array raises that limit to its size.  Other allocators are not affected; delete
    this function when numpy keeps large arrays itself.
    """
    _ = np.empty(4_000_000, np.uint64)


_let_the_allocator_keep_arrays()


def groups(texts: Sequence[str], limit: int = GROUP) -> Iterator[slice]:
    """Consecutive slices of at most `limit` characters; a longer text is a group of its own.

    Every text counts as one character more than it has, so that a million empty texts are not one group.

    Example:
        >>> list(groups(["four", "two", "", "a long one"], limit=10))
        [slice(0, 3, None), slice(3, 4, None)]
    """
    start, size = 0, 0
    for position, text in enumerate(texts):
        length = len(text) + 1
        if size and size + length > limit:
            yield slice(start, position)
            start, size = position, 0
        size += length
    if size:
        yield slice(start, len(texts))
