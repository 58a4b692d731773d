"""What a worker does beside its agents: it closes the sources while it has enough to do, trims its topics, and counts.

Trimmed is what nobody reads again: of the topics between the steps what lies behind the committed offset, of the
changelogs of `documents` and `buckets` the records of which everything has expired, of the ledger's what lies before
its last copy.

Of what it follows as a standby it trims nothing, but sees what the owner has trimmed, and keeps a copy on disk.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any, cast

from aiokafka.errors import IncompatibleBrokerVersion, KafkaError  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config.topics import INTERNAL_TOPICS
from stream_lsh.pipeline.batches import BandsFrame
from stream_lsh.wire.frames import encode
from stream_lsh.worker import guards
from stream_lsh.worker.changelogged_state import Changelogged
from stream_lsh.worker.copy_generations import REMEMBERED
from stream_lsh.worker.ends import expect_ends, expect_records, seen_offsets
from stream_lsh.worker.engine import Backpressure, EngineApp, Trimmer, admin_client
from stream_lsh.worker.settle_lag import REPORT_SECONDS
from stream_lsh.worker.state import PipelineState

WATCH_SECONDS = 0.25
TRIM_SECONDS, TRIM_STEP = 10.0, 64
"""A record has hundreds of documents: a thousand of them would be far more than many a retention holds."""
REPORT_COUNTS_SECONDS = 60.0
RECOVERY_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Maintenance:
    """The maintenance tasks of one worker.

    Args:
        app: the engine.
        pipelines: all that run on it, by name; may grow until the app starts.

    Attributes:
        trim_seconds: how often topics are trimmed.
        trim_step: by how many offsets at least.
        report_counts_seconds: how often the log says what has passed.
        topic_ids: of the topics that must not be created anew, as they were at the start; empty if unknown.
    """

    def __init__(self, app: EngineApp, pipelines: Mapping[str, PipelineState]) -> None:
        self._app = app
        self._pipelines = pipelines
        self._backpressure: Backpressure | None = None
        self.topic_ids: Mapping[str, str] = {}
        self.trim_seconds, self.trim_step, self.report_counts_seconds = TRIM_SECONDS, TRIM_STEP, REPORT_COUNTS_SECONDS

    # -- backpressure

    async def watch(self) -> None:
        """Close and open the sources, for ever."""
        backpressure = self._backpressure = Backpressure(
            self._app, [source for state in self._pipelines.values() for source in state.config.sources]
        )
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self.at_work:
                await backpressure.report(self.bytes_under_way() + self.bytes_before_settle())

    @property
    def sources_wait(self) -> bool:
        """Whether the sources are closed."""
        return self._backpressure is not None and self._backpressure.closed

    def bytes_under_way(self) -> int:
        """Some bytes that lie in the topics between the steps and are this worker's to read."""
        consumer, assigned = self._app.consumer, self._app.consumer.assignment()
        return sum(
            state.traffic.bytes_before(tp, consumer.highwater(tp) or 0)
            for state in self._pipelines.values()
            for tp in tuple(state.traffic.positions)
            if tp in assigned and tp.topic not in state.config.sources
        )

    def bytes_before_settle(self) -> int:
        """Some bytes that wait for settle on other workers, as those report them."""
        return sum(state.settle_lag.size for state in self._pipelines.values() if not state.ledger.held())

    async def report_lag(self) -> None:
        """Report to all workers how much waits for settle, where this worker settles, for ever."""
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            for state in self._pipelines.values():
                if self.at_work and state.ledger.held():
                    await self._report_lag(state)

    async def _report_lag(self, state: PipelineState) -> None:
        edges = TP(state.config.internal_topic("edges"), 0)
        lag = state.settle_lag.report(state.traffic.bytes_before(edges, self._app.consumer.highwater(edges) or 0))
        if lag is None or len(state.buckets.held()) == state.partitions:  # no other worker reads a source
            return
        value, topic = encode(BandsFrame(lag=lag), state.fingerprint), state.config.internal_topic("bands")
        await asyncio.gather(
            *[await self._app.produce(topic, None, value, target) for target in range(state.partitions)]
        )

    # -- trimming

    async def trim(self) -> None:
        """Trim the topics of our own, for ever, or until the broker says that it cannot."""
        async with admin_client(self._app) as admin:
            trimmer = Trimmer(admin, self._own_topics(), step=self.trim_step)
            while True:
                await asyncio.sleep(self.trim_seconds)
                needed = self.needed() if self.at_work else {}
                if not needed:
                    continue
                # Who may not write may not delete either: its successor may need what is superfluous here.
                await self._app.may_write()
                try:
                    await trimmer.trim(needed)
                except IncompatibleBrokerVersion:
                    _log.warning("this broker cannot delete records: the topics of the application only grow")
                    return

    def needed(self) -> dict[TP, int]:
        """The first offset that somebody may still read, of every partition that this worker may trim."""
        assigned, own = self._app.consumer.assignment(), self._own_topics()
        needed = {tp: self._app.committed_offset(tp) for tp in assigned if tp.topic in own}
        for state in self._pipelines.values():
            config = state.config
            for tp in [tp for tp in needed if config.rekey and tp.topic == config.documents_topic]:
                needed[tp] = max(0, (needed[tp] or 0) - REMEMBERED)
            for partition, documents in state.documents.held().items():
                tp = TP(config.changelog_topic("documents"), partition)
                needed[tp] = state.documents.needed(partition, documents.table.horizon)
            for partition, buckets in state.buckets.held().items():
                tp = TP(config.changelog_topic("buckets"), partition)
                needed[tp] = state.buckets.needed(partition, buckets.horizon)
            for partition, ledger in state.ledger.held().items():
                needed[TP(config.changelog_topic("ledger"), partition)] = ledger.rewriter.sizes.start
        return {tp: offset for tp, offset in needed.items() if offset}

    async def follow(self) -> None:
        """Forget of what is followed what the changelogs have no more; save what is due."""
        while True:
            await asyncio.sleep(self.trim_seconds)
            for state in self._pipelines.values():
                if self.at_work and (followed := state.followed()):
                    await self._forget_trimmed(followed)
                    state.end_waiting(self._app.consumer.highwater)
                    await state.save_followed()

    async def _forget_trimmed(self, followed: Mapping[TP, Changelogged[Any]]) -> None:
        try:
            firsts = await self._app.consumer.earliest_offsets(*followed)
        except KafkaError:  # a leader moves, a broker restarts, the group is rebalanced: the next time will do
            return
        for tp, first in firsts.items():
            followed[tp].begins(tp.partition, first)

    def _own_topics(self) -> set[str]:
        return {state.config.internal_topic(name) for state in self._pipelines.values() for name in INTERNAL_TOPICS}

    # -- topics that lose what was in them

    async def check_topics(self) -> None:
        """See to it that no topic is created anew, and none loses its end, for ever."""
        async with admin_client(self._app) as admin:
            while True:
                await asyncio.sleep(self.trim_seconds)
                if not self.at_work:
                    continue
                await self.expect_ends()
                try:
                    await guards.expect_same_topics(admin, self.topic_ids)
                except KafkaError as error:
                    _log.warning("the broker does not tell which topics there are: %s", error)

    async def expect_ends(self) -> None:
        """No topic ends before what was read of it; where the broker does not answer, the next time will do.

        Raises:
            StateError: one does, or a ledger lacks what is acknowledged.
        """
        seen: dict[TP, int] = {}
        committed = {tp: self._app.committed_offset(tp) for tp in self._app.consumer.assignment()}
        for state in self._pipelines.values():
            expect_records(state, committed)
            seen |= seen_offsets(state, committed)
        try:
            await expect_ends(self._app.consumer, seen)
        except KafkaError as error:
            _log.warning("the broker does not tell where the topics end: %s", error)

    # -- counts

    async def report_counts(self) -> None:
        """Say now and then what has passed, for ever."""
        last_lines: dict[str, str] = {}
        short: set[str] = set()
        while True:
            await asyncio.sleep(self.report_counts_seconds)
            for state in self._pipelines.values():
                line = state.counts.line()
                if last_lines.get(state.config.name) != line:
                    last_lines[state.config.name] = line
                    _log.info("%s: %s", state.config.name, line)
                _warn_of_low_recall(state, short)

    async def report_progress(self) -> None:
        """Say how a recovery comes along, what this worker has once it is ready, and what it follows, for ever."""
        ready: int | None = None
        followed: int | None = None
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            generation = self._app.consumer_generation_id
            if self._app.in_recovery:
                ready = None
                await self._report_recovery()
            elif ready != generation and self.at_work and generation:  # of a group that it has joined
                ready = generation
                for state in self._pipelines.values():
                    _log.info("ready: %s", state.line())
                await self._report_deleted()
            elif ready == generation != followed and self.at_work and self._has_followed():
                followed = generation
                if any(state.followed() for state in self._pipelines.values()):
                    _log.info("standing by: everything that is followed here has been read")

    def _has_followed(self) -> bool:
        """Whether standbys have come to where their changelogs ended when the group was rebalanced last."""
        recovery = cast(Any, self._app.tables).recovery
        ends, offsets = recovery.standby_highwaters, recovery.standby_offsets
        return all(offsets[tp] is not None and offsets[tp] >= end for tp, end in ends.items())

    async def _report_recovery(self) -> None:
        """Say every few seconds how many changelog records are left; return when none are."""
        started, most, reported_at = time.monotonic(), 0, 0.0
        while self._app.in_recovery:
            left = cast(Any, self._app.tables).recovery.active_remaining_total()
            most, passed = max(most, left), time.monotonic() - started
            if most and passed - reported_at > RECOVERY_SECONDS:
                reported_at = passed
                rest = passed * left / max(1, most - left)
                _log.info("recovery: %d of %d changelog records are left, some %.0f s", left, most, rest)
            await asyncio.sleep(WATCH_SECONDS)
        _log.info("recovered from %d changelog records in %.1f s", most, time.monotonic() - started)

    async def _report_deleted(self) -> None:
        """Say what of the sources was deleted before this application had read it."""
        sources = {source for state in self._pipelines.values() for source in state.config.sources}
        assigned = [tp for tp in self._app.consumer.assignment() if tp.topic in sources]
        try:
            firsts = await self._app.consumer.earliest_offsets(*assigned)
        except KafkaError as error:  # what is only told ends no worker
            _log.warning("the broker does not tell where the sources begin: %s", error)
            return
        for tp in sorted(firsts):
            deleted = firsts[tp] - (self._app.committed_offset(tp) or firsts[tp])
            if deleted > 0:
                _log.error(
                    "%s[%d]: %d messages before offset %d were deleted before they were read: does it keep them for "
                    "shorter than this application was away?",
                    *(*tp, deleted, firsts[tp]),
                )

    @property
    def at_work(self) -> bool:
        """Whether the worker is in its group, has its state, and does not stop."""
        app: Any = self._app
        if app.group.waiting_since is not None:  # before the consumer's thread has begun it cannot even be asked
            return False
        return not (app.rebalancing or app.in_recovery or app.should_stop)


def _warn_of_low_recall(state: PipelineState, short: set[str]) -> None:
    """Say once that the bands find too little; `short` has the pipelines of which it was said."""
    name, asked = state.config.name, state.config.kind.recall
    if not state.counts.recall_monitor.falls_short(asked):
        short.discard(name)
    elif name not in short:
        short.add(name)
        _log.warning(
            "%s: the bands find fewer of the matches than was asked for, %g: see `Is recall what was promised?` in "
            "docs/operations/monitoring.md",
            *(name, asked),
        )
