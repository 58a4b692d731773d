"""The most similar other record of some records, by all of their text, to judge blocking, sources and columns.

The similarity is the cosine of character 3-grams, rare ones more.  No blocking is involved, so the share of near-equal
records that a blocking rule brings together can be counted.  Records whose values were exchanged at random show how
similar the best other record is without any match: pairs above that level are near-equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import F64, I64, U64, Bools
from stream_lsh.hashing import fmix64
from stream_lsh.records.model import SEVERAL
from stream_lsh.text.catalog import shingler
from stream_lsh.text.shingles import Shingles, offsets_of

QUERIES, _DECOYS = 600, 300
_LONGEST = 300
"""The characters of a value that count."""
_MOST_FREQUENT = 0.25
"""Runs in more than this share of the records say nearly nothing and take most of the time."""
_STEPS = np.arange(10, 50) / 50
_PIECE, _PIECES = 2, 20
"""Records that do not exist are made of pieces of two words, up to 20 for each field."""
_FALSE = 0.1
"""The expected share of pairs by chance among near-equal ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The most similar records of some records.

    Attributes:
        rows: the records, int64[q].
        other: the most similar record of another source, int64[q]; of all records if there is one source.
        cosine: of the two, float64[q].
        own: the most similar record of the same source, int64[q].
        own_cosine: of the two, float64[q]; 0 if there is one source.
        least: the cosine from which pairs are near-equal; above 1 if none are.
        partners: the mean number of near-equal records of a record.
    """

    rows: I64
    other: I64
    cosine: F64
    own: I64
    own_cosine: F64
    least: float
    partners: float

    def near(self) -> tuple[I64, I64]:
        """The near-equal pairs: each record with the more similar of its two neighbours."""
        across = self.cosine >= self.own_cosine
        best = np.where(across, self.other, self.own)
        chosen = np.maximum(self.cosine, self.own_cosine) >= self.least
        return self.rows[chosen], best[chosen]

    def across(self) -> tuple[I64, I64]:
        """The near-equal pairs of different sources, each the best of both of its records."""
        chosen = self.cosine >= self.least
        return self.rows[chosen], self.other[chosen]


class Vectors:
    """Weighted runs of three letters of n texts, and the texts with each of them.

    Args:
        texts: of the records.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        own = _runs(texts)
        rows = np.repeat(np.arange(len(texts)), own.counts)
        self._own, self._size = own, len(texts)
        self._known, tokens, counts = np.unique(own.hashes, return_inverse=True, return_counts=True)
        frequent = counts > max(50.0, _MOST_FREQUENT * len(texts))
        self._idf = np.where(frequent, 0.0, np.log((len(texts) + 1) / counts))
        tokens = tokens.reshape(-1)
        kept = ~frequent[tokens]
        rows, tokens = rows[kept], tokens[kept]
        norms = np.sqrt(np.bincount(rows, self._idf[tokens] ** 2, len(texts)))
        order = np.argsort(tokens, kind="stable")
        self._rows = rows[order]
        self._weights = (self._idf[tokens] ** 2 / np.maximum(norms, 1e-9)[rows])[order]
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(tokens, minlength=self._known.size))))

    def cosines_of(self, row: int) -> F64:
        """The cosine of a record with each of the records: float64[n]."""
        return self._cosines(self._own.document(row))

    def best_of(self, texts: Sequence[str], rows: I64) -> list[float]:
        """The greatest cosine of each text with the records, the one of its row excepted."""
        runs, best = _runs(texts), []
        for at, row in enumerate(rows.tolist()):
            cosines = self._cosines(runs.document(at))
            cosines[row] = 0.0
            best.append(float(cosines.max()))
        return best

    def _cosines(self, hashes: U64) -> F64:
        if not self._known.size:
            return np.zeros(self._size)
        places = np.minimum(np.searchsorted(self._known, hashes), self._known.size - 1)
        tokens = places[self._known[places] == hashes]
        unknown = hashes.size - tokens.size
        norm = np.sqrt((self._idf[tokens] ** 2).sum() + unknown * np.log(self._size + 1) ** 2)
        counts = self._starts[tokens + 1] - self._starts[tokens]
        ends = np.cumsum(counts)
        at = np.arange(int(ends[-1]) if ends.size else 0) + np.repeat(self._starts[tokens] - ends + counts, counts)
        cosines: F64 = np.bincount(self._rows[at], self._weights[at], self._size) / max(norm, 1e-9)
        return cosines


