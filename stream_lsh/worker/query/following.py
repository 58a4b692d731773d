"""A process that answers queries and owns nothing: it follows the changelogs of all partitions, without a group.

It has the states that a standby of every partition would have.  So it answers while workers are down or recovering, and
puts no load on them.  It lags behind them by the time that their records take to arrive.  Any number of such processes
may run.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.config.model import Config
from stream_lsh.config.topics import TABLES
from stream_lsh.errors import ConfigError, StreamLSHError
from stream_lsh.worker.query.api import QueryApi
from stream_lsh.worker.query.distributed.owners import Peer, new_instance
from stream_lsh.worker.query.distributed.standing import not_available, states_of, table_partitions
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.security import client_security, unreachable
from stream_lsh.worker.state.changelogged import Changelogged
from stream_lsh.worker.state.pipeline_state import PipelineState

_WAIT_MS = 50
_LOOK_SECONDS = 1.0

_log = logging.getLogger(__name__)


class FollowerStanding:
    """The standing of a process that follows all partitions, as `Standing`.

    Attributes:
        ready: whether all changelogs have been read up to the ends that they had at the start.
        stopping: whether the process ends.
    """

    generation = 0

    def __init__(self) -> None:
        self.instance = new_instance()
        self.ready = self.stopping = False
        self.ends: Mapping[TP, int] = {}

    @property
    def state(self) -> str:
        """`ready`, or the reason why this process does not answer."""
        if self.stopping:
            return "stopping"
        return "ready" if self.ready else "recovering"

    def expect_ready(self) -> None:
        """Return if this process may answer; raises the Problem not-now otherwise."""
        if self.state != "ready":
            raise Problem("not-now", f"this process is {self.state}")

    def owners(self, state: PipelineState, table: str) -> Mapping[int, Peer]:
        """This process, for every partition."""
        return dict.fromkeys(table_partitions(state, table), Peer("", self.instance))

    def followers(self, state: PipelineState, table: str) -> Mapping[int, Sequence[Peer]]:
        """None besides this process."""
        return {}

    def states(self, state: PipelineState, table: str, partitions: Sequence[int], *, stale: bool) -> dict[int, Any]:
        """The states of partitions, complete; raises the Problem not-now with the missing ones."""
        self.expect_ready()
        try:
            followed = states_of(state, table).followed()
        except StreamLSHError:  # the process ends for it
            raise not_available(table, partitions, "this process has failed and is stopping") from None
        found = {partition: followed[partition] for partition in partitions if partition in followed}
        if absent := [partition for partition in partitions if partition not in found or not found[partition].is_whole]:
            raise not_available(table, absent, "these partitions are still being read")
        return found

    def lags(self, state: PipelineState, table: str, partitions: Iterable[int]) -> list[int]:
        """The number of records of the changelog of each partition that are not applied yet."""
        topic, states = state.config.changelog_topic(table), states_of(state, table)
        ends = [self.ends.get(TP(topic, partition), 0) for partition in partitions]
        offsets = [states.offset(partition) for partition in partitions]
        return [max(0, end - (0 if at is None else at + 1)) for end, at in zip(ends, offsets, strict=True)]


class Follower:
    """A process that answers queries from the changelogs.

    Args:
        config: of the application, with the values that its states keep (`checks.startup.as_stored`).
        partitions: of each pipeline's source, by the pipeline's name.

    Raises:
        ConfigError: the configuration has no address for queries.
    """

    def __init__(self, config: Config, partitions: Mapping[str, int]) -> None:
        if config.worker.ask_address is None:
            raise ConfigError("worker.ask: got none, expected the address at which this process answers queries")
        self._config = config
        self.pipelines = {one.name: PipelineState(one, partitions[one.name]) for one in config.pipelines}
        self.standing = FollowerStanding()
        self.query_api = QueryApi(config, self.pipelines, self.standing)
        self._logs: dict[TP, Changelogged[Any]] = {
            TP(state.config.changelog_topic(table), partition): states_of(state, table)
            for state in self.pipelines.values()
            for table in TABLES
            for partition in table_partitions(state, table)
        }

    async def run(self) -> None:
        """Answer until cancelled.

        Raises:
            StreamLSHError: no broker answers, or a state lacks records -> start the process again.
        """
        for tp, states in self._logs.items():
            states.follow(tp.partition)
        consumer = AIOKafkaConsumer(
            bootstrap_servers=list(self._config.kafka.brokers),
            isolation_level="read_committed",
            enable_auto_commit=False,
            auto_offset_reset="earliest",  # of a partition whose head is deleted meanwhile, read the rest
            fetch_max_wait_ms=_WAIT_MS,
            **client_security(self._config.kafka),
        )
        try:
            await self.query_api.start()
            try:
                await consumer.start()
            except KafkaError as error:
                raise unreachable(self._config.kafka, error) from error
            await self._follow(consumer)
        finally:
            self.standing.stopping = True
            await self.query_api.stop()
            await consumer.stop()

    async def _follow(self, consumer: Any) -> None:
        consumer.assign(list(self._logs))
        await consumer.seek_to_beginning()
        ends, looked_at = await consumer.end_offsets(list(self._logs)), 0.0
        while True:
            read = await consumer.getmany(timeout_ms=_WAIT_MS)
            for tp, records in read.items():
                for record in records:
                    self._logs[TP(*tp)].recover(tp.partition, record.value, record.offset)
                    await asyncio.sleep(0)  # a record has hundreds of documents, and queries wait
            self.standing.ends = {tp: consumer.highwater(tp) or 0 for tp in self._logs}
            if time.monotonic() - looked_at > _LOOK_SECONDS:
                looked_at = time.monotonic()
                await self._look(consumer, ends)

    async def _look(self, consumer: Any, ends: Mapping[TP, int]) -> None:
        """Pass on trimmed offsets, end waits that cannot succeed, and read again partitions that failed."""
        try:
            firsts = await consumer.beginning_offsets(list(self._logs))
        except KafkaError as error:
            _log.warning("the broker does not report where the changelogs begin: %s", error)
            return
        for tp, states in self._logs.items():
            if tp.partition not in states.here():  # raises a failure that concerns more than the partition
                states.follow(tp.partition)
                await consumer.seek_to_beginning(tp)
            states.begins(tp.partition, firsts[tp])
        for state in self.pipelines.values():
            state.end_waiting(consumer.highwater)
        if not self.standing.ready and all([await consumer.position(tp) >= end for tp, end in ends.items()]):
            self.standing.ready = True
            for name, state in self.pipelines.items():
                documents = sum(len(followed.table) for followed in state.documents.followed().values())
                _log.info("ready: %s, follows all %d partitions with %d documents", name, state.partitions, documents)
