"""The settings of a run: partitions, the pipeline, and the sizes of batches."""

from dataclasses import dataclass, field
from typing import Any

from stream_lsh.index.table import BandTable
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS
from stream_lsh.pipeline.agents.state import Shared, StepCounts
from stream_lsh.pipeline.compare import Criteria
from stream_lsh.pipeline.documents.site_pages import SitePages
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.settle import Settler
from tests.simulation.pipelines.entities import Records, entities
from tests.simulation.pipelines.scheme import NamedShingles

AGENTS = {
    "intake": "source",
    "sign": "source",
    "index": "bands",
    "gather": "candidates",
    "verify": "verifications",
    "settle": "edges",
    "decide": "decisions",
}
"""Every agent with the topic that it reads."""

NEVER = 1 << 40
"""More entries or bytes than any changelog has."""

LONG_MS = 100_000
"""Longer than the event time of any run."""


@dataclass(frozen=True)
class Setup:
    """The settings of a run.

    Attributes:
        rewrite_from: the entries that a changelog may hold before it is rewritten, even if few are live; None: it is
            never rewritten.  For the ledger's it is `least_ledger` bytes.
        save_from: the postings that the copy on disk of a band-bucket table may lack before the next copy; None: there
            are no copies.
    """

    partitions: int
    threshold: float
    retention_ms: int | None
    lateness_ms: int
    max_documents: int = 0
    cap_postings: int = 0
    cap_candidates: int = 0
    batch: int = 3
    together: int = 1
    limit: int = 256 * 1024
    rewrite_from: int | None = None
    stories: bool = False
    mirror_share: float = 0.0
    rules_out: frozenset[str] = frozenset()
    scheme: NamedShingles = field(default_factory=NamedShingles)
    records: Records | None = None
    rekey: bool = False
    save_from: int | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of every partition."""
        some = [name for name, here in (("decide", self.records is not None), ("intake", self.rekey)) if here]
        return ("sign", "index", "gather", "verify", *some)

    @property
    def documents_topic(self) -> str:
        """The topic that sign reads."""
        return "intake" if self.rekey else "source"

    def topic_of(self, agent: str) -> str:
        """The topic that an agent reads."""
        return self.documents_topic if agent == "sign" else AGENTS[agent]

    @property
    def least_ledger(self) -> int:
        """Bytes that the changelog of the ledger may hold."""
        return NEVER if self.rewrite_from is None else 500 * self.rewrite_from

    @property
    def keep_ms(self) -> int | None:
        """How long state is kept, in event time; None: for ever."""
        return None if self.retention_ms is None else self.retention_ms + self.lateness_ms

    @property
    def matches_at_any_distance(self) -> bool:
        """Whether no two documents of a run are further apart than the retention."""
        return self.retention_ms is None or self.retention_ms >= LONG_MS

    @property
    def criteria(self) -> Criteria:
        """The criteria of a match."""
        return Criteria(self.threshold, 0, self.retention_ms, self.scheme.measure)

    def shared(self) -> Shared:
        """The state that the agents of a worker share; if messages are small, one retires few versions."""
        few = 2 if self.limit < 200 else 0
        return Shared(self.scheme, self.criteria, self.scheme.comparer(), StepCounts(), 1, few)

    @property
    def table_settings(self) -> dict[str, Any]:
        """The settings of an index partition: small, so that it overflows into further segments."""
        span_ms = None if self.keep_ms is None else max(1, self.keep_ms // 3)
        caps = {"cap_postings": self.cap_postings, "cap_candidates": self.cap_candidates}
        return {**caps, "segment_span_ms": span_ms, "first_capacity": 64}

    def new_table(self) -> BandTable:
        """An empty index partition."""
        return BandTable(**self.table_settings)

    def new_documents(self) -> DocumentTable:
        """An empty partition of documents."""
        pages = SitePages() if self.mirror_share else None
        return DocumentTable(self.scheme.slots, pages=pages, counts=self.scheme.counts())

    def new_settler(self) -> Settler:
        """An empty ledger."""
        records = self.records
        return Settler(
            self.threshold,
            self.partitions,
            self.retention_ms,
            self.lateness_ms,
            NO_GUARDS if records is None else records.guards,
            stories=self.stories,
            mirror_share=self.mirror_share,
            link_from=0.0 if records is None else records.link_from,
            describer=None if records is None else entities(),
        )
