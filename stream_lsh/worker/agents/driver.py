"""Carries out the effects of the agents on Kafka: encodes, produces, waits at a barrier, acknowledges in order.

The agents define which output is stored before which other one (`stream_lsh/pipeline/agents`).  The acker waits for
the deliveries that no barrier has waited for, before it acknowledges.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np

from stream_lsh.errors import InvariantError
from stream_lsh.ledger.changes import MatchChange
from stream_lsh.ledger.graph.columns import columns_of
from stream_lsh.pipeline.agents.effects import (
    Acknowledge,
    Append,
    Copy,
    DeadLetter,
    Effect,
    Order,
    Publish,
    Save,
    Send,
    Table,
    Trim,
)
from stream_lsh.pipeline.batches import has_pairs
from stream_lsh.wire.origin import Origin, origin_header
from stream_lsh.wire.outgoing import Part, parts_of
from stream_lsh.worker.agents.dead_letters import dead_letter
from stream_lsh.worker.agents.outbox import Outbox
from stream_lsh.worker.engine import Batch, EngineApp, OrderedAcker
from stream_lsh.worker.state.changelogged import Applied, Changelogged
from stream_lsh.worker.state.engine_tables import StateTable
from stream_lsh.worker.state.pipeline_state import Documents, PipelineState

Deliveries = list[Awaitable[Any]]


class Received(NamedTuple):
    """A message as the agents of the worker receive it; `origin` is its place in the source, if it is a copy."""

    record: Any
    origin: Origin | None = None


class _UnstoredPairs:
    """The deliveries of pairs that are not stored yet.

    A delivery that has failed stays, so that the next agent that waits for it ends the worker.
    """

    def __init__(self) -> None:
        self._deliveries = set[Any]()

    def add(self, delivery: Any) -> None:
        self._deliveries.add(delivery)
        delivery.add_done_callback(self._ended)

    def _ended(self, delivery: Any) -> None:
        if delivery.cancelled() or delivery.exception() is None:
            self._deliveries.discard(delivery)

    def now(self) -> Deliveries:
        """Those that are not stored now."""
        return [*self._deliveries]


class _Outputs(NamedTuple):
    """The targets of the effects of one pipeline."""

    app: EngineApp
    state: PipelineState
    tables: dict[str, StateTable]
    outbox: Outbox
    pairs: _UnstoredPairs


class Driver:
    """Drives the agents of one pipeline.

    Args:
        app: the engine.
        state: of the pipeline.
        tables: that store its state in changelogs, by name.
    """

    def __init__(self, app: EngineApp, state: PipelineState, tables: dict[str, StateTable]) -> None:
        self._outputs = _Outputs(app, state, tables, Outbox(app, state), _UnstoredPairs())

    async def run(
        self,
        agent: Iterator[Effect],
        batch: Batch,
        acker: OrderedAcker,
        is_owned: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Run an agent over a batch to its end.

        Args:
            agent: that was given the batch.
            batch: acknowledged when the agent asks for it.
            acker: of the agent.
            is_owned: whether this worker still owns the state of the agent.

        Returns:
            False where it does not: then no further effect is carried out, and the batch is passed over unless it was
            acknowledged before.
        """
        run = _Run(self._outputs, batch, acker)
        for effect in agent:
            await run.carry_out(effect)
            if not is_owned():
                run.pass_over()
                return False
        return True

    async def report(self, effects: Iterable[Effect]) -> None:
        """Send a report, which acknowledges no batch, and wait until it is stored.

        Args:
            effects: of the agents of reports; all of them are computed before the first await.
        """
        deliveries = Deliveries()
        for effect in [*effects]:
            if not isinstance(effect, Send):
                raise InvariantError(f"a report yields {effect}, expected a Send")
            deliveries.append(await self._outputs.outbox.send(effect))
        await asyncio.gather(*deliveries)


