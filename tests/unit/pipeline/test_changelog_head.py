"""How much of a changelog's head may go: all whose versions have expired, and nothing behind one that has not."""

import random

import numpy as np
import pytest

from stream_lsh.model import make_ref
from stream_lsh.pipeline.changelog.head import Extent, LogHead, extent_of
from stream_lsh.retention import Horizon


def test_an_extent_is_the_newest_time_and_the_highest_ref_of_each_partition() -> None:
    refs = np.array([make_ref(2, 7), make_ref(0, 3), make_ref(2, 9), make_ref(0, 1)], np.uint64)
    times = np.array([5, 40, -2, 8], np.int64)
    assert extent_of(times, refs) == Extent(40, (make_ref(0, 3), make_ref(2, 9)))
    assert extent_of(times[:0], refs[:0]) == Extent()


@pytest.mark.parametrize("together", [1, 3])
def test_a_record_that_is_noted_twice_counts_once(together: int) -> None:
    once, twice = LogHead(together), LogHead(together)
    for offset in range(5):
        extent = Extent(offset, (offset,), 2)
        once.note(offset, extent)
        twice.note(offset, extent)
        twice.note(offset, extent)
    assert (twice.entries, twice.runs) == (once.entries, once.runs)
    assert once.entries == 10


@pytest.mark.parametrize("case", range(40))
@pytest.mark.parametrize("together", [1, 3])
def test_nothing_that_has_not_expired_is_given_up_and_nothing_is_kept_for_long(case: int, together: int) -> None:
    rng = random.Random(case)
    head, records = LogHead(together), dict[int, list[tuple[int, int]]]()
    horizon, offset = Horizon(), 0
    for _ in range(80):
        offset += rng.choice((1, 1, 3))
        versions = [
            (rng.randint(0, 100) + offset, make_ref(rng.randrange(2), offset)) for _ in range(rng.randint(0, 3))
        ]
        records[offset] = versions
        times = np.array([time_ms for time_ms, _ in versions], np.int64)
        refs = np.array([ref for _, ref in versions], np.uint64)
        for _ in range(rng.choice((1, 2))):  # a record that is noted twice is one record
            head.note(offset, extent_of(times, refs))
        horizon = horizon.max(Horizon(offset - rng.randint(0, 40), (rng.choice((0, offset - 20)), 0)))
        needed = head.needed(horizon)
        live = [at for at, named in records.items() if any(not horizon.passed(time_ms, ref) for time_ms, ref in named)]
        assert needed is not None
        assert needed <= min(live, default=offset)
        if together == 1 and live:
            expired = [at for at in records if at < min(live)]
            kept = [at for at in expired if at >= needed]
            # An extent joins the time of one version with the ref of another: it may be kept longer than needed.
            assert all(len({ref >> 48 for _, ref in records[at]}) > 1 or not records[at] for at in kept[:1])


def test_of_an_unknown_log_nothing_is_given_up() -> None:
    assert LogHead().needed(Horizon(1_000)) is None


def test_the_run_that_grows_stays() -> None:
    head = LogHead(together=2)
    for offset in (5, 6, 7):
        head.note(offset, Extent(1, (make_ref(0, offset),)))
    assert head.needed(Horizon(2)) == 7
    assert head.needed(Horizon(1)) == 7, "a dropped record does not come back"
