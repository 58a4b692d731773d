"""Topics of our own are cut off behind what anybody still needs.

They have no retention by time (see `topics.own_topic`), so their owner deletes: of a changelog what no live state
needs, of an internal topic what lies behind the committed offset.  DeleteRecords moves the start of the log; it never
comes back.
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
        own: the topics that may be trimmed.  Any other is refused: a user's topic is never touched.
        step: how many offsets a start must move to be worth a request.

    Attributes:
        failed: how many requests failed; the records are deleted by a later one.
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
            needed: partition -> the first offset that somebody still needs.

        Returns:
            where the logs start now, of the partitions that were trimmed in this call.

        Raises:
            InvariantError: a topic that is not ours.
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
        except KafkaError:  # a leader moves, a broker restarts: it only means that the log is long for a while
            self.failed += 1
            return {}
        starts = {TP(tp.topic, tp.partition): int(offset) for tp, offset in answer.items()}
        self._starts.update(starts)
        return starts
