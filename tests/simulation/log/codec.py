"""Frames and records are encoded; documents and public changes stay values."""

from functools import lru_cache
from typing import Any

from stream_lsh.pipeline.batches import BandsFrame
from stream_lsh.pipeline.changelog.head import Extent, extent_of_buckets, extent_of_documents
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.wire.frames import (
    decode_bands,
    decode_buckets,
    decode_candidates,
    decode_documents,
    decode_edges,
    decode_verifications,
)

FINGERPRINT = 0x51D

_DECODERS = {
    "bands": decode_bands,
    "candidates": decode_candidates,
    "verifications": decode_verifications,
    "edges": decode_edges,
    "documents-changelog": decode_documents,
    "buckets-changelog": decode_buckets,
}


@lru_cache(maxsize=1 << 13)
def decoded(topic: str, data: Any) -> Any:
    """The value of a message; it is read many times, and its columns cannot be written to."""
    return _DECODERS[topic](data, FINGERPRINT)


@lru_cache(maxsize=1 << 13)
def extent(topic: str, data: bytes) -> Extent:
    """The extent of a record of a changelog."""
    record: DocumentsRecord | BandsFrame = decoded(topic, data)
    return extent_of_documents(record) if isinstance(record, DocumentsRecord) else extent_of_buckets(record)
