"""The agent of index: bands in, candidates out.

    Append      the postings, or the horizon
    Send        the candidates
    Append      slices of the table, where the changelog is being rewritten
    Send        the marks, behind the candidates of all earlier postings
    Acknowledge

No barrier lies between the first two: replayed postings are inserted and probed again, and give the same candidates, or
more.  A retirement is the exception: a replay does not find the posting any more, so it does not emit the pairs that
the retirement brings within the caps.  Where a batch has such candidates, they are stored before its record:

    Send        the candidates
    BARRIER
    Append      the postings
"""

from collections.abc import Iterator

from stream_lsh.pipeline.agents.effects import BARRIER, Acknowledge, Append, Effect, Save, Send
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.state import BucketsState, Shared
from stream_lsh.pipeline.batches import BandsFrame, CandidatesFrame
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.coalesce import coalesced_postings, furthest_horizon
from stream_lsh.pipeline.index import Indexed, index


def index_agent(shared: Shared, buckets: BucketsState, log: LogHead, bands: Input[BandsFrame]) -> Iterator[Effect]:
    """Index a batch of frames.

    Args:
        shared: of the pipeline.
        buckets: of the partition.
        log: the head of its changelog.
        bands: messages of the topic.
    """
    partition, frames, stop, generation = bands
    horizon, written = furthest_horizon(frames), 0
    buckets.is_ahead = True
    if horizon is not None:
        buckets.forget(horizon)
        buckets.unsaved += 1
        yield Append("buckets", partition, BandsFrame(horizon=horizon))
    for postings in coalesced_postings(frame.postings for frame in frames):
        indexed = index(postings, buckets.table)
        buckets.unsaved += postings.rows.size
        written += postings.rows.size
        shared.counts.capped_postings += len(indexed.capped_buckets)
        shared.counts.capped_by_block.update(map(shared.scheme.block, indexed.capped_buckets))
        shared.counts.capped_by_bucket.add(indexed.capped_buckets)
        shared.counts.capped_candidates += indexed.capped_candidates
        yield from _outputs(Append("buckets", partition, BandsFrame(postings=postings)), indexed)
    for copied in buckets.rewriter.records(buckets.table, log.entries, written):
        yield Append("buckets", partition, copied, buckets.rewriter)
    buckets.relay.begin(generation)
    for marks in buckets.relay.take_all(frame.watermarks for frame in frames):
        yield Send("candidates", CandidatesFrame(watermarks=marks))
    buckets.is_ahead = False
    yield Acknowledge(stop)
    if buckets.is_due:
        yield Save("buckets", partition)


def _outputs(record: Append, indexed: Indexed) -> list[Effect]:
    """The record and the candidates of a batch, in the order in which they must be stored."""
    if indexed.candidates is None:
        return [record]
    candidates = Send("candidates", CandidatesFrame(candidates=indexed.candidates))
    return [candidates, BARRIER, record] if indexed.has_neighbours else [record, candidates]
