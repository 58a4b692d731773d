"""The rekeying agent: copies one or several sources, keyed in any way, to one topic that is keyed by id.

    Copy        the messages of a batch, in their order
    Acknowledge

Order.  The messages of one partition of a source are copied in their order.  Between partitions there is no order.

A repeated copy is a new version with the same bytes, which sign passes over.  After a crash all messages from the
committed offset on are copied again: between the copies, an older version of an updated id may be the newest again for
a moment.  `wire.origin.CopyGenerations` handles the late copies of a zombie.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stream_lsh.pipeline.agents.effects import Acknowledge, Copy, DeadLetter, Effect


def rekey_agent(
    records: Sequence[Any], stop: int, key_of: Callable[[Any], Any], generation: int, now_ms: int
) -> Iterator[Effect]:
    """Copy a batch of messages of a source.

    Args:
        records: consecutive messages of a partition.
        stop: the offset behind the last of them.
        key_of: the id of a message, as a key; raises the reason if it becomes a dead letter.
        generation: of the consumer group, when they were read.
        now_ms: the time, in milliseconds since 1970.
    """
    copied, keys = list[Any](), list[Any]()
    for record in records:
        try:
            keys.append(key_of(record))
        except Exception as error:
            yield DeadLetter(record, error)
        else:
            copied.append(record)
    if copied:
        yield Copy(copied, keys, generation, now_ms)
    yield Acknowledge(stop)
