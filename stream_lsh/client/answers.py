"""The answers of the query API as values; docs/openapi.yaml describes their fields."""

from collections.abc import Mapping, Sequence

import msgspec

Missing = Mapping[str, Sequence[int]]
"""Partitions that are not available, by table."""


class Evidence(msgspec.Struct, frozen=True):
    """The reasons of a score of two records: bits in all and of each comparison, and the blocks with both records."""

    score: float
    weights: dict[str, float]
    rules: tuple[str, ...]


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stored document that is similar to the value of a query.

    Attributes:
        id: of the document.
        similarity: exact, of texts, sets and vectors; None for records.
        shared, union: the numbers of common and of all shingles or items, of texts and sets.
        distance: of vectors.
        probability: that two records are one entity.
        review: the probability is that of a pair for review.
        evidence: for the probability.
    """

    id: str
    similarity: float | None = None
    shared: int | None = None
    union: int | None = None
    distance: float | None = None
    probability: float | None = None
    review: bool | None = None
    evidence: Evidence | None = None


class Similar(msgspec.Struct, frozen=True):
    """The answer to `similar`.

    Attributes:
        matches: the best first.
        compared: the number of stored documents that were compared.
        capped: a cap of the pipeline omitted candidates; the cluster of a match has the other copies.
        complete: no partition is missing.
        missing: the partitions that are missing, by table.
        lag: messages that the answer does not contain yet, as far as known.
    """

    matches: tuple[Match, ...]
    compared: int
    capped: bool
    complete: bool
    missing: Missing
    lag: int


class PipelineDescription(msgspec.Struct, frozen=True):
    """A pipeline of the application, and which of its partitions this worker has and no worker has."""

    name: str
    kind: str
    partitions: int
    owned: Missing
    missing: Missing


class ServiceDescription(msgspec.Struct, frozen=True):
    """The process that answers, and whether its application is complete."""

    worker: str
    version: str
    state: str
    generation: int
    complete: bool
    pipelines: tuple[PipelineDescription, ...]
