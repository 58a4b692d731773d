"""The agent of decisions: from the topic that people write to, to the one that settle reads.

    Send        the decisions of a batch
    Acknowledge

A decision has its place in that topic, and the ledger keeps the newest one of two records, so that passing one on
twice, after a crash, does no harm.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stream_lsh.ledger.decisions import Decision
from stream_lsh.pipeline.agents.effects import Acknowledge, DeadLetter, Effect, Send
from stream_lsh.pipeline.batches import EdgesFrame


def decide_agent(records: Sequence[Any], stop: int, read: Callable[[Any], Decision]) -> Iterator[Effect]:
    """Pass a batch of decisions on.

    Args:
        records: consecutive messages of the topic of decisions.
        stop: the offset behind the last of them.
        read: the decision in a message; raises what makes it a dead letter.
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
