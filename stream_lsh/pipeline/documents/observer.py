"""The interface for counting the live versions of a table of documents."""

from collections.abc import Sequence
from typing import Protocol

from stream_lsh.arrays import I64
from stream_lsh.pipeline.changelog.records import DocumentsRecord


class LiveObserver(Protocol):
    """Counts properties of the live versions of a table."""

    def put(self, rows: I64, record: DocumentsRecord) -> None:
        """Count the versions of a record, which are in these rows now, -1 for one that is not kept."""

    def restore(self, rows: I64, texts: Sequence[str]) -> None:
        """Count the live versions in these rows."""

    def expire(self, rows: I64) -> None:
        """Discount the versions in these rows, which are no longer live."""
