"""The checks of a run at rest, and of the history of the public topics."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from stream_lsh.ledger.decisions import DIFFERENT
from stream_lsh.model import Document, ref_partition
from stream_lsh.retention import BEGINNING_MS
from tests.simulation.drivers.recovery import PartitionState, recovered_buckets, recovered_settler
from tests.simulation.drivers.tables import (
    acknowledged_to,
    as_recovered,
    differently_retired,
    order_in_buckets,
    postings_of,
    rows_of,
)
from tests.simulation.oracles import entity_invariants, text_invariants
from tests.simulation.oracles.followers import followers_and_copies_equal_a_recovery
from tests.simulation.oracles.view import View
from tests.simulation.pipelines.intake import documents_of
from tests.simulation.schedules.schedule import Run


def violations(run: Run) -> list[str]:
    """All violations, as sentences; empty for a run that kept the protocol."""
    view = View(run)
    checks = (
        *(text_invariants.CHECKS if run.setup.records is None else entity_invariants.CHECKS),
        clusters_agree,
        versions_never_fall,
        everything_was_published,
        recovery_equals_the_live_state,
        followers_and_copies_equal_a_recovery,
        the_newest_is_the_last_of_its_source,
        copies_on_disk_equal_a_recovery,
        documents_are_true,
        the_index_is_bounded,
        the_ledger_is_bounded,
        nothing_is_stored_too_early,
        nothing_expires_by_another_source,
        nothing_expires_without_an_advance,
        slow_sources_expire,
    )
    return [f"{check.__name__}: {problem}" for check in checks for problem in check(view)]


def clusters_agree(view: View) -> Iterator[str]:
    """`clusters` agrees with `members`."""
    by_cluster: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for id, member in view.members.items():
        if member.cluster is not None:
            by_cluster[member.cluster].append((member.time_ms, id))
    for id in sorted(by_cluster.keys() ^ view.clusters.keys()):
        yield f"cluster {id} has members {by_cluster.get(id)} and is published as {view.clusters.get(id)}"
    for id in sorted(by_cluster.keys() & view.clusters.keys()):
        newest_first = tuple(member for _, member in sorted(by_cluster[id], reverse=True))
        change = view.clusters[id]
        if (change.size, change.members) != (len(newest_first), newest_first[:100]):
            yield f"cluster {id} is published as {change}, its members are {newest_first}"


def versions_never_fall(view: View) -> Iterator[str]:
    """No older state of a key follows a newer one."""
    for topic, history in view.history.items():
        last: dict[Any, int] = {}
        for key, version, change in history:
            if version < last.get(key, -1):
                yield f"{topic} {key}: version {version} follows {last[key]}: {change}"
            last[key] = version


def everything_was_published(view: View) -> Iterator[str]:
    """A pair of newest versions that arrived in time was published once, even if it has expired since.

    The log alone shows which ones arrived in time, unless a partition was declared idle.
    """
    if view.run.regime.mark_idle or view.setup.max_documents or view.setup.cap_postings or not view.expires:
        return
    if view.setup.records is not None and not view.setup.records.is_calm:
        return
    truth, changes = view.truth, view.history["matches"] + view.history["reviews"]
    published = {key for key, _, change in changes if change.similarity is not None}
    published |= {pair for pair, of in truth.decisions.items() if any(one.verdict == DIFFERENT for one in of)}
    in_time = {id: version for id, version in truth.newest.items() if _in_time(view, id)}
    for left, right in combinations(sorted(in_time), 2):
        if truth.match(in_time[left], in_time[right]) and (left, right) not in published:
            yield f"({left}, {right}) was never published: {in_time[left]}, {in_time[right]}"


def _in_time(view: View, id: str) -> bool:
    """Whether no earlier message of the partition is newer than the newest version by more than the lateness."""
    version = view.truth.newest[id]
    counted = documents_of(view.run.broker, view.setup)
    before = [one for ref, one in counted if ref >> 48 == version.ref >> 48 and ref <= version.ref]
    newest = max(document.time_ms for document in before if document.text is not None)
    return bool(newest <= version.time_ms + view.setup.lateness_ms)


def recovery_equals_the_live_state(view: View) -> Iterator[str]:
    """Every table that is recovered from its changelog equals that of its owner."""
    setup, broker = view.setup, view.run.broker
    ledgers = [as_recovered(settler) for settler in (recovered_settler(setup, broker), view.settler)]
    if ledgers[0] != ledgers[1]:
        yield f"ledger: {ledgers[0]} recovered, {ledgers[1]} live"
    for worker in view.run.workers:
        for partition, state in worker.partitions.items():
            worker.trim(partition)
            again = PartitionState(setup, partition, broker)
            again.documents.expire(state.documents.horizon)
            tables = again.documents, state.documents
            # A late record of an earlier owner may state an acknowledged offset that the owner has not stated yet.
            acknowledged = max(table.acknowledged for table in tables)
            is_forgotten = view.run.regime.forget > 0
            if acknowledged > broker.committed["sign", partition] and not is_forgotten:
                yield f"documents {partition}: {acknowledged} is stated as acknowledged, and is not"
            without = differently_retired(broker, partition, acknowledged)
            compared = [acknowledged_to(setup, table, acknowledged, is_forgotten=is_forgotten) for table in tables]
            recovered, live = (rows_of(table, without) for table in compared)
            if recovered != live:
                yield f"documents {partition}: {recovered} recovered, {live} live"
            table = recovered_buckets(setup, broker, partition).table
            refs = {version.ref for version in view.truth.live.values()}
            held, found = postings_of(state.table, refs), postings_of(table, refs)
            if held != found:
                yield f"buckets {partition}: {found} recovered, {held} live"
            orders = order_in_buckets(state.table, refs), order_in_buckets(table, refs)
            if orders[0] != orders[1]:
                yield f"order in buckets {partition}: {orders[1]} recovered, {orders[0]} live"


def copies_on_disk_equal_a_recovery(view: View) -> Iterator[str]:
    """A table restored from its copy on disk equals a recovery from the changelog without the unread records.

    These are late records of earlier owners.  The writer or its successor indexes their messages again, and in the end
    `recovery_equals_the_live_state` compares the table with a recovery from all of the changelog.
    """
    yield from view.run.broker.miscopied


def documents_are_true(view: View) -> Iterator[str]:
    """Every table of documents holds the newest versions of its partition that have not expired.

    A version counts as expired once settle has decided so.  A table that was recovered since may not know this horizon
    yet: an expired version may still be in it, or may be missing if an earlier owner has removed it from the changelog.
    """
    settled = view.truth.horizon
    for worker in view.run.workers:
        for partition, state in worker.partitions.items():
            horizon, newest = state.documents.horizon, view.truth.newest.values()
            here = [version for version in newest if ref_partition(version.ref) == partition]
            known = {version.id for version in here if not horizon.passed(version.time_ms, version.ref)}
            true = {version.id for version in here if not settled.passed(version.time_ms, version.ref)}
            record = state.documents.snapshot(view.setup.scheme.width)
            found = {id for id, live in zip(record.ids, record.live.tolist(), strict=True) if live}
            if ((true - found) | (found - known)) - view.truth.ambiguous:
                yield f"partition {partition} holds {sorted(found)}, true are {sorted(true)}"


def the_index_is_bounded(view: View) -> Iterator[str]:
    """The index holds no posting of a version that was replaced or deleted, except of expired ones.

    Late postings of a worker that lost its partition may follow the retirement of their version.
    """
    if view.run.regime.pause:
        return
    truth, live = view.truth, {version.ref for version in view.truth.newest.values()}
    replaced = {
        ref
        for ref, document in documents_of(view.run.broker, view.setup)
        if document.text is not None and ref not in live and document.id not in truth.ambiguous
        if not truth.horizon.passed(document.time_ms, ref)
    }
    for worker in view.run.workers:
        for partition, state in worker.partitions.items():
            left = postings_of(state.table, replaced)
            if left:
                yield f"partition {partition} holds versions that were replaced: {sorted({ref for _, ref in left})}"


def the_ledger_is_bounded(view: View) -> Iterator[str]:
    """The ledger holds live documents, and entries of others only until they expire."""
    ledger, truth = view.settler.ledger, view.truth
    for id in sorted(ledger.graph.nodes.slots.keys() - truth.live.keys() - truth.ambiguous):
        yield f"the ledger holds {id}, which is not live"
    for entry in ledger.newest.values():
        if ledger.horizon.passed(entry.keep_until_ms, entry.ref):
            yield f"the ledger holds {entry}, which has expired"
    watched = {} if ledger.mirrors is None else ledger.mirrors._site_of
    if watched and watched.keys() != ledger.graph.nodes.slots.keys():
        yield f"sites are watched of {sorted(watched)}"
    for past, links in ledger.graph.past.links.items():
        if not links or not links <= {*ledger.graph.nodes.slots.values()}:
            yield f"past node {past} is linked to {links}"


def nothing_is_stored_too_early(view: View) -> Iterator[str]:
    """No candidate names a document that a restart would lose."""
    yield from view.run.broker.early


def nothing_expires_by_another_source(view: View) -> Iterator[str]:
    """Event time passes the event time of a source only if its owner reported it as idle in the same generation."""
    keep_ms = view.setup.keep_ms or 0
    for time_ms, generation, marks in view.run.broker.advances:
        for source in range(view.setup.partitions if time_ms > BEGINNING_MS else 0):
            reported = [mark for mark in marks if mark.source == source]
            reached = any(mark.time_ms - keep_ms >= time_ms for mark in reported)
            if not reached and not any(mark.idle and mark.generation == generation for mark in reported):
                yield f"the horizon is {time_ms}, and the last marks of source {source} are {reported[-3:]}"


def nothing_expires_without_an_advance(view: View) -> Iterator[str]:
    """At the end event time advances only if some source reports a later event time; floors are offsets."""
    for before, reported, horizon, moved in view.run.ticks:
        reached = {mark.source: mark.time_ms for mark in before}
        if moved.time_ms != horizon.time_ms and all(
            mark.time_ms <= reached.get(mark.source, BEGINNING_MS) for mark in reported
        ):
            yield f"event time advanced from {horizon} to {moved} though no source has advanced: {reported}"


def slow_sources_expire(view: View) -> Iterator[str]:
    """A single last document advances event time, whatever the batches."""
    if view.run.last_ms is not None:
        horizon_ms = view.run.last_ms - (view.setup.keep_ms or 0)
        if view.settler.ledger.horizon.time_ms != horizon_ms:
            yield f"the horizon is {view.settler.ledger.horizon}, expected {horizon_ms}"


def the_newest_is_the_last_of_its_source(view: View) -> Iterator[str]:
    """Every message of the source is copied, and the newest version of an id is its last on one of its partitions."""
    broker, setup = view.run.broker, view.setup
    if not setup.rekey:
        return
    if broker.late_copies and not view.run.regime.forget:
        yield f"late copies were taken: {sorted(broker.late_copies)}"
    copies = [m.value for partition in broker.partitions("intake") for m in broker.read("intake", partition)]
    missing = {
        (partition, message.offset)
        for partition in broker.partitions("source")
        for message in broker.read("source", partition)
    } - {(copy.origin.partition, copy.origin.offset) for copy in copies}
    if missing:
        yield f"{sorted(missing)} of the source were not copied"
    last: dict[str, dict[int, Document]] = defaultdict(dict)
    for partition in broker.partitions("source"):
        for message in broker.read("source", partition):
            last[message.value.id][partition] = message.value
    doubtful = {broker.at("intake", *place).value.document.id for place in broker.late_copies}
    newest = {document.id: document for _, document in documents_of(broker, setup)}
    for id in sorted(last.keys() - doubtful):
        if newest[id] not in last[id].values():
            yield f"{id} is {newest[id]}, last in the source is {last[id]}"
