"""The tasks of a worker beside its agents: it closes the sources under load, trims its topics, and reports counts.

Obsolete records are trimmed: of the topics between the steps those behind the committed offset, of the changelogs of
`documents` and `buckets` those of which everything has expired, of the ledger's changelog those before its last copy.

A standby trims nothing of the states that it follows, but it detects trims by the owner, and keeps a copy on disk.
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
from stream_lsh.worker.checks import startup
from stream_lsh.worker.checks.lost_messages import expect_ends, expect_records, seen_offsets
from stream_lsh.worker.checks.trim_warnings import TrimWarnings
from stream_lsh.worker.engine import Backpressure, EngineApp, Trimmer, admin_client
from stream_lsh.worker.state.changelogged import Changelogged
from stream_lsh.worker.state.copy_generations import REMEMBERED
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.state.settle_lag import REPORT_SECONDS

WATCH_SECONDS = 0.25
READY_SECONDS = 0.02
"""The longest time for which a worker is ready before its log reports it."""
TRIM_SECONDS, TRIM_STEP = 10.0, 64
"""A record has hundreds of documents: a thousand of them would be far more than many a retention holds."""
REPORT_COUNTS_SECONDS = 60.0
RECOVERY_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Maintenance:
    """The maintenance tasks of one worker.

    Args:
        app: the engine.
        pipelines: all pipelines of the app, by name; may grow until the app starts.

    Attributes:
        trim_seconds: the period of trimming.
        trim_step: the least number of offsets that a trim moves.
        report_counts_seconds: the period of the counts in the log.
        topic_ids: of the topics that must not be recreated, as they were at the start; empty if unknown.
        failed_trims: the number of requests to trim a topic that failed, by topic.
    """

    def __init__(self, app: EngineApp, pipelines: Mapping[str, PipelineState]) -> None:
        self._app = app
        self._pipelines = pipelines
        self._backpressure: Backpressure | None = None
        self.topic_ids: Mapping[str, str] = {}
        self.failed_trims: Mapping[str, int] = {}
        self.trim_seconds, self.trim_step, self.report_counts_seconds = TRIM_SECONDS, TRIM_STEP, REPORT_COUNTS_SECONDS

    # -- backpressure

    async def watch(self) -> None:
        """Close and open the sources, until cancelled."""
        backpressure = self._backpressure = Backpressure(
            self._app, [source for state in self._pipelines.values() for source in state.config.sources]
        )
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self.is_ready:
                await backpressure.report(self.bytes_under_way() + self.bytes_before_settle())

    @property
    def sources_wait(self) -> bool:
        """Whether the sources are closed."""
        return self._backpressure is not None and self._backpressure.closed

    def bytes_under_way(self) -> int:
        """The estimated bytes in the topics between the steps that this worker has to read."""
        consumer, assigned = self._app.consumer, self._app.consumer.assignment()
        return sum(
            state.traffic.bytes_before(tp, consumer.highwater(tp) or 0)
            for state in self._pipelines.values()
            for tp in tuple(state.traffic.positions)
            if tp in assigned and tp.topic not in state.config.sources
        )

    def bytes_before_settle(self) -> int:
        """The estimated bytes that wait for settle on other workers, as reported by those."""
        return sum(state.settle_lag.size for state in self._pipelines.values() if not state.ledger.owned())

    async def report_lag(self) -> None:
        """Report to all workers how many bytes wait for settle, if this worker settles, until cancelled."""
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            for state in self._pipelines.values():
                if self.is_ready and state.ledger.owned():
                    await self._report_lag(state)

    async def _report_lag(self, state: PipelineState) -> None:
        edges = TP(state.config.internal_topic("edges"), 0)
        if edges not in self._app.consumer.assignment():  # the topic was deleted: `check_topics` will report it
            return
        lag = state.settle_lag.report(state.traffic.bytes_before(edges, self._app.consumer.highwater(edges) or 0))
        if lag is None or len(state.buckets.owned()) == state.partitions:  # no other worker reads a source
            return
        value, topic = encode(BandsFrame(lag=lag), state.fingerprint), state.config.internal_topic("bands")
        await asyncio.gather(
            *[await self._app.produce(topic, None, value, target) for target in range(state.partitions)]
        )

    # -- trimming

    async def trim(self) -> None:
        """Trim the topics of the application, until cancelled, or until the broker refuses deletion."""
        async with admin_client(self._app) as admin:
            trimmer, warnings = Trimmer(admin, self._own_topics(), step=self.trim_step), TrimWarnings()
            self.failed_trims = trimmer.failed
            while True:
                await asyncio.sleep(self.trim_seconds)
                needed = self.needed() if self.is_ready else {}
                if not needed:
                    continue
                # A worker that may not write may not delete either: its successor may need what is obsolete here.
                await self._app.may_write()
                try:
                    await trimmer.trim(needed)
                    warnings.report(trimmer.errors)
                except IncompatibleBrokerVersion:
                    _log.warning("this broker cannot delete records: the topics of the application only grow")
                    return

    def needed(self) -> dict[TP, int]:
        """The first offset that any worker may still read, of every partition that this worker may trim."""
        assigned, own = self._app.consumer.assignment(), self._own_topics()
        needed = {tp: self._app.committed_offset(tp) for tp in assigned if tp.topic in own}
        for state in self._pipelines.values():
            config = state.config
            for tp in [tp for tp in needed if config.rekey and tp.topic == config.documents_topic]:
                needed[tp] = max(0, (needed[tp] or 0) - REMEMBERED)
            for partition, documents in state.documents.owned().items():
                tp = TP(config.changelog_topic("documents"), partition)
                needed[tp] = state.documents.needed(partition, documents.table.horizon)
            for partition, buckets in state.buckets.owned().items():
                tp = TP(config.changelog_topic("buckets"), partition)
                needed[tp] = state.buckets.needed(partition, buckets.horizon)
            for partition, ledger in state.ledger.owned().items():
                needed[TP(config.changelog_topic("ledger"), partition)] = ledger.rewriter.sizes.start
        return {tp: offset for tp, offset in needed.items() if offset}

    async def follow(self) -> None:
        """Drop trimmed records from the heads of followed changelogs; save the states that are due."""
        while True:
            await asyncio.sleep(self.trim_seconds)
            for state in self._pipelines.values():
                if self.is_ready and (followed := state.followed()):
                    await self._forget_trimmed(followed)
                    state.end_waiting(self._app.consumer.highwater)
                    await state.save_followed()

    async def _forget_trimmed(self, followed: Mapping[TP, Changelogged[Any]]) -> None:
        try:
            firsts = await self._app.consumer.earliest_offsets(*followed)
        except KafkaError:  # a leader moves, a broker restarts, the group is rebalanced: the next check will do
            return
        for tp, first in firsts.items():
            followed[tp].begins(tp.partition, first)

    def _own_topics(self) -> set[str]:
        return {state.config.internal_topic(name) for state in self._pipelines.values() for name in INTERNAL_TOPICS}

    # -- topics that lose messages

    async def check_topics(self) -> None:
        """Check that no topic is recreated, and none loses its end, until cancelled."""
        async with admin_client(self._app) as admin:
            while True:
                await asyncio.sleep(self.trim_seconds)
                if not self.is_ready:
                    continue
                await self.expect_ends()
                try:
                    await startup.expect_same_topics(admin, self.topic_ids)
                except KafkaError as error:
                    _log.warning("the broker does not report which topics exist: %s", error)

    async def expect_ends(self) -> None:
        """Check that no topic ends before an offset that was read; without an answer, the next check will do.

        Raises:
            StateError: a topic does, or a ledger lacks acknowledged messages.
        """
        seen: dict[TP, int] = {}
        committed = {tp: self._app.committed_offset(tp) for tp in self._app.consumer.assignment()}
        for state in self._pipelines.values():
            expect_records(state, committed)
            seen |= seen_offsets(state, committed)
        try:
            await expect_ends(self._app.consumer, seen)
        except KafkaError as error:
            _log.warning("the broker does not report where the topics end: %s", error)

    # -- counts

    async def report_counts(self) -> None:
        """Log the counts periodically, until cancelled."""
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
        """Log the progress of a recovery, the state of this worker once it is ready, and its standbys, for ever."""
        ready: int | None = None
        followed: int | None = None
        while True:
            await asyncio.sleep(WATCH_SECONDS if ready == self._app.consumer_generation_id else READY_SECONDS)
            generation = self._app.consumer_generation_id
            if self._app.in_recovery:
                ready = None
                await self._report_recovery()
            elif ready != generation and self.is_ready and generation:  # of a group that it has joined
                ready = generation
                for state in self._pipelines.values():
                    _log.info("ready: %s", state.line())
                await self._report_deleted()
            elif ready == generation != followed and self.is_ready and self._has_followed():
                followed = generation
                if any(state.followed() for state in self._pipelines.values()):
                    _log.info("standing by: all followed changelogs have been read")

    def _has_followed(self) -> bool:
        """Whether standbys have read their changelogs up to the ends at the last rebalance."""
        recovery = cast(Any, self._app.tables).recovery
        ends, offsets = recovery.standby_highwaters, recovery.standby_offsets
        return all(offsets[tp] is not None and offsets[tp] >= end for tp, end in ends.items())

    async def _report_recovery(self) -> None:
        """Log every few seconds how many changelog records are left; return when none are."""
        started, most, reported_at = time.monotonic(), 0, 0.0
        while self._app.in_recovery:
            left = cast(Any, self._app.tables).recovery.active_remaining_total()
            most, passed = max(most, left), time.monotonic() - started
            if most and passed - reported_at > RECOVERY_SECONDS:
                reported_at = passed
                rest = passed * left / max(1, most - left)
                _log.info("recovery: %d of %d changelog records are left, about %.0f s", left, most, rest)
            await asyncio.sleep(READY_SECONDS)
        _log.info("recovered in %.1f s", time.monotonic() - started)

    async def _report_deleted(self) -> None:
        """Log how many messages of the sources were deleted before this application had read them."""
        sources = {source for state in self._pipelines.values() for source in state.config.sources}
        assigned = [tp for tp in self._app.consumer.assignment() if tp.topic in sources]
        try:
            firsts = await self._app.consumer.earliest_offsets(*assigned)
        except KafkaError as error:  # a failed report does not end the worker
            _log.warning("the broker does not report where the sources begin: %s", error)
            return
        for tp in sorted(firsts):
            deleted = firsts[tp] - (self._app.committed_offset(tp) or firsts[tp])
            if deleted > 0:
                _log.error(
                    "%s[%d]: %d messages before offset %d were deleted before they were read: is its retention shorter "
                    "than the time for which this application was away?",
                    *(*tp, deleted, firsts[tp]),
                )

    @property
    def is_ready(self) -> bool:
        """Whether the worker is in its group, has its state, and does not stop."""
        app: Any = self._app
        if app.group.waiting_since is not None:  # before the consumer's thread has begun it cannot even be asked
            return False
        return not (app.rebalancing or app.in_recovery or app.should_stop)


def _warn_of_low_recall(state: PipelineState, short: set[str]) -> None:
    """Warn once if the bands find too few matches; `short` has the pipelines that were reported."""
    name, asked = state.config.name, state.config.kind.recall
    if not state.counts.recall_monitor.falls_short(asked):
        short.discard(name)
    elif name not in short:
        short.add(name)
        _log.warning(
            "%s: the bands find fewer matches than the configured recall, %g: see `Is recall as promised?` in "
            "docs/operations/monitoring.md",
            *(name, asked),
        )
