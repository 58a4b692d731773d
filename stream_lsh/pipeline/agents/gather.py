"""The agent of gather: candidates in; edges out where the old document is on the same worker, verifications elsewhere.

Send        `verifications`: the new documents, to the partitions of old ones on other workers
Send        `edges`: the matches among the other pairs, and the answers to rechecks, with a TURN between two steps
Send        `verifications`: all pairs of a partition that leaves meanwhile
FLUSH       marks still pass `verifications`, and must not overtake edges, not even those of earlier batches
Send        the marks
Acknowledge
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from stream_lsh.ledger.edges import Edges
from stream_lsh.model import ref_partitions
from stream_lsh.pipeline.agents.effects import FLUSH, TURN, Acknowledge, Effect, Send
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.state import DocumentsState, Shared
from stream_lsh.pipeline.agents.verify import send_edges
from stream_lsh.pipeline.batches import CandidatesFrame, Verifications, VerificationsFrame
from stream_lsh.pipeline.coalesce import coalesced_candidates, furthest_horizon
from stream_lsh.pipeline.gather import gather
from stream_lsh.pipeline.verify import STEP

OwnedDocuments = Callable[[], Mapping[int, DocumentsState]]
"""Returns the documents of each partition that the worker owns now."""

_FEW, _SHORT = 256, 1 << 20
"""Pairs, and characters of their new documents, that are compared within some milliseconds."""


def gather_agent(
    shared: Shared, documents: DocumentsState, owned: OwnedDocuments, candidates: Input[CandidatesFrame]
) -> Iterator[Effect]:
    """Gather the documents of a batch of frames.

    Args:
        shared: of the pipeline.
        documents: of the partition of the new documents.
        owned: the partitions of the worker; all of them are recovered when the agent begins.
        candidates: messages of the topic.
    """
    _, frames, stop, generation = candidates
    horizon = furthest_horizon(frames)
    if horizon is not None:
        documents.table.expire(horizon)
    pairs = coalesced_candidates(frame.candidates for frame in frames)
    if pairs is not None:
        shared.counts.candidates += len(pairs)
        asked = gather(pairs, documents.table, documents.forwarded)
        if asked is not None:
            yield from _compared(shared, owned, asked)
    documents.gather_relay.begin(generation)
    marks = documents.gather_relay.take_all(frame.watermarks for frame in frames)
    if marks:
        yield FLUSH
    for mark in marks:
        yield Send("verifications", VerificationsFrame(watermarks=mark))
    yield Acknowledge(stop)


def _compared(shared: Shared, owned: OwnedDocuments, asked: Verifications) -> Iterator[Effect]:
    """Compare the pairs whose old document is here, and send the others to verify."""
    states, places = owned(), ref_partitions(asked.old)  # a partition that comes later may not be recovered yet
    elsewhere = ~np.isin(places, [*states])
    if elsewhere.any():
        yield Send("verifications", VerificationsFrame(asked.only(elsewhere)))
    # Other agents run between two steps.  Few pairs are sent before that, because a turn takes milliseconds.
    is_small = len(asked) <= _FEW and sum(map(len, asked.texts)) <= _SHORT
    found = list[Edges]()
    for partition in np.unique(places[~elsewhere]).tolist():
        documents, part = states[partition], asked.only(places == partition)
        steps, may_turn = shared.verify(part, documents.table, shared.criteria, shared.comparer), not is_small
        while owned().get(partition) is documents:
            try:
                edges = next(steps)
            except StopIteration:
                break
            found += [] if edges is None else [edges]
            if sum(map(len, found)) >= STEP:
                yield send_edges(shared, found)
                found = []
            if may_turn:
                yield TURN
            may_turn = True
        else:  # its new owner compares all of them: a repeated edge changes nothing
            yield Send("verifications", VerificationsFrame(part))
    if found:
        yield send_edges(shared, found)
