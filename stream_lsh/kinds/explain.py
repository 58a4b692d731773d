"""Why two documents are in one cluster, or why not: from what a pipeline published, and from their texts."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from stream_lsh.kinds.comparison import Comparison, PairwiseScheme
from stream_lsh.ledger.graph.paths import Link, widest_path
from stream_lsh.model import Document
from stream_lsh.pipeline.local import Limits
from stream_lsh.text.passages import Passage


class Reason(StrEnum):
    """Why they are together, or why not; what is said first holds whatever else does."""

    MATCH = "match"
    """In one cluster: they are a match, or identical."""
    CHAIN = "chain"
    """In one cluster: other members connect them."""
    PAST = "past"
    """In one cluster: documents that have expired connected them."""

    ABSENT = "absent"
    """The text of one of them is not there any more."""
    DELETED = "deleted"
    EMPTY = "empty"
    """One of them has no shingles."""
    EXPIRED = "expired"
    """One of them has expired, and is in no cluster, or had when the other one came."""
    GUARD = "guard"
    """Matches connect them, but not as closely as the guards ask for."""
    UNSETTLED = "unsettled"
    """They should be, so what makes them so is still under way."""
    APART = "apart"
    """Their times are further apart than the retention."""
    SIZES = "sizes"
    """One has more shingles than the other one by more than the measure allows."""
    BELOW = "below"
    """They are less similar than the threshold, and nothing connects them."""
    ESTIMATE = "estimate"
    """Their signatures differ so much that the texts were not compared."""
    NO_BAND = "no-band"
    """They met in no bucket, so they were never compared."""
    CAPPED = "capped"
    """They met in a bucket, and a cap left the pair out."""


TOGETHER = frozenset({Reason.MATCH, Reason.CHAIN, Reason.PAST})
"""Reasons for which two documents are in one cluster."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides in a pipeline whether two documents are a match, and what holds a cluster together."""

    scheme: PairwiseScheme
    threshold: float
    limits: Limits


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a pipeline and two of its documents.

    Attributes:
        documents: the newest version of each of the two; `text` is None for a deleted one.
        clusters: the cluster of each document that is in one.
        pairs: published matches.
        digests: digest and event time of the newest versions of all who share a cluster with either of the two.
        expired: ids that have expired, or may have.
        waiting: messages that are under way.
    """

    documents: Mapping[str, Document]
    clusters: Mapping[str, str]
    pairs: Collection[Link]
    digests: Mapping[str, tuple[int, int]]
    expired: AbstractSet[str] = frozenset()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: its newest version, None where that is not known; its shingles, None of a vector; its cluster."""

    id: str
    document: Document | None
    shingles: int | None
    cluster: str | None
    passages: list[Passage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The two, why they are together or not, their comparison where both texts are there, and what connects them.

    Attributes:
        path: links from one to the other: of members of their cluster, or, where they are in several, all there are.
        waiting: messages that are under way, and may change all this.
    """

    sides: tuple[Side, Side]
    threshold: float
    reason: Reason
    comparison: Comparison | None
    path: list[Link] | None
    waiting: int = 0

    @property
    def together(self) -> bool:
        """Whether they are in one cluster."""
        return self.reason in TOGETHER


def explain(left: str, right: str, evidence: Evidence, settings: Settings) -> Explanation:
    """Why two documents are in one cluster, or why not.

    Args:
        left: an id that the evidence knows.
        right: another one.
        evidence: what was published, and the two documents.
        settings: of the pipeline.
    """
    sides, comparison = _sides((left, right), evidence, settings.scheme)
    retention_ms = settings.limits.retention_ms
    links = [*evidence.pairs, *_twins(evidence.digests, retention_ms)]
    if comparison is not None and comparison.identical and _near(sides, retention_ms):
        links.append(Link(left, right, 1.0))
    cluster = sides[0].cluster
    if cluster is not None and cluster == sides[1].cluster:
        path = _path_within(left, right, links, evidence.clusters)
        reason = Reason.CHAIN
        if path is None or any(link.right not in evidence.clusters for link in path):
            reason = Reason.PAST
        elif any({link.left, link.right} == {left, right} for link in links):
            reason = Reason.MATCH
    else:
        path = widest_path(left, right, links)
        reason = next(_reasons(sides, comparison, path, evidence, settings))
    return Explanation(sides, settings.threshold, reason, comparison, path, evidence.waiting)


def _sides(
    ids: tuple[str, str], evidence: Evidence, scheme: PairwiseScheme
) -> tuple[tuple[Side, Side], Comparison | None]:
    documents = [evidence.documents.get(id) for id in ids]
    left, right = (None if document is None else document.text for document in documents)
    explained = scheme.explain(left, right)
    sides = [
        Side(id, document, size, evidence.clusters.get(id), passages)
        for id, document, size, passages in zip(ids, documents, explained.sizes, explained.passages, strict=True)
    ]
    return (sides[0], sides[1]), explained.comparison


def _near(sides: tuple[Side, Side], retention_ms: int | None) -> bool:
    times = [side.document.time_ms for side in sides if side.document is not None]
    return retention_ms is None or max(times) - min(times) <= retention_ms


def _twins(digests: Mapping[str, tuple[int, int]], retention_ms: int | None) -> Iterator[Link]:
    """Identical documents next to each other in time, as the ledger connects them."""
    by_age = sorted((digest, time_ms, id) for id, (digest, time_ms) in digests.items() if digest)
    for (digest, time_ms, id), (next_digest, next_time_ms, next_id) in pairwise(by_age):
        if digest == next_digest and (retention_ms is None or next_time_ms - time_ms <= retention_ms):
            yield Link(id, next_id, 1.0)


def _path_within(left: str, right: str, links: Iterable[Link], clusters: Mapping[str, str]) -> list[Link] | None:
    """The widest path through members of their cluster; if there is none, one through documents that left it too."""
    cluster = clusters[left]
    inside = [
        link
        for link in links
        if clusters.get(link.left) in (cluster, None) and clusters.get(link.right) in (cluster, None)
    ]
    living = (link for link in inside if link.left in clusters and link.right in clusters)
    return widest_path(left, right, living) or widest_path(left, right, inside)


def _reasons(
    sides: tuple[Side, Side],
    comparison: Comparison | None,
    path: list[Link] | None,
    evidence: Evidence,
    settings: Settings,
) -> Iterator[Reason]:
    """Why they are not in one cluster; the first holds."""
    if any(side.document is not None and side.document.text is None for side in sides):
        yield Reason.DELETED
    if comparison is None:
        yield Reason.ABSENT
        return
    if any(side.shingles == 0 for side in sides):
        yield Reason.EMPTY
    gone = any(side.id in evidence.expired for side in sides)
    if path is not None:
        if any(side.cluster is None and side.id in evidence.expired for side in sides):
            yield Reason.EXPIRED
        if settings.limits.guards:
            yield Reason.GUARD
    if not _near(sides, settings.limits.retention_ms):
        yield Reason.APART
    if comparison.similarity < settings.threshold:
        yield Reason.BELOW if comparison.near_in_size else Reason.SIZES
    if gone:
        yield Reason.EXPIRED
    if evidence.waiting:
        yield Reason.UNSETTLED
    if not comparison.met and not comparison.identical:
        yield Reason.NO_BAND
    if comparison.matching < settings.scheme.criteria(settings.threshold, None).least_matching:
        yield Reason.ESTIMATE
    yield Reason.CAPPED
