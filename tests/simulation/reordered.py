"""Wrappers that reorder, drop or add effects of an agent: each violates a rule of the protocol."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.pipeline.agents.effects import BARRIER, Acknowledge, Append, Effect, Publish, Save, Send, Trim
from stream_lsh.pipeline.agents.settle import settle_agent
from stream_lsh.pipeline.batches import RECHECK, BandsFrame, Candidates, EdgesFrame, Mark, Postings
from stream_lsh.pipeline.changelog.records import LedgerSlice
from stream_lsh.pipeline.coalesce import coalesced_verifications
from stream_lsh.pipeline.index import Indexed, index
from stream_lsh.pipeline.watermarks import WatermarkGenerator
from stream_lsh.retention import BEGINNING_MS, Horizon
from tests.simulation.drivers import tasks
from tests.simulation.drivers.process import Process
from tests.simulation.pipelines.intake import documents_of

Task = Callable[[Process, int, int], Iterator[Effect]]
"""A function that starts an agent: see `tasks`."""

_sign, _index, _verify, _settle, _decide, _tick, _report_pages = (
    tasks.sign, tasks.index, tasks.verify, tasks.settle, tasks.decide, tasks.tick, tasks.report_pages,
)  # fmt: skip


def without_barrier(task: Task, number: int, every: int = 1 << 30) -> Task:
    """The agent without one of its barriers, counted from 0, and from there on without each `every`-th."""

    def unordered(worker: Process, partition: int, position: int) -> Iterator[Effect]:
        seen = 0
        for effect in task(worker, partition, position):
            if effect is BARRIER:
                seen += 1
                if seen > number and (seen - 1 - number) % every == 0:
                    continue
            yield effect

    return unordered


def sign_announces_before_its_changelog_is_stored(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Sign without the barrier behind its record."""
    is_behind_a_record = False
    for effect in _sign(worker, partition, position):
        if not (effect is BARRIER and is_behind_a_record):
            yield effect
        is_behind_a_record = isinstance(effect, Append) and effect.rewriter is None


