"""The counts and latencies of a worker, for its log and its metrics."""

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate

from stream_lsh.pipeline.agents.state import StepCounts
from stream_lsh.pipeline.recall_monitor import RecallCounts

_WORDS = (
    ("added", "new"),
    ("updated", "updates"),
    ("deleted", "deletes"),
    ("unchanged", "unchanged"),
    ("unknown_deletes", "deletes of nothing"),
    ("superseded", "older than the stored version"),
    ("replayed", "again"),
)

_BLOCKS = 3
"""Blocks that are named."""


STEPS = ("sign", "index", "gather", "verify", "settle")
LATENCY_BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""The upper bounds of the bins of a latency; a last bin has all greater ones."""


class Latencies:
    """A histogram of the latencies of one step.

    Attributes:
        counts: of each bin.
        total_s: the sum of all latencies.

    Example:
        >>> latencies = Latencies()
        >>> for seconds in (0.01, 0.2, 4_000.0, -3.0):
        ...     latencies.add(seconds)
        >>> latencies.cumulative()
        [2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4]
    """

    __slots__ = ("counts", "total_s")

    def __init__(self) -> None:
        self.counts = [0] * (len(LATENCY_BOUNDS_S) + 1)
        self.total_s = 0.0

    def add(self, seconds: float) -> None:
        """Count a latency; one below 0, between machines with different clocks, is 0."""
        seconds = max(0.0, seconds)
        self.counts[bisect_left(LATENCY_BOUNDS_S, seconds)] += 1
        self.total_s += seconds

    def cumulative(self) -> list[int]:
        """The number of latencies up to each bound, and of all."""
        return [*accumulate(self.counts)]


@dataclass(slots=True)
class Counts(StepCounts):
    """The counts of one pipeline on this worker, since it was started.

    Attributes:
        matches: that were published.
        dead_letters: messages that cannot be used, by reason.
        recall_monitor: the matches that the bands find and miss, measured on a sample.
        latencies: of each step, one of the oldest message of each batch: from its timestamp to the end of the step.
    """

    matches: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)
    recall_monitor: RecallCounts = field(default_factory=RecallCounts)
    latencies: dict[str, Latencies] = field(default_factory=lambda: {step: Latencies() for step in STEPS})

    def line(self) -> str:
        """All counts in one line."""
        became = ", ".join(f"{count} {word}" for name, word in _WORDS if (count := getattr(self.signed, name)))
        letters = ", ".join(f"{reason} {count}" for reason, count in sorted(self.dead_letters.items()))
        copies = f"; late copies passed over: {self.late_copies}" if self.late_copies else ""
        return (
            f"{self.documents} documents{f' ({became})' if became else ''}, {self.candidates} candidates, "
            f"{self.matches} matches; dead letters: {letters or 'none'}; too late to match: {self.signed.expired}; "
            f"left out by caps: {self.capped_postings} buckets{self._blocks()}, {self.capped_candidates} candidates"
            f"{copies}{self._recall()}"
        )

    def _recall(self) -> str:
        """The measured recall, as soon as there is a pair."""
        recall, pairs = self.recall_monitor.recall(), self.recall_monitor.pairs
        if recall is None:
            return ""
        return f"; shadow: recall {recall.share:.3f} ({recall.low:.3f} to {recall.high:.3f}) of {pairs} pairs"

    def _blocks(self) -> str:
        """The blocks with the most capped buckets, where blocks have names."""
        named = [f"{name}: {count}" for name, count in self.capped_by_block.most_common(_BLOCKS) if name]
        return f" ({', '.join(named)})" if named else ""
