"""Fast similarity sketching: every shingle is thrown into one slot per round until no slot is empty.

    round i < R:   g = h                                   (i = 0)
                   g = h R_i;  g ^= g >> 32                (i > 0)
                   slot  = ((g >> 32) slots) >> 32
                   value = i << (32 - f)  |  (g mod 2^32) >> f
                   signature[slot] = min(signature[slot], value);  stop when no slot is empty
    then, in a slot j still empty:
                   signature[j] = R << (32 - f)  |  min over x of  ((A_j fold(x)) mod 2^32) >> f

with f = bit_length(R + 1) and fold(x) = (x ^ x >> 32) mod 2^32.

Correctness: for each slot, "smallest round, then smallest value" orders all possible shingles in the same way for every
document, and each shingle of A ∪ B comes first with the same probability.  Stopping early changes nothing, because a
later round never wins over an earlier one.  Slots filled in the same round are a sample without replacement, so the
variance is smaller than that of independent slots.

Reference: Dahlgaard, Knudsen and Thorup, Fast similarity sketching, FOCS 2017 (arXiv 1704.04370).  Their sketch throws
`slots` random rounds before it fills each slot directly; 30 rounds cost the same here, leave 27 bits for the value, and
the direct round alone provides the guarantee (docs/internals/adr/0004).
"""

import numpy as np

from stream_lsh.arrays import I64, U32, U64, Bools
from stream_lsh.hashing import odd_constants
from stream_lsh.sketch.scheme import EMPTY_SLOT, check_settings
from stream_lsh.text.shingles import Shingles, offsets_of

_S32 = np.uint64(32)
_THROWS = 1 << 17  # throws or products at once: the temporaries are some 2 MB
_FEW_THROWS = 4096  # below, one numpy call for all rounds is cheaper than stopping early
_REPETITIVE = 32  # shingles a slot: with this many distinct ones a slot stays empty with a probability of e^-32


class FastSimilarity:
    """The default scheme: cost nearly independent of the number of slots, variance at most that of classic minhashing.

    Args:
        slots: length of a signature.
        seed: chooses the functions of all rounds but the first, which takes the shingle hashes as they are; their
            seed is the shingler's.
        rounds: random rounds before the direct one; signatures of different `rounds` cannot be compared.

    Guarantees:
        P(slots agree) = J for every size of the documents; variance of the estimate 0.5 J(1-J)/slots for documents of
        some ten shingles to 1.0 J(1-J)/slots for thousands.  Different shingles agree with a probability of 2^-27 a
        slot.
    Cost:
        some 3 ns a shingle beyond a thousand; at most slots² / (e rounds) further products for a short document.

    Example:
        >>> from stream_lsh.text.catalog import shingler
        >>> texts = ["the quick brown fox jumps over the lazy dog", "the quick brown fox jumped over the lazy dog", ""]
        >>> fox, other, empty = FastSimilarity(slots=128)(shingler("char:3")(texts))
        >>> float((fox == other).mean()), bool((empty == EMPTY_SLOT).all())
        (0.828125, True)
    """

    name = "fast"
    version = 1

    def __init__(self, slots: int = 128, seed: int = 1, rounds: int = 30) -> None:
        check_settings(self.name, slots, rounds=(rounds, 1, 254))
        self.slots = slots
        self.seed = seed
        self.rounds = rounds
        self._round_bits = np.uint32((rounds + 1).bit_length())
        self._round_flags = np.arange(rounds + 1, dtype=np.uint32) << (np.uint32(32) - self._round_bits)
        self._round_factors = odd_constants(rounds, 2 * seed + 1)
        self._slot_factors = (odd_constants(slots, 7919 * seed + 11) >> _S32).astype(np.uint32) | np.uint32(1)

    def __call__(self, shingles: Shingles) -> U32:
        """One signature a document: uint32[n, slots]."""
        flat = np.full(len(shingles) * self.slots, EMPTY_SLOT, np.uint32)
        signatures = flat.reshape(len(shingles), self.slots)
        if not shingles.hashes.size:
            return signatures
        counts = shingles.counts
        self._throw_once(flat, shingles.hashes, counts)
        open_rows = _still_open(signatures, counts.nonzero()[0])
        if open_rows.size:
            hashes, counts = _documents(shingles, open_rows, counts[open_rows], _REPETITIVE * self.slots)
            self._fill_directly(signatures, *self._throw_more(flat, open_rows, hashes, counts))
        return signatures

    def _throw_once(self, flat: U32, hashes: U64, counts: I64) -> None:
        """Round 0: the hashes themselves."""
        rows = np.repeat(np.arange(0, flat.size, self.slots), counts) if counts.size > 1 else None
        for start in range(0, hashes.size, _THROWS):
            piece = slice(start, start + _THROWS)
            self._throw(flat, hashes[piece].copy(), None if rows is None else rows[piece], None)

    def _throw(self, flat: U32, throws: U64, first_slots: I64 | None, flags: U32 | None) -> None:
        """Puts every throw where it wins; overwrites `throws`, of any shape that the other arguments broadcast to."""
        values = throws.astype(np.uint32)
        values >>= self._round_bits
        if flags is not None:
            values |= flags
        throws >>= _S32
        throws *= np.uint64(self.slots)
        throws >>= _S32
        places = throws.view(np.int64)
        if first_slots is not None:
            places += first_slots
        # Fast only for one dimension, an index of the pointer's width and equal types.
        np.minimum.at(flat, places.ravel(), values.ravel())

    def _throw_more(self, flat: U32, rows: I64, hashes: U64, counts: I64) -> tuple[I64, U64, I64]:
        """The other random rounds, in blocks of rounds; gives the documents that may still have empty slots."""
        signatures = flat.reshape(-1, self.slots)
        first = 1
        while first < self.rounds and rows.size:
            first_slots = np.repeat(rows * self.slots, counts) if flat.size > self.slots else None
            last = self.rounds
            if hashes.size * self.rounds > _FEW_THROWS:
                last = min(last, 4 if first == 1 else 2 * first)
            factors, flags = self._round_factors[first:last, None], self._round_flags[first:last, None]
            step = max(1, _THROWS // (last - first))
            for start in range(0, hashes.size, step):
                throws = hashes[start : start + step] * factors
                throws ^= throws >> _S32
                self._throw(flat, throws, None if first_slots is None else first_slots[start : start + step], flags)
            first = last
            if first < self.rounds:
                rows, hashes, counts = _narrowed(rows, hashes, counts, _still_open(signatures, rows))
        return rows, hashes, counts

    def _fill_directly(self, signatures: U32, rows: I64, hashes: U64, counts: I64) -> None:
        """The last round: a function of its own for each slot that is still empty."""
        documents, slots = np.nonzero(signatures[rows] == EMPTY_SLOT) if rows.size else (rows, rows)
        if not documents.size:
            return
        folded = (hashes ^ (hashes >> _S32)).astype(np.uint32)
        if rows.size == 1 and folded.size * slots.size <= _THROWS:
            values = (folded[:, None] * self._slot_factors[slots]).min(axis=0)
        else:
            values = _ragged_minima(folded, counts, documents, self._slot_factors[slots])
        values >>= self._round_bits
        values |= self._round_flags[-1]
        signatures[rows[documents], slots] = values


def _ragged_minima(folded: U32, counts: I64, documents: I64, factors: U32) -> U32:
    """The least product of each factor with the values of its document: uint32[documents.size], in pieces."""
    minima = np.empty(documents.size, np.uint32)
    starts, sizes = offsets_of(counts)[documents], counts[documents]
    ends = np.cumsum(sizes)
    first = 0
    while first < documents.size:
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + _THROWS, "right")))
        piece = slice(first, last)
        products = folded[_ranges(starts[piece], sizes[piece])]
        products *= np.repeat(factors[piece], sizes[piece])
        minima[piece] = np.minimum.reduceat(products, ends[piece] - sizes[piece] - done)
        first = last
    return minima


