"""The sealed form of a segment that gets no new postings: its live postings, sorted by bucket.

    keys    u64[m + 2]    row -> bucket, ascending from row 1; row 0 is unused, row m + 1 ends the last run
    docs    u32[m + 2]    row -> ordinal of the document, DEAD for none
    words   u64[2^(f-6)]  bit b of word w: a posting has w * 64 + b as the top f bits of its bucket
    starts  u32[2^(f-6)]  the first row whose bucket belongs to the word or a later one

The postings of a bucket are a *run*: newest first; one DEAD for each posting retired since follows the live ones.

The directory has 8 to 16 bits per posting, hence words and starts take 1.5 to 3 bytes of it.  A bit of 0 means that a
bucket is absent; otherwise the count of the lower bits of its word, added to `starts`, is the row of the bucket, unless
two postings of the word share a bit: only these need a search.

The sealed form saves some 40 % of memory with many segments.  With eight segments of 2^20 postings a probe costs as
much as with chains if buckets are random, and up to a quarter more if many are shared, in batches of 200 and of 16.

`sealing` converts segments to this form and shrinks sealed ones.
"""

from collections.abc import Iterator

import numpy as np

from stream_lsh.arrays import I64, U32, U64
from stream_lsh.errors import DamagedBytes
from stream_lsh.index.documents import Documents
from stream_lsh.index.segment import FEW, ROUNDS, Places

SLICE = 1 << 16
"""Postings that one step of sealing reads or writes: some 3 to 6 ms."""
DEAD = 0xFFFFFFFF
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_SIXTY_THREE = np.uint64(63)
LAST = np.uint64(0xFFFFFFFFFFFFFFFF)


class Needles:
    """Buckets to look up in several segments; their addresses are computed once for each size of a directory.

    Args:
        buckets: uint64[m].
    """

    __slots__ = ("_bits", "_shift", "_words", "buckets")

    def __init__(self, buckets: U64) -> None:
        self.buckets = buckets
        self._shift = -1

    def split(self, shift: int) -> tuple[I64, U64]:
        """The word of each bucket in a directory, and its bit."""
        if shift != self._shift:
            slots = self.buckets >> np.uint64(shift)
            self._shift, self._words, self._bits = (
                shift,
                (slots >> _SIX).astype(np.int64),
                _ONE << (slots & _SIXTY_THREE),
            )
        return self._words, self._bits


