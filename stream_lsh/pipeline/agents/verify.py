"""The agent of verify: verifications in, edges out.

Send        the edges, step by step, with a TURN between two steps
Send        the marks, behind them
Acknowledge
"""

from collections.abc import Iterator, Sequence

from stream_lsh.ledger.edges import Edges, concatenated
from stream_lsh.pipeline.agents.effects import TURN, Acknowledge, Effect, Send
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.state import DocumentsState, Shared
from stream_lsh.pipeline.batches import EdgesFrame, VerificationsFrame
from stream_lsh.pipeline.coalesce import coalesced_verifications


def verify_agent(
    shared: Shared, documents: DocumentsState, verifications: Input[VerificationsFrame]
) -> Iterator[Effect]:
    """Compare the pairs of a batch of frames.

    Args:
        shared: of the pipeline.
        documents: of the partition of the old documents.
        verifications: messages of the topic.
    """
    _, frames, stop, generation = verifications
    asked = coalesced_verifications(frame.verifications for frame in frames)
    if asked is not None:
        for edges in shared.verify(asked, documents.table, shared.criteria, shared.comparer):
            if edges is not None:
                yield send_edges(shared, [edges])
            yield TURN
    documents.verify_relay.begin(generation)
    for marks in documents.verify_relay.take_all(frame.watermarks for frame in frames):
        yield Send("edges", EdgesFrame(watermarks=marks))
    yield Acknowledge(stop)


def send_edges(shared: Shared, found: Sequence[Edges]) -> Send:
    """Send edges in one frame, whatever the partitions of their documents; and count them."""
    edges = concatenated(found)
    shared.counts.edges += len(edges)
    return Send("edges", EdgesFrame(edges=edges))
