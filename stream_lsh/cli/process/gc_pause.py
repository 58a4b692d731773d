"""Python's search for reference cycles, where there are many objects and no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_COLLECT_AFTER = 100_000
"""Objects between two searches for reference cycles; with Python's 700 these take a twentieth of the time."""


@contextmanager
def collection_paused() -> Iterator[None]:
    """Look for reference cycles seldom: documents and pairs have none, and there are many of them to look through."""
    before = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
