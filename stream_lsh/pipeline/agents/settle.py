"""The agent of settle: edges in, results out.

Publish     the changes by each message of a flight, then
Send        its rechecks and the horizon
BARRIER     a record without its outputs would lose them (docs/internals/adr/0002)
Append      a record for each message of the flight
BARRIER     the outputs of the next flight may have keys of this one
Append      slices of the ledger, where the changelog is being rewritten, with a TURN between two
Acknowledge
"""

from collections.abc import Iterable, Iterator

from stream_lsh.pipeline.agents.effects import BARRIER, TURN, Acknowledge, Append, Effect, Publish, Send, Trim
from stream_lsh.pipeline.agents.state import LedgerState, Shared
from stream_lsh.pipeline.batches import BandsFrame, CandidatesFrame, EdgesFrame
from stream_lsh.pipeline.settle import Settlement, Settler, flights


def settle_agent(
    shared: Shared, ledger: LedgerState, frames: Iterable[tuple[int, EdgesFrame]], stop: int, generation: int
) -> Iterator[Effect]:
    """Settle a batch of frames, each by itself.

    Args:
        shared: of the pipeline.
        ledger: the whole ledger.
        frames: consecutive messages of `edges`, with their offsets.
        stop: the offset behind the last of them.
        generation: of the consumer group.

    Raises:
        StateError: the changelog of the ledger begins with a copy that has no end.
    """
    ledger.expect_all()
    settler, rewriter = ledger.settler, ledger.rewriter
    settler.begin(generation)
    before = rewriter.sizes.written
    ledger.is_ahead = True
    for flight in flights(_settlements(settler, frames)):
        for settlement in flight:
            shared.counts.capped_candidates += settlement.settled.capped_rechecks
            yield from _published(settlement)
        yield BARRIER
        for settlement in flight:
            yield Append("ledger", 0, settlement.record)
        yield BARRIER
    ledger.is_ahead = False
    written = rewriter.sizes.written - before  # the driver reports to `wrote`
    yield Trim("ledger", 0, rewriter.completed_pass)
    for copied in rewriter.slices(settler, written):
        yield Append("ledger", 0, copied, rewriter)
        yield TURN
    yield Acknowledge(stop)


def _settlements(settler: Settler, frames: Iterable[tuple[int, EdgesFrame]]) -> Iterator[Settlement]:
    """The settlement of each message that was not settled before."""
    for offset, frame in frames:
        settlement = settler.settle(frame, offset)
        if settlement is not None:
            yield settlement


def _published(settlement: Settlement) -> Iterator[Effect]:
    """The outputs of a settlement, except its record."""
    yield Publish(settlement)
    if settlement.rechecks is not None:
        yield Send("candidates", CandidatesFrame(candidates=settlement.rechecks))
    if settlement.horizon is not None:
        yield Send("bands", BandsFrame(horizon=settlement.horizon))
        yield Send("candidates", CandidatesFrame(horizon=settlement.horizon))
