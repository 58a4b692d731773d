"""Step 1: documents in, bands and retirements out; the table of documents is written on the way.

What a message at offset o means depends on the newest ref c that is known of its id:

    no c    a first version: its bands are sent
    o > c   a new version: its bands, the retirement of c; a byte-equal text within one segment of time is no news
    o = c   a replay: what was sent is sent again - the crash may have come before it was
    o < c   superseded: the bands that may have been sent for it are retired again

The caller delivers, in this order: the record to the changelog; the postings and the retirements; the acknowledgement.
One batch at a time: the record of a batch is written only after everything of the batch before has been delivered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.errors import InvariantError
from stream_lsh.model import Document, Retirement, make_ref
from stream_lsh.pipeline.batches import Postings
from stream_lsh.pipeline.documents import DocumentTable, Retired, Version
from stream_lsh.pipeline.records import DocumentsRecord
from stream_lsh.pipeline.scheme import Scheme, Signatures
from stream_lsh.retention import Horizon
from stream_lsh.sketch.scheme import EMPTY_SLOT


@dataclass(slots=True)
class SignCounts:
    """What became of the documents of a batch."""

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
    """What sign has to deliver; None and () where there is nothing."""

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
    """The newest version of an id after the batch, and what it retires."""

    ref: int
    document: Document
    keep_until_ms: int
    live: bool
    first: bool
    replayed: Version | None = None
    signed_row: int = -1
    stored: list[Retired] = field(default_factory=list)
    signed_before: list[tuple[int, int]] = field(default_factory=list)


class _Plan:
    """First pass: what every message means, before anything is computed."""

    def __init__(self, documents: DocumentTable, scheme: Scheme, horizon: Horizon, segment_span_ms: int | None) -> None:
        self._documents = documents
        self._scheme = scheme
        self._horizon = horizon
        self._span_ms = segment_span_ms
        self.newest: dict[str, _Newest] = {}
        self.texts: list[str] = []
        self.superseded: list[tuple[int, int]] = []
        self.again: set[str] = set()
        self.counts = SignCounts()

    def take(self, ref: int, document: Document) -> None:
        pending = self.newest.get(document.id)
        stored = self._documents.version(document.id) if pending is None else None
        if pending is None and stored is None:
            self._first(ref, document)
            return
        known = pending.ref if pending is not None else stored.ref if stored is not None else -1
        if ref > known:
            self._newer(ref, document, pending, stored)
        elif ref == known:
            self._replayed(document, pending, stored)
        else:
            self.counts.superseded += 1
            self.again.add(document.id)
            if document.text:
                self.superseded.append((ref, self._text(document.text)))

    def _first(self, ref: int, document: Document) -> None:
        if document.text is None:
            self.counts.unknown_deletes += 1
        elif self._horizon.passed(document.time_ms, ref):
            self.counts.expired += 1
        else:
            self.counts.added += 1
            signed_row = self._text(document.text)
            self.newest[document.id] = _Newest(ref, document, document.time_ms, True, True, signed_row=signed_row)

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
        new = _Newest(ref, document, max(document.time_ms, keep), live, False)
        if pending is not None:
            # A crash may have come between their changelog and their frames, so the newer version answers for them.
            new.stored, new.signed_before = pending.stored, pending.signed_before
            if pending.replayed is not None and pending.live:
                new.stored.append(self._retired(pending.replayed))
            elif pending.signed_row >= 0:
                new.signed_before.append((pending.ref, pending.signed_row))
        elif stored is not None and stored.live:
            new.stored.append(self._retired(stored))
        if live and document.text is not None:
            new.signed_row = self._text(document.text)
        self.newest[document.id] = new

    def _replayed(self, document: Document, pending: _Newest | None, stored: Version | None) -> None:
        self.counts.replayed += 1
        if pending is None and stored is not None:
            again = _Newest(stored.ref, document, stored.keep_until_ms, stored.live, True, replayed=stored)
            retired = self._documents.retired_by(stored.row)
            if retired is not None:
                again.stored.append(retired)
            self.newest[document.id] = again

    def _repeats(self, document: Document, pending: _Newest | None, stored: Version | None) -> bool:
        """Whether a version says what the one before said: the same bytes, in the same segment of time."""
        if pending is not None and pending.replayed is None:
            live, text, time_ms = pending.live, pending.document.text, pending.document.time_ms
        else:
            version = stored if pending is None else pending.replayed
            if version is None:
                return False
            live, text, time_ms = version.live, self._documents.text(version.row), version.time_ms
        if not live:
            return document.text is None
        span = self._span_ms
        return document.text == text and (span is None or document.time_ms // span == time_ms // span)

    def _retired(self, version: Version) -> Retired:
        buckets = self._scheme.buckets(self._documents.signatures(np.array([version.row])))
        return Retired(np.array([version.ref], np.uint64), buckets)

    def _text(self, text: str) -> int:
        self.texts.append(text)
        return len(self.texts) - 1


def sign(
    arrivals: Arrivals,
    documents: DocumentTable,
    scheme: Scheme,
    horizon: Horizon,
    *,
    segment_span_ms: int | None = None,
    presigned: Signatures | None = None,
) -> Signed:
    """Store what is new in `documents` and say what index and settle must learn.

    Args:
        arrivals: messages of one source partition, in order.
        documents: the table of that partition; changed.
        scheme: makes signatures and buckets.
        horizon: what is forgotten; a version that it has passed retires its predecessor and is not posted.
        segment_span_ms: the stretch of event time within which a byte-equal text is no new version; None: any.
        presigned: signatures of the texts of all `arrivals`, if they were made elsewhere.

    Returns:
        retired postings come before new ones.
    """
    plan = _Plan(documents, scheme, horizon, segment_span_ms)
    for offset, document in zip(arrivals.offsets, arrivals.documents, strict=True):
        plan.take(make_ref(arrivals.partition, offset), document)
    whole = presigned is not None and len(plan.texts) == len(arrivals.documents)
    signatures = presigned if whole and presigned is not None else scheme.sign(plan.texts)
    buckets = scheme.buckets(signatures)
    stored = {id: new for id, new in plan.newest.items() if new.replayed is None}
    record = _record(stored, signatures, buckets, scheme, horizon) if stored else None
    if record is not None:
        documents.apply(record)
    return Signed(
        record, _postings(plan, documents, scheme, buckets), _retirements(plan, documents, horizon), plan.counts
    )


def _record(
    stored: dict[str, _Newest], signatures: Signatures, buckets: U64, scheme: Scheme, horizon: Horizon
) -> DocumentsRecord:
    versions = list(stored.values())
    rows = np.array([new.signed_row for new in versions], np.int64)
    live = rows >= 0
    values = signatures.values
    if not (rows.size == len(signatures) and live.all() and rows[0] == 0 and (np.diff(rows) == 1).all()):
        values = np.full((rows.size, scheme.slots), EMPTY_SLOT, np.uint32)
        values[live] = signatures.values[rows[live]]
    digests = np.zeros(rows.size, np.uint64)
    digests[live] = signatures.digests[rows[live]]
    retired_rows, retired_refs, retired_buckets = [], [], []
    for position, new in enumerate(versions):
        for retired in _all_retired(new, buckets):
            retired_rows += [position] * retired.refs.size
            retired_refs.append(retired.refs)
            retired_buckets.append(retired.buckets)
    return DocumentsRecord(
        ids=list(stored),
        refs=np.array([new.ref for new in versions], np.uint64),
        times=np.array([new.document.time_ms for new in versions], np.int64),
        keep_until=np.array([new.keep_until_ms for new in versions], np.int64),
        digests=digests,
        live=live,
        texts=[new.document.text or "" if new.live else "" for new in versions],
        signatures=values,
        retired_rows=np.array(retired_rows, np.int64),
        retired_refs=np.concatenate([np.empty(0, np.uint64), *retired_refs]),
        retired_buckets=np.concatenate([np.empty((0, buckets.shape[1]), np.uint64), *retired_buckets]),
        horizon=horizon,
    )


def _all_retired(new: _Newest, buckets: U64) -> list[Retired]:
    """What a version retires: versions that were stored, and versions of the same batch."""
    return [
        *new.stored,
        *(Retired(np.array([ref], np.uint64), buckets[row : row + 1]) for ref, row in new.signed_before),
    ]


def _postings(plan: _Plan, documents: DocumentTable, scheme: Scheme, buckets: U64) -> Postings | None:
    """The postings to take out, then those to put in; versions without shingles have none."""
    retired = [retired for new in plan.newest.values() for retired in _all_retired(new, buckets)]
    retired += [Retired(np.array([ref], np.uint64), buckets[row : row + 1]) for ref, row in plan.superseded]
    posted = [new for new in plan.newest.values() if new.live and new.replayed is None]
    refs = [*(part.refs for part in retired), np.array([new.ref for new in posted], np.uint64)]
    keys = [*(part.buckets for part in retired), buckets[[new.signed_row for new in posted]]]
    times = np.array([new.document.time_ms for new in posted], np.int64)
    replayed = [new.replayed for new in plan.newest.values() if new.replayed is not None and new.live]
    if replayed:
        refs.append(np.array([version.ref for version in replayed], np.uint64))
        keys.append(scheme.buckets(documents.signatures(np.array([version.row for version in replayed]))))
        times = np.concatenate((times, np.array([version.time_ms for version in replayed], np.int64)))
    all_refs, all_keys = np.concatenate(refs), np.concatenate(keys)
    gone = all_refs.size - times.size
    filled = all_keys[:, -1] != 0
    if not filled.any():
        return None
    if not filled.all():
        all_refs, all_keys = all_refs[filled], all_keys[filled]
        times, gone = times[filled[gone:]], int(np.count_nonzero(filled[:gone]))
    return Postings(
        refs=all_refs,
        times=np.concatenate((np.zeros(gone, np.int64), times)) if gone else times,
        retired=np.arange(all_refs.size) < gone,
        rows=np.repeat(np.arange(all_refs.size), all_keys.shape[1]),
        buckets=all_keys.ravel(),
    )


def _retirements(plan: _Plan, documents: DocumentTable, horizon: Horizon) -> tuple[Retirement, ...]:
    """One for every id that has an older version, in the order of arrival."""
    ids = [id for id, new in plan.newest.items() if not new.first or new.stored or id in plan.again]
    ids += sorted(plan.again - plan.newest.keys())
    return tuple(_retirement(id, documents, horizon) for id in ids)


def _retirement(id: str, documents: DocumentTable, horizon: Horizon) -> Retirement:
    version = documents.version(id)
    if version is None:
        raise InvariantError(f"the document {id!r} was stored a moment ago and is not there")
    digest = int(documents.signatures(np.array([version.row])).digests[0]) if version.live else 0
    # A marker is a tombstone, or a version that had expired; settle tells the latter by its time.
    deleted = not version.live and not horizon.passed(version.time_ms, version.ref)
    return Retirement(id, version.ref, version.time_ms, digest, deleted, version.keep_until_ms)
