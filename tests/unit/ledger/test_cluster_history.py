"""The history of a cluster has its latest published changes."""

from itertools import groupby

import pytest

from stream_lsh.ledger import cluster_history
from stream_lsh.ledger.changes import ClusterChange
from stream_lsh.ledger.cluster_history import ClusterEvent, ClusterHistory
from stream_lsh.ledger.ledger import Ledger
from tests.evaluation.edges import edges_of
from tests.ledger_histories import History

Published = list[tuple[int, ClusterChange]]


def folded(published: Published) -> list[ClusterEvent]:
    """The events of one cluster, newest first; those of members that join one after the other are one."""
    events = list[ClusterEvent]()
    for name, run in groupby(published, key=lambda one: one[1].event):
        of_run = [*run]
        if name == "joined":
            time_ms, last = of_run[-1]
            events.append(ClusterEvent(time_ms, "joined", last.size, len(of_run)))
        else:
            events += [
                ClusterEvent(time_ms, one.event or "", one.size, 1, one.merged_from, one.split_from)
                for time_ms, one in of_run
            ]
    return events[::-1]


def test_a_history_has_the_published_changes_of_each_live_cluster(seed: int) -> None:
    seen = dict[str, int]()
    for number in range(20):
        history, kept, published = History(seed + number), ClusterHistory(), dict[str, Published]()
        ledger = Ledger(0.8, history.retention_ms)
        for offset, (retirements, edges, horizon) in enumerate(history.frames()):
            settled = ledger.settle(offset, retirements=retirements, edges=edges_of(edges), horizon=horizon)
            kept.note(settled.clusters, 1_000 + offset)
            for change in settled.clusters:
                if change.event is None:
                    del published[change.id]
                else:
                    published.setdefault(change.id, []).append((1_000 + offset, change))
            for id, changes in published.items():
                assert kept.of(id) == folded(changes)[: cluster_history.EVENTS_KEPT]
                for event in kept.of(id):
                    seen[event.event] = seen.get(event.event, 0) + 1
        assert kept.since_ms == 1_000
        assert kept.of("of no cluster") == []
    assert seen.keys() == {"created", "joined", "merged", "split", "left", "changed"}


def test_a_history_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_history, "CLUSTERS_KEPT", 3)
    history = ClusterHistory()
    for at in range(200):
        history.note([ClusterChange("a", "changed", at), ClusterChange(f"other-{at % 5}", "joined", 2)], at)
    assert [event.size for event in history.of("a")] == [*range(199, 199 - cluster_history.EVENTS_KEPT, -1)]
    assert [f"other-{number}" for number in range(5) if history.of(f"other-{number}")] == ["other-3", "other-4"]
    assert [event.changes for event in history.of("other-4")] == [1]
