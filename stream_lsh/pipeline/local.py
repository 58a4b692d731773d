"""The five steps chained in memory: for the library, the `dedup` command, and as the reference of the stream.

One source partition, one partition of everything; a batch passes through all steps before the next one begins.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stream_lsh.index.table import BandTable
from stream_lsh.ledger.changes import Settled
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edges, concatenated
from stream_lsh.model import NO_ABOUT, NO_REF, About, Document, at_rows
from stream_lsh.pipeline.agents.effects import Effect, Publish, Send
from stream_lsh.pipeline.agents.gather import gather_agent
from stream_lsh.pipeline.agents.index import index_agent
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.settle import settle_agent
from stream_lsh.pipeline.agents.sign import deliver, prepared_batch
from stream_lsh.pipeline.agents.state import BucketsState, DocumentsState, LedgerState, Shared, StepCounts
from stream_lsh.pipeline.agents.verify import verify_agent
from stream_lsh.pipeline.batches import (
    BandsFrame,
    CandidatesFrame,
    EdgesFrame,
    Frame,
    Mark,
    Signatures,
    Verifications,
    VerificationsFrame,
    Watermarks,
)
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRecovery
from stream_lsh.pipeline.changelog.records import DocumentsRecord, LedgerRecord
from stream_lsh.pipeline.changelog.rewrite import BucketsRecovery
from stream_lsh.pipeline.compare import Comparer, Criteria
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.omitted import matches_among
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.pipeline.sign import Arrivals
from stream_lsh.pipeline.similar import signed
from stream_lsh.pipeline.verify import verify
from stream_lsh.pipeline.watermarks import Relay
from stream_lsh.retention import BEGINNING_MS, Horizon

BATCH = 200
"""The best number of documents for one batch: more gain nothing, fewer pay for each numpy call."""

_CREDIT = 1 << 25
"""Postings that may be read to count omitted candidates exactly: seconds of work."""
_DRAWS = 32
_AT_ONCE = 1 << 15
"""Candidates that are compared together: their signatures take 32 MB."""

_NO_LOG = LogHead()
"""The head of a changelog without records."""


@dataclass(frozen=True, slots=True)
class LocalState:
    """A pipeline between two batches: the live documents, the ledger, the next offset, the greatest event time."""

    next_offset: int
    newest_ms: int
    documents: DocumentsRecord
    ledger: LedgerRecord


class LocalPipeline:
    """A pipeline in memory.

    Args:
        scheme: makes signatures, buckets and shingle sets.
        threshold: least similarity of a match; the scheme's bands were chosen for it.
        limits: retention, caps and guards.

    Guarantees:
        the pairs are those that the stream finds for the same documents; so are the groups, but not the cluster ids,
        which depend on the order of edges.
    """

    def __init__(self, scheme: Scheme, threshold: float, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self.scheme = scheme
        self.limits = limits
        self.documents = DocumentTable(scheme.slots, counts=scheme.counts())
        self.table = BandTable(
            cap_postings=limits.cap_postings,
            cap_candidates=limits.cap_candidates,
            segment_span_ms=limits.segment_span_ms,
            most_documents=limits.segment_documents,
            free_candidates=limits.free_candidates,
            credit=_CREDIT,
            draws=_DRAWS,
        )
        self.settler = limits.settler(threshold)
        criteria, comparer = scheme.criteria(threshold, limits.retention_ms), scheme.comparer()
        span_ms = limits.segment_span_ms
        self._shared = Shared(scheme, criteria, comparer, StepCounts(), span_ms, verify=_verify_at_once)
        self._of_documents = DocumentsState(self.documents, Forwarded(), Relay(0, 1), Relay(0, 1))
        self._of_buckets = BucketsState(BucketsRecovery(self.table), Relay(0, 1))
        self._of_ledger = LedgerState(LedgerRecovery(self.settler))
        self._next_offset = 0
        self._newest_ms = BEGINNING_MS

    @property
    def counts(self) -> StepCounts:
        """The counts since the pipeline was made."""
        return self._shared.counts

    @counts.setter
    def counts(self, counts: StepCounts) -> None:
        self._shared = replace(self._shared, counts=counts)

    def process(self, documents: Sequence[Document], presigned: Signatures | None = None) -> list[Settled]:
        """Pass a batch through all steps; returns what each frame of edges changed, in order.

        Args:
            documents: new versions and deletes, in order; an id may come more than once.
            presigned: the signatures of all texts of the batch, if they were made elsewhere.
        """
        if not documents:
            return []
        offsets = range(self._next_offset, self._next_offset + len(documents))
        self._next_offset = offsets.stop
        arrivals = Arrivals(0, offsets, documents)
        prepared = prepared_batch(self._shared, self._of_documents, arrivals, offsets.start, presigned)
        self.counts.documents += len(documents)
        self.table.prober.allow(self.limits.free_pairs - len(self.settler.ledger.graph.pairs))
        settled = self._settle(self._edges(deliver(self._shared, self._of_documents, _NO_LOG, prepared, 0)))
        omitted = self.table.prober.omitted.take()
        if omitted is not None:
            compared = self.documents, self._shared.criteria, self._shared.comparer
            self.counts.capped_matches += matches_among(omitted, *compared)
        # The pairs of a batch are published before the batch lets any of them expire, however much time it spans.
        return settled + self._settle(EdgesFrame(watermarks=self._watermarks(documents)))

    def decide(self, left_id: str, right_id: str, verdict: str | None) -> list[Settled]:
        """Store the verdict on two ids, `same`, `different`, or None for neither; returns the resulting changes."""
        left, right = sorted((left_id, right_id))
        ref = 1 + max((decision.ref for decision in self.settler.ledger.decisions.of.values()), default=0)
        return self._settle(EdgesFrame(decisions=(Decision(left, right, verdict, ref),)))

    def similar(self, text: str, time_ms: int | None = None, about: About = NO_ABOUT) -> Edges | None:
        """The matches of a text if it arrived now, None if there are none; nothing is changed.

        Args:
            text: any.
            time_ms: its event time; None: the retention does not matter.
            about: its metadata.
        """
        query = signed(self.scheme, text, time_ms, about)
        if query is None:
            return None
        hits = self.table.probe(np.zeros(query.buckets.size, np.int64), query.buckets)
        self.counts.capped_candidates += hits.capped_candidates
        criteria = self._shared.criteria
        if time_ms is None:
            criteria = replace(criteria, retention_ms=None)
        edges = verify(query.against(hits.old), self.documents, criteria, self._shared.comparer)
        self._shared.comparer.forget(NO_REF)
        return edges

    def snapshot(self) -> LocalState:
        """All live state, in the form needed to continue, without the part that is needed only after a crash.

        Nothing is under way between two batches, so tombstones and the refs of retired versions can be omitted.
        """
        ledger = self.settler.snapshot()
        ledger = replace(ledger, changes=replace(ledger.changes, newest=[]))
        return LocalState(self._next_offset, self._newest_ms, _live_only(self.documents.snapshot(1)), ledger)

    def restore(self, documents: Iterable[DocumentsRecord], ledger: LedgerRecord, progress: tuple[int, int]) -> None:
        """Continue, in a new pipeline, from the snapshot of another one.

        Args:
            documents: the documents of the snapshot, in one record or cut into several.
            ledger: that of the snapshot.
            progress: its `next_offset` and `newest_ms`.
        """
        for record in documents:
            self.documents.apply(record)
            buckets = self.scheme.buckets(Signatures(record.signatures, record.digests))
            rows, _ = np.nonzero(buckets)
            self.table.insert(record.refs, record.times, rows, buckets[buckets != 0])
        self.settler.apply(ledger)
        self._next_offset, self._newest_ms = progress
        self.documents.expire(self.horizon)

    def _edges(self, effects: Iterable[Effect]) -> EdgesFrame:
        """The frame for settle that results from an agent's effects, through all agents in between."""
        frame = EdgesFrame()
        for effect in self._carried_out(effects):
            if isinstance(effect, Send):
                part = self._passed_on(effect.frame)
                edges = part.edges if frame.edges is None else frame.edges
                frame = EdgesFrame(frame.retirements or part.retirements, edges)
        return frame

    def _passed_on(self, sent: Frame) -> EdgesFrame:
        """The frame for settle that results from a frame: a batch is one frame of each step."""
        if isinstance(sent, BandsFrame):
            return self._edges(index_agent(self._shared, self._of_buckets, _NO_LOG, Input(0, (sent,), 0, 0)))
        if isinstance(sent, CandidatesFrame):
            return self._compared(sent)
        if isinstance(sent, VerificationsFrame):
            return self._edges(verify_agent(self._shared, self._of_documents, Input(0, (sent,), 0, 0)))
        return sent

    def _compared(self, sent: CandidatesFrame) -> EdgesFrame:
        """The edges of candidates, some at a time, so that memory stays flat."""
        pairs, edges = sent.candidates, list[Edges]()
        for start in range(0, max(1, 0 if pairs is None else len(pairs)), _AT_ONCE):
            some = sent
            if pairs is not None and len(pairs) > _AT_ONCE:
                at = slice(start, start + _AT_ONCE)
                some = CandidatesFrame(pairs.only(at), horizon=None if start else sent.horizon)
            agent = gather_agent(self._shared, self._of_documents, self._owned, Input(0, (some,), 0, 0))
            found = self._edges(agent).edges
            edges += [] if found is None else [found]
        return EdgesFrame(edges=concatenated(edges) if edges else None)

    def _owned(self) -> Mapping[int, DocumentsState]:
        """The documents of the only partition, so gather compares all pairs itself."""
        return {0: self._of_documents}

    def _settle(self, frame: EdgesFrame) -> list[Settled]:
        """Settle a frame, then the answers to its rechecks, until there are no more rechecks."""
        settled: list[Settled] = []
        while frame != EdgesFrame():
            offset, sent = self.settler.applied_offset + 1, list[Frame]()
            agent = settle_agent(self._shared, self._of_ledger, [(offset, frame)], offset + 1, 0)
            for effect in self._carried_out(agent):
                if isinstance(effect, Publish):
                    settled.append(effect.settlement.settled)
                elif isinstance(effect, Send):
                    sent.append(effect.frame)
            # Documents expire before any pair is compared again.
            frame = EdgesFrame()
            for asked in sorted(sent, key=_asks):
                frame = self._passed_on(asked)
        return settled

    def _carried_out(self, effects: Iterable[Effect]) -> Iterable[Effect]:
        """The effects of an agent; there are no changelogs, so barriers need not wait."""
        return effects

    def _watermarks(self, documents: Sequence[Document]) -> Watermarks | None:
        """The watermarks behind a batch; None if nothing ever expires."""
        limits = self.limits
        if limits.retention_ms is None and not limits.max_documents:
            return None
        times = (document.time_ms for document in documents if document.text is not None)
        self._newest_ms = max(self._newest_ms, max(times, default=BEGINNING_MS))
        min_offset = self.documents.min_offset(limits.max_documents) if limits.max_documents else 0
        return Watermarks(0, (Mark(0, self._newest_ms, False, min_offset),))

    @property
    def horizon(self) -> Horizon:
        """The limit of what has expired."""
        return self.settler.ledger.horizon


def _live_only(record: DocumentsRecord) -> DocumentsRecord:
    """The live versions of a record, without the versions that they retired."""
    at = np.flatnonzero(record.live)
    return DocumentsRecord(
        ids=[record.ids[row] for row in at.tolist()],
        refs=record.refs[at],
        times=record.times[at],
        keep_until=record.times[at],
        digests=record.digests[at],
        live=record.live[at],
        texts=[record.texts[row] for row in at.tolist()],
        signatures=record.signatures[at],
        retired_rows=np.empty(0, np.int64),
        retired_refs=np.empty(0, np.uint64),
        retired_buckets=np.empty((0, 1), np.uint64),
        horizon=record.horizon,
        abouts=at_rows(record.abouts, at.tolist()),
    )


def _verify_at_once(
    asked: Verifications, documents: DocumentTable, criteria: Criteria, comparer: Comparer
) -> Iterator[Edges | None]:
    """Verify all pairs in one step: no other work waits for its turn."""
    yield verify(asked, documents, criteria, comparer)


def _asks(frame: Frame) -> bool:
    """Whether a frame of settle contains rechecks."""
    return isinstance(frame, CandidatesFrame) and frame.candidates is not None
