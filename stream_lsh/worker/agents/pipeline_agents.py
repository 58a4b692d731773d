"""The agents on Kafka: each decodes its input, and the driver carries out its effects.

`stream_lsh/pipeline/agents` defines the effects of each agent, and their order.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from stream_lsh.errors import StateError, UnusableDocument
from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.ledger.decisions import Decision
from stream_lsh.model import Document, make_ref
from stream_lsh.pipeline.agents.decide import decide_agent
from stream_lsh.pipeline.agents.effects import Effect
from stream_lsh.pipeline.agents.gather import gather_agent
from stream_lsh.pipeline.agents.index import index_agent
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.rekey import rekey_agent
from stream_lsh.pipeline.agents.settle import settle_agent
from stream_lsh.pipeline.agents.sign import Source, sign_agent
from stream_lsh.pipeline.agents.verify import verify_agent
from stream_lsh.pipeline.batches import EdgesFrame
from stream_lsh.wire.frames import decode_bands, decode_candidates, decode_edges, decode_verifications
from stream_lsh.wire.ids import key_id_of, key_of
from stream_lsh.wire.origin import Origin, origin_of
from stream_lsh.worker.agents.dead_letters import is_rejected
from stream_lsh.worker.agents.driver import Driver, Received
from stream_lsh.worker.engine import Batch, ContiguityGuard, EngineApp, OrderedAcker
from stream_lsh.worker.state.changelogged import Changelogged, located
from stream_lsh.worker.state.engine_tables import StateTable
from stream_lsh.worker.state.pipeline_state import Documents, PipelineState

_Frame = TypeVar("_Frame")

_ROUND_SECONDS, _FEW = 0.02, 4
"""The least time from one round of sign to the next, if it had more than a few documents.  Each round costs some
milliseconds in all steps behind it, so smaller rounds delay the documents that are already under way."""
_FETCH_SECONDS = 0.003
"""Requests for documents start again this long before the next round."""
_COPIES_WINDOW = 8
"""Events of 200 messages that the intake has in flight: a crash copies at most these twice."""


class PipelineAgents:
    """The agents of one pipeline on this worker.

    Args:
        app: the engine.
        state: of the pipeline.
        tables: `documents`, `buckets` and `ledger`, which log its state.
    """

    def __init__(self, app: EngineApp, state: PipelineState, tables: dict[str, StateTable]) -> None:
        self._app = app
        self._state = state
        self._config = state.config
        self._driver = Driver(app, state, tables)

    # -- agents

    async def sign(self, stream: Any) -> None:
        """Documents in, bands and retirements out: partitions side by side, each batch after batch."""
        acker = OrderedAcker(self._app)
        guard = ContiguityGuard(self._app.committed_offset, self._config.sources)
        async for batches in self._app.rounds(stream, guard):
            next_round = time.monotonic() + _ROUND_SECONDS
            pauses = sum(len(batch.records) for batch in batches) > _FEW
            if pauses:
                self._app.postpone(self._config.documents_topic, next_round - _FETCH_SECONDS)
            for batch in batches:
                self._state.traffic.count(batch.tp, batch.records)
            await asyncio.gather(*[self._sign(batch, acker) for batch in batches])
            if pauses:
                await asyncio.sleep(next_round - time.monotonic())

    async def _sign(self, batch: Batch, acker: OrderedAcker) -> None:
        states, partition = self._state.documents, batch.partition
        documents = states[partition]
        received = [Received(record, self._origin(record)) for record in batch.records]
        records = [(message.record.offset, message) for message in received]
        reader = _Reader(self._state, documents, self._app.consumer_generation_id, partition)
        source = Source(partition, records, batch.offset + 1, reader, self._app.committed_offset(batch.tp))
        agent = sign_agent(self._state.shared, documents, states.head(partition), source)
        await self._step("sign", agent, batch, acker, states)

    async def index(self, stream: Any) -> None:
        """Bands in, candidates out."""
        acker, guard, states = self._acker(), self._guard(), self._state.buckets
        async for batch in self._current(stream, guard):
            bands = self._input(decode_bands, batch)
            for lag in (frame.lag for frame in bands.frames if frame.lag is not None):
                self._state.settle_lag.receive(lag)
            state, log = states[batch.partition], states.head(batch.partition)
            await self._step("index", index_agent(self._state.shared, state, log, bands), batch, acker, states)

    async def gather(self, stream: Any) -> None:
        """Candidates in, edges and verifications out."""
        acker, guard, states = self._acker(), self._guard(), self._state.documents
        async for batch in self._current(stream, guard):
            candidates = self._input(decode_candidates, batch)
            agent = gather_agent(self._state.shared, states[batch.partition], self._owned, candidates)
            await self._step("gather", agent, batch, acker, states)

    async def verify(self, stream: Any) -> None:
        """Verifications in, edges out."""
        acker, guard, states = self._acker(), self._guard(), self._state.documents
        async for batch in self._current(stream, guard):
            verifications = self._input(decode_verifications, batch)
            agent = verify_agent(self._state.shared, states[batch.partition], verifications)
            await self._step("verify", agent, batch, acker, states)

    async def settle(self, stream: Any) -> None:
        """Edges in, results out: message by message; independent messages are in flight together."""
        acker, guard, states = self._acker(), self._guard(), self._state.ledger
        async for batch in self._current(stream, guard):
            stop, generation = batch.offset + 1, self._app.generation
            agent = settle_agent(self._state.shared, states[0], self._edges(batch), stop, generation)
            await self._step("settle", agent, batch, acker, states)

    async def copy(self, stream: Any) -> None:
        """Messages of a source in, the same keyed by id out.

        The client has one request in flight for a partition, and retries it before it sends the next one: so the
        messages of one partition of a source are copied in their order.
        """
        acker = OrderedAcker(self._app, _COPIES_WINDOW)
        guard = ContiguityGuard(self._app.committed_offset, self._config.sources)
        async for batch in self._app.current(stream, guard):
            now_ms = int(time.time() * 1_000)
            records = [*map(Received, batch.records)]
            key = partial(self._key, now_ms)
            agent = rekey_agent(records, batch.offset + 1, key, batch.generation_id, now_ms)
            await self._driver.run(agent, batch, acker)

    def _key(self, now_ms: int, received: Received) -> bytes:
        """The id of a message; parsed here too, so that a dead letter has the place that its sender knows."""
        record = received.record
        found = self._config.document(record.value, record.key, record.timestamp, now_ms=now_ms, keyed=False)
        return key_of(found.id)

    async def decide(self, stream: Any) -> None:
        """Decisions in, the same for settle out."""
        acker = self._acker()
        guard = ContiguityGuard(self._app.committed_offset, (self._config.decisions_topic,))
        async for batch in self._app.current(stream, guard):
            records = [*map(Received, batch.records)]
            agent = decide_agent(records, batch.offset + 1, partial(_decision, batch.partition))
            await self._driver.run(agent, batch, acker)

    async def _step(
        self, step: str, agent: Iterator[Effect], batch: Batch, acker: OrderedAcker, states: Changelogged[Any]
    ) -> None:
        """Run an agent over a batch, and count its latency."""
        timestamp_ms = batch.records[0].timestamp
        if await self._run(agent, batch, acker, states) and timestamp_ms and timestamp_ms > 0:
            self._state.counts.latencies[step].add(time.time() - timestamp_ms / 1_000)

    async def _run(self, agent: Iterator[Effect], batch: Batch, acker: OrderedAcker, states: Changelogged[Any]) -> bool:
        """Run an agent over a batch, as long as the state of its partition is this worker's."""
        is_owned = partial(states.is_same, batch.partition, states[batch.partition])
        return await self._driver.run(agent, batch, acker, is_owned)

    def _owned(self) -> dict[int, Documents]:
        """The documents of this worker; none during a rebalance, which waits for each batch that an agent works on."""
        return {} if self._app.rebalancing else self._state.documents.owned()

    # -- input

    def _acker(self) -> OrderedAcker:
        return OrderedAcker(self._app)

    def _guard(self) -> ContiguityGuard:
        return ContiguityGuard(self._app.committed_offset)

    async def _current(self, stream: Any, guard: ContiguityGuard) -> AsyncIterator[Batch]:
        """The waiting batches, each marked as read for the measurement of backpressure."""
        async for batch in self._app.current(stream, guard):
            self._state.traffic.count(batch.tp, batch.records)
            yield batch

    def _edges(self, batch: Batch) -> Iterator[tuple[int, EdgesFrame]]:
        """The frames of a batch of `edges` with their offsets, decoded one by one."""
        for record in batch.records:
            yield record.offset, self._decoded(decode_edges, record)

    def _input(self, decode: Callable[[bytes | None, int], _Frame], batch: Batch) -> Input[_Frame]:
        """The frames of a batch: those of one partition, in their order."""
        frames = [self._decoded(decode, record) for record in batch.records]
        return Input(batch.partition, frames, batch.offset + 1, self._app.generation)

    def _decoded(self, decode: Callable[[bytes | None, int], _Frame], record: Any) -> _Frame:
        """The frame in a record; an error contains the offset of the record."""
        try:
            return decode(record.value, self._state.fingerprint)
        except StateError as error:
            raise located(error, f"{record.topic}, partition {record.partition}", record.offset) from error

    def _origin(self, record: Any) -> Origin | None:
        """The origin of a message of the intake; None if the source itself is read."""
        try:
            return origin_of(record.headers) if self._config.rekey else None
        except StateError as error:
            raise located(error, f"{record.topic}, partition {record.partition}", record.offset) from error


