"""A run at rest beside the true results."""

from typing import Any

from stream_lsh.ledger.changes import ClusterChange, MatchChange, MemberChange, MirrorChange
from stream_lsh.retention import Horizon
from tests.simulation.log.producer import PUBLIC
from tests.simulation.oracles.oracle import Truth
from tests.simulation.schedules.schedule import Run


class View:
    """A run at rest, as a consumer of the compacted topics sees it, beside the true results."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.setup = run.setup
        self.settler = next(worker.settler for worker in run.workers if worker.settler is not None)
        self.generation = run.workers[0].generation
        self.truth = Truth(run.broker, run.setup, self.settler.ledger.horizon)
        self.history = {topic: [(m.key, *m.value) for m in run.broker.read(topic, 0)] for topic in PUBLIC}
        self.matches: dict[tuple[str, str], MatchChange] = self._compacted("matches", "similarity")
        self.reviews: dict[tuple[str, str], MatchChange] = self._compacted("reviews", "similarity")
        self.members: dict[str, MemberChange] = self._compacted("members", "cluster")
        self.clusters: dict[str, ClusterChange] = self._compacted("clusters", "event")
        self.sites: dict[tuple[str, str], MirrorChange] = self._compacted("mirror-sites", "now")
        self.expires = self.settler.ledger.horizon != Horizon()

    def _compacted(self, topic: str, alive: str) -> dict[Any, Any]:
        last = {key: change for key, _, change in self.history[topic]}
        return {key: change for key, change in last.items() if getattr(change, alive) is not None}

    def aside(self, match: MatchChange) -> bool:
        """Whether a published pair has an end that has expired: such pairs stay as they are."""
        for id, time_ms in ((match.left, match.left_time_ms), (match.right, match.right_time_ms)):
            versions = self.truth.versions[id]
            if id in self.truth.ambiguous or any(v.time_ms == time_ms and self.truth.expired(v) for v in versions):
                return True
        return False
