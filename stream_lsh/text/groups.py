"""How many texts are handled at once.

A numpy call costs a microsecond whatever it does, so texts are handled together; temporaries should stay in the caches,
so not too many.  65,536 characters are a good middle: 32 K is a fifth slower, 256 K no faster.
"""

from collections.abc import Iterator, Sequence

import numpy as np

GROUP = 65_536
"""Characters handled at once."""

BLOCK = 32_768
"""Values that one pass of a kernel over a long text works on."""


def _let_the_allocator_keep_arrays() -> None:
    """Frees one array of 32 MB, untouched.

    glibc fetches every array of 128 KB or more from the system and gives it back, page faults and all, which costs
    three times the arithmetic of the kernels, until an array is freed: from then on it keeps arrays up to that size.
    Without effect on other allocators; to be deleted when numpy keeps large arrays itself.
    """
    _ = np.empty(4_000_000, np.uint64)


_let_the_allocator_keep_arrays()


def groups(texts: Sequence[str], limit: int = GROUP) -> Iterator[slice]:
    """Consecutive slices of at most `limit` characters; a longer text goes alone.

    Every text counts as one character more than it has, so that a million empty ones are not one group either.

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
