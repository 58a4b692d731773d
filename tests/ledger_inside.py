"""What must hold inside a ledger at any time."""

from stream_lsh.ledger.ledger import Ledger


def check_graph(ledger: Ledger) -> None:
    """What must hold inside at any time."""
    graph, horizon = ledger.graph, ledger.horizon
    assert all(graph.pasts.values()), "a past node without links"
    assert {(past, id) for past, ids in graph.pasts.items() for id in ids} == {
        (past, id) for id, node in graph.nodes.items() for past in node.pasts
    }
    assert all(past < graph.next_past for past in graph.pasts)
    groups: dict[int, list[tuple[int, str]]] = {}
    for id, node in graph.nodes.items():
        assert node.id == id
        if node.digest:
            groups.setdefault(node.digest, []).append((node.time_ms, id))
        for partner, pair in node.pairs.items():
            assert graph.nodes[partner].pairs[id] is pair
            assert {pair.left, pair.right} == {id, partner}
            assert pair.left < pair.right
        assert node.best_similarity() == max((pair.similarity for pair in node.pairs.values()), default=None)
        assert not horizon.passed(node.time_ms, node.ref)
    assert graph._twins == {digest: sorted(group) for digest, group in groups.items()}
    for entry in ledger.newest.values():
        assert not horizon.passed(entry.keep_until_ms, entry.ref)
    for closed in ledger.ids.closed.values():
        assert not horizon.passed(closed.time_ms, closed.ref)
    for queue, keys in (
        (ledger._node_queue, graph.nodes.keys()),
        (ledger._newest_queue, ledger.newest.keys()),
        (ledger.ids._queue, ledger.ids.closed.keys()),
    ):
        assert queue._keys.keys() == keys
        held = len(queue._by_time), sum(map(len, queue._by_offset.values()))
        assert max(held) <= queue._pushes
    left = set(graph.nodes)
    while left:
        start = min(left)
        todo, seen = [start], set[str]()
        while todo:
            id = todo.pop()
            if id not in seen:
                seen.add(id)
                node = graph.nodes[id]
                todo.extend([*node.pairs, *graph.twins(node), *graph.past_company(node)])
        assert not graph.alone(graph.nodes[start])
        assert seen == {id for _, id in ledger.ids.live[graph.nodes[start].cluster].members}
        left -= seen
