"""The agent of gather: candidates in, verifications out.

Send        the new documents, to the partitions of the old ones
Send        the marks, behind them
Acknowledge
"""

from collections.abc import Iterator

from stream_lsh.pipeline.agents.effects import Acknowledge, Effect, Send
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.state import DocumentsState, Shared
from stream_lsh.pipeline.batches import CandidatesFrame, VerificationsFrame
from stream_lsh.pipeline.coalesce import coalesced_candidates, furthest_horizon
from stream_lsh.pipeline.gather import gather


def gather_agent(shared: Shared, documents: DocumentsState, candidates: Input[CandidatesFrame]) -> Iterator[Effect]:
    """Gather the documents of a batch of frames.

    Args:
        shared: of the pipeline.
        documents: of the partition of the new documents.
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
            yield Send("verifications", VerificationsFrame(verifications=asked))
    documents.gather_relay.begin(generation)
    for marks in documents.gather_relay.take_all(frame.watermarks for frame in frames):
        yield Send("verifications", VerificationsFrame(watermarks=marks))
    yield Acknowledge(stop)
