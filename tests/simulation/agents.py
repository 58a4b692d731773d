"""The five steps, and what passes decisions on, as agents: read, compute, write, acknowledge.

Each is a generator over its writes.  The schedule takes one step at a time and may stop taking them for ever - a
crash - before and after any write.  What a generator returns last is the position it has acknowledged.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from stream_lsh.errors import InputError
from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.ledger.sites.page_counts import AsOf
from stream_lsh.model import make_ref
from stream_lsh.pipeline.batches import (
    RECHECK,
    BandsFrame,
    Candidates,
    CandidatesFrame,
    EdgesFrame,
    Mark,
    Postings,
    Verifications,
    VerificationsFrame,
    Watermarks,
)
from stream_lsh.pipeline.changelog.head import extent_of_documents
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.coalesce import (
    coalesced_candidates,
    coalesced_postings,
    coalesced_verifications,
    furthest_horizon,
)
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import gather
from stream_lsh.pipeline.index import index
from stream_lsh.pipeline.settle import Settlement, Settler, flights
from stream_lsh.pipeline.sign import Arrivals, sign
from stream_lsh.pipeline.verify import verify_in_steps
from stream_lsh.retention import BEGINNING_MS, Horizon
from stream_lsh.wire.route import candidates_by_partition, postings_by_partition, verifications_by_partition
from stream_lsh.wire.split import (
    cut_candidates,
    cut_documents,
    cut_edges,
    cut_pages,
    cut_postings,
    cut_retirements,
    cut_verifications,
)
from tests.simulation.codec import messages
from tests.simulation.intake import copies_taken, documents_of, intake_agent

if TYPE_CHECKING:
    from tests.simulation.workers import PartitionState, Setup, Worker

Write = tuple[str, int, object, object]
"""Topic, partition, key, value."""


def sign_agent(worker: "Worker", partition: int, position: int) -> Iterator[Write]:
    """Documents in, bands and retirements out."""
    setup, broker = worker.setup, worker.broker
    stop = min(broker.end(setup.documents_topic, partition), position + setup.batch)
    if setup.rekey:
        taken = copies_taken(worker, partition, position, stop)
    else:
        taken = {offset: broker.at("source", partition, offset).value for offset in range(position, stop)}
    documents, state = list(taken.values()), worker.partitions[partition]
    arrivals = Arrivals(partition, list(taken), documents)
    signed = sign(
        arrivals,
        state.documents,
        setup.scheme,
        state.documents.horizon,
        segment_span_ms=1,
        acknowledged=state.documents_passes.acknowledged(state.documents, state.confirmed),
    )
    if signed.record is not None:
        for record in cut_documents(signed.record, setup.limit):
            yield "documents-changelog", partition, None, record
        state.stored = broker.end("documents-changelog", partition) - 1
    if signed.postings is not None:
        for target, part in enumerate(postings_by_partition(signed.postings, setup.partitions)):
            for postings in () if part is None else cut_postings(part, setup.limit):
                yield "bands", target, None, BandsFrame(postings=postings)
    for retirements in cut_retirements(signed.retirements, setup.limit):
        yield "edges", 0, None, EdgesFrame(retirements=retirements)
    if signed.record is not None:
        yield from _copied_documents(worker, partition, signed.record)
    times = [document.time_ms for document in documents if document.text is not None]
    state.newest_ms = max([state.newest_ms, *times])
    if setup.keep_ms is not None and "only settle decides what is forgotten" in worker.rules_out:
        state.documents.expire(Horizon(max(BEGINNING_MS, state.newest_ms - setup.keep_ms)))
    worker.positions["sign", partition] = stop


def _copied_documents(worker: "Worker", partition: int, record: DocumentsRecord) -> Iterator[Write]:
    """The slices that are due behind a record, where the changelog is being rewritten."""
    setup, broker, state = worker.setup, worker.broker, worker.partitions[partition]
    passes, log = state.documents_passes, state.log_head(broker, "documents-changelog")
    written = extent_of_documents(record).entries
    for copied in passes.slices(state.documents, log, written, setup.scheme.width):
        if "a log is trimmed when every slice is in it" in worker.rules_out:
            state.trim_documents(broker, broker.end("documents-changelog", partition))
        for part in cut_documents(copied, setup.limit):
            passes.sent(1)
            offset = broker.end("documents-changelog", partition)
            yield "documents-changelog", partition, None, part
            passes.delivered(offset)
    began = passes.take_over()
    if began is not None:
        state.trim_documents(broker, began)


def mark_of(worker: "Worker", partition: int, mark_idle: bool) -> Mark:
    """What sign knows of the event time of a partition, of what it has delivered."""
    setup, state = worker.setup, worker.partitions[partition]
    at_end = mark_idle and worker.positions["sign", partition] == worker.broker.end(setup.documents_topic, partition)
    floor = state.documents.floor(setup.max_documents) if setup.max_documents else 0
    mark = state.watermarks.mark(partition, state.newest_ms, floor, worker.generation, at_end=at_end)
    if "an advance of event time is reported as busy" in worker.rules_out:
        mark = mark._replace(idle=at_end)
    worker.broker.marks.append(mark)
    return mark


def tick_agent(worker: "Worker", said: Watermarks) -> Iterator[Write]:
    """The word of sign about event time, to every index partition."""
    setup = worker.setup
    if "watermarks flow through the hops" in worker.rules_out:
        for origin in range(setup.partitions):
            yield "edges", 0, None, EdgesFrame(watermarks=replace(said, origin=origin))
        return
    for target in range(setup.partitions):
        yield "bands", target, None, BandsFrame(watermarks=said)


def tell_agent(worker: "Worker", partition: int) -> Iterator[Write]:
    """The word of sign about the pages of sites, to settle."""
    state, pages = worker.partitions[partition], worker.partitions[partition].documents.pages
    assert pages is not None
    if "all pages are told again by a new owner" in worker.rules_out and _was_told(worker, partition):
        pages._reported_in = worker.generation
    told = pages.report(partition, AsOf(state.stored, worker.generation))
    for part in () if told is None else cut_pages(told, worker.setup.limit):
        yield "edges", 0, None, EdgesFrame(pages=part)


def _was_told(worker: "Worker", partition: int) -> bool:
    """Whether anybody has told all pages of a partition."""
    frames = (worker.read_one("edges", 0, offset) for offset in range(worker.broker.end("edges", 0)))
    return any(frame.pages is not None and frame.pages.ends and frame.pages.partition == partition for frame in frames)


def index_agent(worker: "Worker", partition: int, position: int) -> Iterator[Write]:
    """Bands in, candidates out."""
    setup, state = worker.setup, worker.partitions[partition]
    frames: list[BandsFrame] = worker.read("bands", partition, position)
    horizon = furthest_horizon(frames)
    if horizon is not None:
        state.table.expire(horizon.time_ms, np.array(horizon.floors, np.uint64))
        yield "buckets-changelog", partition, None, BandsFrame(horizon=horizon)
    written = 0
    for postings in coalesced_postings(frame.postings for frame in frames):
        written += postings.rows.size
        candidates = index(postings, state.table).candidates
        if candidates is not None:
            candidates = _without_rules(worker, state, postings, candidates)
        for part in cut_postings(postings, setup.limit):
            yield "buckets-changelog", partition, None, BandsFrame(postings=part)
        state.indexed_refs.update(postings.refs.tolist())
        if candidates is not None:
            yield from _candidates(candidates, setup)
    yield from _copied_buckets(worker, partition, written)
    state.index_relay.begin(worker.generation)
    for passed_on in state.index_relay.take_all(frame.watermarks for frame in frames):
        for target in range(setup.partitions):
            yield "candidates", target, None, CandidatesFrame(watermarks=passed_on)
    worker.positions["index", partition] = position + len(frames)


def _copied_buckets(worker: "Worker", partition: int, written: int) -> Iterator[Write]:
    """What is due of a pass over the changelog of the band-bucket table."""
    setup, broker, state = worker.setup, worker.broker, worker.partitions[partition]
    passes, topic = state.buckets_passes, "buckets-changelog"
    for copied in passes.records(state.table, state.log_head(broker, topic).entries, written):
        whole = copied.postings
        parts = [copied]
        if whole is not None:
            parts = [replace(copied, postings=part) for part in cut_postings(whole, setup.limit)]
            if (
                "a pass over buckets ends when every slice is in the log" in worker.rules_out
                and copied.copied is not None
            ):
                parts.insert(0, BandsFrame(copied=copied.copied._replace(ended=True)))
        passes.sent(len(parts))
        for part in parts:
            offset = broker.end(topic, partition)
            yield topic, partition, None, part
            passes.delivered(offset)


def _without_rules(
    worker: "Worker", state: "PartitionState", postings: Postings, candidates: Candidates
) -> Candidates | None:
    """What is left of the candidates where a rule of the index is taken out; all of them otherwise."""
    kept = np.ones(len(candidates), np.bool_)
    if "the index probes and emits again on replay" in worker.rules_out:
        kept = np.array([ref not in state.indexed_refs for ref in candidates.new.tolist()], np.bool_)
    if "neighbours of a retired digest posting" in worker.rules_out:
        kept = np.isin(candidates.new, postings.refs[~postings.retired])
    return Candidates(candidates.new[kept], candidates.old[kept], candidates.kinds[kept]) if kept.any() else None


def _candidates(candidates: Candidates, setup: "Setup") -> Iterator[Write]:
    for target, part in enumerate(candidates_by_partition(candidates, setup.partitions)):
        for pairs in () if part is None else cut_candidates(part, setup.limit):
            yield "candidates", target, None, CandidatesFrame(candidates=pairs)


def gather_agent(worker: "Worker", partition: int, position: int) -> Iterator[Write]:
    """Candidates in, verifications out."""
    setup, state = worker.setup, worker.partitions[partition]
    frames: list[CandidatesFrame] = worker.read("candidates", partition, position)
    horizon = furthest_horizon(frames)
    if horizon is not None:
        state.documents.expire(horizon)
    candidates = coalesced_candidates(frame.candidates for frame in frames)
    asked = None if candidates is None else gather(candidates, state.documents, state.forwarded)
    for target, part in enumerate(() if asked is None else verifications_by_partition(asked, setup.partitions)):
        for batch in () if part is None else cut_verifications(part, setup.limit):
            yield "verifications", target, None, VerificationsFrame(verifications=batch)
    state.gather_relay.begin(worker.generation)
    for passed_on in state.gather_relay.take_all(frame.watermarks for frame in frames):
        for target in range(setup.partitions):
            yield "verifications", target, None, VerificationsFrame(watermarks=passed_on)
    worker.positions["gather", partition] = position + len(frames)


def verify_agent(worker: "Worker", partition: int, position: int) -> Iterator[Write]:
    """Verifications in, edges out."""
    state = worker.partitions[partition]
    frames: list[VerificationsFrame] = worker.read("verifications", partition, position)
    asked = coalesced_verifications(frame.verifications for frame in frames)
    if asked is not None:
        if "a recheck of a stale old ref is not answered" in worker.rules_out:
            yield from _absent(worker, asked, state.documents)
        for edges in verify_in_steps(asked, state.documents, worker.setup.criteria, state.comparer):
            for part in () if edges is None else cut_edges(edges, worker.setup.limit):
                yield "edges", 0, None, EdgesFrame(edges=part)
    state.verify_relay.begin(worker.generation)
    for passed_on in state.verify_relay.take_all(frame.watermarks for frame in frames):
        yield "edges", 0, None, EdgesFrame(watermarks=passed_on)
    worker.positions["verify", partition] = position + len(frames)


def _absent(worker: "Worker", asked: Verifications, documents: DocumentTable) -> Iterator[Write]:
    """Answers to rechecks whose old ref is not there: the rule that is taken out says that there are none."""
    for row, old, kind in zip(asked.rows.tolist(), asked.old.tolist(), asked.kinds.tolist(), strict=True):
        if kind == RECHECK and documents.rows(np.array([old], np.uint64))[0] < 0:
            document = dict(documents_of(worker.broker, worker.setup))[old]
            at = slice(row, row + 1)
            new = Ends(asked.ids[at], asked.refs[at], asked.times[at], asked.digests[at])
            zero = np.zeros(1, np.uint64)
            gone = Ends([document.id], np.array([old], np.uint64), np.array([document.time_ms]), zero)
            none = np.zeros(1, np.uint32)
            yield "edges", 0, None, EdgesFrame(edges=Edges(new, gone, np.zeros(1), none, none))


def settle_agent(worker: "Worker", partition: int, position: int) -> Iterator[Write]:
    """Edges in, what is true out."""
    settler, setup = worker.settler, worker.setup
    assert settler is not None
    settler.begin(worker.generation)
    together = 3 if "a frame is one message" in worker.rules_out else setup.together
    stop = min(worker.broker.end("edges", 0), position + together)
    asked = (_settled(worker, settler, offset) for offset in range(position, stop))
    topic, written = "ledger-changelog", 0
    for flight in flights(settlement for settlement in asked if settlement is not None):
        outputs = list[Write]()
        for one in flight:
            version = stop - 1 if "a frame is one message" in worker.rules_out else one.record.offset
            outputs += _published(one, version, setup)
        if position % 2:  # topics are written side by side, so either may be behind the other
            outputs.sort(key=itemgetter(0))
        records: list[Write] = [(topic, 0, None, one.record) for one in flight]
        if "public outputs before the ledger record" in worker.rules_out:
            yield from records
            yield from outputs
        else:
            yield from outputs
            yield from records
        written += sum(len(part) for _, _, _, record in records for part in messages(topic, record, setup.limit))
    worker.passes.wrote(written)
    yield from _copied_ledger(worker, settler, written)
    worker.positions["settle", partition] = stop


def _settled(worker: "Worker", settler: Settler, offset: int) -> Settlement | None:
    """What comes of one frame; what is said of it again, after a crash, is kept beside what was said before."""
    settlement = settler.settle(worker.read_one("edges", 0, offset), offset)
    if settlement is not None and settlement.horizon is not None:
        worker.broker.advances.append((settlement.horizon.time_ms, worker.generation, [*worker.broker.marks]))
    if settlement is not None and worker.setup.records is not None:
        said = worker.broker.settled[offset]
        if settlement.settled not in said:
            said.append(settlement.settled)
    return settlement


def _copied_ledger(worker: "Worker", settler: Settler, written: int) -> Iterator[Write]:
    """What is due of a pass over the changelog of the ledger, behind so many bytes of records."""
    broker, passes, topic = worker.broker, worker.passes, "ledger-changelog"
    began = passes.take_over()
    if began is not None:
        broker.trim(topic, 0, began)
    for copied in passes.slices(settler, written):
        if "the ledger's log is trimmed when every slice is in it" in worker.rules_out:
            broker.trim(topic, 0, copied.copied.began)
        passes.sent(1, sum(map(len, messages(topic, copied, worker.setup.limit))))
        offset = broker.end(topic, 0)
        yield topic, 0, None, copied
        passes.delivered(offset)


def _published(settlement: Settlement, version: int, setup: "Setup") -> Iterator[Write]:
    """Everything that a settlement sends, but its record."""
    for match in settlement.settled.matches:
        yield "matches", 0, (match.left, match.right), (version, match)
    for review in settlement.settled.reviews:
        yield "reviews", 0, (review.left, review.right), (version, review)
    for member in settlement.settled.members:
        yield "members", 0, member.id, (version, member)
    for cluster in settlement.settled.clusters:
        yield "clusters", 0, cluster.id, (version, cluster)
    for mirror in settlement.settled.mirrors:
        yield "mirror-sites", 0, (mirror.left, mirror.right), (version, mirror)
    if settlement.rechecks is not None:
        yield from _candidates(settlement.rechecks, setup)
    if settlement.horizon is not None:
        for target in range(setup.partitions):
            yield "bands", target, None, BandsFrame(horizon=settlement.horizon)
            yield "candidates", target, None, CandidatesFrame(horizon=settlement.horizon)


def decide_agent(worker: "Worker", partition: int, position: int) -> Iterator[Write]:
    """What people say in, the same for settle out."""
    stop = min(worker.broker.end("decisions", partition), position + worker.setup.batch)
    decisions = list[Decision]()
    for offset in range(position, stop):
        message = worker.broker.at("decisions", partition, offset)
        with suppress(InputError):  # goes to the dead letters
            decisions.append(parse_decision(message.key, message.value, make_ref(partition, offset)))
    if "a decision is passed on before it is acknowledged" in worker.rules_out:
        worker.positions["decide", partition] = stop
        for said in decisions:
            yield "edges", 0, None, EdgesFrame(decisions=(said,))
    elif decisions:
        yield "edges", 0, None, EdgesFrame(decisions=tuple(decisions))
    worker.positions["decide", partition] = stop


AGENTS = {
    "intake": ("source", intake_agent),
    "sign": ("source", sign_agent),
    "index": ("bands", index_agent),
    "gather": ("candidates", gather_agent),
    "verify": ("verifications", verify_agent),
    "settle": ("edges", settle_agent),
    "decide": ("decisions", decide_agent),
}
"""Every agent with the topic that it reads."""
