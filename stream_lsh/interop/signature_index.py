"""An in-memory index of signatures by key that answers similarity queries; all signatures have one scheme.

It serves signatures that were computed elsewhere, or whose texts are no longer available.  With the texts,
`NearDuplicates` is the better choice: it compares candidates exactly.  The answers of this index are estimates.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.errors import ConfigError
from stream_lsh.index.table import BandTable
from stream_lsh.lsh.banding import Bands
from stream_lsh.lsh.solver import Banding, choose_banding
from stream_lsh.sketch.estimate import matching_slots
from stream_lsh.sketch.scheme import EMPTY_SLOT, SignatureScheme
from stream_lsh.sketch.signature_batch import SignatureBatch, require_same

_FIRST_CAPACITY = 1 << 12


class Estimated(NamedTuple):
    """An answer: a key, and the similarity estimated from its signature and that of the query."""

    key: str
    estimate: float


class SignatureIndex:
    """An index of signatures: add, remove, query.

    Args:
        scheme: of all signatures.
        threshold: the least estimate of an answer; bands and rows are chosen for it.
        recall: the probability that a signature at the threshold is found.

    Attributes:
        banding: the bands and rows that were chosen.

    Guarantees:
        probabilistic: a document of a similarity at the threshold is a candidate with probability `recall` and an
        answer if its estimate reaches the threshold too; an estimate has a standard error of at most
        sqrt(J(1-J)/slots).  To miss fewer take a lower threshold, and compare the texts.
    Cost:
        some 500 bytes a document of 16 bands beside its signature; one that is removed or replaced keeps its row.
        Buckets are followed to their end.

    Raises:
        ConfigError: no banding of the scheme's slots reaches the recall.

    Example:
        >>> from stream_lsh.sketch.datasketch import DatasketchMinHash, token_shingles
        >>> from stream_lsh.sketch.signature_batch import signed
        >>> scheme = DatasketchMinHash(slots=128)
        >>> index = SignatureIndex(scheme, threshold=0.5)
        >>> index.add(["fox", "none"], signed(scheme, token_shingles([["a", "quick", "brown", "fox"], []])))
        >>> index.query(signed(scheme, token_shingles([["a", "quick", "red", "fox"], []])))  # exactly 0.6
        [[Estimated(key='fox', estimate=0.515625)], []]
    """

    def __init__(self, scheme: SignatureScheme, threshold: float = 0.8, recall: float = 0.99) -> None:
        self.scheme = scheme
        self.threshold = threshold
        self.banding: Banding = choose_banding(threshold, recall, scheme.slots)
        self._bands = Bands(self.banding.bands, self.banding.rows)
        self._table = BandTable(cap_postings=0, cap_candidates=0, first_capacity=_FIRST_CAPACITY)
        self._rows: dict[str, int] = {}
        self._keys: list[str] = []
        self._values = np.empty((0, scheme.slots), np.uint32)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def add(self, keys: Sequence[str], signatures: SignatureBatch) -> None:
        """Add signatures; the signature of a known key replaces the earlier one.

        A document without shingles is stored under its key, and is similar to nothing.

        Args:
            keys: one for each signature, all distinct.
            signatures: of the index's scheme.

        Raises:
            FingerprintMismatch: another scheme -> sign the texts again, or open an index of that scheme.
            ConfigError: keys and signatures differ in number, or a key occurs twice.
        """
        require_same(self.scheme, signatures.scheme)
        if len(keys) != len(signatures) or len(set(keys)) != len(keys):
            raise ConfigError(
                f"keys: got {len(keys)}, {len(set(keys))} of them different, for {len(signatures)} signatures, "
                "expected one each and none twice"
            )
        self.remove([key for key in keys if key in self._rows])
        first = len(self._keys)
        self._grow(first + len(keys))
        self._values[first : first + len(keys)] = signatures.values
        self._keys += keys
        self._rows.update(zip(keys, range(first, first + len(keys)), strict=True))
        self._table.insert(*self._postings(np.arange(first, first + len(keys))))

    def remove(self, keys: Sequence[str]) -> None:
        """Remove signatures; a key may occur twice.

        Raises:
            ConfigError: a key that is not in the index.
        """
        missing = [key for key in keys if key not in self._rows]
        if missing:
            raise ConfigError(f"keys: got {missing[0]!r}, expected keys that are in the index")
        places = [self._rows.pop(key) for key in dict.fromkeys(keys)]
        refs, _, rows, buckets = self._postings(np.array(places, np.int64))
        if keys:
            self._table.remove(refs, rows, buckets)

    def query(self, signatures: SignatureBatch, threshold: float | None = None) -> list[list[Estimated]]:
        """For each signature the keys whose estimate reaches the threshold, most similar first, then by key.

        Args:
            signatures: of the index's scheme; they are not added.
            threshold: replaces that of the index.  A lower one returns more keys, but only keys that share a band.

        Raises:
            FingerprintMismatch: another scheme -> sign the texts again with the scheme of the index.
        """
        require_same(self.scheme, signatures.scheme)
        least = self.threshold if threshold is None else threshold
        return [self._answer(signatures, row, least) for row in range(len(signatures))]

    def candidates(self, signatures: SignatureBatch) -> list[list[Estimated]]:
        """For each signature all keys that share a band with it, whatever the estimate; ordered as by `query`."""
        return self.query(signatures, threshold=0.0)

    def _answer(self, signatures: SignatureBatch, row: int, threshold: float) -> list[Estimated]:
        values = signatures.values[row : row + 1]
        if values[0, 0] == EMPTY_SLOT:
            return []
        buckets = self._bands(values)[0]
        refs = self._table.probe(np.zeros(buckets.size, np.int64), buckets).old.astype(np.int64)
        matching = matching_slots(np.broadcast_to(values, (refs.size, self.scheme.slots)), self._values[refs])
        answers = [
            Estimated(self._keys[place], count / self.scheme.slots)
            for place, count in zip(refs.tolist(), matching.tolist(), strict=True)
            if count / self.scheme.slots >= threshold
        ]
        return sorted(answers, key=lambda answer: (-answer.estimate, answer.key))

    def _postings(self, places: I64) -> tuple[U64, I64, I64, U64]:
        """Refs, times, rows and buckets of the signatures at these places; empty documents are in no bucket."""
        places = places[self._values[places, 0] != EMPTY_SLOT]
        buckets = self._bands(self._values[places])
        rows = np.repeat(np.arange(places.size), self.banding.bands)
        return places.astype(np.uint64), np.zeros(places.size, np.int64), rows, buckets.ravel()

    def _grow(self, size: int) -> None:
        """Grow the array to at least `size` signatures; it doubles, so that adding one by one stays cheap."""
        if size > len(self._values):
            grown = np.empty((max(size, 2 * len(self._values)), self.scheme.slots), np.uint32)
            grown[: len(self._keys)] = self._values[: len(self._keys)]
            self._values = grown
