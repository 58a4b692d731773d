"""The protocol holds in random schedules, and every rule of it is needed."""

from collections.abc import Iterator
from typing import Any

import pytest

from stream_lsh.errors import DamagedBytes
from stream_lsh.pipeline.gather import Forwarded
from tests.simulation.__main__ import BrokenMutant, new_run, run, slices_of_one_call
from tests.simulation.pipelines.entities import RECORDS_FROM
from tests.simulation.pipelines.intake import REKEY_FROM
from tests.simulation.pipelines.items import SETS_FROM
from tests.simulation.rules import RULES
from tests.simulation.schedules.regime import DISKS_FROM, EXACT_FROM, GROUPS_FROM, LOSSES_FROM

pytestmark = pytest.mark.simulation

BLOCK = 80
"""Schedules of a block; those of all families take some four minutes on two cores, and `make soak` runs 25,000."""

QUICK = 10
"""Schedules of each family that `make test` runs."""

FAMILIES = {
    0: 5,
    RECORDS_FROM: 2,
    SETS_FROM: 1,
    REKEY_FROM: 1,
    GROUPS_FROM: 1,
    LOSSES_FROM: 1,
    DISKS_FROM: 1,
    EXACT_FROM: 1,
}
"""The first seed of each family of schedules, and how many blocks of them are run."""

ONCE_FAILED = (26, 683, 15754, 62987, 1001377, 1061278, 7000889)
"""Seeds that once found a fault of the protocol or of its simulation."""

NOTICED_BY: dict[str, tuple[int, ...]] = {
    "a replay sends bands and retirement again": (51, 53, 65),
    "the index probes and emits again on replay": (93, 123),
    "public outputs before the ledger record": (89, 98),
    "public outputs are stored before the ledger record is sent": (49, 172),
    "the records of a flight are stored before the next one": (82, 127),
    "the changelog of sign is stored before its bands are sent": (0, 1),
    "all of a batch of sign is stored before the record of the next one": (7000037, 7000055),
    "a copy on disk has nothing that its changelog lacks": (7000107, 7000113),
    "a late record of an earlier owner stores nothing that is acknowledged": (7001284,),
    "stale edges are dropped": (130, 310),
    "newest refs are kept": (8, 191),
    "newest refs in the ledger record": (0, 1, 3),
    "the watermark in the ledger record": (2, 8, 9, 10),
    "past links in the ledger record": (34, 65, 73),
    "titles in the ledger record": (2, 12, 23),
    "a new title is a new version": (41, 61),
    "a retirement has the title": (25, 32),
    "recheck on update": (4, 5),
    "a recheck names the partner's newest ref": (10, 17),
    "rechecks pass gather's duplicate filter": (8, 17),
    "a recheck of a stale old ref is not answered": (231, 388),
    "known retirements send rechecks too": (96,),
    "edges with an expired end are dropped": (79, 597),
    "an in-doubt pair leaves no link when an end expires": (597,),
    "the check of distance in time": (22, 44),
    "a delete withdraws at once": (9, 22),
    "tombstones are kept": (7, 32),
    "a frame is one message": (82, 127),
    "a flight has no key twice": (59, 61),
    "only settle decides on expiry": (85, 89, 118),
    "watermarks flow through the hops": (60,),
    "marks of a forgotten group are older than all others": (5000011, 5000049),
    "a source is idle in its own generation only": (5000189,),
    "event time advances by a busy source that has come further": (5000005, 5000006),
    "an advance of event time is reported as busy": (5000004, 5000010),
    "a hop forwards each mark that settle needs": (5000068, 5000071),
    "the zombie fence": (67, 184),
    "neighbours of a retired posting": (30, 108),
    "neighbours that are not identical": (108, 273),
    "the caps omit no nearest candidate": (639, 775),
    "a log is trimmed when every slice is in it": (3, 8),
    "a pass over buckets ends when every slice is in the log": (10, 25),
    "postings that arrive while buckets are copied are ordered after the copies": (4, 6),
    "no log begins inside of a pass over buckets": (4, 6),
    "the ledger's log is trimmed when every slice is in it": (3, 8),
    "frames settled while the ledger is copied override the copy": (6, 14),
    "slices of the ledger count only where the log begins with their pass": (2, 3),
    "a new owner reports all pages again": (72, 116),
    "a site that a page report omits has no pages": (39, 147),
    "late page counts of a previous owner are skipped": (122, 151),
    "no sites are published before all pages are known": (151, 237),
    "pages in the ledger record": (6, 12, 16, 23),
    "an older decision does not count over a newer one": (1000002, 1000017, 1000038),
    "decisions are in one partition": (1000003, 1000006),
    "a withdrawn decision is remembered": (1000000, 1000001, 1000002),
    "decisions in the ledger record": (1000001, 1000002),
    "a decision is forwarded before it is acknowledged": (1000077, 1000127),
    "different ids share no cluster whichever pairs connect them": (1000026, 1000027),
    "a score stays until one counts more records": (1000007, 1000075),
    "an outdated score is computed again": (1000001, 1000016),
    "reviews connect no documents": (1000003, 1000007, 1000013),
    "a pair between two clusters is no match": (1000002, 1000031),
    "a pair changes its topic when its ends come together or part": (1000000, 1000016),
    "the guards hold after recovery": (1000031, 1000032),
    "a cluster is described again when its members change": (1000004, 1000031),
    "a pass over buckets does not count behind a copy on disk": (517,),
    "copies of an older generation are skipped": (4000002, 4000006, 4000010),
    "a topic that is recreated ends the worker": (6000080, 6000123),
    "a topic that ends before a read offset ends the worker": (6000004, 6000022),
    "a ledger that lacks acknowledged records ends the worker": (6000155,),
    "value counts are restored": (1000001, 1000002),
    "expired records are not counted": (1000010, 1000011),
}
"""For every rule, seeds that detect its removal; `python -m tests.simulation --rule NAME` finds others."""


