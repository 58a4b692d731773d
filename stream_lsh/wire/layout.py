"""The form of every internal message: a header, then sections, each a run of columns.  Little-endian throughout.

Message:

    offset  bytes  field
    0       4      magic, `SLSH`
    4       1      format version, 1
    5       1      kind of message (`Message`)
    6       2      reserved, 0
    8       8      scheme fingerprint
    16      4      length of the payload, which ends the message
    20      4      CRC-32 (that of zlib) of the payload
    24      ...    payload: sections, each of another kind, in any order

Section:

    0       1      kind of section (`Section`)
    1       7      length of the body, a multiple of 8
    8       ...    body: fixed fields and columns as listed in `sections` and `ledger_parts`

Fixed fields and columns begin at a multiple of 8 bytes, zeros between them, so that arrays can be read in place.

    column of numbers   n numbers of the type given
    column of strings   u64 bytes of UTF-8 | u32[n] lengths in code points | all strings, joined, as UTF-8
    column of texts     u32 form (0 plain, 1 zstd), u32 0, u64 bytes stored, u64 bytes of UTF-8 |
                        u32[n] lengths in code points | all texts, joined, as UTF-8, in that form

Lone surrogates are written in their three-byte form ("surrogatepass").  Lengths count code points, not bytes: the
joined text is then decoded once and sliced.  Texts become one zstd block per column because the texts of a frame
resemble each other and because a block costs more to set up than to fill; below 256 bytes they stay plain.

Compatibility: a section or a message kind added later is `FutureFormat` to an older version, never skipped, because
skipped data would be lost.  A change to the columns of a section raises the format version.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import accumulate, pairwise
from struct import Struct
from threading import local
from typing import Any, NoReturn, TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt
import zstandard

from stream_lsh.errors import DamagedBytes, FingerprintMismatch, FutureFormat, InvariantError

MAGIC = b"SLSH"
FORMAT_VERSION = 1
TOPIC_ADVICE = "check what else writes to this topic, and rebuild the state from the source if it persists"
INFLATE_LIMIT = 1 << 30
"""The most bytes of text in one frame: a thousand times the size of a frame, far below the memory of a machine."""


class Message(IntEnum):
    """Kinds of message; a number is never reused for another kind."""

    BANDS = 1
    CANDIDATES = 2
    VERIFICATIONS = 3
    EDGES = 4
    DOCUMENTS = 5
    BUCKETS = 6
    LEDGER = 7
    HITS = 8


class Section(IntEnum):
    """Kinds of section; a number is never reused for another kind."""

    POSTINGS = 1
    CANDIDATES = 2
    VERIFICATIONS = 3
    EDGES = 4
    RETIREMENTS = 5
    WATERMARKS = 6
    HORIZON = 7
    DOCUMENTS = 8
    LEDGER_PART = 9
    LEDGER = 10
    NODES = 11
    NODES_GONE = 12
    PAIRS = 13
    PAIRS_GONE = 14
    CLUSTERS = 15
    CLUSTERS_GONE = 16
    NEWEST = 17
    CLOSED = 18
    WATERMARK_TABLE = 19
    PASS = 20
    ABOUTS = 21
    SIZES = 22
    PAGE_COUNTS = 23
    SITE_COUNTS = 24
    SITE_ORIGINS = 25
    SITE_FIRSTS = 26
    SITE_FIRSTS_GONE = 27
    MARK_NUMBERS = 28
    EVIDENCE = 29
    DECISIONS = 30
    LAG = 31
    ACKNOWLEDGED = 32
    HITS = 33
    DOCUMENTS_IN_BLOCKS = 34


_HEADER = Struct("<4sBBHQII")
HEADER_BYTES = _HEADER.size
_SECTION = Struct("<Q")
_SECTION_NAMES = {int(section): section.name for section in Section}
_LAST_SECTION = max(Section)
_STRINGS = Struct("<Q")
_TEXTS = Struct("<IIQQ")
_PLAIN, _ZSTD = 0, 1
_ZSTD_FROM = 256
_PADDING = tuple(bytes(-size % 8) for size in range(8))

U8, U32, U64 = np.dtype("<u1"), np.dtype("<u4"), np.dtype("<u8")
I64, F64 = np.dtype("<i8"), np.dtype("<f8")

_T = TypeVar("_T")
Column = npt.NDArray[Any]


class _Codecs(local):
    """The zstd contexts of one thread: new ones cost ten times as much as their use; shared ones are not safe."""

    def __init__(self) -> None:
        # zstd's own parameters for short inputs take up to twice the time, for some 3 % of the bytes.
        long = zstandard.ZstdCompressionParameters.from_level(1, source_size=1 << 20)
        self.deflate = zstandard.ZstdCompressor(compression_params=long)
        self.inflate = zstandard.ZstdDecompressor()


_codecs = _Codecs()


class Writer:
    """Collects the sections of one message."""

    __slots__ = ("_chunks", "_opened", "_size")

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._opened = -1
        self._size = 0

    def begin(self, kind: Section, fields: bytes = b"") -> None:
        """Open a section with its fixed fields; it ends at the beginning of the next one."""
        self._end()
        self._opened = len(self._chunks)
        self._chunks.append(_SECTION.pack(kind))
        self._size = 0
        if fields:
            self.raw(fields)

    def _end(self) -> None:
        """Close the open section, now that its length is known."""
        if self._opened >= 0:
            self._chunks[self._opened] = _SECTION.pack(self._chunks[self._opened][0] | self._size << 8)
            self._opened = -1

    def raw(self, data: bytes) -> None:
        """Write bytes unchanged, padded to a multiple of 8."""
        self._chunks.append(data)
        spare = len(data) & 7
        if spare:
            self._chunks.append(_PADDING[spare])
            self._size += 8 - spare
        self._size += len(data)

    def numbers(self, column: npt.ArrayLike, dtype: np.dtype[Any], count: int) -> None:
        """A column of `count` numbers; two dimensions are written row by row."""
        array = np.asarray(column, dtype)
        if array.size != count:
            raise InvariantError(f"a column of a batch has {array.size} entries, expected {count}: this is a bug")
        self.raw(array.tobytes())

    def strings(self, strings: Sequence[str], count: int) -> None:
        """A column of `count` short strings, such as ids."""
        _check_count(strings, count)
        joined = "".join(strings).encode("utf-8", "surrogatepass")
        self.raw(_STRINGS.pack(len(joined)))
        self.raw(np.array(list(map(len, strings)), U32).tobytes())
        self.raw(joined)

    def texts(self, texts: Sequence[str], count: int) -> None:
        """A column of `count` texts, as one zstd block."""
        _check_count(texts, count)
        joined = stored = "".join(texts).encode("utf-8", "surrogatepass")
        form = _PLAIN
        if len(joined) >= _ZSTD_FROM:
            form, stored = _ZSTD, _codecs.deflate.compress(joined)
        self.raw(_TEXTS.pack(form, 0, len(stored), len(joined)))
        self.raw(np.array(list(map(len, texts)), U32).tobytes())
        self.raw(stored)

    def body(self) -> bytes:
        """The sections, without a header; no further write is possible."""
        self._end()
        return b"".join(self._chunks)

    def message(self, kind: Message, fingerprint: int) -> bytes:
        """The sections behind their header."""
        return seal(kind, fingerprint, self.body())


def _check_count(strings: Sequence[str], count: int) -> None:
    if len(strings) != count:
        raise InvariantError(f"a column of a batch has {len(strings)} strings, expected {count}: this is a bug")


def seal(kind: Message, fingerprint: int, payload: bytes) -> bytes:
    """The header and the payload."""
    return _HEADER.pack(MAGIC, FORMAT_VERSION, kind, 0, fingerprint, len(payload), crc32(payload)) + payload


class Reader:
    """Reads the columns of one section, in order; every step checks the section's end.

    Columns are read-only views onto the message: each view keeps the whole message alive.
    """

    __slots__ = ("_at", "_data", "_end", "_name")

    def __init__(self, data: bytes, at: int, end: int, name: str) -> None:
        self._data, self._at, self._end, self._name = data, at, end, name

    def _advance(self, size: int) -> int:
        at = self._at
        if at + size > self._end:
            self.fail(f"got {self._end - at} bytes where {size} are announced")
        self._at = at + (size + 7 & ~7)
        return at

    def fail(self, what: str) -> NoReturn:
        """Raise an error about content that is wrong despite a correct checksum."""
        raise damaged(f"section {self._name}: {what}", "it was written by a faulty or foreign program")

    def fields(self, layout: Struct) -> tuple[Any, ...]:
        """The fixed fields of a section."""
        return layout.unpack_from(self._data, self._advance(layout.size))

    def raw(self, size: int) -> bytes:
        """`size` bytes, copied."""
        at = self._advance(size)
        return self._data[at : at + size]

    def numbers(self, dtype: np.dtype[Any], count: int) -> Column:
        """A column of `count` numbers, read-only, in place."""
        return np.frombuffer(self._data, dtype, count, self._advance(count * dtype.itemsize))

    def flags(self, count: int) -> npt.NDArray[np.bool_]:
        """A column of `count` bytes that are 0 or 1."""
        if self._data[self._at : self._at + count].translate(None, b"\0\1"):
            self.fail("got a flag that is neither 0 nor 1")
        return self.numbers(U8, count).view(np.bool_)

    def rows(self, count: int, below: int) -> npt.NDArray[np.int64]:
        """A column of `count` row numbers, stored as u32; each must be less than `below`."""
        stored = self.numbers(U32, count)
        if count and int(stored.max()) >= below:
            self.fail(f"got row {int(stored.max())} of {below}")
        rows: npt.NDArray[np.int64] = stored.astype(np.int64)
        rows.setflags(write=False)
        return rows

    def strings(self, count: int) -> list[str]:
        """A column of `count` strings."""
        (size,) = self.fields(_STRINGS)
        lengths = self.numbers(U32, count)
        return self._split(self.raw(size), lengths)

    def texts(self, count: int, limit: int) -> list[str]:
        """A column of `count` texts of together at most `limit` bytes."""
        form, _, stored, size = self.fields(_TEXTS)
        lengths = self.numbers(U32, count)
        data = self.raw(stored)
        if size > limit:
            self.fail(f"texts of {size} bytes are announced, at most {limit} are allowed")
        if form == _ZSTD:
            data = self._inflated(data, size)
        elif form != _PLAIN:
            self.fail(f"got texts in form {form}, expected 0 or 1")
        if len(data) != size:
            self.fail(f"got texts of {len(data)} bytes where {size} are announced")
        return self._split(data, lengths)

    def _inflated(self, data: bytes, size: int) -> bytes:
        # zstd allocates the size in its own header, so that size is checked first.
        try:
            announced = zstandard.frame_content_size(data)
            if announced != size:
                self.fail(f"got a zstd block of {announced} bytes where {size} are announced")
            return _codecs.inflate.decompress(data, max_output_size=size, allow_extra_data=False)
        except zstandard.ZstdError as error:
            self.fail(f"got texts that zstd cannot read ({error})")

    def _split(self, data: bytes, lengths: Column) -> list[str]:
        try:
            joined = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            self.fail(f"got strings that are not UTF-8 ({error.reason} at byte {error.start})")
        bounds = list(accumulate(lengths.tolist(), initial=0))
        if bounds[-1] != len(joined):
            self.fail(f"got {len(joined)} characters where {bounds[-1]} are announced")
        return [joined[start:stop] for start, stop in pairwise(bounds)]

    def finish(self) -> None:
        """Check that the section ends here."""
        if self._at != self._end:
            self.fail(f"got {self._end - self._at} bytes after the last column")


def open_message(data: bytes | None, kind: Message, fingerprint: int) -> dict[int, Reader]:
    """The sections of a message, by kind, after its header and checksum were checked.

    Raises:
        DamagedBytes: empty, truncated, with trailing bytes, altered, foreign, or of another kind.
        FutureFormat: written by a newer version.
        FingerprintMismatch: written under another scheme.
    """
    if not data:
        raise damaged("got no bytes, expected a message", "a null or empty value was written by another program")
    if len(data) < HEADER_BYTES:
        raise damaged(f"got {len(data)} bytes, expected a header of {HEADER_BYTES}", "it is truncated, or foreign")
    magic, version, got_kind, reserved, got_fingerprint, size, checksum = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise damaged(f"got the magic {magic!r}, expected {MAGIC!r}", "another program writes here")
    if version > FORMAT_VERSION:
        raise FutureFormat(
            f"got format version {version}, expected at most {FORMAT_VERSION}: a newer version of stream_lsh wrote "
            "this; start that version, or a later one"
        )
    if version < FORMAT_VERSION or reserved:
        raise damaged(f"got format version {version} and reserved field {reserved}, expected 1 and 0", "it was altered")
    if got_kind != kind:
        raise damaged(
            f"got a message of kind {got_kind}, expected {int(kind)} ({kind.name})", "the topics were mixed up"
        )
    if got_fingerprint != fingerprint:
        raise FingerprintMismatch(
            f"got bytes of scheme {got_fingerprint:#018x}, expected {fingerprint:#018x}: they were written under other "
            "settings (text, shingles, hashes, bands or rows); start with those settings again, or re-index under a "
            "new application id"
        )
    if size != len(data) - HEADER_BYTES:
        raise damaged(
            f"got a payload of {len(data) - HEADER_BYTES} bytes, expected {size}", "it is truncated, or joined"
        )
    if checksum != crc32(memoryview(data)[HEADER_BYTES:]):
        raise damaged(f"got a payload that does not fit its checksum {checksum:#010x}", "its bytes were altered")
    return open_sections(data, HEADER_BYTES)


def open_sections(data: bytes, at: int) -> dict[int, Reader]:
    """The sections that begin at `at` and fill the rest of `data`, by kind."""
    sections: dict[int, Reader] = {}
    end = len(data)
    while at < end:
        if end - at < _SECTION.size:
            raise damaged(f"got {end - at} bytes where a section begins", "it was written by a faulty program")
        (word,) = _SECTION.unpack_from(data, at)
        kind, size = word & 0xFF, word >> 8
        at += _SECTION.size
        if kind > _LAST_SECTION:
            raise FutureFormat(
                f"got a section of kind {kind}, expected at most {int(_LAST_SECTION)}: a newer version of stream_lsh "
                "wrote this; start that version, or a later one"
            )
        if kind not in _SECTION_NAMES or kind in sections or size & 7 or size > end - at:
            raise damaged(f"got a section of kind {kind} with {size} bytes that cannot be", "a faulty program wrote it")
        sections[kind] = Reader(data, at, at + size, _SECTION_NAMES[kind])
        at += size
    return sections


def take(sections: dict[int, Reader], kind: Section, get: Callable[[Reader], _T]) -> _T | None:
    """The result of `get` for the section of this kind, which it must read to its end; None without the section."""
    reader = sections.pop(kind, None)
    if reader is None:
        return None
    value = get(reader)
    reader.finish()
    return value


def expect_no_more(sections: dict[int, Reader]) -> None:
    """Check that no section is left, which would not belong into this kind of message."""
    for kind in sections:
        raise damaged(f"got a section of kind {kind} that this message does not have", "a faulty program wrote it")


def damaged(what: str, cause: str) -> DamagedBytes:
    """The error for unusable bytes, with advice for the operator."""
    return DamagedBytes(f"{what}: {cause}; {TOPIC_ADVICE}")
