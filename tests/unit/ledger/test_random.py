"""The ledger against its oracle, frame by frame, over random histories."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.ledger import ledger as ledger_module
from stream_lsh.ledger.changes import LedgerChanges, Settled
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.model import Retirement, make_ref
from stream_lsh.retention import Horizon
from tests.ledger_inside import nodes_of
from tests.ledger_oracle import Bench


@pytest.fixture(autouse=True, scope="module")
def small_frames_are_plain_too() -> Iterator[None]:
    """The way of large frames for the small ones of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger_module, "LEAST_ROWS", 1)
        yield


class World:
    """Documents that come, change and go, and what the steps before `settle` would make of them, late and in any order.

    Contents are numbers; how similar two of them are is drawn once and remembered.
    """

    def __init__(
        self, rng: random.Random, bench: Bench, *, ids: int, contents: int, expiry: bool, caps: bool, sparse: int = 1
    ) -> None:
        self.rng, self.bench = rng, bench
        self._ids = [f"d{number}" for number in range(ids)]
        self._contents, self._expiry, self._caps = contents, expiry, caps
        self._draws = (0.3, 0.5, 0.7) * sparse + (0.8, 0.85, 0.9)
        self._offsets = [0, 0]
        self._now_ms = 1_000
        self.horizon = Horizon()
        self.documents: dict[str, End] = {}
        self._keep: dict[str, int] = {}
        self._drawn: dict[tuple[int, int], float] = {}
        self._flying: list[Edge | Retirement] = []
        self._by_ref: dict[int, End] = {}
        self.left_out: set[tuple[int, int]] = set()
        self._sized, self._proved = rng.random() < 0.5, contents % 2 == 0

    def similarity(self, one: End, other: End) -> float:
        """The similarity of two versions; a digest stands for a content."""
        retention_ms = self.bench.oracle.retention_ms
        if retention_ms is not None and abs(one.time_ms - other.time_ms) > retention_ms:
            return 0.0
        if one.digest == other.digest:
            return 1.0
        key = min(one.digest, other.digest), max(one.digest, other.digest)
        return self._drawn.setdefault(key, self.rng.choice(self._draws))

    def _edge(self, one: End, other: End) -> Edge:
        similarity = self.similarity(one, other)
        if self.rng.random() < 0.5:
            one, other = other, one
        shared = int(similarity * 100)
        left = 1 + one.digest * other.digest % 99
        shingles = (left if one.id < other.id else shared + 100 - left) if self._sized else 0
        evidence = ("", f"of {one.digest * other.digest}")[self._proved and one.digest != 2 != other.digest]
        return Edge(one, other, similarity, shared, 100, shingles, evidence)

    def _send(self, entry: Edge | Retirement) -> None:
        self._flying.extend([entry] * self.rng.randint(1, self.rng.choice((1, 2, 5))))

    def write(self) -> None:
        """A new document, an update, a delete, or a document that comes back."""
        rng = self.rng
        number = rng.randrange(len(self._ids))
        id, partition = self._ids[number], number % 2
        self._offsets[partition] += 1
        ref = make_ref(partition, self._offsets[partition])
        old = self.documents.pop(id, None)
        if old is not None:
            self._keep[id] = max(self._keep.get(id, old.time_ms), old.time_ms)
        self._now_ms += rng.choice((0, 1, 5, 20))
        new = End(id, ref, max(0, self._now_ms + rng.randint(-60, 5)), rng.randrange(1, self._contents + 1))
        if old is not None and rng.random() < 0.3:
            new = new._replace(digest=old.digest)
        if old is not None and rng.random() < 0.25:
            self._send(Retirement(id, ref, new.time_ms, 0, True, self._keep[id]))
            return
        if id in self._keep:
            self._send(Retirement(id, ref, new.time_ms, new.digest, False, self._keep[id]))
        self._by_ref[ref] = new
        for other in self.documents.values():
            if self.similarity(new, other) >= self.bench.oracle.threshold:
                if self._caps and rng.random() < 0.3:
                    self.left_out.add((min(ref, other.ref), max(ref, other.ref)))
                else:
                    self._send(self._edge(new, other))
        self.documents[id] = new

    def deliver(self, at_most: int) -> Settled:
        """One frame of what is under way, in any order, and perhaps a step of the horizon."""
        rng = self.rng
        rng.shuffle(self._flying)
        cut = max(0, len(self._flying) - rng.randint(0, at_most))
        batch, self._flying = self._flying[cut:], self._flying[:cut]
        horizon = None
        if self._expiry and rng.random() < 0.3:
            time_ms = self._now_ms - rng.randint(60, 300)
            min_offsets = tuple(offset - rng.randint(10, 60) for offset in self._offsets) if rng.random() < 0.3 else ()
            horizon = self.horizon = self.horizon.max(
                Horizon(time_ms, tuple(max(0, min_offset) for min_offset in min_offsets))
            )
        settled = self.bench.settle(
            retirements=[entry for entry in batch if isinstance(entry, Retirement)],
            edges=[entry for entry in batch if isinstance(entry, Edge)],
            horizon=horizon,
        )
        for recheck in settled.rechecks:
            new, old = (self._by_ref[ref] for ref in recheck)
            if self.documents.get(old.id) == old and not (self._caps and rng.random() < 0.2):
                self._send(self._edge(new, old))
        return settled

    def run(self, steps: int, at_most: int = 8) -> None:
        """Write and deliver at random, then deliver everything."""
        for _ in range(steps):
            for _ in range(self.rng.choice((0, 1, 1, 3))):
                self.write()
            self.deliver(at_most)
        while self._flying:
            self.deliver(at_most)

    def true_pairs(self) -> set[tuple[str, str]]:
        """Pairs of live newest versions that are similar enough."""
        passed = self.bench.oracle.horizon.passed
        live = sorted(end for end in self.documents.values() if not passed(end.time_ms, end.ref))
        return {
            (one.id, other.id)
            for number, one in enumerate(live)
            for other in live[number + 1 :]
            if self.similarity(one, other) >= self.bench.oracle.threshold
            and (min(one.ref, other.ref), max(one.ref, other.ref)) not in self.left_out
        }


