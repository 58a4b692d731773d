"""Frequencies of values among the live records of one table of documents, for comparisons with `term_frequency`.

The records of a source partition are a random sample of all records, because ids do not depend on the values.  So each
partition weighs rare values by its own records, and the partitions exchange no counts.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stream_lsh.arrays import I64
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.records.model import Values, values_of
from stream_lsh.records.profile import Profile

if TYPE_CHECKING:
    from stream_lsh.records.score import Scorer


class RecordCounts:
    """The frequencies of values in the live records of a table, by row, and the scorer that reads them.

    Args:
        profile: of the pipeline.
        counted: a scorer that has counted all records of a file; the live records are then not counted.

    Guarantees:
        a function of the live records, or constant; the history of the records does not matter.
    Cost:
        some 100 bytes a record, and its values in fields with `term_frequency` that no other record has.
    """

    def __init__(self, profile: Profile, counted: "Scorer | None" = None) -> None:
        from stream_lsh.records.score import Scorer  # noqa: PLC0415 - loads the libraries of comparators

        self.scorer = counted or Scorer(profile)
        self._constant = counted is not None
        self._fields = len(profile.fields)
        self._counted: list[Values | None] = []
        self._live = 0

    @property
    def records(self) -> int:
        """The number of counted records; 0 if they will never change a score."""
        return 0 if self._constant or not self.scorer.is_counting else self._live

    def put(self, rows: I64, record: DocumentsRecord) -> None:
        """Count the versions of a changelog record, which are now in these rows; -1: the version is not stored."""
        for row, live, text in zip(rows.tolist(), record.live.tolist(), record.texts, strict=True):
            if row >= 0:
                self._set(row, text if live else "")

    def restore(self, rows: I64, texts: Sequence[str]) -> None:
        """Count these rows, which hold live versions."""
        for row, text in zip(rows.tolist(), texts, strict=True):
            self._set(row, text)

    def expire(self, rows: I64) -> None:
        """Remove these rows from the counts: their versions are no longer live."""
        for row in rows.tolist():
            self._set(row, "")

    def _set(self, row: int, text: str) -> None:
        if self._constant:
            return
        counted = self._counted
        if row >= len(counted):
            counted += [None] * (row + 1 - len(counted))
        before = counted[row]
        if before is not None:
            self._live -= 1
            self.scorer.count_values(before, remove=True)
        now = counted[row] = self.scorer.counted(values_of(text, self._fields)) if text else None
        if now is not None:
            self._live += 1
            self.scorer.count_values(now)
