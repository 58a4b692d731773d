"""Mirror sites of a ledger follow from its pairs, its pages and the reported counts, at any time."""

import random
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from stream_lsh.ledger.changes import LedgerChanges, MirrorChange, Settled
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.incremental_snapshot import merged, slices
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.ledger.sites.mirrors import SiteMirrors, SitePair
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts
from stream_lsh.model import About, Retirement
from stream_lsh.retention import Horizon
from tests.evaluation.edges import edges_of

RETENTION_MS, LEAST = 60, 0.4
SITES = ("", "a", "b", "c", "d")
TopicMessages = dict[tuple[str, str], SiteMirrors]


def pages(partition: int, as_of: tuple[int, int], counts: dict[str, int], *, whole: bool = False) -> PageCounts:
    """A message of the owner; `whole`: a complete report."""
    values = np.array([*counts.values()], np.uint32)
    return PageCounts(partition, AsOf(*as_of), [*counts], values, begins=whole, ends=whole)


class World:
    """Pages of some sites that find each other, change, move to another site, are deleted and expire."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.ledger = self.empty()
        self.published: TopicMessages = {}
        self.counts: dict[int, dict[str, int]] = {0: {}, 1: {}}
        self.ended = set[int]()  # partitions with a complete report
        self.firsts: dict[tuple[str, str], int] = {}
        self._ids = [f"d{number}" for number in range(rng.choice((5, 12)))]
        self._refs = dict.fromkeys(self._ids, 1)
        self._abouts = {id: About("", rng.choice(SITES), 9) for id in self._ids}
        self._now, self.offset, self._generation = 100, 0, 1
        self._named = dict[int, set[str]]()  # in a report that has not ended

    @staticmethod
    def empty(partitions: int = 2) -> Ledger:
        return Ledger(0.5, RETENTION_MS, stories=True, mirror_share=LEAST, partitions=partitions)

    def _end(self, id: str) -> End:
        ref = self._refs[id]
        return End(id, ref, self._now - ref % 3 * 5, ref, self._abouts[id])

    def frame(self) -> LedgerChanges:
        """Settle one more frame; returns its changes."""
        rng = self.rng
        self.offset += 1
        self._now += rng.choice((0, 0, 1, 5))
        if rng.random() < 0.4:
            settled = self.ledger.settle(self.offset, pages=self._pages())
        else:
            settled = self._documents()
        self._take(settled)
        return settled.changes

    def _documents(self) -> Settled:
        rng, retirements, edges = self.rng, list[Retirement](), list[Edge]()
        for id in rng.sample(self._ids, rng.choice((0, 0, 1, 2))):
            ref = self._refs[id] = self.offset + 1
            self._abouts[id] = About("", rng.choice(SITES), 9)
            gone = rng.random() < 0.4
            retirements.append(Retirement(id, ref, self._now, ref, gone, self._now + 20, self._abouts[id]))
        for _ in range(rng.choice((1, 3, 20))):
            one, other = (self._end(id) for id in rng.sample(self._ids, 2))
            shared, left, right = rng.randint(1, 6), rng.randint(6, 9), rng.randint(6, 9)
            edges.append(Edge(one, other, rng.choice((0.25, 0.5, 1.0)), shared, left + right - shared, left))
        horizon = Horizon(self._now - RETENTION_MS) if rng.random() < 0.1 else None
        return self.ledger.settle(self.offset, retirements=retirements, edges=edges_of(edges), horizon=horizon)

    def _pages(self) -> PageCounts:
        rng, partition = self.rng, self.rng.randrange(2)
        counts = {site: rng.randrange(4) for site in rng.sample(SITES[1:], rng.randrange(5))}
        begins = rng.random() < 0.3
        if begins:
            self._generation += 1
            self._named[partition] = set()
        ends = partition in self._named and rng.random() < 0.6
        if partition in self._named:
            self._named[partition] |= {*counts}
        self.counts[partition] |= counts
        if ends:
            self.counts[partition] = {site: self.counts[partition][site] for site in self._named.pop(partition)}
            self.ended.add(partition)
        return replace(pages(partition, (self.offset, self._generation), counts), begins=begins, ends=ends)

    def _take(self, settled: Settled) -> None:
        for left, right, now in settled.mirrors:
            if now is None:
                del self.published[left, right]
            else:
                assert self.published.get((left, right)) != now, "every message is news"
                self.published[left, right] = now

    def true(self) -> TopicMessages:
        """The mirror sites that follow from the whole ledger."""
        snapshot, true = self.ledger.snapshot(), TopicMessages()
        site_of = {node.id: node.about.source for node in snapshot.nodes}
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        times: dict[tuple[str, str], list[int]] = defaultdict(list)
        for pair in snapshot.pairs:
            sites = site_of[pair.left], site_of[pair.right]
            if not all(sites) or sites[0] == sites[1]:
                continue
            times[min(sites), max(sites)].append(max(pair.left_time_ms, pair.right_time_ms))
            if 2 * pair.shared >= pair.left_shingles:
                found[sites].add(pair.left)
            if 2 * pair.shared >= pair.right_shingles:
                found[sites[1], sites[0]].add(pair.right)
        self.firsts = {key: min(self.firsts.get(key, 1 << 60), *of, 1 << 60) for key, of in times.items()}
        for left, right in times:
            mirrored = len(found[left, right]), len(found[right, left])
            reported = tuple(sum(counts.get(site, 0) for counts in self.counts.values()) for site in (left, right))
            at_least = max(reported[0], mirrored[0]), max(reported[1], mirrored[1])
            share = max(mirrored[0] / max(at_least[0], 1), mirrored[1] / max(at_least[1], 1))
            if all(reported) and share >= LEAST:
                true[left, right] = SiteMirrors(SitePair(left, right, *at_least, *mirrored), self.firsts[left, right])
        return true if len(self.ended) == 2 else {}


@pytest.mark.parametrize("seed", range(30))
def test_published_sites_follow_from_the_pairs_and_the_counts(seed: int) -> None:
    world = World(seed)
    ever = 0
    for _ in range(120):
        world.frame()
        assert world.published == world.true()
        ever += len(world.published)
    assert ever > 10


@pytest.mark.parametrize("seed", range(30))
def test_a_recovered_ledger_publishes_the_same_sites(seed: int) -> None:
    world, back = World(seed), World.empty()
    for _ in range(60):
        back.apply(world.frame())
    whole = World.empty()
    whole.apply(world.ledger.snapshot())
    taken, later = list[LedgerChanges](), list[LedgerChanges]()
    for one in slices(world.ledger, 2):
        taken.append(one)
        later += [world.frame() for _ in range(world.rng.choice((0, 0, 1)))]
    for changes in later:
        back.apply(changes)
        whole.apply(changes)
    cut = World.empty()
    cut.apply(merged(taken, later))
    assert back.snapshot() == whole.snapshot() == cut.snapshot() == world.ledger.snapshot()
    next_published = []
    for ledger in (world.ledger, back, whole, cut):
        world.ledger, rng = ledger, world.rng.getstate()
        offset, saved = world.offset, {partition: {**counts} for partition, counts in world.counts.items()}
        counts = {"a": 1, "b": 1, "c": 1, "d": 1}
        settled = ledger.settle(offset + 1, pages=pages(0, (1 << 30, 1 << 30), counts, whole=True))
        next_published.append(settled.mirrors)
        world.counts = saved
        world.rng.setstate(rng)
    assert all(mirrors == next_published[0] for mirrors in next_published)


# -- reports of owners


def edge(left: str, right: str) -> Edge:
    """Two pages that are the same, on the sites that their ids begin with."""
    ends = [End(id, ord(id[0]) + int(id[1]), 5, 1, About("", id[0], 9)) for id in (left, right)]
    return Edge(ends[0], ends[1], 1.0, 9, 9)


def ledger_with(*edges: Edge, partitions: int = 1) -> Ledger:
    ledger = World.empty(partitions)
    ledger.settle(0, edges=edges_of(edges))
    return ledger


def shares(changes: list[MirrorChange]) -> list[tuple[float, float] | None]:
    return [None if one.now is None else (one.now.sites.left_share, one.now.sites.right_share) for one in changes]


def test_no_sites_are_published_before_both_counts_are_known() -> None:
    ledger = ledger_with(edge("a1", "b1"))
    assert ledger.settle(1, pages=pages(0, (5, 1), {"a": 1}, whole=True)).mirrors == []
    assert shares([*ledger.settle(2, pages=pages(0, (5, 1), {"b": 2})).mirrors]) == [(1.0, 0.5)]


def test_all_sites_are_published_once_every_partition_has_ended_a_report() -> None:
    ledger = ledger_with(edge("a1", "b1"), edge("c1", "d1"), partitions=3)
    reports = [
        pages(0, (5, 1), {"a": 1, "b": 2, "c": 1, "d": 3}, whole=True),
        pages(2, (-1, 1), {}, whole=True),
        replace(pages(1, (7, 1), {"d": 1}), begins=True),
        pages(0, (6, 1), {"b": 1}),
        pages(2, (-1, 2), {}, whole=True),
    ]
    for offset, one in enumerate(reports, 1):
        back = World.empty(3)
        back.apply(ledger.snapshot())
        settled = ledger.settle(offset, pages=one)
        assert settled.mirrors == back.settle(offset, pages=one).mirrors == []
    last = replace(pages(1, (7, 1), {"b": 1}), ends=True)
    published = ledger.settle(6, pages=last).mirrors
    assert [(one.left, one.right) for one in published] == [("a", "b"), ("c", "d")]
    assert shares([*published]) == [(1.0, 0.5), (1.0, 0.25)]
    back = World.empty(3)
    back.apply(ledger.snapshot())
    # A new owner has reported nothing yet.
    again = [one.settle(7, pages=pages(0, (6, 1), {"b": 0, "c": 2})).mirrors for one in (ledger, back)]
    assert shares([*again[0]]) == shares([*again[1]]) == [(1.0, 1.0), (0.5, 0.25)]


def test_a_site_that_a_report_omits_has_no_pages() -> None:
    ledger = ledger_with(edge("a1", "b1"))
    ledger.settle(1, pages=pages(0, (5, 1), {"a": 1, "b": 2, "z": 9}, whole=True))
    begins = replace(pages(0, (6, 2), {"a": 1}, whole=True), ends=False)
    assert ledger.settle(2, pages=begins).mirrors == [], "a report counts when it ends"
    ends = replace(pages(0, (6, 2), {"c": 1}, whole=True), begins=False)
    assert shares([*ledger.settle(3, pages=ends).mirrors]) == [None]
    assert [row.site for row in ledger.snapshot().site_counts] == ["a", "c"]


def test_an_interrupted_report_removes_nothing_and_the_next_one_does() -> None:
    ledger = ledger_with(edge("a1", "b1"))
    ledger.settle(1, pages=pages(0, (5, 1), {"a": 1, "b": 2}, whole=True))
    ledger.settle(2, pages=replace(pages(0, (6, 2), {"b": 3}, whole=True), ends=False))
    assert shares([*ledger.settle(3, pages=pages(0, (6, 3), {"a": 2}, whole=True)).mirrors]) == [None]


def test_late_counts_of_a_previous_owner_are_skipped() -> None:
    ledger = ledger_with(edge("a1", "b1"))
    ledger.settle(1, pages=pages(0, (5, 2), {"a": 1, "b": 2}, whole=True))
    settled = ledger.settle(2, pages=pages(0, (5, 1), {"a": 7, "b": 7}))
    assert (settled.mirrors, settled.changes.site_counts) == ([], [])
    assert shares([*ledger.settle(3, pages=pages(0, (5, 2), {"b": 1})).mirrors]) == [(1.0, 1.0)], (
        "its successor continues"
    )


def test_generations_of_a_forgotten_group_begin_again() -> None:
    ledger = ledger_with(edge("a1", "b1"))
    ledger.settle(1, pages=pages(0, (5, 7), {"a": 1, "b": 2}, whole=True))
    assert ledger.mirrors is not None
    ledger.mirrors.begin(7)
    assert ledger.settle(2, pages=pages(0, (5, 1), {"a": 2, "b": 2}, whole=True)).mirrors == []
    ledger.mirrors.begin(1)
    assert shares([*ledger.settle(3, pages=pages(0, (5, 1), {"a": 2, "b": 2}, whole=True)).mirrors]) == [(0.5, 0.5)]


def test_shares_never_exceed_one_though_pairs_come_before_counts() -> None:
    ledger = ledger_with(edge("a1", "b1"))
    ledger.settle(1, pages=pages(0, (5, 1), {"a": 1, "b": 1}, whole=True))
    settled = ledger.settle(2, edges=edges_of([edge("a2", "b2"), edge("a3", "b3")]))
    assert shares([*settled.mirrors]) == [(1.0, 1.0)]


def test_pairs_with_the_same_flags_share_one_object() -> None:
    ledger = ledger_with(*(edge(f"a{number}", f"b{number}") for number in range(9)))
    assert ledger.mirrors is not None
    flags = [*ledger.mirrors._inside.values()]
    assert (len(flags), len({*map(id, flags)})) == (9, 1)


def test_a_ledger_without_mirror_sites_publishes_none() -> None:
    ledger = Ledger(0.5, stories=True)
    settled = ledger.settle(1, edges=edges_of([edge("a1", "b1")]))
    assert (settled.mirrors, ledger.settle(2, pages=pages(0, (1, 1), {"a": 1}, whole=True)).changes.site_counts) == (
        (),
        (),
    )
