"""The effects that an agent yields.  One effect carries a whole batch; the driver routes, cuts and encodes it.

    output      Append, Send, Publish, Copy, DeadLetter     the driver sends them in the order of their yields
    order       BARRIER                                     the agent continues once all its outputs are stored
                FLUSH                                       the agent continues once all pairs are stored
                TURN                                        other agents may run before this one continues
    behind all  Acknowledge, Trim, Save                     done once all outputs before are stored; the agent continues

*Pairs* are the rows of candidates, verifications and edges.  A `FLUSH` waits for those of all agents of the pipeline on
this worker.

Between two barriers nothing is known about the order in which outputs are stored, except within one partition of one
topic: a crash may leave any prefix of each partition.  Where one output must not be stored without another, the agent
yields a `BARRIER` between the two.

Once another worker owns its partition, a driver requests no more effects and acknowledges nothing.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple, Protocol

from stream_lsh.pipeline.batches import BandsFrame, Frame
from stream_lsh.pipeline.changelog.records import DocumentsRecord, LedgerRecord, LedgerSlice
from stream_lsh.pipeline.settle import Settlement

Step = Literal["bands", "candidates", "verifications", "edges"]
"""A topic between two steps."""

Table = Literal["documents", "buckets", "ledger"]
"""A table with a changelog."""

Record = DocumentsRecord | BandsFrame | LedgerRecord | LedgerSlice
"""A record of a changelog, before it is encoded."""


class Rewriter(Protocol):
    """Rewrites a changelog (`pipeline.changelog`); the driver reports on the records that it yields."""

    def sent(self, records: int, size: int) -> None:
        """Note that an `Append` has become this number of records, with this number of bytes together."""

    def delivered(self, offset: int) -> None:
        """Note that one of these records is stored at this offset."""


class Append(NamedTuple):
    """Append a record to the changelog of a partition.

    Attributes:
        rewriter: copies this record; None for a record that is new.
    """

    table: Table
    partition: int
    record: Record
    rewriter: Rewriter | None = None


class Send(NamedTuple):
    """Send a frame to the next step.

    Postings, candidates and verifications go to the partitions of their rows; marks and horizons go to every partition;
    `edges` has one.
    """

    step: Step
    frame: Frame


class Publish(NamedTuple):
    """Publish the changes by a message of `edges` in the public topics."""

    settlement: Settlement


class Copy(NamedTuple):
    """Copy messages of a source to the topic that is keyed by id.

    Attributes:
        records: the messages, as the driver gave them to the agent.
        keys: the id of each, as a key.
        generation: of the consumer group.
        made_ms: the time of the copy, in milliseconds since 1970.
    """

    records: Sequence[Any]
    keys: Sequence[Any]
    generation: int
    made_ms: int


class DeadLetter(NamedTuple):
    """Send an unusable message to the dead letters; the driver raises `error` if it ends the worker."""

    record: Any
    error: Exception


class Order(Enum):
    """Effects that write nothing and decide when the agent continues."""

    BARRIER = "barrier"
    FLUSH = "flush"
    TURN = "turn"


BARRIER, FLUSH, TURN = Order.BARRIER, Order.FLUSH, Order.TURN


class Acknowledge(NamedTuple):
    """Acknowledge the input below this offset, once all outputs before this effect are stored."""

    position: int


class Trim(NamedTuple):
    """Drop the head of a changelog, once all outputs before this effect are stored.

    Attributes:
        until: returns the offset before which all records are obsolete; None if none are.
    """

    table: Table
    partition: int
    until: Callable[[], int | None]


class Save(NamedTuple):
    """Save a table on disk, once all outputs before this effect are stored and acknowledged."""

    table: Table
    partition: int


Effect = Append | Send | Publish | Copy | DeadLetter | Order | Acknowledge | Trim | Save
"""Everything that an agent yields."""
