"""Selects the pairs that are compared again when a document is updated.

A frequently updated document gains partners with each version, and every update would recheck all of them.  So the cap
on candidates limits rechecks too: pairs beyond it are withdrawn instead of compared again.
"""

from collections.abc import Iterable

from stream_lsh.ledger.graph.graph import Graph


def rechecks(graph: Graph, retired_ids: Iterable[str]) -> list[tuple[int, int]]:
    """One recheck for each pair in doubt of these documents, in the newest versions of both ends, ascending.

    Args:
        graph: the live documents and pairs.
        retired_ids: in ascending order.
    """
    nodes, by_pair = graph.nodes, dict[int, tuple[int, int]]()
    for id in retired_ids:
        for pair, partner in _doubts(graph, id):
            by_pair.setdefault(pair, (nodes.refs[nodes.slots[id]], nodes.refs[partner]))
    return sorted(by_pair.values())


def excess_doubts(graph: Graph, id: str, cap: int) -> list[int]:
    """The pairs in doubt of a document beyond the cap: the least similar ones, then those with older partners.

    Pairs with a decision `same` are never among them.
    """
    refs, pairs = graph.nodes.refs, graph.pairs
    doubts = sorted((-pairs.similarity[pair], -refs[partner], pair) for pair, partner in _doubts(graph, id))
    return [pair for *_, pair in doubts[cap:] if not pairs.verdicts.get(pair)]


def _doubts(graph: Graph, id: str) -> list[tuple[int, int]]:
    """The pairs in doubt of a document, each with its partner."""
    slot, pairs = graph.nodes.slots.get(id), graph.pairs
    if slot is None:
        return []
    return [(pair, partner) for partner, pair in pairs.partners(slot) if pairs.in_doubt(pair)]
