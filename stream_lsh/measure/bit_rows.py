"""Similar sets as rows of bits: each hash of their union has a bit, so two sets share what `&` leaves.

Exact.  A set costs one search in the union, whatever it is compared with; a pair costs one pass over the words of two
rows.  Measured with sets of 624 hashes whose union has six times as many: 35 us a set and 0.2 us a pair, where
`jaccard.shared_counts` takes 2 to 4 us a pair.
"""

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.measure.jaccard import sorted_unique

_WAITING = 16
"""Sets that are written together."""
_WAITING_HASHES = 1 << 16
_WORD = 64
_BLOCK = 1 << 14
"""Words of each side that are compared at once: they stay in the cache."""


class BitRows:
    """Sets of hashes, each a row; rows are only added.

    Attributes:
        words: of a row.

    Cost:
        a bit for each hash of the union in every row, and 16 bytes for the hash.

    Example:
        >>> rows = BitRows()
        >>> rows.add(np.array([2, 3, 5], np.uint64)), rows.add(np.array([3, 5, 7], np.uint64))
        (0, 1)
        >>> rows.shared(np.array([0]), np.array([1])).tolist(), rows.members(1).tolist()
        ([2], [3, 5, 7])
    """

    def __init__(self) -> None:
        self._hashes = np.empty(0, np.uint64)
        self._bits = np.empty(0, np.int64)  # of each hash
        self._rows = np.empty((0, 0), np.uint64)
        self._sizes = np.empty(0, np.int64)
        self._written = 0
        self._waiting = list[U64]()
        self._waiting_hashes = 0
        self.words = 0

    def __len__(self) -> int:
        return self._written + len(self._waiting)

    @property
    def width(self) -> int:
        """The hashes of the union, of all sets but the last few."""
        return self._hashes.size

    @property
    def nbytes(self) -> int:
        """The memory of the written sets, in bytes."""
        return self._rows.nbytes + self._hashes.nbytes + self._bits.nbytes + self._sizes.nbytes

    def add(self, hashes: U64) -> int:
        """Add a set, ascending and without repetitions; returns its row."""
        self._waiting.append(hashes)
        self._waiting_hashes += hashes.size
        row = len(self) - 1
        if len(self._waiting) >= _WAITING or self._waiting_hashes >= _WAITING_HASHES:
            self._write()
        return row

    def sizes(self, rows: I64) -> I64:
        """The number of hashes of each set: int64[n]."""
        self._write()
        return self._sizes[rows]

    def members(self, row: int) -> U64:
        """The hashes of a set, ascending."""
        self._write()
        has = np.unpackbits(self._rows[row, : self.words].view(np.uint8), bitorder="little")
        return self._hashes[has[self._bits].view(np.bool_)]

    def shared(self, left: I64, right: I64) -> I64:
        """The number of hashes that two sets share, for pairs of rows: int64[n]."""
        self._write()
        counts, step = np.empty(left.size, np.int64), max(1, _BLOCK // max(1, self.words))
        rows = self._rows[:, : self.words]
        for start in range(0, left.size, step):
            pairs = slice(start, start + step)
            both = rows[left[pairs]]
            both &= rows[right[pairs]]
            counts[pairs] = np.bitwise_count(both).sum(axis=1)
        return counts

    def shared_with(self, hashes: U64, rows: I64) -> I64:
        """The number of hashes that another set, ascending, shares with each row: int64[n]."""
        self._write()
        at, known = self._find(hashes)
        one = self._packed(np.zeros(int(np.count_nonzero(known)), np.int64), self._bits[at[known]], 1)
        return np.asarray(np.bitwise_count(self._rows[rows, : self.words] & one).sum(axis=1), np.int64)

    def _find(self, hashes: U64) -> tuple[I64, "np.ndarray"]:
        """The place of each hash in the union, and whether it is there."""
        if not self._hashes.size:
            return np.zeros(hashes.size, np.int64), np.zeros(hashes.size, np.bool_)
        at = self._hashes.searchsorted(hashes)
        return at, self._hashes.take(at, mode="clip") == hashes

    def _write(self) -> None:
        """Write the sets that wait."""
        if not self._waiting:
            return
        sets, self._waiting, self._waiting_hashes = self._waiting, [], 0
        sizes = np.array([one.size for one in sets], np.int64)
        flat = np.concatenate(sets)
        at, known = self._find(flat)
        missing = flat[~known]
        bits = np.empty(flat.size, np.int64)
        bits[known] = self._bits[at[known]]
        if missing.size:
            new = sorted_unique(missing)
            bits[~known] = new.searchsorted(missing) + self._hashes.size
            self._widen(new)
        self._lengthen(len(sets))
        stop = self._written + len(sets)
        rows = np.repeat(np.arange(len(sets)), sizes)
        self._rows[self._written : stop, : self.words] = self._packed(rows, bits, len(sets))
        self._sizes[self._written : stop] = sizes
        self._written = stop

    def _widen(self, new: U64) -> None:
        """Give bits to hashes that are new to the union, ascending."""
        count = self._hashes.size + new.size
        is_new = np.zeros(count, np.bool_)
        is_new[self._hashes.searchsorted(new) + np.arange(new.size)] = True
        hashes, bits = np.empty(count, np.uint64), np.empty(count, np.int64)
        hashes[is_new], hashes[~is_new] = new, self._hashes
        bits[is_new], bits[~is_new] = np.arange(self._hashes.size, count), self._bits
        self._hashes, self._bits = hashes, bits
        self.words = -(-count // _WORD)

    def _lengthen(self, sets: int) -> None:
        """Make room for more rows, and for all words of each."""
        held, width = self._rows.shape
        needed = self._written + sets
        if needed <= held and self.words <= width:
            return
        held = held if needed <= held else max(needed, 2 * held)
        width = width if self.words <= width else self.words * 5 // 4
        rows = np.zeros((held, width), np.uint64)
        rows[: self._written, : self._rows.shape[1]] = self._rows[: self._written]
        self._rows = rows
        self._sizes = np.concatenate((self._sizes[: self._written], np.zeros(held - self._written, np.int64)))

    def _packed(self, rows: I64, bits: I64, count: int) -> U64:
        """Rows of words with these bits: uint64[count, words]."""
        flags = np.zeros(count * self.words * _WORD, np.bool_)
        flags[rows * (self.words * _WORD) + bits] = True
        return np.packbits(flags, bitorder="little").view(np.uint64).reshape(count, self.words)
