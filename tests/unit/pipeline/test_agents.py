"""The effects of the agents, in order: which write may be stored without which other one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from stream_lsh.errors import InputError, StateError, UnusableDocument
from stream_lsh.index.table import BandTable
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.ledger.changes import LedgerChanges
from stream_lsh.ledger.decisions import Decision
from stream_lsh.model import Document
from stream_lsh.pipeline.agents.decide import decide_agent
from stream_lsh.pipeline.agents.effects import (
    BARRIER,
    FLUSH,
    TURN,
    Acknowledge,
    Append,
    Copy,
    DeadLetter,
    Effect,
    Order,
    Publish,
    Send,
    Trim,
)
from stream_lsh.pipeline.agents.gather import OwnedDocuments, gather_agent
from stream_lsh.pipeline.agents.index import index_agent
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.rekey import rekey_agent
from stream_lsh.pipeline.agents.reports import SignedPartition, event_time_agent, pages_agent
from stream_lsh.pipeline.agents.settle import settle_agent
from stream_lsh.pipeline.agents.sign import Source, sign_agent
from stream_lsh.pipeline.agents.state import BucketsState, DocumentsState, LedgerState, Shared, StepCounts
from stream_lsh.pipeline.agents.verify import verify_agent
from stream_lsh.pipeline.batches import (
    BEGINS,
    BandsFrame,
    CandidatesFrame,
    EdgesFrame,
    Mark,
    VerificationsFrame,
    Watermarks,
)
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRecovery
from stream_lsh.pipeline.changelog.records import LedgerRecord, LedgerSlice
from stream_lsh.pipeline.changelog.rewrite import BucketsRecovery
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.settle import Settler
from stream_lsh.pipeline.watermarks import Relay
from stream_lsh.retention import BEGINNING_MS

TEXT = "the quick brown fox jumps over the lazy dog"


class Reader:
    """Documents as they are; those without an id cannot be used."""

    def is_late(self, record: Document) -> bool:
        return record.id == "late"

    def document(self, record: Document) -> Document:
        if not record.id:
            raise UnusableDocument("id", "got no id")
        return record

    def is_rejected(self, error: Exception) -> bool:
        return isinstance(error, InputError)


class Pipeline:
    """The states of a pipeline with one partition.

    Attributes:
        held: returns the documents that gather may compare with.
    """

    def __init__(self, cap_postings: int = 0) -> None:
        scheme = TextScheme(0.5)
        self.shared = Shared(scheme, scheme.criteria(0.5, 100), scheme.comparer(), StepCounts())
        relays = Relay(0, 1), Relay(0, 1)
        self.documents = DocumentsState(DocumentTable(scheme.slots), Forwarded(), *relays)
        self.buckets = BucketsState(
            BucketsRecovery(BandTable(cap_postings=cap_postings, cap_candidates=0)), Relay(0, 1)
        )
        self.held: OwnedDocuments = lambda: {0: self.documents}
        self.ledger = LedgerState(LedgerRecovery(Settler(0.5, 1, 100, 0)))
        self.offset = 0

    def sign(self, *documents: Document) -> Iterator[Effect]:
        start, self.offset = self.offset, self.offset + len(documents)
        records = [*enumerate(documents, start)]
        return sign_agent(
            self.shared, self.documents, LogHead(), Source(0, records, self.offset, Reader(), committed=0)
        )

    def index(self, *frames: BandsFrame) -> Iterator[Effect]:
        return index_agent(self.shared, self.buckets, LogHead(), Input(0, frames, len(frames), 1))

    def gather(self, *frames: CandidatesFrame) -> Iterator[Effect]:
        return gather_agent(self.shared, self.documents, self.held, Input(0, frames, len(frames), 1))

    def verify(self, *frames: VerificationsFrame) -> Iterator[Effect]:
        return verify_agent(self.shared, self.documents, Input(0, frames, len(frames), 1))

    def settle(self, *frames: EdgesFrame, start: int = 0) -> Iterator[Effect]:
        return settle_agent(self.shared, self.ledger, [*enumerate(frames, start)], start + len(frames), 1)


def kinds(effects: Iterable[Effect]) -> list[Any]:
    """The effects in order: a table, a step, or the kind."""
    shown = list[Any]()
    for effect in effects:
        if isinstance(effect, Append):
            shown.append(effect.table)
        elif isinstance(effect, Send):
            shown.append(effect.step)
        else:
            shown.append(effect if isinstance(effect, Order) else type(effect))
    return shown


def sent(effects: Iterable[Effect], step: str) -> list[Any]:
    return [effect.frame for effect in effects if isinstance(effect, Send) and effect.step == step]


def through(pipeline: Pipeline, *documents: Document) -> list[EdgesFrame]:
    """The frames that reach settle from some documents."""
    signed = [*pipeline.sign(*documents)]
    indexed = [*pipeline.index(*sent(signed, "bands"))]
    gathered = [*pipeline.gather(*sent(indexed, "candidates"))]
    return [*sent(signed, "edges"), *sent(gathered, "edges")]


def test_sign_announces_what_its_changelog_has_and_ends_when_all_of_it_is_stored() -> None:
    pipeline = Pipeline()
    first = [*pipeline.sign(Document("a", TEXT, 5))]
    assert kinds(first) == ["documents", BARRIER, "bands", BARRIER, Trim, Acknowledge]
    second = [*pipeline.sign(Document("a", "other words", 6), Document("", TEXT, 6), Document("late", TEXT, 6))]
    assert kinds(second) == [DeadLetter, "documents", BARRIER, "bands", "edges", BARRIER, Trim, Acknowledge]
    assert second[-1] == Acknowledge(4)


def test_event_time_and_position_of_sign_move_when_all_of_a_batch_is_stored() -> None:
    pipeline = Pipeline()
    for effect in pipeline.sign(Document("a", TEXT, 5)):
        before = pipeline.documents.newest_ms
        assert (before == 5, pipeline.documents.position == 1) == (isinstance(effect, Acknowledge),) * 2


def test_a_delete_does_not_advance_event_time() -> None:
    pipeline = Pipeline()
    list(pipeline.sign(Document("a", TEXT, 5)))
    list(pipeline.sign(Document("a", None, 900)))
    assert (pipeline.documents.newest_ms, pipeline.documents.position) == (5, 2)


def test_while_a_table_may_be_ahead_of_its_changelog_it_is_not_saved() -> None:
    pipeline = Pipeline()
    seen = [(kinds([effect])[0], pipeline.documents.is_ahead) for effect in pipeline.sign(Document("a", TEXT, 5))]
    assert [name for name, is_ahead in seen if is_ahead] == ["documents", BARRIER]
    bands = sent(Pipeline().sign(Document("a", TEXT, 5)), "bands")
    shown = [(kinds([effect])[0], pipeline.buckets.is_ahead) for effect in pipeline.index(*bands)]
    assert shown == [("buckets", True), (Acknowledge, False)]


def test_index_sends_candidates_behind_its_changelog_and_marks_behind_both() -> None:
    pipeline = Pipeline()
    bands = sent(pipeline.sign(Document("a", TEXT, 5), Document("b", TEXT, 6)), "bands")
    marks = BandsFrame(watermarks=Watermarks(0, (Mark(0, 6, False, 0, 1, 1),)))
    effects = [*pipeline.index(marks, *bands)]
    assert kinds(effects) == ["buckets", "candidates", "candidates", Acknowledge]
    assert [frame.watermarks is None for frame in sent(effects, "candidates")] == [True, False]


def test_index_stores_copies_that_became_neighbours_before_its_changelog_has_the_retirement() -> None:
    pipeline = Pipeline(cap_postings=1)
    bands = sent(pipeline.sign(*(Document(id, TEXT, 5) for id in "abc")), "bands")
    assert kinds(pipeline.index(*bands)) == ["buckets", "candidates", Acknowledge]
    effects = [*pipeline.index(*sent(pipeline.sign(Document("b", None, 6)), "bands"))]
    assert kinds(effects) == ["candidates", BARRIER, "buckets", Acknowledge]
    candidates = sent(effects, "candidates")[0].candidates
    assert [*zip(candidates.new.tolist(), candidates.old.tolist(), strict=True)] == [(2, 0)]
    without_neighbours = pipeline.index(*sent(pipeline.sign(Document("c", None, 7)), "bands"))
    assert kinds(without_neighbours) == ["buckets", Acknowledge]


@pytest.mark.parametrize(("held", "step"), [(True, "edges"), (False, "verifications")])
def test_gather_sends_pairs_and_then_marks(held: bool, step: str) -> None:
    pipeline = Pipeline()
    if not held:
        pipeline.held = dict
    bands = sent(pipeline.sign(Document("a", TEXT, 5), Document("b", TEXT, 6)), "bands")
    marks = CandidatesFrame(watermarks=Watermarks(0, (Mark(0, 6, False, 0, 1, 1),)))
    effects = [*pipeline.gather(marks, *sent(pipeline.index(*bands), "candidates"))]
    assert kinds(effects) == [step, FLUSH, "verifications", Acknowledge]
    assert sent(effects, "verifications")[-1].watermarks is not None


def test_verify_sends_edges_and_then_marks_before_it_acknowledges_them() -> None:
    pipeline = Pipeline()
    pipeline.held = dict
    bands = sent(pipeline.sign(Document("a", TEXT, 5), Document("b", TEXT, 6)), "bands")
    gathered = pipeline.gather(*sent(pipeline.index(*bands), "candidates"))
    marks = VerificationsFrame(watermarks=Watermarks(0, (Mark(0, 6, False, 0, 1, 1),)))
    effects = [*pipeline.verify(marks, *sent(gathered, "verifications"))]
    assert kinds(effects) == ["edges", TURN, "edges", Acknowledge]
    assert [frame.watermarks is None for frame in sent(effects, "edges")] == [True, False]


def test_settle_publishes_before_it_records_and_flights_follow_each_other() -> None:
    pipeline = Pipeline()
    matched = through(pipeline, Document("a", TEXT, 5), Document("b", TEXT, 6))
    deleted = through(pipeline, Document("a", None, 7))
    flight = [Publish, BARRIER, "ledger", BARRIER]
    assert kinds(pipeline.settle(*matched, *deleted)) == [*flight, *flight, Trim, Acknowledge]


def test_settle_requests_rechecks_before_it_records() -> None:
    pipeline = Pipeline()
    matched = through(pipeline, Document("a", TEXT, 5), Document("b", TEXT, 6))
    assert kinds(pipeline.settle(*matched)) == [Publish, BARRIER, "ledger", BARRIER, Trim, Acknowledge]
    updated = through(pipeline, Document("a", "other words", 7))
    expected = [Publish, "candidates", BARRIER, "ledger", BARRIER, Trim, Acknowledge]
    assert kinds(pipeline.settle(*updated, start=1)) == expected


def test_a_frame_that_moves_the_horizon_sends_it_before_its_record() -> None:
    pipeline = Pipeline()
    marks = [EdgesFrame(watermarks=Watermarks(0, (Mark(0, time_ms, False, 0, 1, time_ms),))) for time_ms in (500, 900)]
    flight = [Publish, "bands", "candidates", BARRIER, "ledger", BARRIER]
    assert kinds(pipeline.settle(*marks)) == [*flight, *flight, Trim, Acknowledge]


def test_nothing_is_settled_on_half_a_ledger() -> None:
    pipeline = Pipeline()
    half = LedgerSlice(BEGINS, 0, LedgerRecord(-1, LedgerChanges(), ()))
    pipeline.ledger.recovery.take(half)
    with pytest.raises(StateError, match="expected all of it"):
        next(pipeline.settle(*through(pipeline, Document("a", TEXT, 5), Document("b", TEXT, 6))))


@pytest.mark.parametrize("usable", [[0, 1, 2], [1], []])
def test_unusable_messages_are_dead_letters_and_the_others_are_passed_on_before_the_acknowledgement(
    usable: Sequence[int],
) -> None:
    def read(number: int) -> Decision:
        return Decision("a", "b", "same", number) if number in usable else _refuse()

    def key_of(number: int) -> bytes:
        return b"%d" % number if number in usable else _refuse()

    dead = [DeadLetter] * (3 - len(usable))
    decided, copied = [*decide_agent(range(3), 3, read)], [*rekey_agent(range(3), 3, key_of, 1, 1_000)]
    assert kinds(decided) == [*dead, *(["edges"] if usable else []), Acknowledge]
    assert kinds(copied) == [*dead, *([Copy] if usable else []), Acknowledge]
    assert [effect.records for effect in copied if isinstance(effect, Copy)] == [usable] * bool(usable)


def _refuse() -> Any:
    raise UnusableDocument("json", "got nothing")


def test_a_report_of_event_time_is_one_frame_and_states_what_is_delivered() -> None:
    pipeline = Pipeline()
    assert list(event_time_agent([], 0, 1)) == []
    assert kinds(pages_agent(0, pipeline.documents, None, 1)) == [], "no sites are counted here"
    list(pipeline.sign(Document("a", TEXT, 5)))
    ends = list[int]()

    def is_end(offset: int) -> bool:
        ends.append(offset)
        return True

    other = Pipeline().documents
    sources = [SignedPartition(0, pipeline.documents, 0, is_end), SignedPartition(1, other, 7, is_end)]
    effects = list(event_time_agent(sources, 0, 1))
    assert kinds(effects) == ["bands"]
    marks = sent(effects, "bands")[0].watermarks.marks
    assert [(mark.source, mark.time_ms, mark.idle) for mark in marks] == [(0, 5, False), (1, BEGINNING_MS, False)]
    assert ends == [1, 7], "a partition that is new here is read from its committed offset"
