"""Step 1: documents in, bands and retirements out; the table of documents is updated.

The meaning of a message at offset o depends on the newest known ref c of its id:

    no c    a first version: its bands are sent
    o > c   a new version: its bands, the retirement of c; a byte-identical resend in the same time segment is a no-op
    o = c   a replay: its outputs are sent again - the crash may have come before they were
    o < c   superseded: the bands that may have been sent for it are retired again

The caller delivers, in this order: the record to the changelog; the postings and the retirements; the acknowledgement.
One batch at a time: the record of a batch is written only after all outputs of the batch before have been delivered
(docs/internals/adr/0007).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from stream_lsh.errors import InvariantError
from stream_lsh.model import NO_ABOUT, About, Document, Retirement, in_full, make_ref, or_empty, ref_offset
from stream_lsh.pipeline.batches import Postings, Signatures
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.documents.versions import Retired, Version
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.retention import Horizon
from stream_lsh.sketch.scheme import EMPTY_SLOT


@dataclass(slots=True)
class SignCounts:
    """The counts of the documents of a batch, by their handling."""

    added: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    unknown_deletes: int = 0
    replayed: int = 0
    superseded: int = 0
    expired: int = 0

    def __add__(self, other: "SignCounts") -> "SignCounts":
        return SignCounts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Signed:
    """The outputs of sign for one batch.

    Attributes:
        record: for the changelog; None without a new version.
        postings: to insert and to remove; None without any.
        retirements: one for each id with a retired version.
        counts: of the documents of the batch.
    """

    record: DocumentsRecord | None
    postings: Postings | None
    retirements: tuple[Retirement, ...]
    counts: SignCounts


class Arrivals(NamedTuple):
    """Messages of one source partition in ascending order of offsets."""

    partition: int
    offsets: Sequence[int]
    documents: Sequence[Document]


@dataclass(slots=True)
class _Newest:
    """The newest version of an id after the batch, and the versions that it retires.

    Attributes:
        stored: the live version in the table; the same one if this is a replay, else it is retired.
        recorded: the versions that a replayed version retired when it was stored.
        signed_row: the row of its text among the signed ones, -1 without.
        signed_before: versions of this batch that it retires: ref and row of the text.
    """

    ref: int
    document: Document
    keep_until_ms: int
    live: bool
    replayed: bool = False
    stored: Version | None = None
    recorded: Retired | None = None
    signed_row: int = -1
    signed_before: list[tuple[int, int]] = field(default_factory=list)


class _Plan:
    """First pass: classifies every message, before anything is computed."""

    def __init__(self, documents: DocumentTable, horizon: Horizon, segment_span_ms: int | None) -> None:
        self._documents = documents
        self._horizon = horizon
        self._span_ms = segment_span_ms
        self._position = -1
        self.newest: dict[str, _Newest] = {}
        self.texts: list[str] = []
        self.positions: list[int] = []
        self.superseded: list[tuple[int, int]] = []
        self.stale_ids: set[str] = set()
        self.counts = SignCounts()

    def classify(self, ref: int, document: Document) -> None:
        """Note the meaning of the next message, by the newest known version of its id."""
        self._position += 1
        pending = self.newest.get(document.id)
        stored = self._documents.version(document.id) if pending is None else None
        if pending is None and stored is None:
            self._first(ref, document)
            return
        newest_ref = pending.ref if pending is not None else stored.ref if stored is not None else -1
        if ref > newest_ref:
            self._newer(ref, document, pending, stored)
        elif ref == newest_ref:
            self._replayed(document, pending, stored)
        else:
            self.counts.superseded += 1
            self.stale_ids.add(document.id)
            if document.text:
                self.superseded.append((ref, self._text(document.text)))

    def _first(self, ref: int, document: Document) -> None:
        if document.text is None and ref_offset(ref) < self._documents.acknowledged:
            # The group was forgotten.  Earlier versions may have been delivered again, and the crash that repeats this
            # message may have come before the retirement; a recovery drops the marker.
            self.counts.deleted += 1
            self.stale_ids.add(document.id)
            self.newest[document.id] = _Newest(ref, document, document.time_ms, False)
        elif document.text is None:
            self.counts.unknown_deletes += 1
        elif self._horizon.passed(document.time_ms, ref):
            self.counts.expired += 1
        else:
            self.counts.added += 1
            signed_row = self._text(document.text)
            self.newest[document.id] = _Newest(ref, document, document.time_ms, True, signed_row=signed_row)

    def _newer(self, ref: int, document: Document, pending: _Newest | None, stored: Version | None) -> None:
        if self._repeats(document, pending, stored):
            self.counts.unchanged += 1
            return
        live = document.text is not None and not self._horizon.passed(document.time_ms, ref)
        keep = pending.keep_until_ms if pending is not None else stored.keep_until_ms if stored is not None else 0
        if document.text is None:
            self.counts.deleted += 1
            document = document._replace(time_ms=keep)
        else:
            self.counts.updated += 1
            self.counts.expired += not live
        new = _Newest(ref, document, max(document.time_ms, keep), live)
        if pending is not None:
            # A crash may have come between changelog and frames, so the newer version repeats the outputs.
            new.stored, new.recorded, new.signed_before = (
                pending.stored,
                pending.recorded,
                pending.signed_before,
            )
            if pending.signed_row >= 0:
                new.signed_before.append((pending.ref, pending.signed_row))
        elif stored is not None and stored.live:
            new.stored = stored
        if live and document.text is not None:
            new.signed_row = self._text(document.text)
        self.newest[document.id] = new

    def _replayed(self, document: Document, pending: _Newest | None, stored: Version | None) -> None:
        self.counts.replayed += 1
        if pending is None and stored is not None:
            self.newest[document.id] = _Newest(
                stored.ref,
                document._replace(time_ms=stored.time_ms),
                stored.keep_until_ms,
                stored.live,
                replayed=True,
                stored=stored if stored.live else None,
                recorded=self._documents.retired_by(stored.row),
            )

    def _repeats(self, document: Document, pending: _Newest | None, stored: Version | None) -> bool:
        """Whether a version repeats the one before: same bytes, same time segment, same metadata."""
        text: str | None
        if pending is not None:
            live, (_, text, time_ms, about) = pending.live, pending.document
        elif stored is not None:
            live, time_ms = stored.live, stored.time_ms
            text, about = self._documents.content(stored.row) if live else (None, NO_ABOUT)  # a marker has none
        else:
            return False
        if not live:
            return document.text is None
        span = self._span_ms
        if document.text != text or document.about != about:
            return False
        return span is None or document.time_ms // span == time_ms // span

    def _text(self, text: str) -> int:
        self.texts.append(text)
        self.positions.append(self._position)
        return len(self.texts) - 1


def prepare(
    arrivals: Arrivals,
    documents: DocumentTable,
    scheme: Scheme,
    horizon: Horizon,
    *,
    segment_span_ms: int | None = None,
    presigned: Signatures | None = None,
    acknowledged: int = 0,
) -> "Prepared":
    """Compute the record and the outputs of a batch.

    Args:
        arrivals: messages of one source partition, in order.
        documents: the table of that partition, which must not change before the batch is stored.
        scheme: makes signatures and buckets.
        horizon: the limit of what has expired; an expired version retires its predecessor and is not posted.
        segment_span_ms: the span of event time within which a byte-equal text is no new version; None: any.
        presigned: signatures of all `arrivals`, one each, if they were made elsewhere; that of a delete is ignored.
        acknowledged: no message of the partition below this offset is read again; at least that of the table.

    Guarantees:
        the table is unchanged: after an exception the batch, or a part of it, may be prepared again.
    """
    plan = _Plan(documents, horizon, segment_span_ms)
    for offset, document in zip(arrivals.offsets, arrivals.documents, strict=True):
        plan.classify(make_ref(arrivals.partition, offset), document)
    signatures = scheme.sign(plan.texts) if presigned is None else _picked(presigned, plan.positions)
    buckets = _Buckets(plan, documents, scheme, signatures)
    record = _record(plan, signatures, buckets, scheme, horizon, acknowledged=max(acknowledged, documents.acknowledged))
    return Prepared(plan, buckets, record, horizon)


def _picked(presigned: Signatures, positions: Sequence[int]) -> Signatures:
    """The signatures of the needed texts."""
    if len(positions) == len(presigned):
        return presigned
    return Signatures(presigned.values[positions], presigned.digests[positions])


class _Buckets:
    """The buckets of the texts of a batch, of the stored versions that it names, and of all versions that it retires.

    Attributes:
        signed: uint64[texts, bands + 1].
        replayed: of the versions that are posted again, in the order of `plan.newest`.
        retired: the retired versions of each id, if any.
    """

    def __init__(self, plan: _Plan, documents: DocumentTable, scheme: Scheme, signatures: Signatures) -> None:
        self.signed = scheme.buckets(signatures)
        named = [(id, new) for id, new in plan.newest.items() if new.stored is not None]
        stored_buckets = self.signed[:0]
        if named:
            rows = [new.stored.row for _, new in named if new.stored is not None]
            stored_buckets = scheme.buckets(documents.signatures(np.array(rows, np.int64)))
        self.replayed = stored_buckets[[new.replayed for _, new in named]]
        row_by_id = {id: row for row, (id, _) in enumerate(named)}
        self.retired: dict[str, Retired] = {}
        for id, new in plan.newest.items():
            parts = [] if new.recorded is None else [new.recorded]
            if new.stored is not None and not new.replayed:
                row = row_by_id[id]
                parts.append(Retired(np.array([new.stored.ref], np.uint64), stored_buckets[row : row + 1]))
            if new.signed_before:
                parts.append(self.of_signed(new.signed_before))
            if parts:
                self.retired[id] = _joined(parts)

    def of_signed(self, versions: Sequence[tuple[int, int]]) -> Retired:
        """The versions of this batch to retire, given as ref and row of the text."""
        return Retired(np.array([ref for ref, _ in versions], np.uint64), self.signed[[row for _, row in versions]])


def _joined(parts: Sequence[Retired]) -> Retired:
    if len(parts) == 1:
        return parts[0]
    return Retired(np.concatenate([part.refs for part in parts]), np.concatenate([part.buckets for part in parts]))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A computed batch that is not stored yet."""

    plan: _Plan
    buckets: _Buckets
    record: DocumentsRecord | None
    horizon: Horizon

    def store(self, documents: DocumentTable) -> Signed:
        """Store the new versions, and return the outputs for index and settle; retired postings come before new ones.

        An exception may leave the table with versions that no changelog has: drop it, and recover it.
        """
        plan, buckets = self.plan, self.buckets
        if self.record is not None:
            documents.apply(self.record)
        retirements = _retirements(plan, buckets, documents, self.horizon)
        return Signed(self.record, _postings(plan, buckets), retirements, plan.counts)