class Sealed(Documents):
    """A segment that gets no more postings.

    Args:
        segment: the segment with the documents.
        keys: uint64[m + 2] as above.
        docs: uint32[m + 2] as above.

    Cost: 12 bytes a posting, 12 a document, and the directory.
    """

    __slots__ = ("docs", "keys", "shift", "starts", "words")

    def __init__(self, segment: Documents, keys: U64, docs: U32) -> None:
        super().__init__(segment.capacity, segment.until_ms, segment.base)
        self.take_documents(segment)
        self.keys, self.docs = keys, docs
        bits = directory_bits(len(keys) - 2)
        self.shift = 64 - bits
        self.words: U64 = np.zeros(1 << (bits - 6), dtype=np.uint64)
        self.starts: U32 = np.zeros(1 << (bits - 6), dtype=np.uint32)

    @property
    def room(self) -> int:
        """Postings that still fit: none."""
        return 0

    @property
    def rows(self) -> int:
        """Postings that occupy space, live or not."""
        return len(self.keys) - 2

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self.documents * 12 + self.keys.nbytes + self.docs.nbytes + self.words.nbytes + self.starts.nbytes

    def describe(self, first: int, last: int, word: int, end: int) -> None:
        """Enter the rows [first, last) in the directory: all postings of its words [word, end)."""
        slots = self.keys[first:last] >> np.uint64(self.shift)
        words = (slots >> _SIX).astype(np.int64)
        self.starts[word:end] = np.searchsorted(words, np.arange(word, end)) + first
        if last > first:
            leads = np.concatenate(([0], (words[1:] != words[:-1]).nonzero()[0] + 1))
            self.words[words[leads]] = np.bitwise_or.reduceat(_ONE << (slots & _SIXTY_THREE), leads)

    def first(self, needles: Needles) -> tuple[I64, I64]:
        """The positions of the buckets with postings here, and the row of the newest posting of each."""
        at_word, bits = needles.split(self.shift)
        words = self.words.take(at_word)
        at = (words & bits).nonzero()[0]
        if len(at) == 0:
            return at, at
        buckets = needles.buckets[at]
        rows = self.starts.take(at_word[at]).astype(np.int64) + np.bitwise_count(words[at] & (bits[at] - _ONE))
        keys = self.keys.take(rows)
        behind = (keys < buckets).nonzero()[0]
        if len(behind):  # mostly one other posting with the same bit
            rows[behind] += 1
            keys[behind] = self.keys.take(rows[behind])
            behind = behind[keys[behind] < buckets[behind]]
            if len(behind):
                rows[behind] = np.searchsorted(self.keys, buckets[behind])
                keys[behind] = self.keys.take(rows[behind])
        matching = (keys == buckets).nonzero()[0]
        return at[matching], rows[matching]

    def heads(self, buckets: U64) -> I64:
        """The row of the newest posting of each bucket: int64[m], 0 for none."""
        rows = np.zeros(len(buckets), dtype=np.int64)
        at, matching = self.first(Needles(buckets))
        rows[at] = matching
        return rows

    def first_row(self, bucket: int) -> int:
        """The row of the newest posting of one bucket, 0 for none."""
        slot = bucket >> self.shift
        word = self.words.item(slot >> 6)
        if not word >> (slot & 63) & 1:
            return 0
        row = self.starts.item(slot >> 6) + (word & ((1 << (slot & 63)) - 1)).bit_count()
        if self.keys.item(row) < bucket:
            row = int(np.searchsorted(self.keys, np.uint64(bucket)))
        return row if self.keys.item(row) == bucket else 0

    def run(self, bucket: int, row: int) -> Iterator[int]:
        """The ordinals of a bucket's live postings, newest first, starting at a row; none for row 0."""
        document, key = self.docs.item, self.keys.item
        while row and key(row) == bucket and document(row) != DEAD:
            yield document(row)
            row += 1

    def live_run(self, bucket: int) -> list[int]:
        """The ordinals of all live postings of a bucket, newest first."""
        first = self.first_row(bucket)
        documents = self.docs[first : self._end(bucket) if first else 0]
        live: list[int] = documents[documents != DEAD].tolist()
        return live

    def window(self, rows: I64, buckets: U64, width: int) -> U32:
        """The ordinals of the live postings of each bucket starting at a row, then DEAD: uint32[n, width]."""
        at = rows[:, None] + np.arange(width)
        documents = self.docs.take(at, mode="clip")
        documents[self.keys.take(at, mode="clip") != buckets[:, None]] = DEAD
        return documents

    def older(self, rows: I64) -> I64:
        """The rows after these postings in their runs."""
        return rows + 1

    def postings(self, rows: I64) -> tuple[U64, I64]:
        """The buckets and the ordinals of postings."""
        return self.keys[rows], self.docs[rows].astype(np.int64)

    def find(self, refs: U64, buckets: U64) -> Places:
        """The positions of the postings (bucket, ref), without those that are not here.

        Cost: all runs in step at first; the rest of the longer runs is then searched as a whole, each once.
        """
        asked = self.may_hold(refs).nonzero()[0]
        at, rows = self.first(Needles(buckets[asked]))
        asked = asked[at]
        hits: list[tuple[I64, I64]] = []
        for _ in range(ROUNDS):
            documents = self.window(rows, buckets[asked], 1)[:, 0]
            on = (documents != DEAD).nonzero()[0]
            asked, rows = asked[on], rows[on]
            if len(asked) <= FEW:
                break
            hit = self.refs[documents[on]] == refs[asked]
            hits.append((asked[hit], rows[hit]))
            asked, rows = asked[~hit], rows[~hit] + 1
        hits.append(self._find_in_runs(asked, rows, refs[asked], buckets[asked]))
        columns = [np.concatenate(column) for column in zip(*hits, strict=True)]
        return Places(columns[0], columns[1], np.zeros(len(columns[0]), dtype=np.int64))

    def _find_in_runs(self, asked: I64, rows: I64, refs: U64, buckets: U64) -> tuple[I64, I64]:
        """The rest of `find`, bucket by bucket."""
        wanted: dict[tuple[int, int], list[tuple[int, int]]] = {}
        columns = (rows.tolist(), buckets.tolist(), refs.tolist(), asked.tolist())
        for row, bucket, ref, number in zip(*columns, strict=True):
            wanted.setdefault((row, bucket), []).append((ref, number))
        hits: list[tuple[int, int]] = []
        for (row, bucket), asking in wanted.items():
            documents = self.docs[row : self._end(bucket)]
            run_refs = self.refs[documents[documents != DEAD]]
            order = np.argsort(run_refs)
            where = np.searchsorted(run_refs, np.array([ref for ref, _ in asking], dtype=np.uint64), sorter=order)
            where = np.minimum(where, max(0, len(run_refs) - 1))
            for (ref, number), at in zip(asking, where.tolist(), strict=True):
                if len(run_refs) and run_refs.item(place := order.item(at)) == ref:
                    hits.append((number, row + place))
        table = np.array(hits, dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def _end(self, bucket: int) -> int:
        """The row behind the run of a bucket."""
        return int(np.searchsorted(self.keys[:-1], np.uint64(bucket), side="right"))

    def unlink(self, places: Places) -> None:
        """Remove postings.

        Args:
            places: distinct rows in ascending order.
        """
        self.leave(self.docs[places.rows].astype(np.int64))
        self.drop(places.rows)

    def drop(self, rows: I64) -> None:
        """Close the gaps of removed postings: the last places of their runs become DEAD."""
        self.docs[rows] = DEAD
        keys = self.keys[rows]
        continues = (self.keys[rows + 1] == keys) & (self.docs[rows + 1] != DEAD)
        for bucket in np.unique(keys[continues]).tolist():
            run = self.docs[self.first_row(bucket) : self._end(bucket)]
            live = run[run != DEAD]
            run[: len(live)] = live
            run[len(live) :] = DEAD

    def snapshot(self) -> dict[str, np.ndarray]:
        """Copies of all arrays except the directory, which `keys` determines, by name."""
        return {**self.snapshot_documents(), "keys": self.keys.copy(), "docs": self.docs.copy()}

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays for `adopt`: constant arrays without a copy, and copies of the others."""
        changing = {**self.snapshot_documents(), "docs": self.docs.copy()}
        return changing | {"keys": self.keys, "words": self.words, "starts": self.starts}

    @classmethod
    def adopt(cls, arrays: dict[str, np.ndarray]) -> "Sealed":
        """A segment that owns these arrays; they are neither copied nor checked.

        Raises:
            DamagedBytes: an array is missing.
        """
        documents = Documents.restore_documents(arrays)
        missing = sorted({"keys", "docs", "words", "starts"} - arrays.keys())
        if missing:
            raise DamagedBytes(f"a sealed segment has no array {', '.join(missing)}: rebuild the table")
        sealed = cls.__new__(cls)
        Documents.__init__(sealed, documents.capacity, documents.until_ms, documents.base)
        sealed.take_documents(documents)
        sealed.take(arrays)
        sealed.shift = 64 - (len(sealed.words).bit_length() + 5)
        return sealed

    def take(self, arrays: dict[str, np.ndarray]) -> None:
        """Use these arrays, which are equal to those of `arrays`, instead."""
        self.keys, self.docs, self.words, self.starts, self.refs, self.alive = (
            arrays[name] for name in ("keys", "docs", "words", "starts", "refs", "alive")
        )

    @classmethod
    def restore(cls, arrays: dict[str, np.ndarray]) -> "Sealed":
        """The segment of a snapshot.

        Raises:
            DamagedBytes: an array is missing or does not fit the others.
        """
        documents = Documents.restore_documents(arrays)
        if "keys" not in arrays or "docs" not in arrays:
            raise DamagedBytes("the snapshot of a sealed segment has no array 'keys' or 'docs': rebuild the table")
        keys, docs = arrays["keys"].astype(np.uint64), arrays["docs"].astype(np.uint32)
        fits = keys.ndim == 1 and keys.shape == docs.shape and len(keys) > 1
        if not fits or (keys[1:] < keys[:-1]).any() or keys[-1] != LAST or docs[0] != DEAD or docs[-1] != DEAD:
            raise DamagedBytes("the arrays of a sealed segment's snapshot do not fit each other: rebuild the table")
        live = docs != DEAD
        runs_on = live[2:] & (keys[2:] == keys[1:-1])
        known = docs[live] < documents.documents
        if np.count_nonzero(live) != documents.live or not known.all() or (runs_on & ~live[1:-1]).any():
            raise DamagedBytes(
                "a sealed segment's snapshot has postings of documents that do not exist: rebuild the table"
            )
        sealed = cls(documents, keys, docs)
        sealed.describe(1, len(keys) - 1, 0, len(sealed.words))
        return sealed


def directory_bits(postings: int) -> int:
    """f: the number of top bits of a bucket that address the directory of `postings` postings."""
    return max(6 + range_bits(postings), max(postings - 1, 0).bit_length() + 3)


def range_bits(postings: int) -> int:
    """The number of ranges of buckets in which `postings` postings are placed, as a power of two."""
    return max(0, (max(postings - 1, 0) // SLICE).bit_length())