def seeded(seed: int) -> random.Random:
    return random.Random(seed)


def worlds(seed: int, count: int) -> Iterator[tuple[int, random.Random]]:
    for number in range(count):
        value = seed + number
        print(f"world {value}")
        yield value, seeded(value)


def test_pairs_are_the_true_ones_once_everything_has_arrived(seed: int) -> None:
    seen = 0
    for _, rng in worlds(seed, 40):
        retention_ms = rng.choice((100, 300, None))
        bench = Bench(0.8, retention_ms, rng)
        world = World(
            rng, bench, ids=rng.randint(3, 12), contents=rng.randint(2, 12), expiry=rng.random() < 0.7, caps=False
        )
        world.run(rng.randint(5, 60), rng.choice((2, 8, 30)))
        assert bench.oracle.pairs.keys() == world.true_pairs()
        seen += len(bench.oracle.pairs)
    assert seen > 100


@pytest.mark.slow
def test_caps_and_answers_that_never_come_break_nothing(seed: int) -> None:
    expired = left_out = 0
    for _, rng in worlds(seed, 40):
        bench = Bench(0.8, rng.choice((40, 200, None)), rng)
        world = World(
            rng, bench, ids=rng.randint(3, 14), contents=rng.randint(1, 8), expiry=rng.random() < 0.8, caps=True
        )
        world.run(rng.randint(5, 60), rng.choice((1, 8, 30)))
        expired += bench.oracle.expired
        left_out += len(world.left_out)
    assert expired > 100
    assert left_out > 100


@pytest.mark.parametrize("link_from", [0.0, 0.9])
@pytest.mark.parametrize("cap", [1, 2, 4])
def test_an_update_has_no_more_pairs_compared_again_than_the_cap(seed: int, cap: int, link_from: float) -> None:
    capped = 0
    for _, rng in worlds(seed, 15):
        bench = Bench(0.8, rng.choice((40, 200, None)), rng, link_from, cap_rechecks=cap)
        World(rng, bench, ids=rng.randint(4, 14), contents=8, expiry=rng.random() < 0.6, caps=False).run(40)
        capped += bench.capped
    assert capped


