"""What follows from the settings of a pipeline of sets or vectors: how it reads, compares and publishes."""

from functools import lru_cache
from typing import TYPE_CHECKING

from stream_lsh.kinds.explain import PairwiseScheme
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.set.grid_scheme import GridScheme
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.set.scheme import set_scheme
from stream_lsh.kinds.single_field import Form
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.kinds.vector.metric import VectorMeasure
from stream_lsh.kinds.vector.results import VectorResults
from stream_lsh.kinds.vector.scheme import VectorScheme

if TYPE_CHECKING:
    from stream_lsh.config.model import PipelineConfig

OF_VALUES = frozenset({"set", "vector"})
"""Kinds of pipelines that compare one field of a message that is no text."""
GRID = "grid"
FAMILIES = ("minhash", GRID)
"""What finds sets that are alike."""


def form_of(pipeline: "PipelineConfig") -> Form:
    """How what is compared is read."""
    if pipeline.kind == "vector":
        return _vector_form(measure_of(pipeline))
    return ItemsForm(pipeline.bag, pipeline.grid.squares if pipeline.family == GRID else 0)


def measure_of(pipeline: "PipelineConfig") -> VectorMeasure:
    """Of vectors: how far two may be apart.

    Raises:
        ConfigError: settings that do not fit.
    """
    return _measure(pipeline.measure, pipeline.dimension, pipeline.distance, pipeline.line_width)


@lru_cache(maxsize=64)  # every message asks
def _measure(name: str, dimension: int, distance: float, line_width: float) -> VectorMeasure:
    return VectorMeasure(name=name, dimension=dimension, distance=distance, line_width=line_width)


@lru_cache(maxsize=64)
def _vector_form(measure: VectorMeasure) -> VectorForm:
    return VectorForm(measure.dimension, measure.name, measure.reach)


def scheme_of(pipeline: "PipelineConfig") -> PairwiseScheme:
    """What makes signatures and buckets and compares.

    Raises:
        ConfigError: settings that do not fit.
    """
    if pipeline.kind == "vector":
        measure = measure_of(pipeline)
        return VectorScheme(measure, recall=pipeline.recall, slots=pipeline.slots, seed=pipeline.seed)
    if pipeline.family == GRID:
        grid = pipeline.grid
        return GridScheme(grid.squares, functions=grid.functions, size=grid.size, seed=pipeline.seed)
    return set_scheme(
        pipeline.method,
        pipeline.threshold,
        recall=pipeline.recall,
        slots=pipeline.slots,
        seed=pipeline.seed,
        measure=pipeline.similarity,
        bag=pipeline.bag,
        banding=pipeline.banding(),
    )


def results_of(pipeline: "PipelineConfig") -> Results:
    """What makes messages of what was settled."""
    if pipeline.kind == "vector":
        return VectorResults(pipeline.name, pipeline.measure)
    return TextResults(pipeline.name, pipeline.measure)
