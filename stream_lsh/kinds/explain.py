"""Explains why two documents are, or are not, in the same cluster, from the published results and their texts."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

from stream_lsh.kinds.comparison import Comparison, PairwiseScheme
from stream_lsh.ledger.graph.paths import Link, widest_path
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.text.passages.shared import Passage


class Reason(StrEnum):
    """The reason why two documents are or are not in the same cluster; the first reason that applies is reported."""

    MATCH = "match"
    """In the same cluster: the documents are a match, or identical."""
    CHAIN = "chain"
    """In the same cluster: other members connect them."""
    PAST = "past"
    """In the same cluster: expired documents connected them."""

    ABSENT = "absent"
    """The text of one document is no longer available."""
    DELETED = "deleted"
    EMPTY = "empty"
    """One document has no shingles."""
    EXPIRED = "expired"
    """One document has expired and is in no cluster, or had expired when the other one arrived."""
    GUARD = "guard"
    """Matches connect them, but not as closely as the guards require."""
    UNSETTLED = "unsettled"
    """They should be in the same cluster: messages that connect them are still in progress."""
    APART = "apart"
    """Their event times are further apart than the retention."""
    SIZES = "sizes"
    """The ratio of their sizes exceeds the limit of the measure."""
    BELOW = "below"
    """Their similarity is below the threshold, and no other documents connect them."""
    ESTIMATE = "estimate"
    """The estimate from their signatures is too low, so the texts were not compared."""
    NO_BAND = "no-band"
    """They share no bucket, so they were never compared."""
    CAPPED = "capped"
    """They share a bucket, but a cap excluded the pair."""


TOGETHER = frozenset({Reason.MATCH, Reason.CHAIN, Reason.PAST})
"""The reasons of two documents in the same cluster."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a pipeline that define a match and a cluster."""

    scheme: PairwiseScheme
    threshold: float
    limits: Limits


@dataclass(frozen=True, slots=True)
class Evidence:
    """The published state of a pipeline, as far as it concerns two of its documents.

    Attributes:
        documents: the newest version of each of the two; `text` is None for a deleted document.
        clusters: the cluster of each document that has one.
        pairs: published matches.
        digests: digest and event time of the newest versions of all documents in the clusters of the two.
        expired: ids that have expired, or may have expired.
        waiting: messages that are not processed yet.
    """

    documents: Mapping[str, Document]
    clusters: Mapping[str, str]
    pairs: Collection[Link]
    digests: Mapping[str, tuple[int, int]]
    expired: AbstractSet[str] = frozenset()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two documents.

    Attributes:
        id: of the document.
        document: the newest version; None if unknown.
        shingles: distinct shingles; None for a vector.
        cluster: of the document, if any.
        passages: alternately shared and not shared.
    """

    id: str
    document: Document | None
    shingles: int | None
    cluster: str | None
    passages: list[Passage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reason why two documents are or are not in the same cluster, with the evidence.

    Attributes:
        sides: the two documents.
        threshold: the least similarity of a match.
        reason: the first one that applies.
        comparison: None unless both texts are available.
        path: links from one document to the other, through members of their cluster, or, if they are in different
            clusters, through any documents.
        waiting: messages that are not processed yet and may change the result.
    """

    sides: tuple[Side, Side]
    threshold: float
    reason: Reason
    comparison: Comparison | None
    path: list[Link] | None
    waiting: int = 0

    @property
    def together(self) -> bool:
        """Whether the two documents are in the same cluster."""
        return self.reason in TOGETHER


def explain(left: str, right: str, evidence: Evidence, settings: Settings) -> Explanation:
    """Explain why two documents are, or are not, in the same cluster.

    Args:
        left: the id of one document.
        right: the id of the other document.
        evidence: the published results and the two documents.
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
    """Links between identical documents that are next to each other in time, as in the ledger."""
    by_age = sorted((digest, time_ms, id) for id, (digest, time_ms) in digests.items() if digest)
    for (digest, time_ms, id), (next_digest, next_time_ms, next_id) in pairwise(by_age):
        if digest == next_digest and (retention_ms is None or next_time_ms - time_ms <= retention_ms):
            yield Link(id, next_id, 1.0)


def _path_within(left: str, right: str, links: Iterable[Link], clusters: Mapping[str, str]) -> list[Link] | None:
    """The widest path through current members of their cluster, or else one that includes former members."""
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
    """All reasons why the documents are not in the same cluster, the one to report first."""
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


# -- as JSON


def explanation_value(explanation: Explanation) -> dict[str, Any]:
    """An explanation as members of a JSON object; passages are positions in the texts."""
    compared, path = explanation.comparison, explanation.path
    return {
        "together": explanation.together,
        "reason": explanation.reason,
        "threshold": explanation.threshold,
        "documents": [_side_value(side) for side in explanation.sides],
        "comparison": None if compared is None else _comparison_value(compared),
        "path": None if path is None else [link._asdict() for link in path],
    }


def _side_value(side: Side) -> dict[str, Any]:
    document = side.document
    text = None if document is None else document.text
    return {
        "id": side.id,
        "time": None if document is None else document.time_ms,
        "characters": None if text is None else len(text),
        "shingles": None if text is None else side.shingles,
        "cluster": side.cluster,
        "text": text,
        "passages": [passage._asdict() for passage in side.passages],
    }


def _comparison_value(compared: Comparison) -> dict[str, Any]:
    return {
        "similarity": compared.similarity,
        "shared": compared.shared,
        "union": compared.union,
        "estimate": compared.estimate,
        "matching_slots": compared.matching,
        "slots": compared.slots,
        "bands_met": compared.met,
        "bands": compared.bands,
        "probability": compared.probability,
        "identical": compared.identical,
        **(
            {} if compared.distance is None else {"distance": compared.distance, "greatest_distance": compared.greatest}
        ),
    }
