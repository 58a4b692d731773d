"""The counts of a worker for its log."""

from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Counts(StepCounts):
    """The counts of one pipeline on this worker, since it was started.

    Attributes:
        matches: that were published.
        dead_letters: messages that cannot be used, by reason.
        recall_monitor: the matches that the bands find and miss, measured on a sample.
    """

    matches: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)
    recall_monitor: RecallCounts = field(default_factory=RecallCounts)

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
