"""Messages and bytes of each topic a second, from a load, a sample and the numbers of partitions and workers.

A batch of sign has B documents of one source partition.  Buckets and documents are spread evenly over P partitions, so
x of them meet `occupied(P, x)` partitions, and a pair has its old document on the worker of its new one with the
probability 1 / W: gather sends no verification of it.

    bands           a message for each partition that has a bucket of the batch
    candidates      a pair once for each index partition in which both have a bucket
    verifications   a document once for each partition with old documents that gather learns of at once: pairs arrive
                    from one index partition after the other, and each brings those that the earlier ones have missed
    edges           the matches of a message of verifications; those of gather itself in one message for each discovery
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

    def times(self, share: float) -> "Flow":
        """A share of it."""
        return Flow(share * self.messages, share * self.bytes)


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic of a pipeline, each second.

    Attributes:
        topics: by internal name, or by the key of the configuration for public topics.
        documents: that are signed.
        postings: that are stored.
        found: pairs in `candidates`.
        sent: documents that are gathered, for each partition of old documents.
        compared: pairs that gather or verify compares.
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
    load: Load, sample: Sample, partitions: int, rate: float, batch: int, *, workers: int = 1, joined: bool = False
) -> Traffic:
    """The traffic of a pipeline.

    Args:
        load: the stream.
        sample: of its documents.
        partitions: of the source.
        rate: documents a second.
        batch: documents that sign processes together.
        workers: that have the partitions.
        joined: messages of a batch that come from all index partitions are handled together.
    """
    batches, elsewhere = rate / batch, 1 - 1 / workers
    versions, postings = rate * occupied(partitions, sample.buckets), rate * sample.buckets
    banded = batches * occupied(partitions, batch * sample.buckets)
    found = rate * (load.matches * occupied(partitions, sample.shared) + load.candidates)
    finding = batches * partitions * _any(load, sample, partitions, batch)
    meetings = _meetings(load, sample, partitions, partitions, joined=joined)
    asking = batches * partitions * _messages(load, meetings, batch)
    asked_parts = rate * load.near_duplicates * partitions * sum(meetings)
    meetings = _meetings(load, sample, partitions, workers, joined=joined)
    here, here_parts = batches * _messages(load, meetings, batch), rate * load.near_duplicates * sum(meetings)
    useless = rate * load.candidates
    sent, compared, pairs = asked_parts + useless, rate * load.matches + useless, rate * load.matches
    asked = asking + min(useless, batches * partitions)
    answering, parts = max(here + elsewhere * asking, pairs / STEP), here_parts + elsewhere * asked_parts
    bands = _cut(Flow(banded, sample.postings.of(banded, versions, postings)))
    edges = _cut(Flow(answering, sample.edges.of(answering, pairs=pairs)))
    topics = {
        SOURCE: Flow(rate, rate * sample.source_bytes),
        BANDS: bands,
        CANDIDATES: _cut(Flow(finding, sample.candidates.of(finding, pairs=found))),
        VERIFICATIONS: _cut(
            Flow(asked, sample.verifications.of(asked, sent, compared)), sent * sample.stored_bytes
        ).times(elsewhere),
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


def _messages(load: Load, meetings: list[float], batch: int) -> float:
    """The messages about a batch for one target, from the probability that a near-duplicate has pairs for it."""
    return sum(1 - float((1 - load.near_duplicates * meets) ** batch) for meets in meetings)


def _meetings(load: Load, sample: Sample, partitions: int, targets: int, *, joined: bool) -> list[float]:
    """The probability that a near-duplicate has matches for one target, by discovery.

    Args:
        load: the stream.
        sample: of its documents.
        partitions: of the index.
        targets: the partitions of old documents, or the workers that have these.
        joined: all index partitions discover together.

    While a group grows, its documents have one match, two, and so on: on average `partners`.
    """
    most = max(1, round(2 * load.partners) - 1)
    found = [1.0] if joined else discoveries(partitions, sample.shared, 1.0)
    return [_meets(share / targets, most) for share in found]


def _meets(share: float, most: int) -> float:
    """The mean probability of at least one success in one attempt, in two, and so on up to `most`.

    Example:
        >>> round(_meets(0.5, 2), 3), _meets(1.0, 9)
        (0.625, 1.0)
    """
    if share < 1e-9:
        return share * (most + 1) / 2
    missed = 1 - share
    return float(1 - missed * (1 - missed**most) / (share * most))


def _cut(flow: Flow, size: float = 0.0) -> Flow:
    """The same in messages of at most `FRAME_BYTES`; `size`: bytes with uncompressed texts, which count."""
    if not flow.messages:
        return flow
    return Flow(flow.messages * ceil(max(size, flow.bytes) / flow.messages / FRAME_BYTES), flow.bytes)
