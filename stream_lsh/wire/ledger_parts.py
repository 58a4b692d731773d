"""The record of the ledger as bytes: one body of sections, divided over numbered parts.

A record can be far larger than a Kafka message may be (a snapshot holds the whole ledger).  So the body is cut, and
every part identifies its record: the offset, the number of parts, the size and the checksum of the whole.  These
four distinguish two writers of one offset (a zombie and its successor).  A slice of a pass over the changelog
is a record too, whose parts have its number in place of the offset.

    message LEDGER   LEDGER_PART, and PASS in the records of a pass
    LEDGER_PART      i64 offset, u32 index, u32 count, u64 size of the body, u32 its CRC-32, u32 size here | bytes
    PASS             as in `sections`

    body: sections (LEDGER and HORIZON always, the others where they have rows)
    LEDGER           i64 offset, i64 next_past, u32 complete, u32 0
    HORIZON          as in `sections`
    WATERMARK_TABLE  u32 n, u32 0 | n times the content of WATERMARKS in `sections`
    MARK_NUMBERS     as in `sections`, of the marks of WATERMARK_TABLE
    NODES            u32 n, u32 m | ids strings[n] | refs u64[n] | times i64[n] | digests u64[n] | clusters strings[n] |
                     pasts per node u32[n] | pasts i64[m]
    NODES_GONE       u32 n, u32 0 | ids strings[n]
    PAIRS            u32 n, u32 0 | left strings[n] | right strings[n] | left refs u64[n] | right refs u64[n] |
                     left times i64[n] | right times i64[n] | similarity f64[n] | shared u32[n] | union u32[n]
    SIZES, EVIDENCE  as in `sections`, of the pairs
    DECISIONS        as in `sections`
    PAIRS_GONE       u32 n, u32 0 | left strings[n] | right strings[n]
    CLUSTERS         u32 n, u32 0 | ids strings[n] | created i64[n]
    CLUSTERS_GONE    u32 n, u32 0 | ids strings[n]
    NEWEST           u32 n, u32 0 | ids strings[n] | refs u64[n] | keep_until i64[n]
    CLOSED           u32 n, u32 0 | ids strings[n] | times i64[n] | refs u64[n]
    ABOUTS           as in `sections`, of NODES
    SITE_COUNTS      u32 n, u32 0 | partitions u32[n] | sites strings[n] | pages u32[n] | reported_at i64[n]
    SITE_ORIGINS     u32 n, u32 0 | partitions u32[n] | offsets i64[n] | generations i64[n] | began i64[n] |
                     ended i64[n]
    SITE_FIRSTS      u32 n, u32 0 | left strings[n] | right strings[n] | times i64[n]
    SITE_FIRSTS_GONE u32 n, u32 0 | left strings[n] | right strings[n]
"""

from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from stream_lsh.pipeline.batches import BEGINS, Pass
from stream_lsh.pipeline.changelog.records import LedgerRecord, LedgerSlice
from stream_lsh.wire.layout import (
    HEADER_BYTES,
    Message,
    Reader,
    Section,
    Writer,
    damaged,
    expect_no_more,
    open_message,
    take,
)
from stream_lsh.wire.ledger_sections import decode_body, encode_body
from stream_lsh.wire.sections import get_pass, put_pass

_PART = Struct("<qIIQII")
_OVERHEAD = HEADER_BYTES + 8 + _PART.size + 7 + 24
_LEAST_PIECE = 64


