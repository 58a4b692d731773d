"""The state of one worker process in memory, and the input of its agents."""

from typing import Any

from stream_lsh.pipeline.agents.state import DocumentsState, LedgerState
from stream_lsh.pipeline.settle import Settler
from tests.simulation.drivers.recovery import PartitionState
from tests.simulation.log.broker import Broker
from tests.simulation.log.codec import decoded
from tests.simulation.pipelines.setup import Setup


class Process:
    """The partitions that a worker owns.

    Attributes:
        stored: the last offset of each of its changelogs that it has read or written.
        generation: of the consumer group.
    """

    def __init__(self, setup: Setup, broker: Broker) -> None:
        self.setup = setup
        self.broker = broker
        self.shared = setup.shared()
        self.partitions: dict[int, PartitionState] = {}
        self.ledger: LedgerState | None = None
        self.stored: dict[tuple[str, int], int] = {}
        self.generation = 0

    @property
    def settler(self) -> Settler | None:
        """The settler; None if another worker settles."""
        return None if self.ledger is None else self.ledger.settler

    def held(self) -> dict[int, DocumentsState]:
        """The documents of its partitions."""
        return {partition: state.of_documents for partition, state in self.partitions.items()}

    def read(self, topic: str, partition: int, position: int) -> list[Any]:
        """The frames from a position on that are handled together."""
        stop = min(self.broker.end(topic, partition), position + self.setup.together)
        return [self.read_one(topic, partition, offset) for offset in range(position, stop)]

    def read_one(self, topic: str, partition: int, position: int) -> Any:
        """The frame at a position."""
        return decoded(topic, self.broker.at(topic, partition, position).value)