def _record(
    plan: _Plan, signatures: Signatures, buckets: _Buckets, scheme: Scheme, horizon: Horizon, *, acknowledged: int
) -> DocumentsRecord | None:
    """The new versions; None if there are none."""
    stored = {id: new for id, new in plan.newest.items() if not new.replayed}
    if not stored:
        return None
    versions = list(stored.values())
    rows = np.array([new.signed_row for new in versions], np.int64)
    live = rows >= 0
    values, digests = signatures.values, signatures.digests
    if rows.size != len(signatures) or not np.array_equal(rows, np.arange(rows.size)):
        values = np.full((rows.size, scheme.slots), EMPTY_SLOT, np.uint32)
        values[live] = signatures.values[rows[live]]
        digests = np.zeros(rows.size, np.uint64)
        digests[live] = signatures.digests[rows[live]]
    none = Retired(np.empty(0, np.uint64), buckets.signed[:0])
    retired = [buckets.retired.get(id, none) for id in stored] if buckets.retired else [none]
    return DocumentsRecord(
        ids=list(stored),
        refs=np.array([new.ref for new in versions], np.uint64),
        times=np.array([new.document.time_ms for new in versions], np.int64),
        keep_until=np.array([new.keep_until_ms for new in versions], np.int64),
        digests=digests,
        live=live,
        texts=[new.document.text or "" if new.live else "" for new in versions],
        signatures=values,
        retired_rows=np.repeat(np.arange(len(retired)), [part.refs.size for part in retired]),
        retired_refs=np.concatenate([part.refs for part in retired]),
        retired_buckets=np.concatenate([part.buckets for part in retired]),
        horizon=horizon,
        abouts=or_empty([new.document.about if new.live else NO_ABOUT for new in versions]),
        acknowledged=acknowledged,
    )


