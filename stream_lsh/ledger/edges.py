"""Edges, the input of the ledger: columns, as they travel; rows, for code that writes them by hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stream_lsh.arrays import F64, I64, U32, U64
from stream_lsh.model import NO_ABOUT, About, Abouts, in_full


class End(NamedTuple):
    """One document of an edge, in the version that was compared."""

    id: str
    ref: int
    time_ms: int
    digest: int
    about: About = NO_ABOUT


class Edge(NamedTuple):
    """Two versions with their exact similarity: a confirmed pair, or the answer to a recheck.

    `shingles` are those of `left`, 0 where the measure does not tell: those of `right` are `shared + union - shingles`.
    `evidence` is a text that goes with the pair, whichever end comes first.
    """

    left: End
    right: End
    similarity: float
    shared: int
    union: int
    shingles: int = 0
    evidence: str = ""

    def turned(self) -> "Edge":
        """The same with its ends the other way round."""
        shingles = self.shingles and self.shared + self.union - self.shingles
        return self._replace(left=self.right, right=self.left, shingles=shingles)


@dataclass(frozen=True, slots=True)
class Ends:
    """One end of each edge: n `ids`, uint64[n] `refs`, int64[n] `times`, uint64[n] `digests`; what stories tell."""

    ids: Sequence[str]
    refs: U64
    times: I64
    digests: U64
    abouts: Abouts = ()

    def rows(self) -> Iterator[End]:
        """The ends in plain values."""
        numbers = (self.refs.tolist(), self.times.tolist(), self.digests.tolist())
        return map(End, self.ids, *numbers, in_full(self.abouts, len(self.ids)))


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs with their exact similarity: float64[n], and the counts behind it, uint32[n] each.

    `shingles` are those of the left ends, None where the measure does not tell.  `evidence` is a text for each, or none
    at all.

    A pair that the index found is here only if it reaches the threshold; the answer to a recheck is here whatever
    it is.
    """

    left: Ends
    right: Ends
    similarity: F64
    shared: U32
    union: U32
    shingles: U32 | None = None
    evidence: Sequence[str] = ()

    def __len__(self) -> int:
        return self.similarity.size

    def rows(self) -> Iterator[Edge]:
        """The edges in plain values."""
        counts: list[Sequence[Any]] = [self.similarity.tolist(), self.shared.tolist(), self.union.tolist()]
        if self.shingles is not None:
            counts.append(self.shingles.tolist())
        if self.evidence:
            counts += [self.evidence] if self.shingles is not None else [[0] * len(self), self.evidence]
        return map(Edge, self.left.rows(), self.right.rows(), *counts)


def written(evidence: Sequence[str]) -> Sequence[str]:
    """The column, or none at all where it says nothing."""
    return () if evidence.count("") == len(evidence) else evidence
