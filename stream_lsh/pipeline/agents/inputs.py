"""The input of an agent that reads a topic between two steps."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

_Frame = TypeVar("_Frame")


class Input(NamedTuple, Generic[_Frame]):
    """Consecutive messages of one partition.

    Attributes:
        partition: of the topic.
        frames: the messages, in order.
        stop: the offset behind the last of them.
        generation: of the consumer group.
    """

    partition: int
    frames: Sequence[_Frame]
    stop: int
    generation: int
