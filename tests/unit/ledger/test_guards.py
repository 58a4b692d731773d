"""Guards against chaining: each against its definition, and all of them in a ledger with a random history."""

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.ledger.changes import LedgerChanges
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.clusters.guards.constrained import constrained
from stream_lsh.ledger.clusters.guards.diameter import balls
from stream_lsh.ledger.clusters.guards.links import Links
from stream_lsh.ledger.clusters.guards.representative import stars
from stream_lsh.ledger.clusters.guards.size import capped
from stream_lsh.ledger.clusters.guards.strong import strong_parts
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.retention import Horizon
from tests.evaluation.edges import edges_of
from tests.ledger_histories import History
from tests.ledger_oracle import Topics

Partition = set[frozenset[int]]

CHOICES = [
    Guards(strong_links=True),
    Guards(bridge_similarity=0.97),
    Guards(representative_similarity=0.9),
    Guards(max_diameter=2),
    Guards(max_size=4),
    Guards(strong_links=True, representative_similarity=0.8, max_diameter=3, max_size=6),
]


# -- definitions, slow and obvious


def reached(vertices: Iterable[int], pairs: Iterable[tuple[int, int]]) -> Partition:
    """Connected components, by a search from each vertex."""
    vertices, pairs, found = set(vertices), list(pairs), set()
    while vertices:
        part, grown = set[int](), {min(vertices)}
        while grown:
            part |= grown
            grown = {b for pair in pairs for a, b in (pair, pair[::-1]) if a in part and b in vertices} - part
        found.add(frozenset(part))
        vertices -= part
    return found


