"""The ledger says, frame by frame, what the slow one says; and its clusters are the components of its pairs."""

import random
from collections.abc import Iterator

import pytest

from stream_lsh.ledger import ledger as ledger_module
from stream_lsh.ledger.edges import Edge, End, edges_of
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.ledger.pairs import HUB_FROM
from stream_lsh.model import Retirement, make_ref
from stream_lsh.retention import Horizon
from tests.ledger_inside import check_graph, members_of
from tests.slow_ledger.ledger import Ledger as SlowLedger

SEEDS = 400
LEAST_FRAMES, MOST_FRAMES = 3, 60


class History:
    """Frames as a stream has them, calm and wild: edges that come again, late and in any order, updates, deletes."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = random.Random(seed)
        self.retention_ms = rng.choice((None, 5, 20, 100))
        self._ids = [f"d{number}" for number in range(rng.choice((4, 8, 20, 60)))]
        self._wide = rng.random() < 0.3
        self._digests = rng.choice((2, 6, 200))
        self._now_ms, self._offsets = 0, [0, 0]
        self._versions: dict[str, list[End]] = {id: [] for id in self._ids}
        self._flying: list[Edge] = []
        self._horizon = Horizon()
        self._sized = rng.random() < 0.5
        self._proved = rng.random() < 0.5

    def frames(self) -> Iterator[tuple[list[Retirement], list[Edge], Horizon | None]]:
        """LEAST_FRAMES to MOST_FRAMES of them."""
        rng = self._rng
        for _ in range(rng.randint(LEAST_FRAMES, MOST_FRAMES)):
            self._now_ms += rng.choice((0, 1, 3))
            calm = rng.random() < 0.6
            for _ in range(rng.choice((0, 1, 3, 10, 40 if self._wide else 2))):
                self._flying += [self._edge(calm)] * rng.randint(1, rng.choice((1, 2, 5)))
            rng.shuffle(self._flying)
            cut = rng.randint(0, len(self._flying))
            edges, self._flying = self._flying[:cut], self._flying[cut:]
            wild = not calm or rng.random() < 0.1
            retirements = [self._retirement() for _ in range(rng.randint(1, 3))] if wild else []
            yield retirements, edges, self._moved() if rng.random() < (0.08 if calm else 0.25) else None

    def _version(self, id: str) -> End:
        partition = int(id[1:]) % 2
        self._offsets[partition] += 1
        ref = make_ref(partition, self._offsets[partition])
        version = End(id, ref, self._now_ms + self._rng.randint(-10, 3), self._rng.randrange(self._digests))
        self._versions[id].append(version)
        return version

    def _edge(self, calm: bool) -> Edge:
        rng = self._rng
        one, other = (self._known(id, calm) for id in rng.sample(self._ids, 2))
        similarity = 0.9 if calm else rng.choice((0.5, 0.8, 0.9, 0.9, 1.0))
        shared = rng.randint(1, 2 if calm else 3)
        shingles = 1 + one.ref % 9 if self._sized else 0
        return Edge(one, other, similarity, shared, 10, shingles, rng.choice(("", "", "{}", "[1]")) * self._proved)

    def _known(self, id: str, calm: bool) -> End:
        known = self._versions[id] or [self._version(id)]
        return known[-1] if calm else self._rng.choice(known[-2:])

    def _retirement(self) -> Retirement:
        rng, id = self._rng, self._rng.choice(self._ids)
        keep_until_ms = max((version.time_ms for version in self._versions[id]), default=self._now_ms)
        known = self._versions[id]
        version = self._version(id) if rng.random() < 0.8 or not known else known[-1]
        deleted = rng.random() < 0.3
        digest = 0 if deleted else version.digest
        return Retirement(id, version.ref, version.time_ms, digest, deleted, keep_until_ms)

    def _moved(self) -> Horizon:
        one, other = self._offsets
        floors = self._rng.choice(((), (0, 0), (max(0, one - 8),), (max(0, one - 20), max(0, other - 10))))
        self._horizon = self._horizon.joined(Horizon(self._now_ms - self._rng.randint(5, 40), floors))
        return self._horizon


@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize("least_rows", [1, 6])
def test_every_frame_settles_as_in_the_slow_ledger(
    block: int, least_rows: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "LEAST_ROWS", least_rows)
    histories, compared = SEEDS // 8, 0
    for number in range(histories):
        case = seed + 10_000 * least_rows + 1_000 * block + number
        print(f"history {case}")
        compared += settles_alike(History(case), random.Random(case))
    assert compared >= LEAST_FRAMES * histories


def settles_alike(history: History, rng: random.Random) -> int:
    """Hold both ledgers against each other frame by frame; returns how many frames they settled alike.

    The fast one crashes now and then, and comes back from a snapshot and records.
    """
    fast, slow = Ledger(0.8, history.retention_ms), SlowLedger(0.8, history.retention_ms)
    snapshot, log, compared = fast.snapshot(), [], 0
    for offset, (retirements, edges, horizon) in enumerate(history.frames()):
        said = fast.settle(offset, retirements=retirements, edges=edges_of(edges), horizon=horizon)
        assert said == slow.settle(offset, retirements=retirements, edges=edges, horizon=horizon)
        log.append(said.changes)
        compared += 1
        now = fast.snapshot()
        assert now == slow.snapshot()
        if rng.random() < 0.2:
            snapshot, log = now, []
        if rng.random() < 0.1:
            fast = Ledger(0.8, history.retention_ms)
            for changes in (snapshot, *log):
                fast.apply(changes)
            assert fast.snapshot() == now
            check_graph(fast)
    check_graph(fast)
    return compared


@pytest.mark.parametrize("size", [HUB_FROM - 1, HUB_FROM, HUB_FROM + 1, 5 * HUB_FROM])
@pytest.mark.parametrize("together", [1, 7, 1_000])
def test_a_hub_loses_and_gains_partners_as_in_the_slow_ledger(size: int, together: int, seed: int) -> None:
    rng, fast, slow = random.Random(seed), Ledger(0.5), SlowLedger(0.5)
    hub, leaves = End("m", 1, 0, 0), [End(f"{'az'[n % 2]}{n}", n + 2, n, 0) for n in range(size)]
    edges = [Edge(hub, leaf, rng.choice((0.5, 0.7, 0.9)), 1, 2) for leaf in leaves]
    for _ in range(size // 4):
        one, other = rng.sample(leaves, 2)
        edges.append(Edge(one, other, 0.6, 1, 2))
    offset = 0
    for first in range(0, len(edges), together):
        batch = edges[first : first + together] * 2
        assert fast.settle(offset, edges=edges_of(batch)) == slow.settle(offset, edges=batch)
        offset += 1
    check_graph(fast)
    gone = [Retirement(end.id, 1_000 + end.ref, end.time_ms, 0, True, 0) for end in (*leaves[::3], hub, *leaves[1::3])]
    for retired in gone:
        assert fast.settle(offset, retirements=[retired]) == slow.settle(offset, retirements=[retired])
        offset += 1
        check_graph(fast)
    assert fast.snapshot() == slow.snapshot()


def test_clusters_are_the_components_of_the_pairs(seed: int) -> None:
    for number in range(40):
        rng, ledger = random.Random(seed + number), Ledger(0.5)
        ends = [End(f"d{n}", n, rng.randrange(50), 0) for n in range(rng.randint(2, 120))]
        pairs = {tuple(sorted(rng.sample(range(len(ends)), 2))) for _ in range(rng.randint(1, 120))}
        linked = dict.fromkeys(pairs, True)
        drawn = [pair for pair in pairs for _ in range(rng.randint(1, 5))]
        rng.shuffle(drawn)
        offset = 0
        while drawn:
            cut = rng.randint(1, 30)
            batch, drawn = drawn[:cut], drawn[cut:]
            ledger.settle(offset, edges=edges_of(Edge(ends[one], ends[other], 0.9, 9, 10) for one, other in batch))
            offset += 1
        for one, other in rng.sample(sorted(pairs), len(pairs) // 3):
            linked[one, other] = False
            ledger.settle(offset, edges=[Edge(ends[one], ends[other], 0.1, 1, 10)])
            offset += 1
        live = [pair for pair, holds in linked.items() if holds]
        found = {frozenset(id for _, id in members) for members in members_of(ledger).values()}
        assert found == {frozenset(f"d{n}" for n in component) for component in components(live)}


def components(pairs: list[tuple[int, ...]]) -> list[set[int]]:
    """By breadth-first search."""
    partners: dict[int, list[int]] = {}
    for one, other in pairs:
        partners.setdefault(one, []).append(other)
        partners.setdefault(other, []).append(one)
    left, found = set(partners), []
    while left:
        seen, todo = set[int](), [min(left)]
        while todo:
            reached = {number for number in todo if number not in seen}
            seen |= reached
            todo = [other for number in reached for other in partners[number]]
        found.append(seen)
        left -= seen
    return found
