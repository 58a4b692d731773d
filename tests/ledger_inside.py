"""The state of a ledger as plain values, and its invariants."""

from typing import NamedTuple

from stream_lsh.ledger.changes import PairState
from stream_lsh.ledger.clusters.ids import NOWHERE
from stream_lsh.ledger.ledger import Ledger


class Node(NamedTuple):
    """A node of a ledger."""

    slot: int
    ref: int
    time_ms: int
    digest: int
    cluster: str
    best: float | None
    pairs: dict[str, PairState]
    pasts: tuple[int, ...]


def nodes_of(ledger: Ledger) -> dict[str, Node]:
    """All nodes by their ids."""
    nodes, pairs, past = ledger.graph.nodes, ledger.graph.pairs, ledger.graph.past
    found = {}
    for id, slot in nodes.slots.items():
        best = nodes.best[slot]
        found[id] = Node(
            slot,
            nodes.refs[slot],
            nodes.times[slot],
            nodes.digests[slot],
            nodes.clusters[slot].id,
            None if best < 0 else best,
            {nodes.ids[partner]: pairs.state(pair) for partner, pair in pairs.partners(slot)},
            past.of(slot),
        )
    return found


def pasts_of(ledger: Ledger) -> dict[int, set[str]]:
    """The ids that each past node is linked to."""
    ids = ledger.graph.nodes.ids
    return {past: {ids[slot] for slot in links} for past, links in ledger.graph.past.links.items()}


def members_of(ledger: Ledger) -> dict[str, list[tuple[int, str]]]:
    """The members of each cluster, with their event times, in their order."""
    return {id: [*map(ledger.graph.nodes.age, cluster)] for id, cluster in ledger.ids.live.items()}


def check_graph(ledger: Ledger) -> None:
    """The invariants of the graph."""
    graph, horizon = ledger.graph, ledger.horizon
    nodes, pairs, past = graph.nodes, graph.pairs, graph.past
    found = nodes_of(ledger)
    assert all(past.links.values()), "a past node without links"
    assert {(number, slot) for number, links in past.links.items() for slot in links} == {
        (number, node.slot) for node in found.values() for number in node.pasts
    }
    assert past._of.keys() <= set(nodes.slots.values())
    assert all(number < past.next for number in past.links)
    groups: dict[int, list[tuple[int, str]]] = {}
    numbers = set()
    for id, node in found.items():
        assert nodes.ids[node.slot] == id
        if node.digest:
            groups.setdefault(node.digest, []).append((node.time_ms, id))
        for partner, pair in node.pairs.items():
            assert found[partner].pairs[id] == pair
            assert {pair.left, pair.right} == {id, partner}
            assert pair.left < pair.right
            numbers.add(pairs.find(node.slot, found[partner].slot))
        linking = (pair.similarity for pair in node.pairs.values() if links(ledger, pair))
        assert node.best == max(linking, default=None)
        assert not horizon.passed(node.time_ms, node.ref)
    check_slots(ledger, numbers)
    twins = {digest: [*map(nodes.age, group)] for digest, group in graph.twins.groups.items()}
    assert twins == {digest: sorted(group) for digest, group in groups.items() if len(group) > 1}
    held = [entry - 1 for piece in graph.twins._pieces for entry in piece if entry not in {0, 0xFFFFFFFF}]
    assert sorted(nodes.digests[slot] for slot in held) == sorted(groups), "each digest is found, once"
    for entry in ledger.newest.values():
        assert not horizon.passed(entry.keep_until_ms, entry.ref)
    for closed in ledger.ids.closed.values():
        assert not horizon.passed(closed.time_ms, closed.ref)
    for queue, keys in (
        (ledger._newest_queue, ledger.newest.keys()),
        (ledger.ids._queue, ledger.ids.closed.keys()),
    ):
        assert queue._keys.keys() == keys
        sizes = len(queue._by_time), sum(map(len, queue._by_offset.values()))
        assert max(sizes) <= queue._pushes
    left = set(nodes.slots.values())
    while left:
        start = min(left)
        todo, seen = [start], set[int]()
        while todo:
            slot = todo.pop()
            if slot not in seen:
                seen.add(slot)
                todo.extend(
                    [*(partner for partner, _ in pairs.linked(slot)), *graph.twins.near(slot), *past.company(slot)]
                )
        assert not graph.alone(start)
        if ledger.guards or ledger.decisions.apart:
            assert seen == set().union(*(nodes.clusters[slot] for slot in seen))
        else:
            assert seen == set(nodes.clusters[start])
        left -= seen


def links(ledger: Ledger, pair: PairState) -> bool:
    """Whether a pair connects its ends."""
    verdict = ledger.decisions.verdict(pair.left, pair.right)
    return pair.similarity >= ledger.graph.pairs.link_from if verdict is None else verdict


def check_slots(ledger: Ledger, numbers: set[int]) -> None:
    """Every slot and every number of a pair (these are in use) is either used or free; who can expire is watched."""
    nodes, pairs, expiry = ledger.graph.nodes, ledger.graph.pairs, ledger.graph.expiry
    used = set(nodes.slots.values())
    assert len(used) == len(nodes)
    assert sorted([*used, *nodes._free]) == list(range(len(nodes.ids)))
    assert not nodes._gone
    assert all(nodes.clusters[slot] is NOWHERE for slot in nodes._free)
    assert sorted([*numbers, *pairs._free]) == list(range(len(pairs.similarity)))
    assert len(pairs) == len(numbers)
    assert pairs.versions.keys() <= numbers
    assert pairs._hubs.keys() <= used
    for stretches, column in ((expiry.by_time, nodes.times), (expiry.by_offset, nodes.refs)):
        if stretches is not None:
            assert all(slot in stretches.by_stretch[column[slot] // stretches.span] for slot in used)
            assert sum(map(len, stretches.by_stretch.values())) == len(used) + sum(stretches.stale.values())
            assert all(2 * stale <= len(stretches.by_stretch[stretch]) for stretch, stale in stretches.stale.items())