def _decision(partition: int, received: Received) -> Decision:
    record = received.record
    return parse_decision(record.key, record.value, make_ref(partition, record.offset))


class _Reader:
    """Makes documents of the messages of one partition.

    Args:
        state: of the pipeline.
        documents: of the partition.
        generation: of the consumer group.
        partition: of the source.
    """

    def __init__(self, state: PipelineState, documents: Documents, generation: int, partition: int) -> None:
        self._state = state
        self._documents = documents
        self._partition = partition
        self._now_ms = int(time.time() * 1_000)
        documents.generations.begin(generation)

    def is_late(self, received: Received) -> bool:
        """Whether the message is a late copy, which is passed over."""
        return received.origin is not None and self._documents.generations.is_late(received.origin)

    def document(self, received: Received) -> Document:
        """The document in a message.

        A document that is already stored is read again regardless of the clock of this worker: its messages to the
        other steps may not have been stored before the crash.
        """
        record, origin = received
        timestamp_ms, config = record.timestamp if origin is None else origin.timestamp_ms, self._state.config
        try:
            return config.document(record.value, record.key, timestamp_ms, now_ms=self._now_ms)
        except UnusableDocument as error:
            if error.reason != "time" or not self._is_stored(record):
                raise
            return config.document(record.value, record.key, timestamp_ms)

    def is_rejected(self, error: Exception) -> bool:
        """Whether a message whose parser or scheme raised this is dead-lettered; if not, the worker halts."""
        return is_rejected(error, self._state)

    def _is_stored(self, record: Any) -> bool:
        """Whether a record is the newest version of its document in the table."""
        stored = self._documents.table.version(key_id_of(record.key))
        return stored is not None and stored.ref == make_ref(self._partition, record.offset)
