"""Messages of a few generated documents, made by the real steps and the real codecs; and how their sizes grow.

The sample has groups of documents that match each other.  The first documents of all groups are one batch, the second
ones the next batch, and so on, as groups grow in a stream.  The frames and the records of the last batch are encoded
whole and in parts.  So the size of a message with any number of rows is known without a constant, for every kind of
data and all its settings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from stream_lsh.config.model import PipelineConfig
from stream_lsh.errors import ConfigError, UnusableDocument
from stream_lsh.kinds.examples import TIME_MS
from stream_lsh.ledger.edges import Edges
from stream_lsh.model import Document
from stream_lsh.pipeline.agents.effects import Append, Effect, Send
from stream_lsh.pipeline.agents.state import DocumentsState
from stream_lsh.pipeline.batches import BandsFrame, CandidatesFrame, EdgesFrame, Frame, VerificationsFrame
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.local import LocalPipeline
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.sizing.settled import LEDGER, Published, settled_sizes
from stream_lsh.sizing.sizes import Size, encoded_bytes, line, size_of_postings, size_of_verifications
from stream_lsh.wire.split import cut_candidates, cut_documents, cut_edges

GROUPS = 24
"""Groups of the sample: enough that the first document of a message does not matter."""
MOST_MEMBERS = 32
"""Documents of a group; where documents have more matches, messages grow by the pair."""

_F = TypeVar("_F", bound=Frame)


@dataclass(frozen=True, slots=True)
class Sample:
    """A document of the stream in messages, buckets and bytes.

    Attributes:
        source_bytes: of a message of the source, with its key.
        stored_bytes: of a stored document: id, content, metadata and signature.
        buckets: of a document.
        shared: buckets that both documents of a match have.
        joined: buckets that a near-duplicate shares with any of its matches.
        id_bytes: of an id.
        documents: the changelog of documents, by document.
        postings: bands and the changelog of buckets, by document and posting.
        candidates: by pair.
        verifications: by document and pair.
        edges: by pair.
        ledger: the changelog of the ledger; its documents are those with pairs in one message of `edges`.
        published: the public topics by their keys in the configuration; as the ledger.
    """

    source_bytes: float
    stored_bytes: float
    buckets: float
    shared: float
    joined: float
    id_bytes: float
    documents: Size
    postings: Size
    candidates: Size
    verifications: Size
    edges: Size
    ledger: Size
    published: Mapping[str, Published]


class _Recorded(LocalPipeline):
    """The chain in memory; records the effects of the agents."""

    def __init__(self, pipeline: PipelineConfig) -> None:
        limits = replace(pipeline.limits(), retention_ms=None, max_documents=0)
        super().__init__(pipeline.kind.scheme(), pipeline.kind.least, limits)
        self.effects: list[Effect] = []

    def _owned(self) -> Mapping[int, DocumentsState]:
        return {}

    def _carried_out(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        for effect in effects:
            self.effects.append(effect)
            yield effect


def sample_of(pipeline: PipelineConfig, size: int, partners: float) -> Sample:
    """The sample of a pipeline.

    Args:
        pipeline: its configuration.
        size: bytes of the compared value.
        partners: documents that a near-duplicate matches.

    Cost: some 0.1 s, with 24 partners some 0.5 s.

    Raises:
        ConfigError: documents of this size are too large for the pipeline, or do not match each other.
    """
    members = min(MOST_MEMBERS, max(2, round(2 * partners)))
    rounds = [[_example(pipeline, group, member, size) for group in range(GROUPS)] for member in range(members)]
    chain, edges = _Recorded(pipeline), list[Edges]()
    for newest in rounds:
        chain.effects.clear()
        chain.process([document for document, _ in newest])
        edges += [sent for sent in [_sent(chain.effects, EdgesFrame).edges] if sent is not None]
    record = next(effect.record for effect in chain.effects if isinstance(effect, Append))
    postings = _sent(chain.effects, BandsFrame).postings
    found = _sent(chain.effects, CandidatesFrame).candidates
    asked = _sent(chain.effects, VerificationsFrame).verifications
    if not isinstance(record, DocumentsRecord) or postings is None or found is None or asked is None or not edges:
        raise ConfigError(
            f"size: got {size}, expected more, or a lower threshold: generated documents of this size do not match"
        )
    settled = settled_sizes(pipeline, edges)
    documents = [document for newest in rounds for document, _ in newest]
    shared, joined = _shared_buckets(chain.scheme, documents)
    candidates = _size_of_pairs([CandidatesFrame(part) for part in cut_candidates(found, 1)], CandidatesFrame(found))
    of_edges = _size_of_pairs([EdgesFrame(edges=part) for part in cut_edges(edges[-1], 1)], EdgesFrame(edges=edges[-1]))
    return Sample(
        source_bytes=_mean(length for newest in rounds for _, length in newest),
        stored_bytes=_mean(map(_bytes_of, documents)) + 4 * chain.scheme.slots,
        buckets=postings.rows.size / len(postings),
        shared=shared,
        joined=joined,
        id_bytes=_mean(len(document.id.encode()) for document in documents),
        documents=Size(*line([encoded_bytes(part) for part in cut_documents(record, 1)], encoded_bytes(record))),
        postings=size_of_postings(postings),
        candidates=candidates,
        verifications=size_of_verifications(asked),
        edges=of_edges,
        ledger=settled[LEDGER].bytes,
        published={topic: published for topic, published in settled.items() if topic != LEDGER},
    )


def _example(pipeline: PipelineConfig, group: int, member: int, size: int) -> tuple[Document, int]:
    """A document, and the bytes of its message; one that is too large is not made in full."""
    most = pipeline.max_document_bytes
    key, value = pipeline.kind.example(group, member, min(size, most + 1), pipeline.fields)
    try:
        return pipeline.document(value, key, TIME_MS), len(key) + len(value or b"")
    except UnusableDocument as error:
        if error.reason != "size":
            raise
        raise ConfigError(f"size: got {size}, expected less, or a `max_document_bytes` above {most}") from None


def _sent(effects: Sequence[Effect], of: type[_F]) -> _F:
    """The frame of a class among the effects; an empty one if none was sent."""
    return next((effect.frame for effect in effects if isinstance(effect, Send) and isinstance(effect.frame, of)), of())


def _size_of_pairs(parts: Sequence[Frame], whole: Frame) -> Size:
    fixed, pair = line([encoded_bytes(part) for part in parts], encoded_bytes(whole))
    return Size(fixed, pair=pair)


def _bytes_of(document: Document) -> int:
    texts = (document.id, document.text or "", document.about.title, document.about.source)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def _mean(numbers: Iterable[float]) -> float:
    return float(np.mean([*numbers]))


def _shared_buckets(scheme: Scheme, documents: Sequence[Document]) -> tuple[float, float]:
    """The buckets that the last document of a group shares with an earlier one, and with any of them; on average.

    A pair without a common bucket is not found, so it does not count.
    """
    rows = scheme.buckets(scheme.sign([document.text or "" for document in documents]))
    shared, joined = list[int](), list[int]()
    for group in range(GROUPS):
        *earlier, newest = (set(row[row != 0].tolist()) for row in rows[group::GROUPS])
        common = [newest & other for other in earlier if newest & other]
        shared += map(len, common)
        joined.append(len(set().union(*common)))
    return _mean(shared), _mean(joined)
