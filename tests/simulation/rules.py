"""Each rule of the protocol, with the patches that remove it.

A rule whose removal breaks no invariant is not tested, so `test_simulation` removes one rule after the other.  Most are
removed by a replacement of the function that keeps them, or by a wrapper over the effects of an agent: see `reordered`.
A run looks up the names of the others (`setup.rules_out`).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from stream_lsh.index.healing import healed
from stream_lsh.index.hits import Hits
from stream_lsh.index.table import BandTable
from stream_lsh.ledger.decisions import Decision, Decisions
from stream_lsh.ledger.frame_diff import changes_of
from stream_lsh.ledger.graph.pairs import MATCH, REVIEW, UNPUBLISHED, Pairs
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.ledger.sites.live import Mirrors
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts, PageTable
from stream_lsh.model import NO_ABOUT, Document, Retirement
from stream_lsh.pipeline.batches import BandsFrame, Candidates, Mark, Watermarks
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRecovery
from stream_lsh.pipeline.changelog.records import DocumentsRecord, LedgerRecord, LedgerSlice
from stream_lsh.pipeline.changelog.rewrite import BucketsRecovery
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.settle import Settler
from stream_lsh.pipeline.sign import _Plan
from stream_lsh.pipeline.watermarks import Relay, WatermarkTable
from stream_lsh.retention import Horizon
from stream_lsh.wire.ledger_parts import LedgerAssembler
from tests.simulation import reordered
from tests.simulation.pipelines.intake import RULE as INTAKE_RULE
from tests.simulation.schedules.losses import ENDS_RULE, IDS_RULE, LEDGER_RULE

Patch = tuple[str, Any]
"""The dotted name of the replaced object, and its replacement."""


def _nothing(*_: Any) -> None:
    """Replaces a function that keeps a rule."""


def _record_without(**fields: Any) -> Callable[..., Any]:
    """A factory of ledger records without some changes."""
    return lambda *arguments: replace(changes_of(*arguments), **fields)


def _without_pasts(*arguments: Any) -> Any:
    changes = changes_of(*arguments)
    return replace(changes, nodes=[node._replace(pasts=()) for node in changes.nodes])


def _without_abouts(*arguments: Any) -> Any:
    changes = changes_of(*arguments)
    return replace(changes, nodes=[node._replace(about=NO_ABOUT) for node in changes.nodes])


def _record_without_watermarks(offset: int, changes: Any, watermarks: Any) -> LedgerRecord:
    return LedgerRecord(offset, changes if changes.complete else replace(changes, horizon=Horizon()), ())


def _rechecks_in_stored_refs(ledger: Ledger) -> list[tuple[int, int]]:
    """A recheck names the version of the partner for which the pair was confirmed."""
    nodes, pairs, asked = ledger.graph.nodes, ledger.graph.pairs, []
    for id in sorted(ledger._notes.retired_ids & nodes.slots.keys()):
        slot = nodes.slots[id]
        for _, pair in pairs.partners(slot):
            if pairs.in_doubt(pair):
                left_ref, right_ref, *_ = pairs.versions_of(pair)
                asked.append((nodes.refs[slot], right_ref if pairs.ends[2 * pair] == slot else left_ref))
    return asked


_retire = Ledger._retire


def _recheck_only_for_new_refs(ledger: Ledger, retired: Retirement) -> None:
    nodes = ledger.graph.nodes
    slot = nodes.slots.get(retired.id)
    known = slot is not None and retired.ref <= nodes.refs[slot]
    _retire(ledger, retired)
    if known:
        ledger._notes.retired_ids.discard(retired.id)


def _retire_without_about(ledger: Ledger, retired: Retirement) -> None:
    _retire(ledger, replace(retired, about=NO_ABOUT))


def _delete_later(ledger: Ledger, retired: Retirement) -> None:
    _retire(ledger, replace(retired, deleted=False))


def _drop_known_of_all_kinds(candidates: Candidates, keep: Any, forwarded: Any) -> None:
    positions = np.flatnonzero(keep)
    keep[positions] = list(map(forwarded.add, candidates.new[positions].tolist(), candidates.old[positions].tolist()))


_repeats = _Plan._repeats


def _repeats_the_text(plan: _Plan, document: Document, pending: Any, stored: Any) -> bool:
    """A version keeps the metadata of the previous one."""
    if pending is not None:
        document = document._replace(about=pending.document.about)
    elif stored is not None and stored.live:
        document = document._replace(about=plan._documents.content(stored.row)[1])
    return _repeats(plan, document, pending, stored)


_classify = _Plan.classify


def _classify_without_tombstones(plan: _Plan, ref: int, document: Document) -> None:
    """A tombstone replaces the deleted version, and is dropped before the next lookup."""
    documents = plan._documents
    version = documents.version(document.id)
    if version is not None and not version.live and document.id not in plan.newest:
        documents._meta[version.row >> 14]["state"][version.row & ((1 << 14) - 1)] = 0
        documents._replayable.retired.pop(version.row, None)
        documents._row_by_id.pop(document.id)
        documents._free.append(version.row)
    _classify(plan, ref, document)


def _everything_is_near(pairs: Any, retention_ms: int | None) -> Any:
    return np.ones(pairs.recheck.size, np.bool_)


_take_buckets = BucketsRecovery.take


def _take_without_deferring(recovery: BucketsRecovery, offset: int, frame: BandsFrame) -> None:
    _take_buckets(recovery, offset, frame)
    if frame.copied is None and recovery._deferred is not None:
        recovery.catch_up()
        recovery._deferred = []


_new_buckets = BucketsRecovery.__init__


def _new_as_if_from_the_log(recovery: BucketsRecovery, table: BandTable, *, is_copy: bool = False) -> None:
    _new_buckets(recovery, table)


_complete = LedgerRecovery._complete


def _complete_without_the_rest(recovery: LedgerRecovery, taken: list[LedgerRecord]) -> None:
    """Frames that were settled while the ledger was copied count as part of the copy."""
    recovery._deferred = []
    _complete(recovery, taken)


_take_part = LedgerAssembler.take


def _take_of_any_pass(assembler: LedgerAssembler, data: bytes | None, at: int) -> LedgerRecord | LedgerSlice | None:
    assembler.begun = False
    return _take_part(assembler, data, at)


def _topic_without_clusters(pairs: Pairs, pair: int) -> int:
    """Every pair that links is a match."""
    return MATCH if pairs.links(pair) else UNPUBLISHED if pair in pairs.verdicts else REVIEW


_take_pages = PageTable.take


def _take_from_any_owner(table: PageTable, counts: PageCounts, offset: int) -> Any:
    return _take_pages(table, replace(counts, as_of=AsOf(1 << 40, 1 << 40)), offset)


def _take_as_changes(table: PageTable, counts: PageCounts, offset: int) -> Any:
    return [row for row in _take_pages(table, counts, offset) if row.site in counts.sites]


_settle_mirrors = Mirrors.settle


def _settle_without_pages(mirrors: Mirrors, *arguments: Any) -> Any:
    published, changes = _settle_mirrors(mirrors, *arguments)
    return published, replace(changes, site_counts=(), site_origins=())


_apply = DocumentTable.apply


def _apply_of_any_owner(table: DocumentTable, record: DocumentsRecord) -> Any:
    """A record of an earlier owner counts as one of the present owner."""
    return _apply(table, replace(record, acknowledged=max(record.acknowledged, table.acknowledged)))


_put = Decisions.put


def _put_in_any_order(decisions: Decisions, decision: Decision) -> bool:
    """The last decision to arrive counts, even an older one."""
    decisions.of.pop((decision.left, decision.right), None)
    return _put(decisions, decision)


def _put_and_forget(decisions: Decisions, decision: Decision) -> bool:
    """A withdrawn decision is forgotten."""
    taken = _put(decisions, decision)
    if decision.verdict is None:
        decisions.of.pop((decision.left, decision.right), None)
    return taken


def _linked_by_reviews(pairs: Pairs, slot: int) -> list[tuple[int, int]]:
    return [entry for entry in pairs.partners(slot) if pairs.topic(entry[1]) != UNPUBLISHED]


def _as_if_never_forgotten(table: WatermarkTable, generation: int) -> None:
    """Marks of a forgotten group are newer than all marks of the present group."""
    table._generation = max(generation, table._generation or generation)


_least = WatermarkTable._least


def _idle_in_any_generation(table: WatermarkTable, source: int, marks: list[Mark]) -> Mark:
    """An idle source stays idle until its new owner reports a busy one."""
    return _least(table, source, marks)._replace(idle=all(mark.idle for mark in marks))


_advanced = Settler._advanced


def _advanced_by_any(settler: Settler, before: tuple[Mark, ...], marks: tuple[Mark, ...]) -> Horizon | None:
    """A source that becomes idle lets event time advance to the minimum of the others."""
    return _advanced(settler, (), marks)


_take_all = Relay.take_all


def _take_the_last(relay: Relay, watermarks: Iterable[Watermarks | None]) -> list[Watermarks]:
    return _take_all(relay, watermarks)[-1:]


def _healed_copies(*arguments: Any, **more: Any) -> Hits:
    """A removal brings copies only within the caps."""
    hits = healed(*arguments, **more)
    at = hits.identical
    return Hits(hits.new[at], hits.old[at], hits.bands[at], hits.identical[at])


def _none_is_nearest(_: Any, __: Any, counted: Any, *___: Any) -> Any:
    return np.zeros(len(counted.rows), np.bool_)


_TASKS, _INDEX = "tests.simulation.drivers.tasks.", "stream_lsh.pipeline.agents.index.index"
_RECOVERY = "stream_lsh.pipeline.changelog.rewrite.BucketsRecovery."
_LOG = "stream_lsh.pipeline.changelog.head.LogHead."
_DECISIONS = "stream_lsh.ledger.decisions.Decisions."
_LEDGER = "stream_lsh.ledger.ledger.Ledger."
_GUARDED = "stream_lsh.ledger.clusters.guarded.GuardedClusters."
_WATERMARKS = "stream_lsh.pipeline.watermarks.WatermarkTable."
_PAGES = "stream_lsh.ledger.sites.page_counts.PageTable."

RULES: dict[str, list[Patch]] = {
    "a replay sends bands and retirement again": [("stream_lsh.pipeline.sign._Plan._replayed", _nothing)],
    "the index probes and emits again on replay": [(_INDEX, reordered.index_probes_once)],
    "public outputs before the ledger record": [(_TASKS + "settle", reordered.settle_records_before_it_publishes)],
    "public outputs are stored before the ledger record is sent": [
        (_TASKS + "settle", reordered.settle_records_beside_what_it_publishes)
    ],
    "the records of a flight are stored before the next one": [
        (_TASKS + "settle", reordered.settle_goes_on_before_its_records_are_stored)
    ],
    "the changelog of sign is stored before its bands are sent": [
        (_TASKS + "sign", reordered.sign_announces_before_its_changelog_is_stored)
    ],
    "all of a batch of sign is stored before the record of the next one": [
        (_TASKS + "sign", reordered.sign_goes_on_before_all_is_stored)
    ],
    "a copy on disk has nothing that its changelog lacks": [
        (_TASKS + "index", reordered.index_saves_at_once),
        ("tests.simulation.drivers.worker.Worker._is_logged", lambda *_: True),
    ],
    "a late record of an earlier owner stores nothing that is acknowledged": [
        ("stream_lsh.pipeline.documents.table.DocumentTable.apply", _apply_of_any_owner)
    ],
    "stale edges are dropped": [(_LEDGER + "_is_stale", lambda *_: False)],
    "newest refs are kept": [(_LEDGER + "_remember", _nothing)],
    "newest refs in the ledger record": [("stream_lsh.ledger.frame_diff.changes_of", _record_without(newest=[]))],
    "the watermark in the ledger record": [("stream_lsh.pipeline.settle.LedgerRecord", _record_without_watermarks)],
    "past links in the ledger record": [("stream_lsh.ledger.frame_diff.changes_of", _without_pasts)],
    "titles in the ledger record": [("stream_lsh.ledger.frame_diff.changes_of", _without_abouts)],
    "a new title is a new version": [("stream_lsh.pipeline.sign._Plan._repeats", _repeats_the_text)],
    "a retirement has the title": [(_LEDGER + "_retire", _retire_without_about)],
    "recheck on update": [(_LEDGER + "_rechecks", lambda *_: [])],
    "a recheck names the partner's newest ref": [(_LEDGER + "_rechecks", _rechecks_in_stored_refs)],
    "rechecks pass gather's duplicate filter": [("stream_lsh.pipeline.gather._drop_known", _drop_known_of_all_kinds)],
    "a recheck of a stale old ref is not answered": [(_TASKS + "verify", reordered.verify_answers_for_stale_refs)],
    "known retirements send rechecks too": [(_LEDGER + "_retire", _recheck_only_for_new_refs)],
    "edges with an expired end are dropped": [(_LEDGER + "_has_expired", lambda *_: False)],
    "an in-doubt pair leaves no link when an end expires": [(_LEDGER + "_withdraw_doubts", _nothing)],
    "the check of distance in time": [("stream_lsh.pipeline.compare.Pairs.near", _everything_is_near)],
    "a delete withdraws at once": [(_LEDGER + "_retire", _delete_later)],
    "tombstones are kept": [("stream_lsh.pipeline.sign._Plan.classify", _classify_without_tombstones)],
    "a frame is one message": [(_TASKS + "settle", reordered.settle_versions_of_several_messages)],
    "a flight has no key twice": [("stream_lsh.pipeline.settle._keys", lambda *_: set())],
    "only settle decides on expiry": [(_TASKS + "sign", reordered.sign_expires_by_itself)],
    "watermarks flow through the hops": [(_TASKS + "tick", reordered.tick_past_the_hops)],
    "marks of a forgotten group are older than all others": [
        (_WATERMARKS + "begin", _as_if_never_forgotten),
        (_WATERMARKS + "_of_this_group", lambda _, mark: mark),
    ],
    "a source is idle in its own generation only": [(_WATERMARKS + "_least", _idle_in_any_generation)],
    "event time advances by a busy source that has come further": [
        ("stream_lsh.pipeline.settle.Settler._advanced", _advanced_by_any)
    ],
    "an advance of event time is reported as busy": [
        ("stream_lsh.pipeline.watermarks.WatermarkGenerator.mark", reordered.idle_at_the_end)
    ],
    "a hop forwards each mark that settle needs": [("stream_lsh.pipeline.watermarks.Relay.take_all", _take_the_last)],
    "the zombie fence": [],
    "neighbours of a retired posting": [(_INDEX, reordered.index_without_neighbours)],
    "neighbours that are not identical": [("stream_lsh.index.table.healed", _healed_copies)],
    "the caps omit no nearest candidate": [("stream_lsh.index.prober.Prober._nearest", _none_is_nearest)],
    "a log is trimmed when every slice is in it": [(_TASKS + "sign", reordered.sign_trims_before_its_slices)],
    "a pass over buckets ends when every slice is in the log": [
        (_TASKS + "index", reordered.index_ends_passes_at_once)
    ],
    "postings that arrive while buckets are copied are ordered after the copies": [
        (_RECOVERY + "take", _take_without_deferring)
    ],
    "no log begins inside of a pass over buckets": [(_LOG + "_merge_from", LogHead.rewritten)],
    "the ledger's log is trimmed when every slice is in it": [
        (_TASKS + "settle", reordered.settle_trims_before_its_slices)
    ],
    "frames settled while the ledger is copied override the copy": [
        ("stream_lsh.pipeline.changelog.ledger_rewrite.LedgerRecovery._complete", _complete_without_the_rest)
    ],
    "slices of the ledger count only where the log begins with their pass": [
        ("stream_lsh.wire.ledger_parts.LedgerAssembler.take", _take_of_any_pass)
    ],
    "a new owner reports all pages again": [(_TASKS + "report_pages", reordered.report_only_changed_pages)],
    "a site that a page report omits has no pages": [(_PAGES + "take", _take_as_changes)],
    "late page counts of a previous owner are skipped": [(_PAGES + "take", _take_from_any_owner)],
    "no sites are published before all pages are known": [(_PAGES + "is_known", True)],
    "pages in the ledger record": [("stream_lsh.ledger.sites.live.Mirrors.settle", _settle_without_pages)],
    "an older decision does not count over a newer one": [(_DECISIONS + "put", _put_in_any_order)],
    "decisions are in one partition": [],
    "a withdrawn decision is remembered": [(_DECISIONS + "put", _put_and_forget)],
    "decisions in the ledger record": [("stream_lsh.ledger.frame_diff.changes_of", _record_without(decisions=[]))],
    "a decision is forwarded before it is acknowledged": [(_TASKS + "decide", reordered.decide_acknowledges_first)],
    "different ids share no cluster whichever pairs connect them": [(_GUARDED + "_apart", lambda *_: [])],
    "a score stays until one counts more records": [(_LEDGER + "_is_scored", lambda *_: False)],
    "an outdated score is computed again": [("stream_lsh.ledger.outdated.OutdatedScores._outdated", lambda *_: [])],
    "reviews connect no documents": [("stream_lsh.ledger.graph.pairs.Pairs.linked", _linked_by_reviews)],
    "a pair between two clusters is no match": [("stream_lsh.ledger.graph.pairs.Pairs.topic", _topic_without_clusters)],
    "a pair changes its topic when its ends come together or part": [(_GUARDED + "_note_moved", _nothing)],
    "the guards hold after recovery": [],
    "a cluster is described again when its members change": [
        ("stream_lsh.ledger.clusters.entities._CachedSummary.put_in", _nothing),
        ("stream_lsh.ledger.clusters.entities._CachedSummary.take_out", _nothing),
    ],
    "a pass over buckets does not count behind a copy on disk": [(_RECOVERY + "__init__", _new_as_if_from_the_log)],
    INTAKE_RULE: [(_TASKS + "Reader.is_late", lambda *_: False)],
    IDS_RULE: [],
    ENDS_RULE: [],
    LEDGER_RULE: [],
    "value counts are restored": [("stream_lsh.kinds.record.frequencies.RecordCounts.restore", _nothing)],
    "expired records are not counted": [("stream_lsh.kinds.record.frequencies.RecordCounts.expire", _nothing)],
}
"""Every rule with its patches; none if a run looks up the rule by name."""


@contextmanager
def taken_out(rule: str) -> Iterator[frozenset[str]]:
    """The protocol without a rule; yields the `rules_out` of a run."""
    with ExitStack() as stack:
        for target, replacement in RULES[rule]:
            stack.enter_context(patch(target, replacement))
        yield frozenset({rule})
