"""Measured constants of the model: processor time, memory, disk, recovery.  Each names its measurement.

Times are microseconds of processor time, Python 3.11.7, on two cores of an AMD EPYC that other programs kept busy.  On
the same machine at rest the worker takes less (benchmarks/worker/README.md), so plans are on the safe side.
`python -m benchmarks.worker.costs` measures all of them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCosts:
    """Processor time of the steps of one kind of data, in us, with the encoding and decoding of their messages.

    Source: `python -m benchmarks.worker.costs --part steps`, batches of 200.  Costs of `document` and `kilobyte` are
    from loads of 500 and 3,000 bytes without matches, those of `part` and `pair` from groups of 2, 10 and 50.

    Attributes:
        sign_document: parse, sign and log a document.
        sign_kilobyte: for each kilobyte of its value.
        index_posting: store and probe a posting.
        index_pair: for each candidate in a message.
        gather_document: for each document in a message of verifications.
        gather_kilobyte: for each kilobyte of it.
        gather_pair: for each candidate.
        verify_document: for each document in a message of verifications.
        verify_kilobyte: for each kilobyte of it.
        verify_pair: compare a pair.
        settle_part: for each document in a message of edges.
        settle_pair: settle a pair, with its public messages and its record.
    """

    sign_document: float
    sign_kilobyte: float
    index_posting: float
    index_pair: float
    gather_document: float
    gather_kilobyte: float
    gather_pair: float
    verify_document: float
    verify_kilobyte: float
    verify_pair: float
    settle_part: float
    settle_pair: float


TEXT = StepCosts(
    sign_document=24,
    sign_kilobyte=17,
    index_posting=0.35,
    index_pair=0.55,
    gather_document=4,
    gather_kilobyte=6,
    gather_pair=0.3,
    verify_document=17,
    verify_kilobyte=36,
    verify_pair=9,
    settle_part=19,
    settle_pair=6,
)
RECORD = StepCosts(
    sign_document=150,
    sign_kilobyte=0,
    index_posting=0.4,
    index_pair=0.5,
    gather_document=6,
    gather_kilobyte=0,
    gather_pair=0.4,
    verify_document=5,
    verify_kilobyte=0,
    verify_pair=20,
    settle_part=122,
    settle_pair=58,
)
SET = StepCosts(
    sign_document=30,
    sign_kilobyte=100,
    index_posting=0.35,
    index_pair=0.55,
    gather_document=5,
    gather_kilobyte=3,
    gather_pair=0.4,
    verify_document=20,
    verify_kilobyte=100,
    verify_pair=4,
    settle_part=17,
    settle_pair=8,
)
VECTOR = StepCosts(
    sign_document=60,
    sign_kilobyte=52,
    index_posting=0.9,
    index_pair=0.5,
    gather_document=10,
    gather_kilobyte=6,
    gather_pair=0.5,
    verify_document=16,
    verify_kilobyte=14,
    verify_pair=10,
    settle_part=25,
    settle_pair=7,
)
STEPS: Mapping[str, StepCosts] = {"text": TEXT, "record": RECORD, "set": SET, "vector": VECTOR}
"""By the name of the kind; a kind that is not measured takes those of texts."""

MESSAGE_US = 200.0
"""An internal message: sent, stored, fetched, passed to an agent.  `python -m benchmarks.worker.costs --part worker`: a
document takes 199 us with 4 partitions and 0.14 messages, 274 us with 16 partitions and 0.76 messages; on a busier
machine 258 us with 0.18 and 588 us with 1.18 messages."""
SOURCE_US = 40.0
"""A message of the source: fetched and passed to sign.  The same measurement, less the steps."""
PUBLIC_US = 35.0
"""A public message: sent.  The same measurement of a dense stream: 1,854 and 2,506 us a document with 26.7 public
messages."""
MARK_US = 100.0
"""A mark of event time between two steps, sent and received; some arrive together and are handled as one.
`python -m benchmarks.worker.costs --part marks`, 50 documents a second: 0.11 cores with 4 partitions, 0.18 with 16."""
IDLE = 0.07
"""Seconds of processor time a second of a worker without messages.  The same measurement."""
STORE_US = 20.0
"""A document in the on-disk copy of a busy machine.  On a calm one `python -m benchmarks.worker.costs --part stored`
measures 11 us."""

WORKER_BYTES = 180e6
"""A worker without documents.  benchmarks/worker/README.md: 179 MB before the flood."""
CACHE_BYTES = 80e6
"""The caches of gather and verify, when full.  benchmarks/worker/README.md: shingle sets 64 MB, RocksDB 16 MB."""
VERSION_BYTES = 250.0
"""A document in memory, without its id, its buckets, and the contents that are on disk.
benchmarks/worker/README.md: 0.84 GB of a worker with a million documents, less the figures above and below."""
POSTING_BYTES = 22.0
"""A posting in memory; segments on disk are mapped, and count as long as they are used.
benchmarks/documents/README.md: the index uses 372 bytes for the 17 buckets of a document."""
MEMBER_BYTES = 370.0
"""A member of a cluster in the ledger, with its pairs in clusters of 4: `python -m benchmarks.documents.ledger`."""
PAIR_BYTES = 150.0
"""Each further pair of the ledger: two refs, times, counts and places in the table of pairs; estimated."""

DISK_SHARE = 1.15
"""Bytes on the disk of a worker for each stored byte.  benchmarks/worker/README.md: 187 MB for 100,000 documents of 1
KB and their buckets."""
POSTING_DISK_BYTES = 18.0
"""A posting on the disk of a worker; twice for short periods.  docs/operations/deployment.md: 300 bytes a document."""
META_BYTES = 80.0
"""Keys and metadata of a document on the disk of a worker: `storage.documents`."""

RECORD_BYTES = 70.0
"""Kafka's own bytes of an internal message, which is often alone in its batch: 61 of the batch, 9 of the record."""
PUBLIC_RECORD_BYTES = 12.0
"""Kafka's own bytes of a public message; many share a batch."""
SEGMENT_BYTES = float(16 << 20)
"""Each partition of an internal topic takes up to one segment more than needed: docs/reference/topics.md."""
TRIM_SECONDS = 330.0
"""Brokers look for segments to delete every five minutes, workers trim every ten seconds: docs/reference/topics.md."""
REWRITE_FROM = 3.0
"""A changelog is copied when it has this many times its live entries: `pipeline.changelog.rewrite.TIMES`."""

START_SECONDS = 2.5
"""A start without documents.  benchmarks/worker/README.md: imports 1.0, comparison of topics 0.6, joining the group."""
START_US = 3.3
"""A document at a start from disk.  benchmarks/worker/README.md: 5.2 s for a million documents."""
MEMBER_START_US = 10.0
"""A member of the ledger at a start.  benchmarks/worker/README.md: 126,000 in 1.1 to 1.5 s."""
POSTINGS_PER_SECOND = 1.75e6
"""Postings a second from the changelog, of small records.  `python -m benchmarks.worker.recovery --part postings`."""
RECOVER_US = 30.0
"""A document from the changelog: decoded, and written to the disk of the worker."""
