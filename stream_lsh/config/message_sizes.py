"""How large the messages of a pipeline may be, and what has to stay within that."""

from typing import TYPE_CHECKING

from stream_lsh.config.values import GRID
from stream_lsh.kinds.record.messages import MAX_RECORD_BYTES
from stream_lsh.kinds.shingled.methods import EXACT
from stream_lsh.pipeline.local import BATCH
from stream_lsh.wire.split import FRAME_BYTES

if TYPE_CHECKING:
    from stream_lsh.config.model import PipelineConfig
    from stream_lsh.pipeline.scheme import Scheme

FRAME_ROOM = 65_536
"""Bytes that a document's message may be longer than the document; half of them for what has a size of its own: id,
title, source, the pairs in a message of a document that fills it alone, and how far each partition is kept."""


def max_message_bytes(pipeline: "PipelineConfig") -> int:
    """`max.message.bytes` of the internal topics: room for the largest document, and for a frame of many.

    And, as no record divides a document, for its signature, its buckets and those of the versions that it retires: with
    `exact` a batch of them, otherwise two at least (`most_retired`).
    """
    slots, width = _shape(pipeline)
    retired = 16 * pipeline.slots * BATCH if pipeline.method == EXACT else 0
    wide = 4 * slots + 2 * _retired_bytes(width) - FRAME_ROOM // 2
    return max(pipeline.max_document_bytes, FRAME_BYTES) + FRAME_ROOM + max(retired, wide, 0)


def most_retired(pipeline: "PipelineConfig", scheme: "Scheme") -> int:
    """How many versions a record of the documents changelog has room for that its version retires; 2 or more."""
    document = pipeline.max_document_bytes if pipeline.known is None else 2 * MAX_RECORD_BYTES
    room = max_message_bytes(pipeline) - document - FRAME_ROOM // 2 - 4 * scheme.slots
    return room // _retired_bytes(scheme.width)


def _retired_bytes(width: int) -> int:
    """Of one version that another one retires."""
    return 12 + 8 * width


def _shape(pipeline: "PipelineConfig") -> tuple[int, int]:
    """Bounds on the length of a signature and on the buckets of a version; the scheme of vectors is slow to make."""
    if pipeline.known is not None:
        return 0, 0  # 64 keys at most: there is room for these anyway
    if pipeline.kind == "vector":
        return pipeline.slots, pipeline.slots + 1
    if pipeline.family == GRID:
        scheme = pipeline.pairwise_scheme()
        return scheme.slots, scheme.width
    banding = pipeline.banding()
    return pipeline.slots, 0 if banding is None else banding.bands + 1