class _Run:
    """One agent over one batch; holds the deliveries that no barrier has waited for."""

    def __init__(self, outputs: _Outputs, batch: Batch, acker: OrderedAcker) -> None:
        self._app, self._state, self._tables, self._outbox, self._pairs = outputs
        self._batch = batch
        self._acker = acker
        self._deliveries = Deliveries()
        self._copies = Deliveries()
        self._acknowledged = False

    async def carry_out(self, effect: Effect) -> None:
        match effect:
            case Send(_, frame):
                delivery = await self._outbox.send(effect)
                self._deliveries.append(delivery)
                if has_pairs(frame):
                    self._pairs.add(delivery)
            case Append():
                await self._append(effect)
            case Publish():
                await self._publish(effect)
            case Order():
                await self._order(effect)
            case Acknowledge():
                self._acknowledged = True
                deliveries, self._deliveries = self._deliveries, Deliveries()
                await self._acker.add_batch(self._batch, deliveries)
            case DeadLetter((record, origin), error):
                self._deliveries.append(await dead_letter(self._app, self._state, record, error, origin))
            case Copy():
                await self._copy(effect)
            case Trim():
                self._trim(effect)
            case Save():
                await self._save(effect)

    async def _order(self, order: Order) -> None:
        match order:
            case Order.TURN:
                await asyncio.sleep(0)
            case Order.FLUSH:
                # A cancelled agent must not cancel the deliveries of others.
                await asyncio.shield(asyncio.gather(*self._pairs.now()))
            case Order.BARRIER:
                deliveries, self._deliveries = self._deliveries, Deliveries()
                await asyncio.gather(*deliveries)

    def pass_over(self) -> None:
        """Pass over a batch that belongs to another worker now, so that no rebalance waits for its acknowledgement."""
        for event in () if self._acknowledged else self._batch.events:
            self._app.pass_over(event)

    # -- outputs

    async def _append(self, append: Append) -> None:
        parts, rewriter, table = parts_of(append, self._state.fingerprint), append.rewriter, self._tables[append.table]
        if rewriter is not None:
            rewriter.sent(len(parts), sum(len(part.value) for part in parts))
        # A rebalance may revoke the state between two parts.
        for part, applied in zip(parts, self._applied(append, parts), strict=True):
            delivery = await table.append(self._app, append.partition, part.value, applied)
            self._deliveries.append(delivery)
            if rewriter is not None:
                self._copies.append(delivery)
                _when_stored(delivery, rewriter.delivered)
            elif append.table == "ledger":
                _when_stored(delivery, partial(self._wrote, len(part.value)))

    def _applied(self, append: Append, parts: Sequence[Part]) -> Iterator[Applied]:
        """The records of the parts, as applied to the state, for their deliveries."""
        if append.table != "documents":
            return (Applied(part.extent) for part in parts)
        documents, is_copy = self._state.documents[append.partition], append.rewriter is not None
        return (self._applied_documents(documents, part, is_copy) for part in parts)

    def _applied_documents(self, documents: Documents, part: Part, is_copy: bool) -> Applied:
        if part.record is None:
            return Applied(part.extent)
        applied = self._state.applied_copies if is_copy else self._state.applied_documents
        return applied(documents, part.record)

    def _wrote(self, size: int, _: int) -> None:
        """A record of the ledger is stored."""
        ledger = self._state.ledger.owned().get(0)
        if ledger is not None:
            ledger.rewriter.wrote(size)

    async def _publish(self, publish: Publish) -> None:
        state, (settled, _, _, record) = self._state, publish.settlement
        state.counts.matches += _held(settled.matches)
        ledger = state.ledger.owned().get(0) if state.keeps_history else None
        if ledger is not None and settled.clusters:
            ledger.history.note(settled.clusters, self._timestamps[record.offset])
        named, topics = [("app_id", state.config.app_id.encode())], state.config.public_topics
        for name, messages in state.results.messages(settled, self._timestamps[record.offset], record.offset):
            records = [(key, value, [*headers, *named] if headers else named) for key, value, headers in messages]
            self._deliveries += await self._app.produce_all(topics[name], records)

    @cached_property
    def _timestamps(self) -> dict[int, int]:
        """Kafka's time of each message of the batch, by offset."""
        return {record.offset: record.timestamp for record in self._batch.records}

    async def _copy(self, copy: Copy) -> None:
        topic = self._state.config.documents_topic
        for (record, _), key in zip(copy.records, copy.keys, strict=True):
            place = record.topic, record.partition, record.offset
            headers = origin_header(Origin(*place, record.timestamp, copy.generation, copy.made_ms))
            self._deliveries.append(await self._app.produce(topic, key, record.value, headers=headers))

    # -- behind the outputs

    def _trim(self, trim: Trim) -> None:
        """Note the obsolete offsets as soon as the last copy of a pass is stored; `maintenance` deletes the records."""
        states = self._changelogged(trim.table)
        state = states.owned().get(trim.partition)

        def note(_: int = -1) -> None:
            until = trim.until()
            if until is not None and states.owned().get(trim.partition) is state:
                states.rewritten(trim.partition, until)

        note()
        for delivery in self._copies:
            _when_stored(delivery, note)

    async def _save(self, save: Save) -> None:
        buckets = self._state.buckets.owned().get(save.partition)
        await self._acker.drain()
        if buckets is not None:
            self._app.add_future(self._state.save_buckets(save.partition, buckets))

    def _changelogged(self, table: Table) -> Changelogged[Any]:
        if table == "documents":
            return self._state.documents
        return self._state.buckets if table == "buckets" else self._state.ledger


def _held(matches: Sequence[MatchChange]) -> int:
    """The number of matches that are not withdrawn."""
    if not matches:
        return 0
    similarities = columns_of(matches)[2]
    if isinstance(similarities, np.ndarray):
        return similarities.size
    return len(similarities) - sum(similarity is None for similarity in similarities)


def _when_stored(delivery: Awaitable[Any], do: Callable[[int], None]) -> None:
    """Call a function with the offset of a record once it is in its log; an unstored record ends the worker."""

    def ended(future: Any) -> None:
        if not future.cancelled() and future.exception() is None:
            do(future.result().offset)

    cast(Any, delivery).add_done_callback(ended)
