"""Internal topics are trimmed: records that no worker needs any more are deleted.

These topics have no retention by time (see `required.own_topic`), so their owner deletes: of a changelog the records
before those of live state, of an internal topic those before the committed offset.  DeleteRecords moves the start of
the log; it never moves back.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import groupby
from typing import Any

from aiokafka import TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import RecordsToDelete  # type: ignore[import-untyped]
from aiokafka.errors import IncompatibleBrokerVersion, KafkaError  # type: ignore[import-untyped]
from faust.types import TP

from stream_lsh.errors import InvariantError


class Trimmer:
    """Moves the starts of logs forward.

    Args:
        admin: a started admin client of aiokafka.
        own: the topics that may be trimmed.  All others are refused: a user's topic is never trimmed.
        step: the least number of offsets by which a request moves a start.

    Attributes:
        failed: the number of failed requests of each topic; a later one deletes the records.
        errors: the error of each topic for which the last call of `trim` sent a request that failed.
    """

    def __init__(self, admin: Any, own: Collection[str], *, step: int = 1000) -> None:
        self._admin = admin
        self._own = frozenset(own)
        self._step = step
        self._starts: dict[TP, int] = {}
        self.failed: Counter[str] = Counter()
        self.errors: dict[str, KafkaError] = {}

    async def trim(self, needed: Mapping[TP, int]) -> Mapping[TP, int]:
        """Delete everything below these offsets.

        Args:
            needed: partition -> the first offset that a worker still needs.

        Returns:
            where the logs start now, of the partitions that were trimmed in this call.

        Raises:
            InvariantError: a topic is not in `own`.
        """
        foreign = sorted({tp.topic for tp in needed} - self._own)
        if foreign:
            raise InvariantError(f"only topics of our own are trimmed, not {', '.join(foreign)}")
        due = {tp: offset for tp, offset in needed.items() if offset - self._starts.get(tp, 0) >= self._step}
        requested = {tp.topic for tp in due}
        self.errors = {topic: error for topic, error in self.errors.items() if topic in requested}
        if not due:
            return {}
        try:
            starts = await self._delete(due)
            self.errors.clear()
        except IncompatibleBrokerVersion:
            raise
        except KafkaError:  # the error names no topic
            starts = await self._delete_by_topic(due)
        self._starts.update(starts)
        return starts

    async def _delete(self, offsets: Mapping[TP, int]) -> dict[TP, int]:
        """Delete everything below these offsets; returns where the logs start now."""
        answer = await self._admin.delete_records(
            {TopicPartition(tp.topic, tp.partition): RecordsToDelete(offset) for tp, offset in offsets.items()}
        )
        return {TP(tp.topic, tp.partition): int(offset) for tp, offset in answer.items()}

    async def _delete_by_topic(self, offsets: Mapping[TP, int]) -> dict[TP, int]:
        """The same with a request for each topic, so that one topic does not prevent the others from being trimmed."""
        starts: dict[TP, int] = {}
        for topic, tps in groupby(sorted(offsets), key=lambda tp: tp.topic):
            try:
                starts |= await self._delete({tp: offsets[tp] for tp in tps})
                self.errors.pop(topic, None)
            except KafkaError as error:  # a leader moves, a broker restarts, a right is missing: the log stays long
                self.failed[topic] += 1
                self.errors[topic] = error
        return starts
