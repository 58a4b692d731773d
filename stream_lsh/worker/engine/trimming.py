"""Internal topics are trimmed: records that no worker needs any more are deleted.

These topics have no retention by time (see `topics.own_topic`), so their owner deletes: of a changelog the records
before those of live state, of an internal topic those before the committed offset.  DeleteRecords moves the start of
the log; it never moves back.
"""

from collections.abc import Collection, Mapping
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
        failed: the number of failed requests; a later one deletes the records.
    """

    def __init__(self, admin: Any, own: Collection[str], *, step: int = 1000) -> None:
        self._admin = admin
        self._own = frozenset(own)
        self._step = step
        self._starts: dict[TP, int] = {}
        self.failed = 0

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
        if not due:
            return {}
        try:
            answer = await self._admin.delete_records(
                {TopicPartition(tp.topic, tp.partition): RecordsToDelete(offset) for tp, offset in due.items()}
            )
        except IncompatibleBrokerVersion:
            raise
        except KafkaError:  # a leader moves, a broker restarts: the log only stays long for a while
            self.failed += 1
            return {}
        starts = {TP(tp.topic, tp.partition): int(offset) for tp, offset in answer.items()}
        self._starts.update(starts)
        return starts
