"""The answers of the query API as values; docs/openapi.yaml describes their fields."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from stream_lsh.client.groups import History, Links

Missing = Mapping[str, Sequence[int]]
"""Partitions that are not available, by table."""


class Evidence(msgspec.Struct, frozen=True):
    """The evidence for the score of two records: total bits, the bits of each comparison, and the blocking rules.

    With the measure `weighted`, of a profile without trained weights, the score is a weighted mean instead.
    """

    score: float
    weights: dict[str, float]
    rules: tuple[str, ...]
    measure: str = "fellegi-sunter"


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stored document that is similar to the value of a query.

    Attributes:
        id: of the document.
        similarity: exact; None for records.
        shared, union: for texts and sets, the number of common shingles or items, and of all.
        distance: for vectors.
        probability: for records, that the two are one entity.
        review: whether the probability is in the range for review.
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
        matches: best first.
        compared: the number of stored documents that were compared.
        capped: whether a cap of the pipeline omitted candidates; the cluster of a match contains the other copies.
        complete: whether no partition is missing.
        missing: the partitions that are missing, by table.
        lag: the number of messages that the answer does not include yet, as far as known.
    """

    matches: tuple[Match, ...]
    compared: int
    capped: bool
    complete: bool
    missing: Missing
    lag: int


class PipelineDescription(msgspec.Struct, frozen=True):
    """A pipeline of the application, and its partitions: those of this worker with their lags, and the missing ones."""

    name: str
    kind: str
    types: tuple[str, ...]
    partitions: int
    owned: Missing
    lag: Missing
    missing: Missing


class ServiceDescription(msgspec.Struct, frozen=True):
    """The process that answers, and whether its application is complete."""

    worker: str
    version: str
    state: str
    generation: int
    complete: bool
    pipelines: tuple[PipelineDescription, ...]


class Pair(msgspec.Struct, frozen=True, omit_defaults=True):
    """Two documents that match, or wait for a review, as in the topics `matches` and `reviews`."""

    left: str
    right: str
    similarity: float
    measure: str
    left_time: int
    right_time: int
    shared: int | None = None
    union: int | None = None
    left_shingles: int | None = None
    right_shingles: int | None = None
    distance: float | None = None
    score: float | None = None
    weights: dict[str, float] | None = None
    rules: tuple[str, ...] | None = None


class StoredDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document, its cluster or entity, and its matches, the most similar first.

    Attributes:
        live: whether it is neither deleted nor expired.
        time: event time in milliseconds; None if it is no longer known.
        total: the number of matches on all pages.
        next: `after` for the next page of matches; None on the last page.
    """

    id: str
    live: bool
    time: int | None
    cluster: str | None
    matches: tuple[Pair, ...]
    total: int
    next: str | None
    lag: int
    title: str = ""
    source: str = ""
    fields: dict[str, Any] | None = None


class Member(msgspec.Struct, frozen=True, omit_defaults=True):
    """A member of a cluster or entity, with its most similar match in it."""

    id: str
    time: int
    similarity: float | None
    partner: str | None
    title: str = ""
    source: str = ""
    fields: dict[str, Any] | None = None


class Outlet(msgspec.Struct, frozen=True):
    """An outlet of a story."""

    source: str
    first_time: int
    documents: int


class First(msgspec.Struct, frozen=True):
    """The oldest document of a story."""

    id: str
    source: str
    time: int


class ClusterSummary(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A cluster in a list; `grew` counts its members from the last hour of event time."""

    cluster: str
    size: int
    representative: str
    first_time: int
    last_time: int
    grew: int = 0
    headline: str = ""
    source_count: int = 0
    first: First | None = None


class ClusterPage(ClusterSummary, frozen=True, omit_defaults=True, kw_only=True):
    """A cluster with a page of its members, oldest first."""

    members: tuple[Member, ...]
    next: int | None
    lag: int
    history: History = History(None, ())
    links: Links | None = None
    sources: tuple[Outlet, ...] = ()


class Clusters(msgspec.Struct, frozen=True):
    """A page of clusters; `total` counts those of all pages."""

    clusters: tuple[ClusterSummary, ...]
    next: str | None
    total: int
    lag: int