def _still_open(signatures: U32, rows: I64) -> I64:
    """The rows with an empty slot."""
    if signatures.shape[0] == 1:
        return rows if signatures.max() == EMPTY_SLOT else rows[:0]
    chosen = signatures if rows.size == signatures.shape[0] else signatures[rows]
    full: Bools = chosen.max(axis=1) < EMPTY_SLOT
    return rows[~full]


def _documents(shingles: Shingles, rows: I64, counts: I64, repetitive: int) -> tuple[U64, I64]:
    """The hashes of some documents only, and their counts; very repetitive documents lose their repetitions."""
    if counts.max() > repetitive:
        parts = [shingles.document(row) for row in rows.tolist()]
        parts = [_distinct(part) if part.size > repetitive else part for part in parts]
        return np.concatenate(parts), np.array([part.size for part in parts])
    if rows.size == len(shingles):
        return shingles.hashes, counts
    return shingles.hashes[_ranges(shingles.offsets[rows], counts)], counts


def _distinct(hashes: U64) -> U64:
    """Without repetitions; in pieces, as the argument may be a text of many megabytes with few different shingles."""
    pieces = [np.unique(hashes[start : start + _THROWS]) for start in range(0, hashes.size, _THROWS)]
    return np.unique(np.concatenate(pieces))


def _narrowed(rows: I64, hashes: U64, counts: I64, remaining: I64) -> tuple[I64, U64, I64]:
    """The same without the documents whose rows do not remain."""
    if remaining.size == rows.size:
        return rows, hashes, counts
    if not remaining.size:
        return remaining, hashes[:0], counts[:0]
    kept = np.searchsorted(rows, remaining)
    return remaining, hashes[_ranges(offsets_of(counts)[kept], counts[kept])], counts[kept]


def _ranges(starts: I64, counts: I64) -> I64:
    """The positions start, start + 1, ... of every range, one range after the other; no range is empty."""
    ends = np.cumsum(counts)
    positions = np.repeat(starts - (ends - counts), counts)
    positions += np.arange(positions.size)
    return positions
