"""The outputs of settle for the edges of a sample: the records of the ledger, and the public messages.

The edges of the growing groups are settled three times, each time from an empty ledger: in a message for each batch, in
one for each document, and with the pairs of each document in two.  The differences give the size of a message, of a
document in it, and of a pair.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.examples import TIME_MS
from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.model import at_rows
from stream_lsh.pipeline.batches import EdgesFrame
from stream_lsh.sizing.sizes import Size
from stream_lsh.wire.ledger_parts import encode_ledger
from stream_lsh.wire.public import PublicMessage

LEDGER = "ledger"
_FINGERPRINT = 0


@dataclass(frozen=True, slots=True)
class Published:
    """The messages of a public topic: their number, and their bytes."""

    messages: Size
    bytes: Size


Outputs = tuple[Counter[str], Counter[str]]
"""Messages and bytes by topic."""


def settled_sizes(pipeline: PipelineConfig, batches: Sequence[Edges]) -> dict[str, Published]:
    """The sizes of the outputs, by topic; `LEDGER` is the changelog.

    Args:
        pipeline: its configuration.
        batches: the edges of each batch; the left ends are the new documents.
    """
    documents = [_at(edges, rows) for edges in batches for rows in _rows_by_document(edges)]
    halves = [_at(one, rows) for one in documents for rows in np.array_split(np.arange(len(one)), 2) if rows.size]
    runs = [_settled(pipeline, frames) for frames in (batches, documents, halves)]
    frames, pairs = (len(batches), len(documents), len(halves)), sum(map(len, batches))
    topics = sorted({topic for run in runs for topic in run[0]})
    return {
        topic: Published(*(_solved([run[kind][topic] for run in runs], frames, pairs) for kind in (0, 1)))
        for topic in topics
    }


def _solved(found: Sequence[int], frames: Sequence[int], pairs: int) -> Size:
    """The size from the sums of the three runs and their numbers of messages."""
    whole, singles, divided = found
    batches, documents, halves = frames
    fixed = max(0.0, (singles - whole) / max(documents - batches, 1))
    document = 0.0
    if halves > documents:
        document = max(0.0, (divided - singles) / (halves - documents) - fixed)
    return Size(fixed, document, max(0.0, (singles - documents * (fixed + document)) / pairs))


def _settled(pipeline: PipelineConfig, frames: Iterable[Edges]) -> Outputs:
    limits = replace(pipeline.limits(), retention_ms=None)
    settler = limits.settler(pipeline.kind.least)
    results = pipeline.kind.results(pipeline.name)
    messages, sizes = Counter[str](), Counter[str]()
    for offset, edges in enumerate(frames):
        settlement = settler.settle(EdgesFrame(edges=edges), offset)
        if settlement is None:
            continue
        parts = encode_ledger(settlement.record, _FINGERPRINT)
        messages[LEDGER] += len(parts)
        sizes[LEDGER] += sum(map(len, parts))
        for topic, published in results.messages(settlement.settled, TIME_MS, offset):
            messages[topic] += len(published)
            sizes[topic] += sum(map(_bytes_of, published))
    return messages, sizes


def _bytes_of(message: PublicMessage) -> int:
    key, value, headers = message
    return len(key) + len(value or b"") + sum(len(name) + len(content) for name, content in headers)


def _rows_by_document(edges: Edges) -> list[I64]:
    """The rows of each new document."""
    _, numbers = np.unique(edges.left.refs, return_inverse=True)
    return [np.flatnonzero(numbers == number) for number in range(int(numbers.max()) + 1)]


def _at(edges: Edges, rows: I64) -> Edges:
    evidence = [edges.evidence[row] for row in rows.tolist()] if edges.evidence else ()
    shingles = None if edges.shingles is None else edges.shingles[rows]
    ends = (_ends(edges.left, rows), _ends(edges.right, rows))
    return Edges(*ends, edges.similarity[rows], edges.shared[rows], edges.union[rows], shingles, evidence)


def _ends(ends: Ends, rows: I64) -> Ends:
    listed = rows.tolist()
    ids = [ends.ids[row] for row in listed]
    return Ends(ids, ends.refs[rows], ends.times[rows], ends.digests[rows], at_rows(ends.abouts, listed))
