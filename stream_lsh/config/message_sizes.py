"""Limits for the sizes of the messages of a pipeline."""

from typing import Protocol

from stream_lsh.kinds.kind import Kind, StoredSize
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.wire.split import FRAME_BYTES

FRAME_ROOM = 65_536
"""Bytes that a document's message may be longer than the document; half of them for what has a size of its own: id,
title, source, the pairs in a message of a document that fills it alone, and how far each partition is kept."""


class Sized(Protocol):
    """The part of a pipeline that determines sizes."""

    @property
    def max_document_bytes(self) -> int:
        """The largest message of the source."""

    @property
    def kind(self) -> Kind:
        """The kind of data."""


def max_message_bytes(stored: StoredSize, max_document_bytes: int) -> int:
    """`max.message.bytes` of the internal topics: room for the largest document, and for a frame of many.

    And, as no record divides a document, for its signature, its buckets and those of the versions that it retires: two
    at least (`most_retired`), or as many as the kind asks for.

    Args:
        stored: what the kind stores of a version.
        max_document_bytes: of a message of the source.
    """
    wide = 4 * stored.slots + 2 * _retired_bytes(stored.width) - FRAME_ROOM // 2
    return max(max_document_bytes, FRAME_BYTES) + FRAME_ROOM + max(stored.retired, wide, 0)


def most_retired(pipeline: Sized, scheme: Scheme) -> int:
    """The number of retired versions that fit into a record of the documents changelog; 2 or more."""
    stored = pipeline.kind.stored_size()
    document = pipeline.max_document_bytes if stored.document is None else stored.document
    room = max_message_bytes(stored, pipeline.max_document_bytes) - document - FRAME_ROOM // 2 - 4 * scheme.slots
    return room // _retired_bytes(scheme.width)


def _retired_bytes(width: int) -> int:
    """Bytes of one retired version."""
    return 12 + 8 * width
