"""The ledger against its oracle, frame by frame, over random histories."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.ledger.changes import LedgerChanges
from stream_lsh.ledger.ledger import Edge, End
from stream_lsh.model import Retirement, make_ref
from stream_lsh.retention import Horizon
from tests.ledger_oracle import Bench, World


def seeded(seed: int) -> random.Random:
    return random.Random(seed)


def worlds(seed: int, count: int) -> Iterator[tuple[int, random.Random]]:
    for number in range(count):
        value = seed + number
        print(f"world {value}")
        yield value, seeded(value)


def test_pairs_are_the_true_ones_once_everything_has_arrived(seed: int) -> None:
    seen = 0
    for _, rng in worlds(seed, 60):
        retention_ms = rng.choice((100, 300, None))
        bench = Bench(0.8, retention_ms, rng)
        world = World(
            rng, bench, ids=rng.randint(3, 12), contents=rng.randint(2, 12), expiry=rng.random() < 0.7, caps=False
        )
        world.run(rng.randint(5, 60), rng.choice((2, 8, 30)))
        assert bench.oracle.pairs.keys() == world.true_pairs()
        seen += len(bench.oracle.pairs)
    assert seen > 100


def test_caps_and_answers_that_never_come_break_nothing(seed: int) -> None:
    expired = left_out = 0
    for _, rng in worlds(seed, 60):
        bench = Bench(0.8, rng.choice((40, 200, None)), rng)
        world = World(
            rng, bench, ids=rng.randint(3, 14), contents=rng.randint(1, 8), expiry=rng.random() < 0.8, caps=True
        )
        world.run(rng.randint(5, 60), rng.choice((1, 8, 30)))
        expired += bench.oracle.expired
        left_out += len(world.left_out)
    assert expired > 100
    assert left_out > 100


@pytest.mark.timeout(120)
def test_a_long_stream_stays_right(seed: int) -> None:
    rng = seeded(seed)
    bench = Bench(0.8, 200, rng)
    world = World(rng, bench, ids=30, contents=40, expiry=True, caps=True)
    world.run(700)
    assert bench.oracle.expired > 100


IDS = list("abcdef")
numbers = st.integers(0, 5)


@st.composite
def ends(draw: st.DrawFn) -> End:
    """Any version of any document; what a version is follows from its ref, as it must."""
    number, offset = draw(numbers), draw(st.integers(1, 8))
    rng = seeded(1_000 * number + offset)
    return End(IDS[number], make_ref(number % 2, 6 * offset + number), rng.randint(0, 40), rng.randint(0, 3))


edges = st.builds(
    lambda one, other, similarity: Edge(one, other, similarity, int(10 * similarity), 10),
    ends(),
    ends(),
    st.sampled_from((0.5, 0.8, 0.9, 1.0)),
).filter(lambda edge: edge.one.id != edge.other.id)
retirements = st.builds(
    lambda end, deleted, keep: Retirement(end.id, end.ref, end.time_ms, 0 if deleted else end.digest, deleted, keep),
    ends(),
    st.booleans(),
    st.integers(0, 40),
)
horizons = st.none() | st.builds(
    Horizon, st.integers(0, 40), st.sampled_from(((), (0, 0), (12,), (0, 18), (30, 12), (42, 43)))
)
frames = st.lists(
    st.tuples(st.lists(retirements, max_size=3), st.lists(edges, max_size=5), horizons), min_size=1, max_size=15
)


@given(frames=frames, retention_ms=st.sampled_from((None, 5, 20)), seed=st.integers(0, 5))
def test_any_frames_at_all_settle_as_the_oracle_says(
    frames: list[tuple[list[Retirement], list[Edge], Horizon | None]], retention_ms: int | None, seed: int
) -> None:
    bench = Bench(0.8, retention_ms, seeded(seed))
    for retired, linked, horizon in frames:
        bench.settle(retirements=retired, edges=linked, horizon=horizon)


@given(
    frames=st.lists(st.lists(edges, max_size=5), min_size=1, max_size=8), retention_ms=st.sampled_from((None, 5, 20))
)
def test_edges_alone_only_merge_and_the_older_id_stays(frames: list[list[Edge]], retention_ms: int | None) -> None:
    bench = Bench(0.8, retention_ms)
    for frame in frames:
        linked = [edge for edge in frame if all(bench.ledger.newest_ref(end.id) in {-1, end.ref} for end in edge[:2])]
        kept: list[Edge] = []
        versions: dict[str, int] = {}
        for edge in linked:
            if all(versions.setdefault(end.id, end.ref) == end.ref for end in edge[:2]) and edge.similarity >= 0.8:
                kept.append(edge)
        created = {id: cluster.created for id, cluster in bench.ledger.ids.live.items()}
        before = {id: node.cluster for id, node in bench.ledger.graph.nodes.items()}
        bench.settle(edges=kept)
        for cluster in bench.ledger.ids.live.values():
            were = {before[id] for _, id in cluster.members if id in before}
            if were:
                assert cluster.id == min(were, key=lambda id: (created[id], id))


@given(
    frames=st.lists(st.tuples(st.lists(retirements, max_size=2), st.lists(edges, max_size=5)), max_size=8),
)
def test_edges_that_come_again_change_nothing(frames: list[tuple[list[Retirement], list[Edge]]]) -> None:
    bench = Bench(0.8)
    for retired, linked in frames:
        bench.settle(retirements=retired, edges=linked)
        once = {frozenset(edge[:2]): edge for edge in linked if edge.similarity >= 0.8}
        bench.settle(edges=once.values())
        newest = [edge for edge in once.values() if all(end.ref == bench.ledger.newest_ref(end.id) for end in edge[:2])]
        again = bench.settle(edges=newest)
        assert (again.matches, again.members, again.clusters) == ([], [], [])
        assert again.changes == LedgerChanges(next_past=bench.ledger.graph.next_past)