def neighbours_of(columns: Sequence[Sequence[str]], sources: I64, vectors: Vectors) -> Neighbours:
    """The most similar records of up to QUERIES records.

    Args:
        columns: the standardised values of n records, one column for each field.
        sources: a number for the source of each record, int64[n].
        vectors: of the texts of the same records.

    Cost:
        some milliseconds for each of the QUERIES among 20,000 records.
    """
    count = sources.size
    rows = np.unique(np.linspace(0, count - 1, min(count, QUERIES)).astype(np.int64))
    several = bool((sources != sources[0]).any())
    best = np.zeros((4, rows.size))
    above = np.zeros(_STEPS.size)
    for at, row in enumerate(rows.tolist()):
        cosines = vectors.cosines_of(row)
        cosines[row] = -1.0
        above += np.cumsum(np.bincount(np.searchsorted(_STEPS, cosines, "right"), minlength=_STEPS.size + 1)[::-1])[
            ::-1
        ][1:]
        same = sources == sources[row] if several else np.zeros(count, np.bool_)
        best[:, at] = (*_best(cosines, ~same), *_best(cosines, same))
    decoys = texts_of([_exchanged(values, number) for number, values in enumerate(columns)])
    some = rows[:: max(1, rows.size // _DECOYS)]
    chance = vectors.best_of([decoys[row] for row in some.tolist()], some)
    top = np.maximum(best[1], best[3])
    other, own = best[0].astype(np.int64), best[2].astype(np.int64)
    least = _least(top, np.array(chance))
    partners = float(above[np.searchsorted(_STEPS, least)]) / rows.size if least <= 1 else 0.0
    return Neighbours(rows, other, best[1], own, best[3], least, partners)


def _best(cosines: F64, among: Bools) -> tuple[int, float]:
    """The record with the greatest cosine, and the cosine; 0 if there is none."""
    some = np.where(among, cosines, -1.0)
    row = int(some.argmax())
    return row, max(0.0, float(some[row]))


def _least(top: F64, chance: F64) -> float:
    """The least cosine from which few best neighbours are such by chance."""
    for cosine in _STEPS.tolist():
        found, false = float((top >= cosine).mean()), float((chance >= cosine).mean())
        if found and false <= _FALSE * found:
            return float(cosine)
    return 2.0


def texts_of(columns: Sequence[Sequence[str]]) -> list[str]:
    """The text of each record: the beginning of the values of all columns."""
    rows = zip(*columns, strict=True)
    return [" ".join([value[:_LONGEST] for value in row if value]).replace(SEVERAL, " ") for row in rows]


def _exchanged(values: Sequence[str], number: int) -> list[str]:
    """The values in another order; of texts of several words each piece of a few words is from another record."""
    count = np.arange(len(values), dtype=np.uint64)
    words = [value.split() for value in values]
    pieces = 1 + max(map(len, words), default=0) // _PIECE if len(values) else 0
    orders = [
        np.argsort(fmix64(count + np.uint64(7919 * (100 * number + piece) + 1))).tolist()
        for piece in range(min(pieces, _PIECES))
    ]
    exchanged = []
    for row, first in enumerate(orders[0] if orders else []):
        size = len(words[first])
        taken = [words[order[row]][at * _PIECE : (at + 1) * _PIECE] for at, order in enumerate(orders)]
        exchanged.append(" ".join(word for piece in taken for word in piece[: max(0, size)]))
    return exchanged


def _runs(texts: Sequence[str]) -> Shingles:
    """The distinct runs of each text, ascending."""
    shingles = shingler("char:3")(texts)
    rows = np.repeat(np.arange(len(texts)), shingles.counts)
    order = np.lexsort((shingles.hashes, rows))
    rows, hashes = rows[order], shingles.hashes[order]
    once = np.ones(rows.size, np.bool_)
    once[1:] = (rows[1:] != rows[:-1]) | (hashes[1:] != hashes[:-1])
    return Shingles(hashes[once], offsets_of(np.bincount(rows[once], minlength=len(texts))))