@pytest.mark.parametrize("link_from", [0.85, 0.9, 0.95])
def test_reviews_connect_no_documents_and_have_their_own_topic(seed: int, link_from: float) -> None:
    reviews = moved = alone = 0
    for _, rng in worlds(seed, 20):
        bench = Bench(0.8, rng.choice((40, 200, None)), rng, link_from)
        caps, expiry = rng.random() < 0.5, rng.random() < 0.6
        ids, contents, sparse = rng.randint(3, 14), rng.randint(1, 12), rng.choice((1, 4))
        World(rng, bench, ids=ids, contents=contents, expiry=expiry, caps=caps, sparse=sparse).run(40)
        reviews += len(bench.topics.reviews)
        moved += bench.moved
        alone += sum(len(cluster) == 1 for cluster in bench.ledger.ids.live.values())
    assert min(reviews, moved, alone) > 5


@pytest.mark.slow
def test_a_long_stream_stays_right(seed: int) -> None:
    rng = seeded(seed)
    bench = Bench(0.8, 200, rng)
    world = World(rng, bench, ids=30, contents=40, expiry=True, caps=True)
    world.run(700)
    assert bench.oracle.expired > 100


@pytest.mark.slow
def test_thin_and_long_components_stay_right(seed: int) -> None:
    splits = 0
    for _, rng in worlds(seed, 12):
        bench = Bench(0.8, rng.choice((100, 300)), rng)
        world = World(rng, bench, ids=40, contents=200, expiry=True, caps=True, sparse=rng.choice((6, 12, 20)))
        world.run(120, 20)
        splits += bench.splits
    assert splits > 10


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
).filter(lambda edge: edge.left.id != edge.right.id)
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


@given(
    frames=frames,
    retention_ms=st.sampled_from((None, 5, 20)),
    seed=st.integers(0, 5),
    link_from=st.sampled_from((0.0, 0.9)),
)
def test_any_frames_settle_as_in_the_oracle(
    frames: list[tuple[list[Retirement], list[Edge], Horizon | None]],
    retention_ms: int | None,
    seed: int,
    link_from: float,
) -> None:
    bench = Bench(0.8, retention_ms, seeded(seed), link_from)
    for retired, linked, horizon in frames:
        bench.settle(retirements=retired, edges=linked, horizon=horizon)
        members = bench.topics.members.keys()
        assert members <= bench.ledger.graph.nodes.slots.keys() == bench.oracle.live.keys()
        assert link_from or members == bench.oracle.live.keys()
        assert bench.topics.matches.keys() - bench.oracle.left_behind.keys() <= bench.oracle.pairs.keys()


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
        before = {id: node.cluster for id, node in nodes_of(bench.ledger).items()}
        bench.settle(edges=kept)
        for cluster in bench.ledger.ids.live.values():
            were = {before[id] for id in bench.ledger.members(cluster.id) if id in before}
            if were:
                assert cluster.id == min(were, key=lambda id: (created[id], id))


@given(
    frames=st.lists(st.tuples(st.lists(retirements, max_size=2), st.lists(edges, max_size=5)), max_size=8),
)
def test_repeated_edges_change_nothing(frames: list[tuple[list[Retirement], list[Edge]]]) -> None:
    bench = Bench(0.8)
    for retired, linked in frames:
        bench.settle(retirements=retired, edges=linked)
        once = {frozenset(edge[:2]): edge for edge in linked if edge.similarity >= 0.8}
        bench.settle(edges=once.values())
        newest = [edge for edge in once.values() if all(end.ref == bench.ledger.newest_ref(end.id) for end in edge[:2])]
        again = bench.settle(edges=newest)
        assert (again.matches, again.members, again.clusters) == ([], [], [])
        assert again.changes == LedgerChanges(next_past=bench.ledger.graph.past.next)
