"""Messages and bytes of each topic a second, from a load, a sample and the number of partitions.

A batch of sign has B documents of one source partition.  Buckets and documents are spread evenly over P partitions, so
x of them meet `occupied(P, x)` partitions.

    bands           a message for each partition that has a bucket of the batch
    candidates      a pair once for each index partition in which both have a bucket
    verifications   a document once for each partition with old documents that gather learns of at once: pairs arrive
                    from one index partition after the other, and each brings those that the earlier ones have missed
    edges           the matches of a message of verifications
    changelogs      of documents by batch, of buckets as `bands`, of the ledger by message of `edges`
    public topics   as settle publishes the pairs of the sample

A worker that has all it can do takes the candidates of a batch from all index partitions together: then all matches of
a document are discovered at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

from stream_lsh.pipeline.verify import STEP
from stream_lsh.sizing.load import Load
from stream_lsh.sizing.sample import Sample
from stream_lsh.wire.split import FRAME_BYTES

SOURCE = "source"
BANDS, CANDIDATES, VERIFICATIONS, EDGES = "bands", "candidates", "verifications", "edges"
DOCUMENTS_LOG, BUCKETS_LOG, LEDGER_LOG = "documents-changelog", "buckets-changelog", "ledger-changelog"


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages of a topic, each second.

    Attributes:
        messages: their number.
        bytes: of their values, and of keys and headers of public messages.
    """

    messages: float
    bytes: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic of a pipeline, each second.

    Attributes:
        topics: by internal name, or by the key of the configuration for public topics.
        documents: that are signed.
        postings: that are stored.
        found: pairs in `candidates`.
        sent: documents in `verifications`.
        compared: pairs in `verifications`.
        pairs: in `edges`.
        parts: documents in messages of `edges`.
    """

    topics: Mapping[str, Flow]
    documents: float
    postings: float
    found: float
    sent: float
    compared: float
    pairs: float
    parts: float

    @property
    def public_messages(self) -> float:
        """The messages of the public topics."""
        return sum(flow.messages for topic, flow in self.topics.items() if topic not in _OWN)


_OWN = (SOURCE, BANDS, CANDIDATES, VERIFICATIONS, EDGES, DOCUMENTS_LOG, BUCKETS_LOG, LEDGER_LOG)


def occupied(places: int, items: float) -> float:
    """The expected number of places that get any of the items, spread evenly.

    Example:
        >>> occupied(4, 1), occupied(1, 5), round(occupied(4, 17), 2)
        (1.0, 1.0, 3.97)
    """
    return places * (1 - float((1 - 1 / places) ** items))


def discoveries(partitions: int, shared: float, partners: float) -> Iterator[float]:
    """The matches of a document that the first index partition finds, the second one in addition, and so on.

    Args:
        partitions: of the index.
        shared: buckets of a pair.
        partners: matches of the document.

    Example:
        >>> [round(found, 2) for found in discoveries(2, 1.0, 8)]
        [5.33, 2.67]
    """
    share = occupied(partitions, shared) / partitions
    missed = 1 - share
    whole = 1 - missed**partitions
    for number in range(partitions):
        yield partners * share * missed**number / whole


def traffic_of(
    load: Load, sample: Sample, partitions: int, rate: float, batch: int, *, joined: bool = False
) -> Traffic:
    """The traffic of a pipeline.

    Args:
        load: the stream.
        sample: of its documents.
        partitions: of the source.
        rate: documents a second.
        batch: documents that sign processes together.
        joined: messages of a batch that come from all index partitions are handled together.
    """
    batches = rate / batch
    versions, postings = rate * occupied(partitions, sample.buckets), rate * sample.buckets
    banded = batches * occupied(partitions, batch * sample.buckets)
    found = rate * (load.matches * occupied(partitions, sample.shared) + load.candidates)
    finding = batches * partitions * _any(load, sample, partitions, batch)
    meetings = _meetings(load, sample, partitions, joined=joined)
    parts = rate * load.near_duplicates * partitions * sum(meetings)
    asking = batches * partitions * sum(1 - (1 - load.near_duplicates * meets) ** batch for meets in meetings)
    useless = rate * load.candidates
    sent, compared, pairs = parts + useless, rate * load.matches + useless, rate * load.matches
    asked = asking + min(useless, batches * partitions)
    answering = max(asking, pairs / STEP)
    bands = _cut(Flow(banded, sample.postings.of(banded, versions, postings)))
    edges = _cut(Flow(answering, sample.edges.of(answering, pairs=pairs)))
    topics = {
        SOURCE: Flow(rate, rate * sample.source_bytes),
        BANDS: bands,
        CANDIDATES: _cut(Flow(finding, sample.candidates.of(finding, pairs=found))),
        VERIFICATIONS: _cut(Flow(asked, sample.verifications.of(asked, sent, compared)), sent * sample.stored_bytes),
        EDGES: edges,
        DOCUMENTS_LOG: _cut(Flow(batches, sample.documents.of(batches, rate)), rate * sample.stored_bytes),
        BUCKETS_LOG: bands,
        LEDGER_LOG: Flow(edges.messages, sample.ledger.of(edges.messages, parts, pairs)),
    }
    topics |= {
        topic: Flow(
            published.messages.of(edges.messages, parts, pairs), published.bytes.of(edges.messages, parts, pairs)
        )
        for topic, published in sample.published.items()
    }
    return Traffic(topics, rate, postings, found, sent, compared, pairs, parts)


def _any(load: Load, sample: Sample, partitions: int, batch: int) -> float:
    """The probability that a batch of bands has a candidate in one index partition."""
    meets = 1 - (1 - 1 / partitions) ** sample.joined
    none_matches: float = (1 - load.near_duplicates * meets) ** batch
    none_useless: float = (1 - 1 / partitions) ** (batch * load.candidates)
    return 1 - none_matches * none_useless


def _meetings(load: Load, sample: Sample, partitions: int, *, joined: bool) -> list[float]:
    """The probability that a near-duplicate has matches in one partition of old documents, by discovery.

    While a group grows, its documents have one match, two, and so on: on average `partners`.
    """
    most = max(1, round(2 * load.partners) - 1)
    meetings = [0.0] * partitions
    for partners in range(1, most + 1):
        found = [float(partners)] if joined else discoveries(partitions, sample.shared, partners)
        for number, pairs in enumerate(found):
            meetings[number] += occupied(partitions, pairs) / partitions / most
    return meetings


def _cut(flow: Flow, size: float = 0.0) -> Flow:
    """The same in messages of at most `FRAME_BYTES`; `size`: bytes with uncompressed texts, which count."""
    if not flow.messages:
        return flow
    return Flow(flow.messages * ceil(max(size, flow.bytes) / flow.messages / FRAME_BYTES), flow.bytes)
