"""From the notes of a frame to what is published about clusters and what goes to the changelog."""

from stream_lsh.ledger.changes import ClusterChange, LedgerChanges, PairState
from stream_lsh.ledger.clusters import Cluster
from stream_lsh.ledger.frame import Frame
from stream_lsh.ledger.graph import Graph
from stream_lsh.retention import Horizon

_EVENTS = ("merged", "split", "joined", "left", "changed")
"""One event for each cluster and frame: the first of these that happened to it."""


def cluster_changes(frame: Frame, live: dict[str, Cluster]) -> list[ClusterChange]:
    """One change for each cluster that the frame touched; none for those that came and went within it."""
    changes = []
    for id in sorted(frame.clusters):
        cluster = live.get(id)
        if cluster is not None:
            changes.append(_as_it_is(frame, cluster))
        elif frame.clusters[id] is not None:
            heir = frame.heir(id)
            changes.append(ClusterChange(id, merged_into=heir if heir != id and heir in live else None))
    return changes


def _as_it_is(frame: Frame, cluster: Cluster) -> ClusterChange:
    was_there = frame.clusters[cluster.id] is not None
    merged_from = tuple(sorted(id for id in frame.merged_from.get(cluster.id, ()) if frame.clusters[id] is not None))
    split_from = frame.split_from.get(cluster.id)
    if split_from is not None and frame.clusters[split_from] is None:
        split_from = None
    happened = frame.events[cluster.id] - (set() if merged_from else {"merged"})
    if was_there:
        event = next((name for name in _EVENTS if name in happened), "changed")
    else:
        event = "created" if split_from is None else "split"
    return ClusterChange(
        id=cluster.id,
        event=event,
        size=len(cluster),
        members=cluster.newest(),
        representative=cluster.members[0][1],
        merged_from=merged_from,
        split_from=split_from,
        first_time_ms=cluster.members[0][0],
        last_time_ms=cluster.members[-1][0],
    )


def changes_of(
    frame: Frame,
    pairs_now: dict[tuple[str, str], PairState | None],
    graph: Graph,
    live: dict[str, Cluster],
    horizon: Horizon,
) -> LedgerChanges:
    """The changelog record of a frame: the state after it of everything that it touched."""
    nodes, clusters = graph.nodes, frame.clusters
    return LedgerChanges(
        nodes=[nodes[id].state() for id in sorted(frame.members) if id in nodes],
        nodes_gone=sorted(id for id, before in frame.members.items() if before is not None and id not in nodes),
        pairs=[pair for _, pair in sorted(pairs_now.items(), key=lambda item: item[0]) if pair is not None],
        pairs_gone=sorted(key for key, pair in pairs_now.items() if pair is None and frame.pairs[key] is not None),
        clusters=[live[id].state() for id in sorted(clusters) if clusters[id] is None and id in live],
        clusters_gone=sorted(id for id, before in clusters.items() if before is not None and id not in live),
        newest=[frame.newest[id] for id in sorted(frame.newest)],
        closed=[frame.closed[id] for id in sorted(frame.closed)],
        next_past=graph.next_past,
        horizon=horizon,
    )
