"""The scheme of a pipeline of fingerprints: sets of squares of a grid that have a minutia.

A function is a few squares, drawn at random, and holds of a print with a minutia in all of them; two prints are
candidates if one function holds of both.  Few functions hold of a given print, so this finds two prints of one finger
among many prints.  Minhashing would not, because two such prints share only two thirds of their squares.

    signature    1024 functions, a bit each: 32 slots
    buckets      the functions that hold, the first 64 of them, and the digest

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.8.5.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import U64, Bools
from stream_lsh.errors import ConfigError
from stream_lsh.hashing import fmix64
from stream_lsh.kinds.comparison import Explained
from stream_lsh.kinds.set.content import ItemShingler, items_of
from stream_lsh.kinds.shingled.comparer import ShingleSets
from stream_lsh.kinds.shingled.explain import explain_shingles
from stream_lsh.lsh.banding import digest_buckets
from stream_lsh.lsh.families.functions import NOTHING
from stream_lsh.lsh.families.grid_triples import GridTriples
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.jaccard import jaccard, sorted_unique
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria, SignatureAgreement, common_buckets
from stream_lsh.pipeline.scheme import SchemeDefaults
from stream_lsh.text.digest import bag_digest
from stream_lsh.text.passages.shared import Passage, passages

FUNCTIONS, SIZE = 1024, 3
MOST_FUNCTIONS, MOST_SQUARES = 1 << 16, 1 << 16
MOST_BUCKETS = 64
"""The most functions with a bucket of a print: with a fifth of the squares occupied, some 8 of 1024 functions hold."""
_VERSION = 1
_WORD = 32


class GridScheme(SchemeDefaults):
    """The scheme of a pipeline of fingerprints, compared by the Jaccard similarity of their squares.

    Args:
        squares: of the grid; items are integers from 0 to below this number.
        functions: the number of functions.
        size: squares in each function.
        seed: of the functions.

    Raises:
        ConfigError: all invalid arguments at once.

    Example:
        >>> scheme = GridScheme(1_000)
        >>> round(scheme.promise(occupied=0.2, agreement=0.8), 3), round(scheme.promise(occupied=0.2, agreement=0.2), 3)
        (0.985, 0.063)
    """

    def __init__(self, squares: int, *, functions: int = FUNCTIONS, size: int = SIZE, seed: int = 1) -> None:
        limits = (
            ("functions", functions, 1, MOST_FUNCTIONS),
            ("size", size, 1, 16),
            ("squares", squares, 1, MOST_SQUARES),
        )
        problems = [
            f"grid.{name}: got {value}, expected {least} to {most}"
            for name, value, least, most in limits
            if not least <= value <= most
        ]
        if not problems and squares < size:
            problems.append(f"grid.squares: got {squares}, expected at least the {size} squares of a function")
        if problems:
            raise ConfigError(problems)
        self.measure: Measure = JACCARD
        self.squares, self.functions, self.size = squares, functions, size
        self._seed = seed
        self._hashes = GridTriples(squares, size).draw(functions, seed)
        self._shingler = ItemShingler(seed)
        numbers = np.arange(1, functions + 1, dtype=np.uint64) + (np.uint64(seed & 0xFFFFFFFF) << np.uint64(32))
        self._keys = fmix64(numbers) & ~np.uint64(1)  # bit 0 marks digest buckets

    @property
    def slots(self) -> int:
        """The length of a signature."""
        return -(-self.functions // _WORD)

    @property
    def width(self) -> int:
        """The most buckets of a version: those of functions that hold, and that of its digest."""
        return min(MOST_BUCKETS, self.functions) + 1

    @property
    def settings(self) -> dict[str, str | int | float]:
        """The settings that signatures, buckets and sets depend on."""
        return {
            "kind": "set",
            "family": "grid",
            **self.measure.settings,
            "grid_version": _VERSION,
            "shingler_version": self._shingler.version,
            "squares": self.squares,
            "functions": self.functions,
            "size": self.size,
            "seed": self._seed,
        }

    def promise(self, occupied: float, agreement: float) -> float:
        """The probability that two prints become candidates.

        Args:
            occupied: share of the squares that have a minutia.
            agreement: probability that a square with a minutia in one print has a minutia in the other: some 0.8 for
                two prints of a finger, `occupied` for prints of different fingers.
        """
        together = GridTriples(self.squares, self.size, occupied).probability(1 - agreement)
        return 1 - (1 - together) ** self.functions

    def sign(self, texts: Sequence[str]) -> Signatures:
        """The functions that hold of each print, and the digest of its squares."""
        held = self._held(texts)
        padded = np.zeros((len(texts), _WORD * self.slots), np.bool_)
        padded[:, : self.functions] = held
        values = np.packbits(padded, axis=1, bitorder="little").view("<u4").astype(np.uint32)
        return Signatures(values, bag_digest(self._shingler(texts)))

    def _held(self, texts: Sequence[str]) -> Bools:
        occupied = np.zeros((len(texts), self.squares), np.bool_)
        for row, text in enumerate(texts):
            occupied[row, list(map(int, items_of(text)))] = True
        return np.asarray(self._hashes(occupied) != np.uint32(NOTHING))

    def holding(self, signatures: Signatures) -> Bools:
        """The functions that hold of each print: bool[n, functions]."""
        octets = np.ascontiguousarray(signatures.values).astype("<u4").view(np.uint8)
        return np.unpackbits(octets, axis=1, bitorder="little")[:, : self.functions].astype(np.bool_)

    def buckets(self, signatures: Signatures) -> U64:
        """The buckets of each print: those of functions, 0 for none, then that of the digest: uint64[n, width]."""
        held = self.holding(signatures)
        rows, functions = np.nonzero(held)
        places = (np.cumsum(held, axis=1) - 1)[rows, functions]
        keys = np.zeros((len(signatures), self.width), np.uint64)
        kept = places < self.width - 1
        keys[rows[kept], places[kept]] = self._keys[functions[kept]]
        keys[:, -1] = digest_buckets(signatures.digests)
        keys[signatures.digests == 0] = 0
        return keys

    def shingle_sets(self, texts: Sequence[str]) -> list[U64]:
        """The squares of each print as hashes, ascending: uint64[m] each."""
        shingles = self._shingler(texts)
        return [sorted_unique(shingles.document(row)) for row in range(len(shingles))]

    def comparer(self) -> ShingleSets:
        """The comparer, with which verify compares pairs."""
        return ShingleSets(self)

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        """The criteria of a match: functions do not estimate the similarity, so every candidate is compared."""
        return Criteria(threshold, retention_ms=retention_ms)

    def similarity(self, left: str, right: str) -> float:
        """The exact similarity of two prints, as verify computes it."""
        return jaccard(*self.shingle_sets([left, right]))

    def passages(self, text: str, shared: U64) -> list[Passage]:
        """The shared squares of a print, and the others, as places in its text."""
        return passages(text, (), self._shingler, shared)

    def explain(self, left: str | None, right: str | None) -> Explained:
        """Compare two documents by their shingles."""
        return explain_shingles(self, left, right)

    def agreement(self, signatures: Signatures, shared: int, union: int) -> SignatureAgreement:
        """The agreement of two prints with `shared` squares in common; a function counts as a slot and as a band."""
        held = self.holding(signatures)
        both = int((held[0] & held[1]).sum())
        together = GridTriples(self.squares, self.size).probability_for(shared)
        met = common_buckets(self.buckets(signatures))
        return SignatureAgreement(both, self.functions, met, self.functions, 1 - (1 - together) ** self.functions)
