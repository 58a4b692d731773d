"""The run of `neighbours`: reads vectors, and writes pairs, clusters or answers."""

from argparse import Namespace
from collections.abc import Iterator, Sequence

import numpy as np

from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.runs.single_field import SingleFieldRun
from stream_lsh.errors import InvariantError
from stream_lsh.files.chunks import Part
from stream_lsh.files.discover import Input
from stream_lsh.kinds.vector.comparer import distance_text
from stream_lsh.kinds.vector.files import FirstForm, read_vectors
from stream_lsh.kinds.vector.in_memory import NearestNeighbours
from stream_lsh.kinds.vector.metric import VectorMeasure
from stream_lsh.kinds.vector.results import vector_matches
from stream_lsh.ledger.changes import MatchChange
from stream_lsh.model import Document
from stream_lsh.settings.problems import problems_as_options
from stream_lsh.wire.public import as_json

PIPELINE = "neighbours"
"""The value of `pipeline` in a line."""
_OPTIONS = {"distance": "--within", "line_width": "--width", "recall": "--recall", "slots": "--slots"}


class NeighboursRun(SingleFieldRun):
    """One run over vectors.

    Raises:
        ConfigError: invalid settings.
    """

    def __init__(self, options: Namespace, outputs: Outputs) -> None:
        super().__init__(options, outputs, "vectors")
        self._form = FirstForm(options)
        self._near: NearestNeighbours | None = None

    def parts(self, inputs: Sequence[Input]) -> Iterator[Part]:
        """The vectors of files."""
        return read_vectors(inputs, self.options, self._form)

    def add(self, documents: Sequence[Document]) -> None:
        """Add vectors; the first one defines their dimension."""
        if self._near is None:
            self.memory = self._near = self._made()
        self._near.add_many(
            [(document.id, self._form.value(document.text or ""), document.time_ms) for document in documents]
        )

    def _made(self) -> NearestNeighbours:
        options, measure = self.options, self._measure
        with problems_as_options(_OPTIONS):
            return NearestNeighbours(
                measure.dimension,
                options.within,
                options.measure,
                options.recall,
                slots=options.slots,
                line_width=options.width,
            )

    @property
    def _measure(self) -> VectorMeasure:
        if self._form.measure is None:
            raise InvariantError("a vector was read, and there is no measure for it")
        return self._form.measure

    def _similarity(self, distance: float) -> float:
        return float(self._measure.similarity(np.array([distance]))[0])

    def pair_lines(self) -> Iterator[bytes]:
        """All pairs, in the form that pipelines of vectors publish."""
        for pair in [] if self._near is None else self._near.pairs():
            times = (pair.left_time_ms, pair.right_time_ms)
            similarity, distance = self._similarity(pair.distance), distance_text(pair.distance)
            change = MatchChange(pair.left, pair.right, similarity, 0, 0, *times, evidence=distance)
            # A pair is known once its later vector is.
            (_, value, _), *_ = vector_matches(PIPELINE, [change], max(times), self.options.measure)
            if value is not None:
                yield value

    def answers(self, document: Document) -> list[bytes]:
        """The vectors near a vector, the nearest first."""
        lines = []
        for neighbour in [] if self._near is None else self._near.within(self._form.value(document.text or "")):
            value = {"pipeline": PIPELINE, "query": document.id, "id": neighbour.id}
            far = {"similarity": self._similarity(neighbour.distance), "measure": self.options.measure}
            lines.append(as_json(value | far | {"distance": neighbour.distance}))
        return lines
