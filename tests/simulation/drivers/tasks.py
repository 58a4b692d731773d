"""The package's agents over the simulated log, with their decoded input.

`rules` removes rules by wrappers over the effects of these functions, among others.
"""

import operator
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.ledger.decisions import Decision
from stream_lsh.model import Document, make_ref
from stream_lsh.pipeline.agents.decide import decide_agent
from stream_lsh.pipeline.agents.effects import Effect, Send
from stream_lsh.pipeline.agents.gather import gather_agent
from stream_lsh.pipeline.agents.index import index_agent
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.rekey import rekey_agent
from stream_lsh.pipeline.agents.reports import SignedPartition, event_time_agent, pages_agent
from stream_lsh.pipeline.agents.settle import settle_agent
from stream_lsh.pipeline.agents.sign import Source, sign_agent
from stream_lsh.pipeline.agents.verify import verify_agent
from stream_lsh.pipeline.batches import BandsFrame, EdgesFrame
from tests.simulation.drivers.process import Process
from tests.simulation.log.broker import Message
from tests.simulation.pipelines.intake import Copied, is_behind_a_newer_one


class Reader:
    """The reader of sign's topic: documents of the source, or copies of the intake."""

    def __init__(self, worker: Process, partition: int) -> None:
        self._worker, self._partition = worker, partition
        self._generations = worker.partitions[partition].generations
        if worker.setup.rekey:
            self._generations.begin(worker.generation)

    def is_late(self, message: Message) -> bool:
        if not self._worker.setup.rekey:
            return False
        copied: Copied = message.value
        if self._generations.is_late(copied.origin):
            return True
        broker = self._worker.broker
        if is_behind_a_newer_one(broker, self._partition, copied, message.offset):
            broker.late_copies.add((self._partition, message.offset))
        return False

    def document(self, message: Message) -> Document:
        document: Document = message.value.document if self._worker.setup.rekey else message.value
        return document

    def is_rejected(self, error: Exception) -> bool:
        return False


def sign(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Documents in, bands and retirements out."""
    setup, broker, state = worker.setup, worker.broker, worker.partitions[partition]
    stop = min(broker.end(setup.documents_topic, partition), position + setup.batch)
    records = [(offset, broker.at(setup.documents_topic, partition, offset)) for offset in range(position, stop)]
    source = Source(partition, records, stop, Reader(worker, partition), state.confirmed)
    return sign_agent(worker.shared, state.of_documents, state.logs["documents"], source)


def index(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Bands in, candidates out."""
    state = worker.partitions[partition]
    bands = _input(worker, "bands", partition, position)
    return index_agent(worker.shared, state.of_buckets, state.logs["buckets"], bands)


def gather(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Candidates in, edges and verifications out."""
    documents = worker.partitions[partition].of_documents
    return gather_agent(worker.shared, documents, worker.held, _input(worker, "candidates", partition, position))


def verify(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Verifications in, edges out."""
    documents = worker.partitions[partition].of_documents
    return verify_agent(worker.shared, documents, _input(worker, "verifications", partition, position))


def settle(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Edges in, results out."""
    assert worker.ledger is not None
    stop = min(worker.broker.end("edges", partition), position + worker.setup.together)
    generation = worker.generation  # of the whole batch, also if a rebalance happens before its end
    edges = _edges(worker, position, stop, generation)
    return settle_agent(worker.shared, worker.ledger, edges, stop, generation)


def _edges(worker: Process, start: int, stop: int, generation: int) -> Iterator[tuple[int, EdgesFrame]]:
    """Messages of `edges`; notes whenever one of them has moved the horizon."""
    assert worker.settler is not None
    for offset in range(start, stop):
        before = worker.settler.ledger.horizon
        yield offset, worker.read_one("edges", 0, offset)
        horizon = worker.settler.ledger.horizon
        if horizon != before:
            worker.broker.advances.append((horizon.time_ms, generation, [*worker.broker.marks]))


def decide(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Decisions in, the same for settle out."""
    stop = min(worker.broker.end("decisions", partition), position + worker.setup.batch)
    messages = [worker.broker.at("decisions", partition, offset) for offset in range(position, stop)]

    def read(message: Message) -> Decision:
        return parse_decision(message.key, message.value, make_ref(partition, message.offset))

    return decide_agent(messages, stop, read)


def intake(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Messages of a source in, the same keyed by id out."""
    broker = worker.broker
    stop = min(broker.end("source", partition), position + worker.setup.batch)
    messages = [(partition, broker.at("source", partition, offset)) for offset in range(position, stop)]

    def key_of(placed: tuple[int, Message]) -> str:
        return str(placed[1].value.id)

    return rekey_agent(messages, stop, key_of, worker.generation, broker.clock)


def tick(worker: Process, partitions: Sequence[int], mark_idle: bool) -> Iterator[Effect]:
    """The present marks of event time, to every index partition."""
    effects = [
        *event_time_agent(_sources(worker, partitions, mark_idle), worker.setup.max_documents, worker.generation)
    ]
    for effect in effects:
        if isinstance(effect, Send) and isinstance(effect.frame, BandsFrame) and effect.frame.watermarks is not None:
            worker.broker.marks += effect.frame.watermarks.marks
    return iter(effects)


def _sources(worker: Process, partitions: Sequence[int], mark_idle: bool) -> list[SignedPartition]:
    topic, sources = worker.setup.documents_topic, list[SignedPartition]()
    for partition in partitions:
        state, end = worker.partitions[partition], worker.broker.end(topic, partition)
        is_end = partial(operator.eq, end) if mark_idle else lambda _: False
        sources.append(SignedPartition(partition, state.of_documents, state.confirmed, is_end))
    return sources


def report_pages(worker: Process, partition: int) -> Iterator[Effect]:
    """The page counts of sites at the time of sending, to settle."""
    documents = worker.partitions[partition].of_documents
    yield from pages_agent(partition, documents, worker.stored["documents-changelog", partition], worker.generation)


def _input(worker: Process, topic: str, partition: int, position: int) -> Input[Any]:
    frames = worker.read(topic, partition, position)
    return Input(partition, frames, position + len(frames), worker.generation)


def start(worker: Process, agent: str, partition: int, position: int) -> Iterator[Effect]:
    """An agent at a position of its topic."""
    effects: Iterator[Effect] = globals()[agent](worker, partition, position)
    return effects
