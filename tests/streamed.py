"""The five steps in a chain, and what they have published at the end."""

from collections.abc import Sequence

from stream_lsh.ledger.changes import MatchChange
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline

Pairs = dict[tuple[str, str], float]
UNCAPPED = Limits(cap_postings=0, cap_candidates=0)


class Public:
    """The compacted topics."""

    def __init__(self) -> None:
        self.matches: dict[tuple[str, str], MatchChange] = {}
        self.members: dict[str, str] = {}

    @property
    def pairs(self) -> Pairs:
        """Similarities of the pairs that are true."""
        return {key: match.similarity or 0.0 for key, match in self.matches.items()}

    @property
    def groups(self) -> set[frozenset[str]]:
        """The clusters, without their ids."""
        return {
            frozenset(id for id, other in self.members.items() if other == cluster) for cluster in self.members.values()
        }


def run(
    pipeline: LocalPipeline,
    documents: Sequence[Document],
    size: int,
    public: Public | None = None,
    *,
    sign: bool = False,
) -> Public:
    """Pass documents in batches of a size."""
    public = public or Public()
    for start in range(0, len(documents), size):
        batch = documents[start : start + size]
        presigned = pipeline.scheme.sign([document.text or "" for document in batch]) if sign else None
        for settled in pipeline.process(batch, presigned):
            for match in settled.matches:
                public.matches[match.left, match.right] = match
                if match.similarity is None:
                    del public.matches[match.left, match.right]
            for member in settled.members:
                public.members[member.id] = member.cluster or ""
                if member.cluster is None:
                    del public.members[member.id]
    return public
