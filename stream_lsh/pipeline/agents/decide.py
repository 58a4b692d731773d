"""The agent of decisions: forwards them from the topic that users write to the topic that settle reads.

    Send        the decisions of a batch
    Acknowledge

A decision is identified by its offset in the users' topic, and the ledger keeps the newest one of two records, so that
a decision forwarded twice, after a crash, does no harm.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stream_lsh.ledger.decisions import Decision
from stream_lsh.pipeline.agents.effects import Acknowledge, DeadLetter, Effect, Send
from stream_lsh.pipeline.batches import EdgesFrame


def decide_agent(records: Sequence[Any], stop: int, read: Callable[[Any], Decision]) -> Iterator[Effect]:
    """Forward a batch of decisions.

    Args:
        records: consecutive messages of the topic of decisions.
        stop: the offset behind the last of them.
        read: the decision in a message; raises the reason if it becomes a dead letter.
    """
    decisions = list[Decision]()
    for record in records:
        try:
            decisions.append(read(record))
        except Exception as error:
            yield DeadLetter(record, error)
    if decisions:
        yield Send("edges", EdgesFrame(decisions=tuple(decisions)))
    yield Acknowledge(stop)
