"""Pipelines of sets and vectors: what they need is there, and no pipeline has keys that are of another kind."""

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter

from stream_lsh.config.grid import GridConfig
from stream_lsh.config.model import PipelineConfig
from stream_lsh.config.values import GRID, OF_VALUES, measure_of, scheme_of
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.vector.metric import VECTOR_MEASURES
from stream_lsh.measure.catalog import MEASURES
from stream_lsh.settings.problems import Notes
from stream_lsh.settings.toml_lines import Path

_TEXT, _SET, _VECTOR = ("text",), ("set",), ("vector",)
_KINDS_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("preset", "shingles", "normalise", "html", "min_characters", "stories", "mirror_share"), _TEXT),
    **dict.fromkeys(("fields.text", "fields.title", "fields.source", "fields.url", "topics.mirror_sites"), _TEXT),
    **dict.fromkeys(("threshold", "method", "size_ratio", "bands", "rows"), (*_TEXT, *_SET)),
    **dict.fromkeys(("bag", "family", "fields.items"), _SET),
    **dict.fromkeys((f"grid.{one.name}" for one in fields(GridConfig)), _SET),
    **dict.fromkeys(("dimension", "distance", "line_width", "fields.vector"), _VECTOR),
}
"""Keys that say something of some kinds only."""
_NOT_OF_A_GRID = ("method", "recall", "slots", "bands", "rows", "measure", "size_ratio", "bag")
"""Keys of sets that a grid takes the place of."""
_DEFAULTS = PipelineConfig(sources=())


def check_values(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    """Note what a pipeline has that is of another kind, and what one of sets or vectors lacks."""
    if not notes.sound((*path, "kind")):
        return
    _check_foreign(pipeline, path, notes)
    _check_measure(pipeline, path, notes)
    if pipeline.kind not in OF_VALUES:
        return
    _check_names(pipeline, path, notes)
    if pipeline.kind == "vector":
        _check_vectors(pipeline, path, notes)
    elif pipeline.family == GRID:
        _check_grid(pipeline, path, notes)


def _check_foreign(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    for key, kinds in _KINDS_OF.items():
        if pipeline.kind not in kinds:
            told = f"it is of kind {' or '.join(kinds)}, not {pipeline.kind}"
            _check_unset(key, told, pipeline, path, notes)
    if pipeline.kind == "set" and pipeline.family != GRID:
        for one in fields(GridConfig):
            _check_unset(f"grid.{one.name}", f"only with `family` {GRID} there is a grid", pipeline, path, notes)


def _check_unset(key: str, why: str, pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    """Note a key that says something, and must not: a default is always right."""
    place = (*path, *key.split("."))
    says = attrgetter(key)
    if notes.has(place) and notes.sound(place) and says(pipeline) != says(_DEFAULTS):
        notes.problem(place, f"got it, expected none: {why}")


def _check_measure(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    place = (*path, "measure")
    expected = VECTOR_MEASURES if pipeline.kind == "vector" else MEASURES
    if pipeline.measure not in expected and notes.sound(place):
        told = f"got {pipeline.measure!r}, expected {' or '.join(expected)}, as `kind` is {pipeline.kind}"
        notes.problem(place, told)


def _check_names(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    """What is compared has a field of its own."""
    field, named = "vector" if pipeline.kind == "vector" else "items", pipeline.fields
    place, name = (*path, "fields", field), getattr(named, field)
    if name in (named.id, named.time, named.deleted) and notes.sound(place):
        notes.problem(place, f"got {name!r}, which is another field, expected a name of its own")


def _check_grid(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    for key in _NOT_OF_A_GRID:
        _check_unset(key, f"with `family` {GRID} the grid says all this", pipeline, path, notes)
    place = (*path, "grid", "squares")
    if not notes.sound(place, (*path, "grid", "size")):
        return
    if not pipeline.grid.squares:
        notes.problem(place, f"got none, expected the number of squares, as `family` is {GRID}")
        return
    try:
        scheme_of(pipeline)
    except ConfigError as error:
        notes.problem(place, str(error).removeprefix("grid.squares: "))


def _check_vectors(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    told = {"dimension": "how many values a vector has", "distance": "the greatest distance of a match"}
    lacking = [name for name in told if not getattr(pipeline, name) and notes.sound((*path, name))]
    for name in lacking:
        notes.problem((*path, name), f"got none, expected {told[name]}, as `kind` is vector")
    names = ("measure", "dimension", "distance", "line_width")
    if not notes.sound(*((*path, name) for name in names)):
        return
    try:
        measure_of(pipeline)
    except ConfigError as error:
        for problem in error.problems:
            name, _, said = problem.partition(": ")
            notes.problem((*path, name), said)
        return
    if not notes.sound((*path, "slots"), (*path, "recall")):
        return
    try:
        scheme_of(pipeline)
    except ConfigError as error:
        for problem in error.problems:
            notes.problem((*path, "distance"), f"with `slots` and `recall`: {problem}")
