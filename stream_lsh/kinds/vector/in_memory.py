"""Near vectors in memory: all vectors within a distance of a query, and all pairs within it.

The core is that of `NearDuplicates`; vectors are compared by an angle, a length, or the number of differing positions.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from stream_lsh.kinds.in_frames import attributes_of, value_rows
from stream_lsh.kinds.in_memory import InMemory, check_limits
from stream_lsh.kinds.in_notebooks import Distribution
from stream_lsh.kinds.vector.comparer import distance_of
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.kinds.vector.metric import VectorMeasure
from stream_lsh.kinds.vector.scheme import SLOTS, VectorScheme
from stream_lsh.ledger.changes import MatchChange, PairState
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.model import Document, Neighbour, NeighbourPair
from stream_lsh.pipeline.limits import Limits
from stream_lsh.wire.arguments import row_of, validate_document

Vector = npt.ArrayLike | str
"""Numbers; for hamming 0 and 1, or a string of these or of hexadecimal digits; or base64 of float32, little-endian."""
_ROW = "a tuple of id, vector and time"


class NearestNeighbours(InMemory):
    """Stores vectors in memory and finds the pairs within a distance.

    Args:
        dimension: of every vector.
        distance: the greatest distance of neighbours: degrees, a length, or differing positions.
        measure: `cosine`, `euclidean` or `hamming`.
        recall: probability that a pair at that distance is found, within 0.001; it is greater for nearer pairs.
        retention_ms: only vectors whose times are within this span are neighbours, and older ones are dropped; None:
            no limit.
        max_candidates: the most candidates per vector; 0 lifts all caps.
        slots: the number of hash functions; with more of them, fewer distant vectors are candidates.
        line_width: only with `euclidean`: the width of the intervals on a line that vectors are projected to; 0: four
            times the distance.
        seed: of the hash functions.
        guards: conditions on a cluster besides its pairs; similarities are 1 - d / 180, 1 / (1 + d) and
            1 - d / dimension.

    Guarantees:
        every pair is exact: its distance is at most `distance`, as computed in float64 from the vectors rounded to
        float32.  A pair within it is found with the probability `recall` or a greater one, within 0.001 at the
        distance itself, over the choice of hash functions.  Pairs of vectors with equal bytes are always found.
    Cost:
        a multiplication for each slot and dimension; 1 KB beside the vector.

    Raises:
        ConfigError: invalid settings.

    Example:
        >>> points = NearestNeighbours(2, distance=20, measure="cosine")
        >>> points.add("east", [1, 0]), points.add("north", [0, 2])
        ([], [])
        >>> (pair,) = points.add("almost east", [9, 1])
        >>> pair.left, pair.right, round(pair.distance, 2)
        ('almost east', 'east', 6.34)
        >>> points.within([0, 1])
        [Neighbour(id='north', distance=0.0)]
        >>> points.remove("east"), points.pairs()
        (True, [])
    """

    _KIND: ClassVar[str] = "nearest-neighbours"

    def __init__(
        self,
        dimension: int,
        distance: float,
        measure: str = "cosine",
        recall: float = 0.99,
        *,
        retention_ms: int | None = None,
        max_candidates: int = 0,
        slots: int = SLOTS,
        line_width: float = 0.0,
        seed: int = 1,
        guards: Guards = NO_GUARDS,
    ) -> None:
        chosen = VectorMeasure(name=measure, dimension=dimension, distance=distance, line_width=line_width)
        check_limits(chosen.least, guards, retention_ms, max_candidates)
        settings: dict[str, Any] = {
            "dimension": dimension,
            "distance": distance,
            "measure": measure,
            "recall": recall,
            "retention_ms": retention_ms,
            "max_candidates": max_candidates,
            "slots": slots,
            "line_width": line_width,
            "seed": seed,
            "guards": guards.settings(),
        }
        self._form = VectorForm(dimension, measure, chosen.reach)
        scheme = VectorScheme(chosen, recall=recall, slots=slots, seed=seed)
        super().__init__(scheme, chosen.least, Limits.of(max_candidates, retention_ms, guards), settings)

    def add(self, id: str, vector: Vector, time_ms: int = 0) -> list[NeighbourPair]:
        """Add a vector, or replace the one with this id; returns all its pairs, the nearest first.

        Args:
            id: 1 to 1,024 bytes of UTF-8.
            vector: `dimension` numbers; with `cosine` at least one of them is not 0.
            time_ms: event time, milliseconds since the epoch.

        Raises:
            MalformedMessage, UnusableDocument: an unusable id, vector or time; nothing was changed.
        """
        self._process([self._document(id, vector, time_ms)])
        return sorted(map(_pair, self._ledger.pairs_of(id)), key=lambda pair: (pair.distance, pair.left, pair.right))

    update = add

    def add_many(self, vectors: Iterable[tuple[str, Vector] | tuple[str, Vector, int]]) -> list[NeighbourPair]:
        """Add many vectors at once, which is several times as fast; returns the pairs that are new or changed.

        Args:
            vectors: ids with vectors and optional times.

        Guarantees:
            the same result as adding them one by one, in their order.

        Raises:
            MalformedMessage, UnusableDocument: an unusable vector; nothing was changed.
        """
        return [*map(_pair, self._process_many([self._document(*row_of(row, _ROW, 3)) for row in vectors]))]

    def add_frame(
        self, data: Any, *, id: str = "id", vector: str = "vector", time: str | None = None
    ) -> list[NeighbourPair]:
        """Add the rows of a frame as vectors; returns the pairs that are new or changed.

        Args:
            data: a frame of pandas, polars or pyarrow, a `datasets.Dataset` (extra `frames`), or an iterable of dicts.
            id: the column of the ids, texts or whole numbers.
            vector: the column of the lists of numbers; rows without a vector are left out.
            time: the column of the event times: times, texts, or numbers since 1970; None: all are 0.

        Raises:
            ConfigError: a column does not exist.
            MalformedMessage, UnusableDocument: an unusable id, vector or time; nothing was changed.
        """
        rows = value_rows(self._table(data), id, ("vector", vector), time)
        return self.add_many([row for row in rows if row[1] is not None])

    def within(self, vector: Vector, time_ms: int | None = None) -> list[Neighbour]:
        """All vectors within the distance of this one, the nearest first; nothing is added.

        Args:
            vector: as for `add`.
            time_ms: the event time of the query, for the retention; None: all stored vectors are searched.

        Raises:
            MalformedMessage, UnusableDocument: an unusable vector.
        """
        edges = self._pipeline.similar(self._form.text(vector, "vector"), time_ms)
        if edges is None:
            return []
        neighbours = map(Neighbour, edges.right.ids, map(distance_of, edges.evidence))
        return sorted(neighbours, key=lambda hit: (hit.distance, hit.id))

    def pairs(self) -> list[NeighbourPair]:
        """All pairs within the distance, ascending by their ids."""
        return [*map(_pair, self._ledger.snapshot().pairs)]

    def _distribution(self) -> Distribution:
        greatest: float = self._settings["distance"]
        distances = np.array(self._pair_columns()[0]["distance"], np.float64)
        return Distribution("distance", distances, {greatest: f"greatest distance {greatest:g}"})

    def _pair_columns(self) -> tuple[dict[str, list[Any]], dict[str, type]]:
        types = {"left": str, "right": str, "distance": float, "left_time_ms": int, "right_time_ms": int}
        return attributes_of(self.pairs(), types), types

    def _document(self, id: str, vector: Vector, time_ms: int = 0) -> Document:
        return validate_document(Document(id, self._form.text(vector, "vector"), time_ms))


def _pair(pair: PairState | MatchChange) -> NeighbourPair:
    return NeighbourPair(pair.left, pair.right, distance_of(pair.evidence), pair.left_time_ms, pair.right_time_ms)
