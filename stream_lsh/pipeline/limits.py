"""The limits of a pipeline: on the lifetime of documents, on the work for each, and on clusters."""

from dataclasses import dataclass, replace

from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.frame_notes import ClusterDescriber
from stream_lsh.pipeline.settle import Settler

FREE_CANDIDATES = 20_000_000
"""Candidates that are compared before the default caps apply: some two to ten minutes of work."""
FREE_PAIRS = 4_000_000
"""Pairs that are kept before the default caps apply: some 3 GB, with the results of a file."""
CAP_CANDIDATES = 200
"""The default cap of a pipeline in memory, when these are spent."""
_LEAST_CAP_POSTINGS = 32

_LATENESS_MS = 3_600_000
_SEGMENTS = 8
_LEAST_OF_SEGMENT = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on the lifetime of documents, on the work for each, and on clusters.

    Attributes:
        retention_ms: greatest distance of a match in event time, and the lifetime of a document; None: for ever.
        lateness_ms: additional lifetime of state, for late documents.
        max_documents: newest documents kept; 0: all.
        cap_postings: postings that a probe follows in a bucket; 0: all.
        cap_candidates: candidates of a document, and pairs that are compared again when it is updated; 0: all.
        free_candidates: candidates that are compared before the caps apply; `free_pairs`: pairs that are kept before.
        guards: additional conditions on clusters.
        stories: clusters have headline, outlets and first publisher.
        link_from: similarity from which a pair connects, of records; 0: every pair does.
        describer: makes the summaries of clusters, unless these are stories.
    """

    retention_ms: int | None = None
    lateness_ms: int = _LATENESS_MS
    max_documents: int = 0
    cap_postings: int = 32
    cap_candidates: int = CAP_CANDIDATES
    free_candidates: int = 0
    free_pairs: int = 0
    guards: Guards = NO_GUARDS
    stories: bool = False
    link_from: float = 0.0
    describer: ClusterDescriber | None = None

    def settler(self, threshold: float, partitions: int = 1, mirror_share: float = 0.0) -> Settler:
        """The state of settle under these limits."""
        return Settler(
            threshold,
            partitions,
            self.retention_ms,
            self.lateness_ms,
            self.guards,
            stories=self.stories,
            mirror_share=mirror_share,
            link_from=self.link_from,
            describer=self.describer,
            cap_rechecks=0 if self.free_candidates else self.cap_candidates,
        )

    @classmethod
    def of(
        cls,
        max_candidates: int | None,
        retention_ms: int | None,
        guards: Guards,
        *,
        lateness_ms: int = _LATENESS_MS,
        max_documents: int = 0,
        stories: bool = False,
    ) -> "Limits":
        """The limits of settings that have one number for both caps.

        `max_candidates` sets both caps; 0 lifts them.  None: the default caps apply once `FREE_CANDIDATES` have been
        compared, or while more than `FREE_PAIRS` are kept.  The other arguments are the attributes.

        Example:
            >>> [Limits.of(most, None, NO_GUARDS).cap_postings for most in (0, 7, 1_000)]
            [0, 32, 1000]
            >>> Limits.of(None, None, NO_GUARDS).free_candidates
            20000000
        """
        most = CAP_CANDIDATES if max_candidates is None else max_candidates
        limits = cls(
            retention_ms,
            lateness_ms,
            max_documents,
            cap_postings=max(most, _LEAST_CAP_POSTINGS) if most else 0,
            cap_candidates=most,
            guards=guards,
            stories=stories,
        )
        return limits if max_candidates is not None else limits.with_free()

    def with_free(self) -> "Limits":
        """These limits, with caps that apply after `FREE_CANDIDATES` and `FREE_PAIRS` only."""
        return replace(self, free_candidates=FREE_CANDIDATES, free_pairs=FREE_PAIRS)

    @property
    def segment_span_ms(self) -> int | None:
        """Event time in one segment of the index: few segments, so that a probe visits few."""
        if self.retention_ms is None:
            return None
        return max(1, (self.retention_ms + self.lateness_ms) // (_SEGMENTS - 1))

    @property
    def segment_documents(self) -> int:
        """Documents of each source partition in one segment of the index, where `max_documents` bounds them; 0: any."""
        return max(_LEAST_OF_SEGMENT, self.max_documents // (_SEGMENTS - 1)) if self.max_documents else 0
