"""The scheme of numbers: intervals of the distance, of which each number is in two; so near ones always meet."""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import F64, I64, U64, Bools
from stream_lsh.hashing import fmix64
from stream_lsh.kinds.comparison import Comparison, Explained
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Compared, Criteria, Pairs
from stream_lsh.pipeline.scheme import SchemeDefaults


class NumberScheme(SchemeDefaults):
    """The similarity of two numbers is 1 / (1 + their distance)."""

    slots = 2
    width = 3

    def __init__(self, distance: float) -> None:
        self.distance = distance

    @property
    def settings(self) -> dict[str, str | int | float]:
        return {"kind": "number", "distance": self.distance}

    def number(self, text: str) -> float:
        """The number of a text; not a number for an empty one."""
        return float(text or "nan")

    def sign(self, texts: Sequence[str]) -> Signatures:
        values = np.array([self.number(text) for text in texts], np.float64)
        there = ~np.isnan(values)
        digests = np.where(there, fmix64(values.view(np.uint64)) | np.uint64(1), np.uint64(0))
        return Signatures(np.ascontiguousarray(values).view(np.uint32).reshape(-1, self.slots), digests)

    def buckets(self, signatures: Signatures) -> U64:
        values = np.ascontiguousarray(signatures.values).view(np.float64).ravel()
        first = np.floor(np.nan_to_num(values) / self.distance).astype(np.int64)
        # Never 0, which stands for no bucket; bit 0 is that of digests.
        intervals = fmix64(np.stack((first, first + 1), axis=1).view(np.uint64)) & ~np.uint64(1) | np.uint64(2)
        found = np.concatenate((intervals, (fmix64(signatures.digests) | np.uint64(1))[:, None]), axis=1)
        found[signatures.digests == 0] = 0
        return found

    def comparer(self) -> "NumberPairs":
        return NumberPairs(self)

    def criteria(self, threshold: float, retention_ms: int | None) -> Criteria:
        return Criteria(threshold, retention_ms=retention_ms)

    def similarity(self, one: str, other: str) -> float:
        return 1 / (1 + abs(self.number(one) - self.number(other)))

    def explain(self, one: str | None, other: str | None) -> Explained:
        if one is None or other is None:
            return Explained(None)
        similarity, met = self.similarity(one, other), int(abs(self.number(one) - self.number(other)) <= self.distance)
        return Explained(Comparison(similarity, 0, 0, True, 0, 0, met, 2, float(met), one == other))


class NumberPairs:
    """Measures pairs of numbers; nothing is remembered."""

    def __init__(self, scheme: NumberScheme) -> None:
        self._scheme = scheme

    def compare(self, pairs: Pairs, near: Bools, criteria: Criteria, *, bounded: bool = False) -> Compared:
        at: I64 = np.arange(len(pairs))
        number = self._scheme.number
        new = np.array([number(pairs.asked.texts[row]) for row in pairs.new.tolist()])
        old = np.array([number(text) for text in pairs.documents.texts(pairs.old[at])])
        distances: F64 = np.abs(new - old)
        similarity = np.where(near & (distances <= self._scheme.distance), 1 / (1 + distances), 0.0)
        none = np.zeros(len(pairs), np.uint32)
        return Compared(similarity, none, none)

    def forget(self, ref: int) -> None:
        """Nothing was remembered."""

    def __len__(self) -> int:
        return 0
