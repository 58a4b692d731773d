"""How often values occur among the live records of one table of documents, and so what each of its pairs is worth.

The records of a source partition are a sample of all: an id does not tell what its record says.  So each partition
weighs rare values by what it holds itself, and nothing has to be passed around.
"""

from collections.abc import Sequence

from stream_lsh.arrays import I64
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.records.model import Values, values_of
from stream_lsh.records.profile import Profile


class RecordCounts:
    """The frequencies of the live records of a table, by row, and the scorer that reads them.

    Args:
        profile: of the pipeline.

    Guarantees:
        a function of the live records, whatever came and went.
    Cost:
        the values of the fields whose frequency counts, some 100 bytes and those that nobody else has.
    """

    def __init__(self, profile: Profile) -> None:
        from stream_lsh.records.score import Scorer  # noqa: PLC0415 - loads the libraries of comparators

        self.scorer = Scorer(profile)
        self._fields = len(profile.fields)
        self._counted: list[Values | None] = []

    def put(self, rows: I64, record: DocumentsRecord) -> None:
        """The versions of a record are in these rows now, -1 for one that is not kept."""
        for row, live, text in zip(rows.tolist(), record.live.tolist(), record.texts, strict=True):
            if row >= 0:
                self._set(row, text if live else "")

    def restore(self, rows: I64, texts: Sequence[str]) -> None:
        """These rows hold live versions."""
        for row, text in zip(rows.tolist(), texts, strict=True):
            self._set(row, text)

    def expire(self, rows: I64) -> None:
        """The versions in these rows are not live any more."""
        for row in rows.tolist():
            self._set(row, "")

    def _set(self, row: int, text: str) -> None:
        counted = self._counted
        if row >= len(counted):
            counted += [None] * (row + 1 - len(counted))
        before = counted[row]
        if before is not None:
            self.scorer.count_values(before, remove=True)
        now = counted[row] = self.scorer.counted(values_of(text, self._fields)) if text else None
        if now is not None:
            self.scorer.count_values(now)