class EntitySummary(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An entity in a list; `golden` has the surviving value of each field."""

    entity: str
    size: int
    golden: dict[str, Any]
    first_time: int
    last_time: int
    grew: int = 0
    golden_omitted: int = 0


class EntityPage(EntitySummary, frozen=True, omit_defaults=True, kw_only=True):
    """An entity with a page of its records, oldest first.

    Attributes:
        origins: the id of the record that each value of the golden record comes from, by field.
    """

    members: tuple[Member, ...]
    next: int | None
    lag: int
    origins: dict[str, str] = {}
    history: History = History(None, ())
    links: Links | None = None


class Entities(msgspec.Struct, frozen=True):
    """A page of entities; `total` counts those of all pages."""

    entities: tuple[EntitySummary, ...]
    next: str | None
    total: int
    lag: int


class Reviews(msgspec.Struct, frozen=True):
    """A page of pairs of records for review; `total` counts those of all pages."""

    reviews: tuple[Pair, ...]
    next: str | None
    total: int
    lag: int


class DeadLetter(msgspec.Struct, frozen=True):
    """A message that could not be used.

    Attributes:
        place: its offset in its partition of the topic of dead letters.
        time: when it was rejected, in milliseconds.
        reason, error: why.
        topic, partition, offset: of the message.
        key: of the message, or the beginning of a long one; None without one.
        bytes: of the stored value.
        text: the first 4,096 bytes of the value, as UTF-8.
        base64: the same bytes.
    """

    place: int
    time: int
    reason: str
    error: str
    topic: str
    partition: int | None
    offset: int | None
    key: str | None
    bytes: int
    text: str
    base64: str


class DeadLetters(msgspec.Struct, frozen=True):
    """A page of dead letters; `total` counts those of all pages."""

    dead_letters: tuple[DeadLetter, ...]
    next: str | None
    total: int


class MirrorSites(msgspec.Struct, frozen=True):
    """Two sites that mirror each other, as in the topic `mirror-sites`."""

    left: str
    right: str
    left_pages: int
    right_pages: int
    left_mirrored: int
    right_mirrored: int
    left_share: float
    right_share: float
    direction: str
    first_time: int


class Mirrors(msgspec.Struct, frozen=True):
    """A page of sites that mirror each other; `total` counts those of all pages."""

    mirrors: tuple[MirrorSites, ...]
    next: int | None
    total: int
    lag: int


class Passage(msgspec.Struct, frozen=True):
    """A part of a text, as positions of characters, and whether the other text has it too."""

    start: int
    end: int
    shared: bool


class ExplainedDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """One document of a pair; `text` is None if it is no longer stored, and for records."""

    id: str
    time: int | None
    cluster: str | None
    characters: int | None = None
    shingles: int | None = None
    text: str | None = None
    passages: tuple[Passage, ...] = ()


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True):
    """The comparison of two documents; the fields are those of `stream-lsh explain --json`."""

    similarity: float
    shared: int
    union: int
    estimate: float
    matching_slots: int
    slots: int
    bands_met: int
    bands: int
    probability: float
    identical: bool
    distance: float | None = None
    greatest_distance: float | None = None


class Link(msgspec.Struct, frozen=True):
    """A match on the path between two documents."""

    left: str
    right: str
    similarity: float


class PublishedPair(Pair, frozen=True, omit_defaults=True, kw_only=True):
    """A pair of a topic, and whether it is for review."""

    review: bool = False


class PairExplanation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reason why two documents are, or are not, in the same cluster or entity.

    Attributes:
        together: whether they are.
        threshold: the least similarity of a pair that the pipeline stores.
        documents: the two, in the order of the request.
        pair: their match or pair for review, for records with its evidence; None if there is none.
        reason: the first that applies, such as `chain` or `below`; None for records.
        comparison: None unless both texts are stored.
        path: the matches that lead from one to the other; None if there is no path.
    """

    together: bool
    threshold: float
    documents: tuple[ExplainedDocument, ExplainedDocument]
    pair: PublishedPair | None
    lag: int
    reason: str | None = None
    comparison: Comparison | None = None
    path: tuple[Link, ...] | None = None


class Decided(msgspec.Struct, frozen=True):
    """A decision on two records, in the order of their ids, and its offset; `in_effect`: the ledger has it."""

    left: str
    right: str
    decision: str | None
    offset: int
    in_effect: bool