def distances(vertices: Sequence[int], pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Steps between any two vertices, after Floyd and Warshall."""
    far = {(a, b): 0 if a == b else float("inf") for a in vertices for b in vertices}
    for a, b in pairs:
        if (a, b) in far:
            far[a, b] = far[b, a] = 1
    for middle, a, b in itertools.product(vertices, repeat=3):
        far[a, b] = min(far[a, b], far[a, middle] + far[middle, b])
    return far


def slow_strong(links: Links, least: float = inf) -> Partition:
    everybody, kept = range(len(links)), []
    for number, (one, other, similarity) in enumerate(links.pairs):
        rest = [pair[:2] for at, pair in enumerate(links.pairs) if at != number]
        sides = reached(everybody, rest)
        if (
            similarity >= least
            or len(sides) == 1
            or any(sum(links.sizes[vertex] for vertex in side) == 1 for side in sides)
        ):
            kept.append((one, other))
    return reached(everybody, kept)


def slow_stars(links: Links, least: float) -> Partition:
    left, found = set(range(len(links))), set()
    while left:
        middle = min(left)
        star = {middle} | {
            b
            for pair in links.pairs
            if pair[2] >= least
            for a, b in (pair[:2], pair[1::-1])
            if a == middle and b in left
        }
        found.add(frozenset(star))
        left -= star
    return found


def slow_capped(links: Links, most: int) -> Partition:
    parts: list[set[int]] = [{vertex} for vertex in range(len(links))]
    for one, other, _ in sorted(links.pairs, key=lambda pair: (-pair[2], *pair[:2])):
        first, second = (next(part for part in parts if vertex in part) for vertex in (one, other))
        if first is not second and sum(links.sizes[vertex] for vertex in first | second) <= most:
            first |= second
            parts.remove(second)
    return {frozenset(part) for part in parts}


def slow_constrained(links: Links, one_per_source: bool) -> Partition:
    parts: list[set[int]] = [{vertex} for vertex in range(len(links))]
    for one, other, _ in sorted(links.pairs, key=lambda pair: (-pair[2], *pair[:2])):
        first, second = (next(part for part in parts if vertex in part) for vertex in (one, other))
        both = first | second
        twice = Counter(source for vertex in both for source in set(links.sources[vertex]))
        if first is second or any(set(pair) <= both for pair in links.apart):
            continue
        if not one_per_source or max(twice.values(), default=0) < 2:
            first |= second
            parts.remove(second)
    return {frozenset(part) for part in parts}


def as_set(parts: Iterable[Iterable[int]]) -> Partition:
    return {frozenset(part) for part in parts}


@st.composite
def connected(draw: st.DrawFn) -> Links:
    """Up to twelve vertices that hang together, some of several documents, some with several pairs."""
    count = draw(st.integers(1, 12))
    values = st.sampled_from((0.8, 0.85, 0.9, 1.0))
    pairs = [(draw(st.integers(0, vertex - 1)), vertex, draw(values)) for vertex in range(1, count)]
    if count > 1:
        for _ in range(draw(st.integers(0, 8))):
            one, other = sorted(draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True)))
            pairs.append((one, other, draw(values)))
    sizes = [draw(st.sampled_from((1, 1, 1, 2, 3))) for _ in range(count)]
    return Links(sizes, draw(st.permutations(pairs)))


# -- each guard


@given(links=connected(), least=st.sampled_from((0.8, 0.9, inf)))
def test_weak_pairs_are_those_without_which_two_groups_come_apart(links: Links, least: float) -> None:
    assert as_set(strong_parts(links, least)) == slow_strong(links, least)


@given(links=connected(), least=st.sampled_from((0.8, 0.9, 1.0)))
def test_every_member_of_a_star_is_a_pair_with_its_oldest(links: Links, least: float) -> None:
    assert as_set(stars(links, least)) == slow_stars(links, least)


@given(links=connected(), most=st.integers(1, 12))
def test_the_most_similar_pairs_unite_up_to_the_cap(links: Links, most: int) -> None:
    assert as_set(capped(links, most)) == slow_capped(links, most)


@given(links=connected(), one_per_source=st.booleans(), data=st.data())
def test_the_most_similar_pairs_unite_compatible_documents(
    links: Links, one_per_source: bool, data: st.DataObject
) -> None:
    vertices = st.integers(0, len(links) - 1)
    apart = data.draw(st.lists(st.tuples(vertices, vertices).filter(lambda pair: pair[0] < pair[1]), max_size=3))
    named = st.lists(st.sampled_from(("crm", "erp", "shop")), max_size=2).map(tuple)
    sources = data.draw(st.lists(named, min_size=len(links), max_size=len(links)))
    held = Links(links.sizes, links.pairs, sources, apart if len(links) > 1 else ())
    parts = constrained(held, one_per_source=one_per_source)
    assert as_set(parts) == slow_constrained(held, one_per_source)
    assert Guards(one_per_source=one_per_source).parts(held) == parts
    inside = parts[0]
    assert constrained(held.within(inside), one_per_source=one_per_source) == [[*range(len(inside))]]
    for part in Guards(one_per_source=one_per_source, strong_links=True, max_size=3).parts(held):
        assert any({*part} <= {*whole} for whole in parts)


@given(links=connected(), diameter=st.integers(2, 5))
def test_no_part_is_wider_than_the_diameter_and_narrow_components_stay_whole(links: Links, diameter: int) -> None:
    pairs = [pair[:2] for pair in links.pairs]
    parts = balls(links, diameter)
    assert sorted(vertex for part in parts for vertex in part) == [*range(len(links))]
    for part in parts:
        assert max(distances(part, pairs).values()) <= diameter
    widest = max(distances(range(len(links)), pairs).values())
    assert (len(parts) == 1) == (widest <= diameter)


@given(links=connected(), choice=st.sampled_from(CHOICES), data=st.data())
def test_the_order_of_the_pairs_changes_nothing_and_parts_are_connected(
    links: Links, choice: Guards, data: st.DataObject
) -> None:
    parts = choice.parts(links)
    shuffled = Links(links.sizes, data.draw(st.permutations(links.pairs)))
    assert choice.parts(shuffled) == parts
    for part in parts:
        assert len(reached(part, [pair[:2] for pair in links.pairs if set(pair[:2]) <= set(part)])) == 1


# -- in the ledger


def clusters_of(ledger: Ledger) -> dict[str, frozenset[str]]:
    return {id: frozenset(ledger.members(id)) for id in ledger.ids.live}


def recomputed_clusters(ledger: Ledger, retention_ms: int | None) -> set[frozenset[str]]:
    """The clusters that follow from the documents, pairs and past nodes of a snapshot."""
    snapshot = ledger.snapshot()
    nodes = sorted(snapshot.nodes, key=lambda node: (node.time_ms, node.id))
    number = {node.id: at for at, node in enumerate(nodes)}
    held = [
        (number[one.id], number[other.id])
        for digest in {node.digest for node in nodes if node.digest}
        for one, other in itertools.pairwise(node for node in nodes if node.digest == digest)
        if retention_ms is None or other.time_ms - one.time_ms <= retention_ms
    ]
    for one, other in itertools.combinations(nodes, 2):
        if {*one.pasts} & {*other.pasts}:
            held.append((number[one.id], number[other.id]))
    pairs = [(number[pair.left], number[pair.right], pair.similarity) for pair in snapshot.pairs]
    vertices = sorted(sorted(part) for part in reached(range(len(nodes)), held))
    vertex_of = {at: vertex for vertex, part in enumerate(vertices) for at in part}
    between = list[tuple[int, int, float]]()
    for left, right, similarity in pairs:
        first, second = sorted((vertex_of[left], vertex_of[right]))
        if first != second:
            between.append((first, second, similarity))
    found = set()
    for component in reached(range(len(vertices)), [pair[:2] for pair in between]):
        inside = sorted(component)
        whole = Links([len(part) for part in vertices], between).within(inside)
        for part in ledger.guards.parts(whole):
            found.add(frozenset(nodes[at].id for vertex in part for at in vertices[inside[vertex]]))
    return found


def heirs_are_right(
    before: dict[str, frozenset[str]], after: dict[str, frozenset[str]], created: dict[str, int]
) -> None:
    """Of each cluster the largest part keeps the id, unless that part is also an older one's."""
    home = {member: id for id, members in after.items() for member in members}
    for id, members in before.items():
        shares = Counter(home[member] for member in members if member in home)
        if not shares:
            continue
        most = max(shares.values())
        largest = {part for part, count in shares.items() if count == most}
        if id in after and after[id] & members:
            assert id in largest
        else:
            older = {part for part in largest if part in before}
            assert any((created[part], part) < (created[id], id) for part in older)


@pytest.mark.parametrize("guards", CHOICES, ids=str)
def test_clusters_follow_from_the_components_and_the_guards(guards: Guards, seed: int) -> None:
    apart = 0
    for number in range(25):
        history, rng = History(seed + number), random.Random(seed + number)
        print(f"history {seed + number}")
        ledger, topics = Ledger(0.8, history.retention_ms, guards), Topics()
        snapshot, log = ledger.snapshot(), list[LedgerChanges]()
        for offset, (retirements, edges, horizon) in enumerate(history.frames()):
            before = clusters_of(ledger)
            created = {id: cluster.created for id, cluster in ledger.ids.live.items()}
            settled = ledger.settle(offset, retirements=retirements, edges=edges_of(edges), horizon=horizon)
            topics.read(settled)
            after = clusters_of(ledger)
            assert not any(ledger.horizon.passed(node.time_ms, node.ref) for node in ledger.snapshot().nodes)
            assert {*after.values()} == recomputed_clusters(ledger, history.retention_ms)
            published = {id: change.cluster for id, change in topics.members.items()}
            assert published == {member: id for id, members in after.items() for member in members}
            assert {id: change.size for id, change in topics.clusters.items()} == {
                id: len(members) for id, members in after.items()
            }
            # A document that loses its last pair leaves, and may come back in another cluster in the same frame.
            lost = any(change.similarity is None for change in settled.matches)
            if horizon is None and not retirements and not lost:
                heirs_are_right(before, after, created)
            log.append(settled.changes)
            if rng.random() < 0.1:
                ledger = Ledger(0.8, history.retention_ms, guards)
                for changes in (snapshot, *log):
                    ledger.apply(changes)
                assert clusters_of(ledger) == after
                snapshot, log = ledger.snapshot(), []
            apart += sum(len(members) == 1 for members in after.values())
    assert apart > 20


@pytest.mark.parametrize("guards", CHOICES, ids=str)
def test_the_order_of_edges_decides_nothing_but_ids(guards: Guards, seed: int) -> None:
    several = 0
    for number in range(20):
        rng = random.Random(seed + number)
        ends = [End(f"d{at}", at, rng.randrange(50), 0) for at in range(rng.randint(3, 40))]
        drawn = {tuple(sorted(rng.sample(range(len(ends)), 2))) for _ in range(rng.randint(2, 60))}
        edges = [Edge(ends[one], ends[other], rng.choice((0.8, 0.9, 1.0)), 8, 10) for one, other in sorted(drawn)]
        found = []
        for _ in range(3):
            ledger = Ledger(0.8, None, guards)
            again = edges * rng.randint(1, 3)
            rng.shuffle(again)
            for offset, at in enumerate(range(0, len(again), 7)):
                ledger.settle(offset, edges=edges_of(again[at : at + 7]))
            found.append({*clusters_of(ledger).values()})
        assert found[0] == found[1] == found[2]
        several += len(found[0])
    assert several > 40


def chain(*ids: str) -> list[Edge]:
    ends = {id: End(id, number, number, 0) for number, id in enumerate(dict.fromkeys(ids))}
    return [Edge(ends[one], ends[other], 0.9, 9, 10) for one, other in itertools.pairwise(ids)]


def test_two_stories_that_one_pair_chains_together_stay_two() -> None:
    ledger = Ledger(0.8, None, Guards(strong_links=True))
    first, second = chain("a", "b", "c", "a"), chain("x", "y", "z", "x")
    ledger.settle(0, edges=first)
    ledger.settle(1, edges=second)
    settled = ledger.settle(2, edges=[Edge(first[0].left, second[0].left, 0.8, 8, 10)])
    assert [(change.left, change.right) for change in settled.matches] == [("a", "x")]
    assert settled.clusters == []
    assert clusters_of(ledger) == {"a": frozenset("abc"), "x": frozenset("xyz")}


def test_a_second_pair_merges_them_and_its_end_splits_them_again() -> None:
    ledger = Ledger(0.8, None, Guards(strong_links=True))
    ledger.settle(0, edges=[*chain("a", "b", "c", "a"), *chain("x", "y", "z", "x")])
    ends = {id: End(id, ledger.newest_ref(id), time_ms, 0) for time_ms, id in enumerate("abc")}
    ends |= {id: End(id, ledger.newest_ref(id), time_ms, 0) for time_ms, id in enumerate("xyz")}
    merged = ledger.settle(1, edges=[Edge(ends[one], ends[other], 0.8, 8, 10) for one, other in ("ax", "by")])
    assert [(change.id, change.event, change.merged_from, change.merged_into) for change in merged.clusters] == [
        ("a", "merged", ("x",), None),
        ("x", None, (), "a"),
    ]
    parted = ledger.settle(2, edges=[Edge(ends["a"], ends["x"], 0.5, 5, 10)])
    assert [(change.id, change.event, change.split_from) for change in parted.clusters] == [
        ("a", "split", None),
        ("x~2", "split", "a"),
    ]


def test_an_expired_document_that_a_guard_separated_links_no_documents() -> None:
    ledger = Ledger(0.8, 100, Guards(max_size=2))
    ledger.settle(0, edges=chain("a", "b", "c"))
    assert clusters_of(ledger) == {"a": frozenset("ab"), "c": frozenset("c")}
    settled = ledger.settle(1, horizon=Horizon(2))
    assert [(change.id, change.reason) for change in settled.members if change.cluster is None] == [
        ("a", "expired"),
        ("b", "expired"),
        ("c", "expired"),
    ]