def sign_goes_on_before_all_is_stored(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Sign without the barrier behind its bands."""
    is_behind_a_record = False
    for effect in _sign(worker, partition, position):
        if effect is not BARRIER or is_behind_a_record:
            yield effect
        is_behind_a_record = isinstance(effect, Append) and effect.rewriter is None


def settle_records_before_it_publishes(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """The records of each flight come first."""
    outputs, records = list[Effect](), list[Effect]()
    for effect in _settle(worker, partition, position):
        if effect is BARRIER and not records:
            continue
        if isinstance(effect, Append) and effect.rewriter is None:
            records.append(effect)
        elif isinstance(effect, Publish | Send):
            outputs.append(effect)
        elif effect is BARRIER:
            yield from (*records, BARRIER, *outputs, BARRIER)
            outputs, records = [], []
        else:
            yield effect


def acknowledged_first(task: Task) -> Task:
    """The agent acknowledges its input before it sends anything."""

    def early(worker: Process, partition: int, position: int) -> Iterator[Effect]:
        effects = [*task(worker, partition, position)]
        yield from (effect for effect in effects if isinstance(effect, Acknowledge))
        yield from (effect for effect in effects if not isinstance(effect, Acknowledge))

    return early


def settle_versions_of_several_messages(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Three messages are one frame: their outputs have the version of the last one."""
    assert worker.ledger is not None
    stop = min(worker.broker.end("edges", 0), position + 3)
    frames = tasks._edges(worker, position, stop, worker.generation)
    for effect in settle_agent(worker.shared, worker.ledger, frames, stop, worker.generation):
        if isinstance(effect, Publish):
            record = replace(effect.settlement.record, offset=stop - 1)
            yield Publish(effect.settlement._replace(record=record))
        else:
            yield effect


def sign_expires_by_itself(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """Sign expires documents by its own event time."""
    yield from _sign(worker, partition, position)
    documents, keep_ms = worker.partitions[partition].of_documents, worker.setup.keep_ms
    if keep_ms is not None:
        newest_ms = documents.delivered_ms(None)
        documents.table.expire(Horizon(max(BEGINNING_MS, newest_ms - keep_ms)))


def tick_past_the_hops(worker: Process, partitions: Sequence[int], mark_idle: bool) -> Iterator[Effect]:
    """Sign sends its marks to settle, in the name of all hops."""
    frames = [cast(Send, effect).frame for effect in _tick(worker, partitions, mark_idle)]
    marks = [cast(BandsFrame, frame).watermarks for frame in frames]
    origins = range(worker.setup.partitions)
    return (
        Send("edges", EdgesFrame(watermarks=replace(mark, origin=origin)))
        for mark in marks
        if mark is not None
        for origin in origins
    )


_mark = WatermarkGenerator.mark


def idle_at_the_end(generator: WatermarkGenerator, *about: Any, at_end: bool) -> Mark:
    """A source is idle as soon as it was read to its end."""
    return _mark(generator, *about, at_end=at_end)._replace(idle=at_end)


def report_only_changed_pages(worker: Process, partition: int) -> Iterator[Effect]:
    """A new owner reports only the changes of the page counts."""
    pages = worker.partitions[partition].documents.pages
    frames = (worker.read_one("edges", 0, offset) for offset in range(worker.broker.end("edges", 0)))
    reports = (frame.pages for frame in frames if frame.pages is not None)
    if pages is not None and any(one.ends and one.partition == partition for one in reports):
        pages._reported_in = worker.generation
    return _report_pages(worker, partition)


def known_refs(table: Any) -> set[int]:
    """The versions that a table of buckets has or had."""
    return {ref for segment in table._segments for ref in segment.refs[: segment.documents].tolist()}


def index_probes_once(postings: Postings, table: Any) -> Indexed:
    """A version that the index had already gives no candidates."""
    known = known_refs(table)
    indexed = index(postings, table)
    return _only(indexed, lambda found: np.array([ref not in known for ref in found.new.tolist()], np.bool_))


def index_without_neighbours(postings: Postings, table: Any) -> Indexed:
    """A document that is retired gives no candidates."""
    come = postings.refs[~postings.retired]
    return _only(index(postings, table), lambda found: np.isin(found.new, come))


def _only(indexed: Indexed, which: Callable[[Candidates], Any]) -> Indexed:
    found = indexed.candidates
    if found is None:
        return indexed
    kept = which(found)
    some = Candidates(found.new[kept], found.old[kept], found.kinds[kept])
    return indexed._replace(candidates=some if len(some) else None)


def sign_trims_before_its_slices(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """The log is trimmed to its end before each slice of a pass."""
    for effect in _sign(worker, partition, position):
        if isinstance(effect, Append) and effect.rewriter is not None:
            yield Trim("documents", partition, lambda: worker.broker.end("documents-changelog", partition))
        yield effect


def index_ends_passes_at_once(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """A pass ends with its first slice."""
    for effect in _index(worker, partition, position):
        if isinstance(effect, Append) and effect.rewriter is not None:
            frame = cast(BandsFrame, effect.record)
            if frame.postings is not None and frame.copied is not None:
                yield effect._replace(record=BandsFrame(copied=frame.copied._replace(ended=True)))
        yield effect


def index_saves_at_once(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """The table is copied to disk when it is ahead of its changelog."""
    for effect in _index(worker, partition, position):
        yield effect
        if isinstance(effect, Append) and worker.partitions[partition].of_buckets.is_due:
            yield Save("buckets", partition)


def settle_trims_before_its_slices(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """The log of the ledger is trimmed to the beginning of a pass before each slice."""
    for effect in _settle(worker, partition, position):
        if isinstance(effect, Append) and isinstance(effect.record, LedgerSlice):
            began = effect.record.copied.began
            yield Trim("ledger", 0, lambda began=began: began)  # type: ignore[misc]
        yield effect


def verify_answers_for_stale_refs(worker: Process, partition: int, position: int) -> Iterator[Effect]:
    """A recheck whose old ref is not there is answered: there is no similarity."""
    frames = worker.read("verifications", partition, position)
    asked = coalesced_verifications(frame.verifications for frame in frames)
    documents = worker.partitions[partition].documents
    pairs: Iterable[tuple[int, int, int]] = ()
    if asked is not None:
        pairs = zip(asked.rows.tolist(), asked.old.tolist(), asked.kinds.tolist(), strict=True)
    for row, old, kind in pairs:
        if asked is not None and kind == RECHECK and documents.rows(np.array([old], np.uint64))[0] < 0:
            document = dict(documents_of(worker.broker, worker.setup))[old]
            at = slice(row, row + 1)
            new = Ends(asked.ids[at], asked.refs[at], asked.times[at], asked.digests[at])
            zero = np.zeros(1, np.uint64)
            gone = Ends([document.id], np.array([old], np.uint64), np.array([document.time_ms]), zero)
            none = np.zeros(1, np.uint32)
            yield Send("edges", EdgesFrame(edges=Edges(new, gone, np.zeros(1), none, none)))
    yield from _verify(worker, partition, position)


decide_acknowledges_first = acknowledged_first(_decide)
settle_records_beside_what_it_publishes = without_barrier(_settle, 0, 2)
settle_goes_on_before_its_records_are_stored = without_barrier(_settle, 1, 2)
