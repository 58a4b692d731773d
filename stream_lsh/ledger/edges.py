"""Edges, the input of the ledger: columns in messages; rows for code that builds single edges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, U32, U64, Bools
from stream_lsh.model import NO_ABOUT, About, Abouts, at_rows, concatenate, in_full


class End(NamedTuple):
    """One document of an edge, in the version that was compared."""

    id: str
    ref: int
    time_ms: int
    digest: int
    about: About = NO_ABOUT


class Edge(NamedTuple):
    """Two versions with their exact similarity: a confirmed pair, or the answer to a recheck.

    `shingles` counts those of `left`, 0 if the measure does not report it; `right` has `shared + union - shingles`.
    `union` of records is the number of records whose values the score counts, 0 if it counts none.
    `evidence` is a text about the pair that does not depend on the order of the ends.
    """

    left: End
    right: End
    similarity: float
    shared: int
    union: int
    shingles: int = 0
    evidence: str = ""

    def turned(self) -> "Edge":
        """The same edge with its ends swapped."""
        shingles = self.shingles and self.shared + self.union - self.shingles
        return self._replace(left=self.right, right=self.left, shingles=shingles)


@dataclass(frozen=True, slots=True)
class Ends:
    """One end of each edge: n `ids`, uint64[n] `refs`, int64[n] `times`, uint64[n] `digests`; `abouts` for stories."""

    ids: Sequence[str]
    refs: U64
    times: I64
    digests: U64
    abouts: Abouts = ()

    def at(self, rows: Sequence[int]) -> "Ends":
        """The ends of some edges."""
        at = np.array(rows, np.int64)
        ids = [self.ids[row] for row in rows]
        return Ends(ids, self.refs[at], self.times[at], self.digests[at], at_rows(self.abouts, rows))

    def rows(self) -> Iterator[End]:
        """The ends in plain values."""
        numbers = (self.refs.tolist(), self.times.tolist(), self.digests.tolist())
        return map(End, self.ids, *numbers, in_full(self.abouts, len(self.ids)))


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs with their exact similarity: float64[n], and the counts behind it, uint32[n] each.

    `shingles` counts those of the left ends, None if the measure does not report them.  `evidence` holds one text for
    each edge, or is empty.

    A candidate becomes an edge only if it reaches the threshold; the answer to a recheck always does.
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

    def only(self, keep: Bools) -> "Edges":
        """The edges for which `keep`, bool[n], is true."""
        at = np.flatnonzero(keep)
        rows = at.tolist()
        return Edges(
            self.left.at(rows),
            self.right.at(rows),
            self.similarity[at],
            self.shared[at],
            self.union[at],
            None if self.shingles is None else self.shingles[at],
            [self.evidence[row] for row in rows] if self.evidence else (),
        )

    def rows(self) -> Iterator[Edge]:
        """The edges in plain values."""
        counts: list[Sequence[Any]] = [self.similarity.tolist(), self.shared.tolist(), self.union.tolist()]
        if self.shingles is not None:
            counts.append(self.shingles.tolist())
        if self.evidence:
            counts += [self.evidence] if self.shingles is not None else [[0] * len(self), self.evidence]
        return map(Edge, self.left.rows(), self.right.rows(), *counts)


def written(evidence: Sequence[str]) -> Sequence[str]:
    """`()` if every row is empty, else the column unchanged."""
    return () if evidence.count("") == len(evidence) else evidence


def concatenated(parts: Sequence[Edges]) -> Edges:
    """The edges of one or several batches of one comparer, in their order."""
    if len(parts) == 1:
        return parts[0]
    shingles = [part.shingles for part in parts if part.shingles is not None]
    return Edges(
        _concatenated_ends([part.left for part in parts]),
        _concatenated_ends([part.right for part in parts]),
        np.concatenate([part.similarity for part in parts]),
        np.concatenate([part.shared for part in parts]),
        np.concatenate([part.union for part in parts]),
        np.concatenate(shingles) if shingles else None,
        written([text for part in parts for text in part.evidence or [""] * len(part)]),
    )


def _concatenated_ends(parts: Sequence[Ends]) -> Ends:
    return Ends(
        [id for part in parts for id in part.ids],
        np.concatenate([part.refs for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.digests for part in parts]),
        concatenate((part.abouts, part.refs.size) for part in parts),
    )
