"""The five agents: decode a frame, call one step, write what comes back, acknowledge in order.

Which deliveries are awaited before which others are sent is the protocol (docs/guarantees.md): sign awaits its
changelog before anything else, and everything before the next batch; settle awaits what it publishes and asks before
its record.  All other deliveries are awaited by the acker, before the acknowledgement.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar

from faust.types import TP

from stream_lsh.config.message_sizes import most_retired
from stream_lsh.errors import StateError, UnusableDocument
from stream_lsh.model import Document, make_ref
from stream_lsh.pipeline.batches import (
    BandsFrame,
    Candidates,
    CandidatesFrame,
    EdgesFrame,
    Verifications,
    VerificationsFrame,
)
from stream_lsh.pipeline.coalesce import furthest_horizon, joined_candidates, joined_postings, joined_verifications
from stream_lsh.pipeline.dividing import divided
from stream_lsh.pipeline.gather import gather
from stream_lsh.pipeline.index import index
from stream_lsh.pipeline.settle import Settlement, Settler, flights
from stream_lsh.pipeline.sign import Arrivals, Prepared, Signed, prepare
from stream_lsh.pipeline.verify import verify_in_steps
from stream_lsh.wire.frames import (
    Frame,
    decode_bands,
    decode_candidates,
    decode_edges,
    decode_verifications,
    encode,
)
from stream_lsh.wire.ids import key_id_of
from stream_lsh.wire.origin import Origin, origin_of
from stream_lsh.wire.route import candidates_by_partition, postings_by_partition, verifications_by_partition
from stream_lsh.wire.split import (
    cut_candidates,
    cut_edges,
    cut_postings,
    cut_retirements,
    cut_verifications,
)
from stream_lsh.worker.changelog_writer import Changelogs, Deliveries
from stream_lsh.worker.changelogged_state import located
from stream_lsh.worker.dead_letters import dead_letter, is_rejected
from stream_lsh.worker.engine import Batch, ContiguityGuard, EngineApp, OrderedAcker
from stream_lsh.worker.engine_tables import StateTable
from stream_lsh.worker.state import Documents, PipelineState

_Frame = TypeVar("_Frame")


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
        self._most_retired = most_retired(state.config, state.scheme)
        self._tables = tables
        self._logs = Changelogs(app, state, tables)

    # -- agents

    async def sign(self, stream: Any) -> None:
        """Documents in, bands and retirements out: partitions side by side, each batch after batch."""
        acker = OrderedAcker(self._app)
        guard = ContiguityGuard(self._app.committed_offset, self._config.sources)
        async for batches in self._app.rounds(stream, guard):
            for batch in batches:
                self._state.traffic.passed(batch.tp, batch.records)
            signing = [self._sign(batch, self._state.documents[batch.partition], acker) for batch in batches]
            await asyncio.gather(*signing)

    async def _sign(self, batch: Batch, documents: Documents, acker: OrderedAcker) -> None:
        partition, deliveries = batch.partition, Deliveries()
        newest_ms = self._state.newest_ms(documents, self._app.committed_offset(batch.tp))
        arrivals = await self._arrivals(partition, batch.records, deliveries)
        times = list[int]()
        for part in divided(arrivals, documents.table, self._most_retired):
            signed = await self._sign_part(batch, part, documents, deliveries)
            times += [document.time_ms for document in signed.documents if document.text is not None]
        documents.newest_ms = max(newest_ms, *times) if times else newest_ms
        documents.position = batch.offset + 1
        await acker.add_batch(batch, deliveries)

    async def _sign_part(
        self, batch: Batch, arrivals: Arrivals, documents: Documents, deliveries: Deliveries
    ) -> Arrivals:
        """Sign some arrivals of a batch, and deliver what follows; returns those that could be signed."""
        documents.in_hand = True
        try:
            prepared = self._prepared(batch.tp, arrivals, documents)
        except Exception as error:
            if not is_rejected(error, self._state):
                raise
            arrivals = await self._signable(arrivals, batch.records, deliveries)
            prepared = self._prepared(batch.tp, arrivals, documents)
        signed = prepared.store(documents.table)  # an exception from here on leaves the table ahead of its changelog
        if signed.record is not None:
            await asyncio.gather(*await self._logs.documents(batch.partition, signed.record))
        documents.in_hand = False
        self._state.counts.signed += signed.counts
        await asyncio.gather(*await self._announce(signed))
        if signed.record is not None:
            deliveries += await self._logs.copied_documents(batch.partition, documents, signed.record)
            if documents.shadow is not None:
                documents.shadow.take(signed.record, documents.table)
        return arrivals

    async def index(self, stream: Any) -> None:
        """Bands in, candidates out."""
        acker, guard = OrderedAcker(self._app), ContiguityGuard(self._app.committed_offset)
        async for batch in self._current(stream, guard):
            deliveries, frames = Deliveries(), self._frames(decode_bands, batch)
            for lag in (frame.lag for frame in frames if frame.lag is not None):
                self._state.settle_lag.receive(lag)
            partition = batch.partition
            buckets, horizon = self._state.buckets[partition], furthest_horizon(frames)
            buckets.in_hand = True
            if horizon is not None:
                buckets.forget(horizon)
                buckets.unsaved += 1
                deliveries.append(await self._logs.buckets(partition, BandsFrame(horizon=horizon)))
            written = 0
            for postings in joined_postings(frame.postings for frame in frames):
                indexed = index(postings, buckets.table)
                buckets.unsaved += postings.rows.size
                self._state.counts.capped_postings += len(indexed.capped_buckets)
                self._state.counts.capped_by_block.update(map(self._state.scheme.block, indexed.capped_buckets))
                self._state.counts.capped_candidates += indexed.capped_candidates
                written += postings.rows.size
                for part in cut_postings(postings):
                    deliveries.append(await self._logs.buckets(partition, BandsFrame(postings=part)))
                if indexed.candidates is not None:
                    deliveries += await self._send_candidates(indexed.candidates)
            deliveries += await self._logs.copied_buckets(partition, buckets, written)
            buckets.relay.begin(self._app.generation)
            for passed_on in buckets.relay.take_all(frame.watermarks for frame in frames):
                deliveries += await self._send_to_all("candidates", CandidatesFrame(watermarks=passed_on))
            buckets.in_hand = False
            await acker.add_batch(batch, deliveries)
            if buckets.is_due:
                await acker.drain()
                self._app.add_future(self._state.save_buckets(partition, buckets))

    async def gather(self, stream: Any) -> None:
        """Candidates in, verifications out."""
        acker, guard = OrderedAcker(self._app), ContiguityGuard(self._app.committed_offset)
        async for batch in self._current(stream, guard):
            deliveries, frames = Deliveries(), self._frames(decode_candidates, batch)
            documents, horizon = self._state.documents[batch.partition], furthest_horizon(frames)
            if horizon is not None:
                documents.table.expire(horizon)
            candidates = joined_candidates(frame.candidates for frame in frames)
            if candidates is not None:
                self._state.counts.candidates += len(candidates)
                asked = gather(candidates, documents.table, documents.forwarded)
                parts = () if asked is None else verifications_by_partition(asked, self._state.partitions)
                for target, part in enumerate(parts):
                    for asking in () if part is None else cut_verifications(part):
                        sent = VerificationsFrame(verifications=asking)
                        deliveries.append(await self._send("verifications", target, sent))
            documents.gather_relay.begin(self._app.generation)
            for passed_on in documents.gather_relay.take_all(frame.watermarks for frame in frames):
                deliveries += await self._send_to_all("verifications", VerificationsFrame(watermarks=passed_on))
            await acker.add_batch(batch, deliveries)

    async def verify(self, stream: Any) -> None:
        """Verifications in, edges out."""
        acker, guard = OrderedAcker(self._app), ContiguityGuard(self._app.committed_offset)
        async for batch in self._current(stream, guard):
            deliveries, frames = Deliveries(), self._frames(decode_verifications, batch)
            documents = self._state.documents[batch.partition]
            asked = joined_verifications(frame.verifications for frame in frames)
            if asked is not None and not await self._verify(asked, batch.partition, documents, deliveries):
                for event in batch.events:
                    self._app.pass_over(event)
                continue
            documents.verify_relay.begin(self._app.generation)
            for passed_on in documents.verify_relay.take_all(frame.watermarks for frame in frames):
                deliveries.append(await self._send("edges", 0, EdgesFrame(watermarks=passed_on)))
            await acker.add_batch(batch, deliveries)

    async def _verify(self, asked: Verifications, partition: int, documents: Documents, deliveries: Deliveries) -> bool:
        """Send the edges of these pairs; False where the partition went to another worker meanwhile."""
        state = self._state
        for edges in verify_in_steps(asked, documents.table, state.criteria, state.comparer):
            for part in () if edges is None else cut_edges(edges):
                deliveries.append(await self._send("edges", 0, EdgesFrame(edges=part)))
            await asyncio.sleep(0)  # a step takes some ms: others have their turn between two
            if state.documents.held().get(partition) is not documents:
                return False
        return True

    async def settle(self, stream: Any) -> None:
        """Edges in, what is true out: message by message, those that are independent under way together."""
        acker, guard = OrderedAcker(self._app), ContiguityGuard(self._app.committed_offset)
        async for batch in self._current(stream, guard):
            ledger, deliveries, written = self._state.ledger[0], Deliveries(), 0
            ledger.expect_all()
            ledger.settler.begin(self._app.generation)
            timestamps = {record.offset: record.timestamp for record in batch.records}
            ledger.in_hand = True
            for flight in flights(self._settlements(batch, ledger.settler)):
                said = [await self._publish(one, timestamps[one.record.offset]) for one in flight]
                await asyncio.gather(*chain.from_iterable(said))
                written += await self._logs.ledger(ledger, (one.record for one in flight))
            ledger.in_hand = False
            deliveries += await self._logs.copied_ledger(ledger, written)
            await acker.add_batch(batch, deliveries)

    # -- what they read

    async def _current(self, stream: Any, guard: ContiguityGuard) -> AsyncIterator[Batch]:
        """What waits; what is before it is under way no more."""
        async for batch in self._app.current(stream, guard):
            self._state.traffic.passed(batch.tp, batch.records)
            yield batch

    def _settlements(self, batch: Batch, settler: Settler) -> Iterator[Settlement]:
        """What comes of each message that was not settled before."""
        for record in batch.records:
            settlement = settler.settle(self._decoded(decode_edges, record), record.offset)
            if settlement is not None:
                yield settlement

    def _frames(self, decode: Callable[[bytes | None, int], _Frame], batch: Batch) -> list[_Frame]:
        """The frames of a batch: those of one partition, in their order."""
        return [self._decoded(decode, record) for record in batch.records]

    def _decoded(self, decode: Callable[[bytes | None, int], _Frame], record: Any) -> _Frame:
        """The frame in a record; an error says where it lies."""
        try:
            return decode(record.value, self._state.fingerprint)
        except StateError as error:
            raise located(error, f"{record.topic}, partition {record.partition}", record.offset) from error

    def _origin(self, record: Any) -> Origin | None:
        """Where a message of the intake comes from; None where the source itself is read."""
        try:
            return origin_of(record.headers) if self._config.rekey else None
        except StateError as error:
            raise located(error, f"{record.topic}, partition {record.partition}", record.offset) from error

    def _prepared(self, tp: TP, arrivals: Arrivals, documents: Documents) -> Prepared:
        table, span_ms = documents.table, self._state.limits.segment_span_ms
        stated = documents.passes.acknowledged(table, self._app.committed_offset(tp) or 0)
        return prepare(arrivals, table, self._state.scheme, table.horizon, segment_span_ms=span_ms, acknowledged=stated)

    async def _signable(self, arrivals: Arrivals, records: Iterable[Any], deliveries: Deliveries) -> Arrivals:
        """The arrivals without the documents that cannot be signed even alone, which go to the dead letters."""
        offsets, documents = list[int](), list[Document]()
        by_offset, scheme = {record.offset: record for record in records}, self._state.scheme
        for offset, document in zip(arrivals.offsets, arrivals.documents, strict=True):
            try:
                scheme.buckets(scheme.sign([document.text or ""]))
            except Exception as error:
                record = by_offset[offset]
                deliveries.append(await dead_letter(self._app, self._state, record, error, self._origin(record)))
            else:
                offsets.append(offset)
                documents.append(document)
        return Arrivals(arrivals.partition, offsets, documents)

    # -- what they send

    async def _arrivals(self, partition: int, records: Iterable[Any], deliveries: Deliveries) -> Arrivals:
        """The documents of a chunk; what cannot be used goes to the dead letters."""
        offsets, documents, now_ms = list[int](), list[Document](), int(time.time() * 1_000)
        generations = self._state.documents[partition].generations
        generations.begin(self._app.consumer_generation_id)
        for record in records:
            origin = self._origin(record)
            if origin is not None and generations.is_late(origin):
                self._state.counts.late_copies += 1
                continue
            try:
                timestamp_ms = record.timestamp if origin is None else origin.timestamp_ms
                document = self._document(partition, record, timestamp_ms, now_ms)
            except Exception as error:
                deliveries.append(await dead_letter(self._app, self._state, record, error, origin))
            else:
                offsets.append(record.offset)
                documents.append(document)
        self._state.counts.documents += len(documents)
        return Arrivals(partition, offsets, documents)

    def _document(self, partition: int, record: Any, timestamp_ms: int, now_ms: int) -> Document:
        """The document in a record.

        One that is stored already is taken again whatever the clock of this worker is: what it has to say to the other
        steps may not have arrived before the crash.
        """
        try:
            return self._config.document(record.value, record.key, timestamp_ms, now_ms=now_ms)
        except UnusableDocument as error:
            if error.reason != "time" or not self._is_stored(partition, record):
                raise
            return self._config.document(record.value, record.key, timestamp_ms)

    def _is_stored(self, partition: int, record: Any) -> bool:
        """Whether a record is the newest version of its document in the table."""
        stored = self._state.documents[partition].table.version(key_id_of(record.key))
        return stored is not None and stored.ref == make_ref(partition, record.offset)

    async def _announce(self, signed: Signed) -> Deliveries:
        """What sign tells index and settle."""
        deliveries = Deliveries()
        if signed.postings is not None:
            for target, part in enumerate(postings_by_partition(signed.postings, self._state.partitions)):
                for postings in () if part is None else cut_postings(part):
                    deliveries.append(await self._send("bands", target, BandsFrame(postings=postings)))
        for retirements in cut_retirements(signed.retirements):
            deliveries.append(await self._send("edges", 0, EdgesFrame(retirements=retirements)))
        return deliveries

    async def _publish(self, settlement: Settlement, timestamp_ms: int) -> Deliveries:
        """Everything that settle says of a message of this time, but its record."""
        config, settled, deliveries = self._config, settlement.settled, Deliveries()
        self._state.counts.matches += sum(match.similarity is not None for match in settled.matches)
        self._state.counts.capped_candidates += settled.capped_rechecks
        app_id, topics = config.app_id.encode(), config.public_topics
        for name, told in self._state.results.messages(settled, timestamp_ms, settlement.record.offset):
            topic = topics[name]
            for key, value, headers in told:
                named = {**dict(headers), "app_id": app_id}
                deliveries.append(await self._app.produce(topic, key, value, headers=named))
        if settlement.rechecks is not None:
            deliveries += await self._send_candidates(settlement.rechecks)
        if settlement.horizon is not None:
            deliveries += await self._send_to_all("bands", BandsFrame(horizon=settlement.horizon))
            deliveries += await self._send_to_all("candidates", CandidatesFrame(horizon=settlement.horizon))
        return deliveries

    async def _send_candidates(self, candidates: Candidates) -> Deliveries:
        deliveries = Deliveries()
        for target, part in enumerate(candidates_by_partition(candidates, self._state.partitions)):
            for pairs in () if part is None else cut_candidates(part):
                deliveries.append(await self._send("candidates", target, CandidatesFrame(candidates=pairs)))
        return deliveries

    async def _send_to_all(self, step: str, frame: Frame) -> Deliveries:
        return [await self._send(step, target, frame) for target in range(self._state.partitions)]

    async def _send(self, step: str, partition: int, frame: Frame) -> Awaitable[Any]:
        value = encode(frame, self._state.fingerprint)
        return await self._app.produce(self._config.internal_topic(step), None, value, partition)
