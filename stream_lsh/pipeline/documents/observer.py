"""The interface of what counts the live versions of a table of documents."""

from collections.abc import Sequence
from typing import Protocol

from stream_lsh.arrays import I64
from stream_lsh.pipeline.changelog.records import DocumentsRecord


class LiveObserver(Protocol):
    """Counts something of the live versions of a table."""

    def put(self, rows: I64, record: DocumentsRecord) -> None:
        """The versions of a record are in these rows now, -1 for one that is not kept."""

    def restore(self, rows: I64, texts: Sequence[str]) -> None:
        """These rows hold live versions."""

    def expire(self, rows: I64) -> None:
        """The versions in these rows are not live any more."""
