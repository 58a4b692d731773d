"""Messages through the parsers, and what they understand through all steps and codecs, in memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from stream_lsh.config import Config
from stream_lsh.errors import InputError
from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.model import Document
from stream_lsh.pipeline.agents.effects import Append, Effect, Publish, Send
from stream_lsh.pipeline.agents.state import DocumentsState
from stream_lsh.pipeline.batches import BandsFrame, Frame
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.local import LocalPipeline
from stream_lsh.wire.frames import (
    decode_bands,
    decode_buckets,
    decode_candidates,
    decode_documents,
    decode_edges,
    decode_verifications,
    encode,
)
from stream_lsh.wire.ids import key_of
from stream_lsh.wire.ledger_parts import LedgerAssembler
from stream_lsh.wire.outgoing import frames_of, parts_of
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.fuzz.messages import NOW_MS, Message

_BATCH = 50
_FIRST_MS, _LAST_MS = -(1 << 63), (1 << 63) - 1


_DECODERS: dict[str, Callable[[bytes, int], Frame]] = {
    "bands": decode_bands,
    "candidates": decode_candidates,
    "verifications": decode_verifications,
    "edges": decode_edges,
}


class CodedPipeline(LocalPipeline):
    """A pipeline in memory, where everything between two steps goes through its bytes, and results are made."""

    def __init__(self, config: Config) -> None:
        state = self._state = PipelineState(config.pipelines[0], 1)
        super().__init__(state.scheme, state.config.kind.least, state.limits)
        self._fingerprint = state.fingerprint
        self._assembler = LedgerAssembler(state.fingerprint)
        self.published = 0

    def _held(self) -> Mapping[int, DocumentsState]:
        return {}

    def _carried_out(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        for effect in effects:
            match effect:
                case Send(step):
                    yield Send(step, self._coded(effect))
                    continue
                case Append():
                    self._log(effect)
                case Publish(settlement):
                    offset = settlement.record.offset
                    for _, published in self._state.results.messages(settlement.settled, NOW_MS, offset):
                        self.published += len(published)
            yield effect

    def _coded(self, send: Send) -> Frame:
        """The frame of an effect as it is read; as it was, where it is cut into several."""
        frames = [frame for _, frame in frames_of(send, 1)]
        decoded = [_DECODERS[send.step](encode(frame, self._fingerprint), self._fingerprint) for frame in frames]
        return decoded[0] if len(decoded) == 1 else send.frame

    def _log(self, append: Append) -> None:
        parts = parts_of(append, self._fingerprint)
        if isinstance(append.record, DocumentsRecord):
            assert sum(len(decode_documents(part.value, self._fingerprint)) for part in parts) == len(append.record)
        elif isinstance(append.record, BandsFrame):
            for part in parts:
                decode_buckets(part.value, self._fingerprint)
        else:
            for offset, part in enumerate(parts):
                self._assembler.take(part.value, offset)


def process(config: Config, messages: Iterable[Message], decisions: Iterable[Message] = ()) -> Counter[str]:
    """The outcomes of messages: `read`, or the reason of the rejection; any other exception is a bug.

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
