"""The ledger in slices, taken between frames, is the ledger as it is in the end."""

import random
from collections.abc import Iterator

import pytest

from stream_lsh.errors import InvariantError
from stream_lsh.ledger.changes import LedgerChanges
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edge, Edges, End
from stream_lsh.ledger.incremental_snapshot import merged, slices
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import About, Retirement
from stream_lsh.retention import Horizon
from tests.evaluation.edges import edges_of
from tests.ledger_inside import check_graph, members_of, pasts_of

RETENTION_MS = 60
GUARDS = [NO_GUARDS, Guards(strong_links=True, max_size=4), Guards(one_per_source=True)]


class World:
    """Documents that find each other, change, are deleted and expire; event times are often equal."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.guards, self.link_from = rng.choice(GUARDS), rng.choice((0.0, 0.75))
        self.ledger = self.empty()
        self._ids = [f"d{number}" for number in range(rng.choice((6, 20)))]
        self._refs = dict.fromkeys(self._ids, 1)
        self._now, self._offset = 100, 0

    def empty(self) -> Ledger:
        return Ledger(0.5, RETENTION_MS, self.guards, link_from=self.link_from)

    def check(self, ledger: Ledger) -> None:
        if not self.guards.refine:  # with guards a component may be several clusters
            check_graph(ledger)

    def _end(self, id: str) -> End:
        ref = self._refs[id]
        return End(id, ref, self._now - ref % 3 * 5, ref % 4, About(source=("", "crm", "erp")[ref % 3]))

    def frame(self) -> LedgerChanges:
        """Settle one more frame; returns its changes."""
        rng = self.rng
        self._offset += 1
        self._now += rng.choice((0, 0, 1, 5))
        retirements = list[Retirement]()
        for id in rng.sample(self._ids, rng.choice((0, 0, 1, 2))):
            self._refs[id] = self._offset + 1
            gone = rng.random() < 0.4
            retirements.append(Retirement(id, self._refs[id], self._now, self._refs[id] % 4, gone, self._now + 20))
        edges = list[Edge]()
        for _ in range(rng.choice((1, 3, 20))):
            one, other = rng.sample(self._ids, 2)
            similarity = rng.choice((0.25, 0.5, 0.75, 1.0))
            evidence = rng.choice(("", "{}", '{"a":1}'))
            edges.append(Edge(self._end(one), self._end(other), similarity, int(similarity * 4), 4, 0, evidence))
        horizon = Horizon(self._now - RETENTION_MS) if rng.random() < 0.1 else None
        taken: Edges = edges_of(edges)
        return self.ledger.settle(
            self._offset, retirements=retirements, edges=taken, horizon=horizon, decisions=self._decisions()
        ).changes

    def _decisions(self) -> list[Decision]:
        rng = self.rng
        taken = list[Decision]()
        for _ in range(rng.choice((0, 0, 1, 2)) if self.ledger._clusters.divides_components else 0):
            left, right = sorted(rng.sample(self._ids, 2))
            taken.append(Decision(left, right, rng.choice((None, "same", "different")), rng.randrange(1_000)))
        return taken


def come_back(world: World, taken: list[LedgerChanges], later: list[LedgerChanges]) -> Ledger:
    ledger = world.empty()
    ledger.apply(merged(taken, later))
    world.check(ledger)
    return ledger


@pytest.mark.parametrize("seed", range(60))
def test_slices_and_the_frames_settled_meanwhile_are_the_whole_ledger(seed: int) -> None:
    world = World(seed)
    rng, later, taken = world.rng, list[LedgerChanges](), list[LedgerChanges]()
    for _ in range(rng.choice((0, 10, 40))):
        world.frame()
    for one in slices(world.ledger, rng.choice((1, 3, 100))):
        taken.append(one)
        later += [world.frame() for _ in range(rng.choice((0, 0, 1, 2)))]
        world.check(world.ledger)
    ledger = come_back(world, taken, later)
    assert ledger.snapshot() == world.ledger.snapshot()
    assert (pasts_of(ledger), members_of(ledger)) == (pasts_of(world.ledger), members_of(world.ledger))
    later += [world.frame() for _ in range(5)]
    assert come_back(world, taken, later).snapshot() == world.ledger.snapshot(), "and with what came behind them"


def confirmed(left: str, right: str, similarity: float = 0.75) -> Edge:
    return Edge(End(left, 1, 1, 0), End(right, 1, 1, 0), similarity, 3, 4)


def taken_up_to(ledger: Ledger, pairs: int) -> tuple[list[LedgerChanges], Iterator[LedgerChanges]]:
    """The slices up to this number of pairs, one in each, and the remaining ones."""
    rest = slices(ledger, 1)
    taken = [next(rest)]
    while sum(len(one.pairs) for one in taken) < pairs:
        taken.append(next(rest))
    return taken, rest


@pytest.mark.parametrize("again", ["a", "e"])
def test_a_pair_that_is_withdrawn_and_confirmed_again_in_one_frame_is_neither_lost_nor_there_twice(again: str) -> None:
    ledger, other = Ledger(0.5), chr(ord(again) + 1)
    pairs = [confirmed("a", "b"), confirmed("c", "d"), confirmed("e", "f"), confirmed("g", "h")]
    ledger.settle(1, edges=edges_of(pairs))
    ledger.settle(2, edges=edges_of([confirmed("a", "d")]))
    taken, rest = taken_up_to(ledger, 2)
    ends = [confirmed("a", "d", 0.25), confirmed(again, other, 0.25), confirmed("c", "f"), confirmed(again, other)]
    changes = ledger.settle(3, edges=edges_of(ends)).changes
    assert (again, other) in {(pair.left, pair.right) for pair in changes.pairs}, "it may have moved"
    back = Ledger(0.5)
    back.apply(merged([*taken, *rest], [changes]))
    check_graph(back)
    assert back.snapshot() == ledger.snapshot()


def test_a_record_that_removes_a_missing_entry_ends_a_recovery() -> None:
    ledger = Ledger(0.5)
    ledger.settle(1, edges=edges_of([confirmed("a", "b"), confirmed("b", "c")]))
    with pytest.raises(InvariantError, match="removes the pair 'a', 'c'"):
        ledger.apply(LedgerChanges(pairs_gone=[("a", "c")]))


def test_a_large_ledger_is_cut_into_slices_of_a_number_of_rows() -> None:
    ledger = Ledger(0.5)
    ledger.settle(1, edges=edges_of([confirmed(f"a{number}", f"b{number}") for number in range(250)]))
    taken = [*slices(ledger, 100)]
    rows = [(len(one.clusters), len(one.nodes), len(one.pairs)) for one in taken]
    assert rows == [(0, 0, 0)] + [(n, 0, 0) for n in (100, 100, 50)] + [(0, 100, 0)] * 5 + [
        (0, 0, n) for n in (100, 100, 50)
    ]