def encode_ledger(record: LedgerRecord | LedgerSlice, fingerprint: int, limit: int = 256 * 1024) -> list[bytes]:
    """The messages of a record, in the order in which they must be written.

    Args:
        record: the changes by one frame, a snapshot, or a slice of a pass.
        fingerprint: the scheme.
        limit: the most bytes of a message; below some 128 the least that makes progress.

    Returns:
        a single message where it fits.
    Guarantees:
        the same bytes for equal records, so that a part that is written again is the same part; except for evidence of
        more than 255 bytes, which depends on the version of zstd.
    Cost:
        0.5 us per pair or node, and two copies of the bytes.
    """
    copied = None
    offset = record.number if isinstance(record, LedgerSlice) else record.offset
    if isinstance(record, LedgerSlice):
        copied, record = record.copied, record.record
    body = encode_body(record)
    piece = max(limit - _OVERHEAD, _LEAST_PIECE)
    checksum, count = crc32(body), -(-len(body) // piece)
    messages = []
    for index in range(count):
        data = body[index * piece : (index + 1) * piece]
        writer = Writer()
        writer.begin(Section.LEDGER_PART, _PART.pack(offset, index, count, len(body), checksum, len(data)))
        writer.raw(data)
        if copied is not None:
            put_pass(writer, copied)
        messages.append(writer.message(Message.LEDGER, fingerprint))
    return messages


class _Set(NamedTuple):
    """The common fields of the parts of one record; for a slice with its number as the offset."""

    offset: int
    parts: int
    size: int
    checksum: int
    copied: Pass | None


@dataclass(slots=True)
class LedgerAssembler:
    """Reassembles the parts of the changelog: complete records only, offsets never falling.

    Guarantees:
        an incomplete set yields nothing; a repeated part changes nothing; parts of two writers of one offset do not
        mix; a part that a zombie wrote late, between the parts of a later record, harms neither.
        A repeated record, and one of an offset below the last one, yields None.
    Cost:
        holds the parts of incomplete sets: at most one set per crash in the middle of a record, and only until a
        complete one of a later offset has arrived.

    Slices apply only if the log begins with their pass: a log that begins earlier has the copied records, and the
    slices of other passes are late or were never completed.

    Args:
        fingerprint: the scheme.

    Attributes:
        begun: part of the log is known, so the next message is not the record with which the log begins.
        began: the offset of the pass with which the log begins; None if it begins with none.
        copied: the bytes read of that pass.
    """

    fingerprint: int
    begun: bool
    began: int | None
    copied: int
    _open: "dict[_Set, dict[int, bytes]]"
    _slices: "dict[_Set, dict[int, bytes] | None]"
    _done: "set[_Set]"
    _last: int | None

    def __init__(self, fingerprint: int) -> None:
        self.fingerprint = fingerprint
        self.begun, self.began, self.copied = False, None, 0
        self._open, self._slices, self._done, self._last = {}, {}, set(), None

    @property
    def waits(self) -> bool:
        """Whether some but not all parts of a record have arrived."""
        return bool(self._open)

    def add(self, data: bytes | None) -> LedgerRecord | None:
        """The record that this message completes, for a log without slices; None if it completes none.

        Raises:
            DamagedBytes, FutureFormat, FingerprintMismatch: as `frames.decode_bands`.
        """
        record = self.take(data, -1)
        return None if isinstance(record, LedgerSlice) else record

    def take(self, data: bytes | None, at: int) -> LedgerRecord | LedgerSlice | None:
        """The record, or the slice that applies, which the message at this offset of the changelog completes.

        Raises: as `add`.
        """
        whole, index, piece = _decode_part(data, self.fingerprint)
        is_first, self.begun = not self.begun, True
        if whole.copied is None:
            return self._record(whole, index, piece)
        if is_first and whole.copied == BEGINS:
            self.began = at
        elif self.began is None or whole.copied.began != self.began:
            return None
        self.copied += len(data or b"")
        return self._slice(whole, whole.copied, index, piece)

    def _slice(self, whole: _Set, copied: Pass, index: int, piece: bytes) -> LedgerSlice | None:
        pieces = self._slices.setdefault(whole, {})
        if pieces is None:
            return None
        pieces[index] = piece
        if len(pieces) < whole.parts:
            return None
        self._slices[whole] = None
        return LedgerSlice(copied, whole.offset, _join(whole, pieces))

    def _record(self, whole: _Set, index: int, piece: bytes) -> LedgerRecord | None:
        if (self._last is not None and whole.offset < self._last) or whole in self._done:
            return None
        pieces = self._open.setdefault(whole, {})
        pieces[index] = piece
        if len(pieces) < whole.parts:
            return None
        if whole.offset != self._last:
            self._last = whole.offset
            self._done.clear()
        self._done.add(whole)
        # The other set of two writers of one offset may still arrive.
        del self._open[whole]
        for other in [other for other in self._open if other.offset < whole.offset]:
            del self._open[other]
        return _join(whole, pieces)


def _decode_part(data: bytes | None, fingerprint: int) -> tuple[_Set, int, bytes]:
    sections = open_message(data, Message.LEDGER, fingerprint)
    copied, part = take(sections, Section.PASS, get_pass), take(sections, Section.LEDGER_PART, _get_part)
    expect_no_more(sections)
    if part is None:
        raise damaged("got a message without a part of a record", "a faulty program wrote it")
    (offset, count, size, checksum), index, piece = part
    return _Set(offset, count, size, checksum, copied), index, piece


def _get_part(reader: Reader) -> tuple[tuple[int, int, int, int], int, bytes]:
    offset, index, count, size, checksum, size_here = reader.fields(_PART)
    if index >= count:
        reader.fail(f"got part {index} of {count}")
    return (offset, count, size, checksum), index, reader.raw(size_here)


def _join(whole: _Set, pieces: dict[int, bytes]) -> LedgerRecord:
    body = b"".join([pieces[index] for index in range(whole.parts)])
    if len(body) != whole.size or crc32(body) != whole.checksum:
        raise damaged(f"the {whole.parts} parts of offset {whole.offset} do not fit each other", "some were altered")
    record = decode_body(body)
    if whole.copied is None and record.offset != whole.offset:
        raise damaged(f"the parts of offset {whole.offset} hold offset {record.offset}", "a faulty program wrote them")
    return record
