"""From the notes of a frame to what is published about clusters and what goes to the changelog."""

from stream_lsh.ledger.changes import ClusterChange, LedgerChanges, NodeState, PairState
from stream_lsh.retention import Horizon
from tests.slow_ledger.clusters import Cluster
from tests.slow_ledger.frame import Frame
from tests.slow_ledger.graph import Graph

_EVENTS = ("merged", "split", "joined", "left", "changed")
"""One event for each cluster and frame: the first of these that happened to it."""


def cluster_changes(frame: Frame, live: dict[str, Cluster]) -> list[ClusterChange]:
    """One change for each cluster that looks different now; none for those that came and went within the frame."""
    changes = []
    for id in sorted(frame.clusters):
        before, cluster = frame.clusters[id], live.get(id)
        if cluster is not None:
            now = cluster.seen()
            if now != before:
                changes.append(_told(now, frame, live))
        elif before is not None:
            heir = frame.heir(id)
            changes.append(ClusterChange(id, merged_into=heir if heir != id and heir in live else None))
    return changes


def _told(now: ClusterChange, frame: Frame, live: dict[str, Cluster]) -> ClusterChange:
    """A cluster that changed, with what happened to it: only what came of clusters that the public knows counts."""
    merged_from = tuple(sorted(id for id in frame.merged_from.get(now.id, ()) if frame.clusters[id] is not None))
    split_from = frame.split_from.get(now.id)
    if split_from is not None and frame.clusters[split_from] is None:
        split_from = None
    if frame.clusters[now.id] is None:
        event = "created" if split_from is None else "split"
    else:
        happened = set(frame.events[now.id])
        if not merged_from:
            happened.discard("merged")
        if not any(origin == now.id and id in live for id, origin in frame.split_from.items()):
            happened.discard("split")
        event = next((name for name in _EVENTS if name in happened), "changed")
    return now._replace(event=event, merged_from=merged_from, split_from=split_from)


def changes_of(
    frame: Frame,
    pairs_now: dict[tuple[str, str], PairState | None],
    graph: Graph,
    live: dict[str, Cluster],
    horizon: Horizon,
) -> LedgerChanges:
    """The changelog record of a frame: the state after it of everything that it changed."""
    clusters = frame.clusters
    nodes_now: dict[str, NodeState | None] = {
        id: graph.nodes[id].state() if id in graph.nodes else None for id in sorted(frame.nodes)
    }
    return LedgerChanges(
        nodes=[node for id, node in nodes_now.items() if node is not None and node != frame.nodes[id]],
        nodes_gone=[id for id, node in nodes_now.items() if node is None and frame.nodes[id] is not None],
        pairs=[
            pair
            for key, pair in sorted(pairs_now.items())
            if pair is not None and (key in frame.reasons or pair != frame.pairs[key])
        ],
        pairs_gone=sorted(key for key, pair in pairs_now.items() if pair is None and frame.pairs[key] is not None),
        clusters=[live[id].state() for id in sorted(clusters) if clusters[id] is None and id in live],
        clusters_gone=sorted(id for id, before in clusters.items() if before is not None and id not in live),
        newest=[frame.newest[id] for id in sorted(frame.newest)],
        closed=[frame.closed[id] for id in sorted(frame.closed)],
        next_past=graph.next_past,
        horizon=horizon,
    )
