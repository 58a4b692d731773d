"""The settings of a pipeline of vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import SHADOW, SHADOW_MEANING, Default, SharedSettings
from stream_lsh.kinds.single_field import check_field_name
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.kinds.vector.metric import COSINE, MOST_DIMENSIONS, VECTOR_MEASURES, VectorMeasure
from stream_lsh.kinds.vector.scheme import VectorScheme
from stream_lsh.settings import value_types
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.schema import key
from stream_lsh.settings.toml import Path
from stream_lsh.settings.value_types import choice, whole

_SLOTS = 256
"""More than for texts, as a slot has less information about a pair of vectors."""
_SOME_DISTANCE = 0.5
"""A valid distance of each measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSettings:
    """The distance of a match, and the settings of the functions that find vectors within it."""

    defaults: ClassVar[Mapping[str, Default]] = {"measure": COSINE, "slots": _SLOTS}
    fields: ClassVar[frozenset[str]] = frozenset({"id", "time", "deleted", VectorForm.field})

    measure: str = field(
        default=COSINE, metadata=key(choice(VECTOR_MEASURES), "the distance; the similarity decreases with it")
    )
    dimension: int = field(
        default=0, metadata=key(whole(0, MOST_DIMENSIONS), "the number of values of each vector; required")
    )
    distance: float = field(
        default=0.0,
        metadata=key(
            value_types.LENGTH,
            "the maximum distance of a match, in degrees (`cosine`), as a length (`euclidean`), or in positions "
            "(`hamming`); required",
        ),
    )
    line_width: float = field(
        default=0.0,
        metadata=key(
            value_types.LENGTH,
            "only with `euclidean`: the width of the intervals on a line that vectors are projected to; 0: four times "
            "the distance",
        ),
    )
    recall: float = field(
        default=0.99,
        metadata=key(
            value_types.SHARE,
            "the probability that a pair at the maximum distance is found; it is higher for nearer pairs",
        ),
    )
    slots: int = field(
        default=_SLOTS,
        metadata=key(whole(1, 65_536), "the length of a signature; each slot takes 4 bytes per stored vector"),
    )
    seed: int = field(default=1, metadata=key(whole(0, (1 << 32) - 1), "chooses all hash functions"))
    shadow: float = field(default=SHADOW, metadata=key(value_types.LEAST_SHARE, SHADOW_MEANING))

    @property
    def metric(self) -> VectorMeasure:
        """The distance measure; raises ConfigError if the settings contradict each other."""
        return _metric(self.measure, self.dimension, self.distance, self.line_width)

    @property
    def form(self) -> VectorForm:
        """The form of the vectors."""
        return _form(self.metric)

    @property
    def least(self) -> float:
        """The similarity at the greatest distance of a match."""
        return self.metric.least

    def scheme(self) -> VectorScheme:
        """The scheme, which computes signatures and buckets and compares pairs."""
        return VectorScheme(self.metric, recall=self.recall, slots=self.slots, seed=self.seed)

    def check(self, path: Path, problems: Problems, shared: SharedSettings) -> None:
        """Report missing settings and contradictions."""
        check_field_name(VectorForm.field, shared.fields, path, problems)
        meanings = {"dimension": "the number of values of a vector", "distance": "the maximum distance of a match"}
        lacking = [name for name in meanings if not getattr(self, name) and problems.is_valid((*path, name))]
        for name in lacking:
            problems.add((*path, name), f"got none, expected {meanings[name]}, as `kind` is vector")
        if not problems.is_valid((*path, "measure")):
            return
        try:
            # A value that fits all others replaces a missing or wrong one, so that the others are checked.
            _metric(self.measure, self.dimension or MOST_DIMENSIONS, self.distance or _SOME_DISTANCE, self.line_width)
        except ConfigError as error:
            for problem in error.problems:
                name, _, message = problem.partition(": ")
                if problems.is_valid((*path, name)):
                    problems.add((*path, name), message)
        names = ("dimension", "distance", "line_width", "slots", "recall")
        if not problems.is_valid(*((*path, name) for name in names)):
            return
        try:
            self.scheme()
        except ConfigError as error:
            for problem in error.problems:
                problems.add((*path, "distance"), f"with `slots` and `recall`: {problem}")


@lru_cache(maxsize=64)  # for every message
def _metric(name: str, dimension: int, distance: float, line_width: float) -> VectorMeasure:
    return VectorMeasure(name=name, dimension=dimension, distance=distance, line_width=line_width)


@lru_cache(maxsize=64)
def _form(metric: VectorMeasure) -> VectorForm:
    return VectorForm(metric.dimension, metric.name, metric.reach)