def _postings(plan: _Plan, buckets: _Buckets) -> Postings | None:
    """The postings to remove, then those to insert; versions without shingles have none."""
    out = _joined([*buckets.retired.values(), buckets.of_signed(plan.superseded)])
    live = [new for new in plan.newest.values() if new.live]
    posted = [new for new in live if not new.replayed]
    posted += [new for new in live if new.replayed]
    keys = np.concatenate(
        (out.buckets, buckets.signed[[new.signed_row for new in posted if not new.replayed]], buckets.replayed)
    )
    refs = np.concatenate((out.refs, np.array([new.ref for new in posted], np.uint64)))
    times = np.array([0] * out.refs.size + [new.document.time_ms for new in posted], np.int64)
    retired = np.arange(refs.size) < out.refs.size
    posted_in = np.count_nonzero(keys, axis=1)
    filled = posted_in != 0
    if not filled.all():
        refs, keys, times, retired, posted_in = (
            refs[filled],
            keys[filled],
            times[filled],
            retired[filled],
            posted_in[filled],
        )
    if not refs.size:
        return None
    rows = np.repeat(np.arange(refs.size), posted_in)
    return Postings(refs, times, retired, rows, keys[keys != 0])


def _retirements(plan: _Plan, buckets: _Buckets, documents: DocumentTable, horizon: Horizon) -> tuple[Retirement, ...]:
    """One for every id with a retired version, in the order of arrival; a tombstone retired all before it."""
    ids = [id for id in plan.newest if id in buckets.retired or id in plan.stale_ids]
    ids += sorted(plan.stale_ids - plan.newest.keys())
    if not ids:
        return ()
    versions = [version for id in ids if (version := documents.version(id)) is not None]
    if len(versions) < len(ids):
        raise InvariantError(
            f"got {len(versions)} versions of the ids of a batch, expected all {len(ids)}: this is a bug"
        )
    rows = np.array([version.row for version in versions], np.int64)
    digests, abouts = documents.digests(rows).tolist(), in_full(documents.abouts(rows), len(ids))
    return tuple(
        _retirement(id, version, digest, about, horizon)
        for id, version, digest, about in zip(ids, versions, digests, abouts, strict=True)
    )


def _retirement(id: str, version: Version, digest: int, about: About, horizon: Horizon) -> Retirement:
    # A marker is a tombstone, or an expired version; settle distinguishes the latter by its time.
    deleted = not version.live and not horizon.passed(version.time_ms, version.ref)
    digest, about = (digest, about) if version.live else (0, NO_ABOUT)
    return Retirement(id, version.ref, version.time_ms, digest, deleted, version.keep_until_ms, about)