def blocks() -> Iterator[Any]:
    """The seeds of each run: a few of each family first, and the others, which are slow, in blocks."""
    for first, count in FAMILIES.items():
        yield pytest.param(range(first, first + QUICK), id=f"{first}")
        for start in range(first, first + BLOCK * count, BLOCK):
            seeds = range(max(start, first + QUICK), start + BLOCK)
            yield pytest.param(seeds, id=f"{seeds.start}", marks=pytest.mark.slow)


@pytest.mark.parametrize("seeds", [*blocks()])
def test_random_schedules_keep_the_protocol(seeds: range) -> None:
    failed = {}
    for seed in seeds:
        _, found = run(seed)
        if found:
            failed[seed] = found
    assert not failed, f"seeds {sorted(failed)}; see `python -m tests.simulation --seed N`: {failed}"


@pytest.mark.parametrize("seed", ONCE_FAILED)
def test_a_seed_that_once_failed_passes(seed: int) -> None:
    assert run(seed)[1] == []


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_taken_out_is_noticed(rule: str) -> None:
    assert any(run(seed, rule)[1] for seed in NOTICED_BY[rule]), "no seed notices"


def test_workers_begin_with_copies_on_disk() -> None:
    recoveries = []
    for seed in range(DISKS_FROM, DISKS_FROM + 3):
        with slices_of_one_call():
            schedule = new_run(seed)
            schedule.go()
        recoveries += schedule.broker.recoveries
    assert any(partition > 0 for _, partition, _ in recoveries)
    assert any(offset for _, _, offset in recoveries)


def _add_a_pair(candidates: object, keep: object, forwarded: Forwarded) -> None:
    forwarded.add((1, 2))  # type: ignore[call-arg, arg-type]


def _refuse(*_: object) -> None:
    raise DamagedBytes("got nothing, expected something")


def test_a_replacement_that_does_not_run_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "broken", [("stream_lsh.pipeline.gather._drop_known", _add_a_pair)])
    with pytest.raises(BrokenMutant, match="broken, seed 1: TypeError"):
        run(1, "broken")
    monkeypatch.setitem(RULES, "refused", [("stream_lsh.pipeline.gather._drop_known", _refuse)])
    assert run(1, "refused")[1] == ["DamagedBytes: got nothing, expected something"]


def test_schedules_of_sets_notice_a_rule_taken_out() -> None:
    assert any(run(seed, "recheck on update")[1] for seed in range(SETS_FROM, SETS_FROM + 20)), "no seed notices"


@pytest.mark.slow
def test_the_seeds_that_notice_keep_the_protocol_with_all_rules_in() -> None:
    seeds = sorted({seed for seeds in NOTICED_BY.values() for seed in seeds})
    assert [seed for seed in seeds if run(seed)[1]] == []
