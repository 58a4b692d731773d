"""Messages through the parsers, and what they understand through all steps and codecs, in memory."""

from collections import Counter
from collections.abc import Iterable

from stream_lsh.arrays import Bools
from stream_lsh.config import Config
from stream_lsh.errors import InputError
from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.ledger.changes import Settled
from stream_lsh.ledger.edges import Edges
from stream_lsh.model import Document
from stream_lsh.pipeline.batches import BandsFrame, Candidates, CandidatesFrame, EdgesFrame, VerificationsFrame
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.gather import gather
from stream_lsh.pipeline.local import LocalPipeline
from stream_lsh.pipeline.settle import Settlement
from stream_lsh.pipeline.verify import verify
from stream_lsh.wire.frames import (
    Frame,
    decode_candidates,
    decode_documents,
    decode_edges,
    decode_verifications,
    encode,
    encode_buckets,
)
from stream_lsh.wire.ids import key_of
from stream_lsh.wire.ledger_parts import LedgerAssembler, encode_ledger
from stream_lsh.wire.split import cut_documents, cut_edges, cut_retirements, cut_verifications
from stream_lsh.worker.state import PipelineState
from tests.fuzz.messages import NOW_MS, Message

_BATCH = 50
_FIRST_MS, _LAST_MS = -(1 << 63), (1 << 63) - 1


class CodedPipeline(LocalPipeline):
    """A pipeline in memory, where everything between two steps goes through its bytes, and results are made."""

    def __init__(self, config: Config) -> None:
        state = self._state = PipelineState(config.pipelines[0], 1)
        super().__init__(state.scheme, state.config.kind.least, state.limits)
        self._fingerprint = state.fingerprint
        self._assembler = LedgerAssembler(state.fingerprint)
        self._apply = self.documents.apply
        self.documents.apply = self._logged  # type: ignore[method-assign]
        self.published = 0

    def _bytes(self, frame: Frame | DocumentsRecord) -> bytes:
        return encode(frame, self._fingerprint)

    def _logged(self, record: DocumentsRecord) -> Bools:
        parts = [decode_documents(self._bytes(part), self._fingerprint) for part in cut_documents(record)]
        assert sum(map(len, parts)) == len(record)
        return self._apply(record)

    def _compare(self, candidates: Candidates | None) -> Edges | None:
        if candidates is None:
            return None
        found = decode_candidates(self._bytes(CandidatesFrame(candidates=candidates)), self._fingerprint).candidates
        assert found is not None
        asked = gather(found, self.documents, self._forwarded)
        for part in () if asked is None else cut_verifications(asked):
            decode_verifications(self._bytes(VerificationsFrame(verifications=part)), self._fingerprint)
        edges = None if asked is None else verify(asked, self.documents, self._criteria, self._comparer)
        for some in () if edges is None else cut_edges(edges):
            decode_edges(self._bytes(EdgesFrame(edges=some)), self._fingerprint)
        return edges

    def _settle(self, frame: EdgesFrame) -> list[Settled]:
        for part in cut_retirements(frame.retirements):
            decode_edges(self._bytes(EdgesFrame(retirements=part)), self._fingerprint)
        if frame.decisions:
            decode_edges(self._bytes(EdgesFrame(decisions=frame.decisions)), self._fingerprint)
        return super()._settle(frame)

    def _forget(self, settlement: Settlement) -> None:
        record = settlement.record
        for _, told in self._state.results.messages(settlement.settled, NOW_MS, record.offset):
            self.published += len(told)
        for offset, part in enumerate(encode_ledger(record, self._fingerprint)):
            self._assembler.take(part, offset)
        if settlement.horizon is not None:
            encode_buckets(BandsFrame(horizon=settlement.horizon), self._fingerprint)
        super()._forget(settlement)


def process(config: Config, messages: Iterable[Message], decisions: Iterable[Message] = ()) -> Counter[str]:
    """What became of messages: `read`, or the reason why not; whatever else is raised is a bug.

    Args:
        config: with one pipeline.
        messages: of its source.
        decisions: of its topic of decisions.
    """
    pipeline, found = CodedPipeline(config), Counter[str]()
    some: list[Document] = []
    for message in messages:
        try:
            some.append(_read(config, message))
        except InputError as error:
            found[error.reason] += 1
        else:
            found["read"] += 1
        if len(some) == _BATCH:
            pipeline.process(some)
            some = []
    pipeline.process(some)
    for ref, message in enumerate(decisions):
        try:
            decided = parse_decision(message.key, message.value, ref)
        except InputError as error:
            found[error.reason] += 1
        else:
            found["decided"] += 1
            pipeline.decide(decided.left, decided.right, decided.verdict)
    found["published"] = pipeline.published
    return found


def _read(config: Config, message: Message) -> Document:
    """The document as sign reads it, or behind the intake."""
    pipeline = config.pipelines[0]
    document = pipeline.document(message.value, message.key, message.timestamp_ms, keyed=not pipeline.rekey)
    if pipeline.rekey:
        key = key_of(document.id)
        document = pipeline.document(message.value, key, message.timestamp_ms)
    assert isinstance(document.id, str)
    assert type(document.time_ms) is int
    assert _FIRST_MS <= document.time_ms <= _LAST_MS
    return document
