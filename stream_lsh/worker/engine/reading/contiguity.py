"""Nothing is missing between one event and the next.

Not a workaround but the alarm for those in this package: if records were dropped, the offsets have a gap.  The first
event of a generation starts at the committed offset or before it, each later one right behind the last; otherwise the
worker halts before it acks anything past the gap.

A topic that is compacted, or written in transactions, has gaps by nature, so the users' sources may have them.
"""

from collections.abc import Callable, Collection
from typing import Any

from faust.types import TP

from stream_lsh.errors import DoubtError, StateError
from stream_lsh.wire.manifest import LOST


class ContiguityGuard:
    """Follows the offsets of one agent's stream.

    Args:
        committed: TP -> the offset that is committed, None if there is none.
        gaps_allowed: topics that may have gaps.
    """

    def __init__(self, committed: Callable[[TP], int | None], gaps_allowed: Collection[str] = ()) -> None:
        self._committed = committed
        self._gaps_allowed = frozenset(gaps_allowed)
        self._next: dict[TP, tuple[int, int]] = {}  # generation and the expected offset

    def check(self, event: Any) -> None:
        """Take the next event of the stream; its value is a list of records.

        Raises:
            DoubtError: records are missing before it -> halt.
            StateError: it was read before: the topic was truncated, or recreated -> docs/operations/errors.md.
        """
        message = event.message
        first, last = event.value[0].offset, message.offset
        generation, expected = self._next.get(message.tp, (None, None))
        if generation != message.generation_id:
            expected = self._committed(message.tp)
        elif expected is not None and first < expected:
            raise StateError(
                f"{message.topic}[{message.partition}] continues at offset {first}, expected {expected}: it was "
                f"truncated by an unclean leader election, or deleted and recreated; see {LOST}"
            )
        if expected is not None and first > expected and message.topic not in self._gaps_allowed:
            raise DoubtError(
                f"{message.topic}[{message.partition}] continues at offset {first}, expected {expected}: "
                "records were lost in between, or deleted before they were read"
            )
        self._next[message.tp] = message.generation_id, last + 1
