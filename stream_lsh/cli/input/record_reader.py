"""Reads records from files for the commands, and reports rejected records on standard error."""

from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from stream_lsh.cli.input.batches import SHOWN, list_rejects, reject, summary
from stream_lsh.cli.options.common import (
    add_encoding,
    add_format,
    add_general,
    add_max_bytes,
    add_rejects,
    add_time_unit,
)
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import Output, ended, exit_code, report_lines
from stream_lsh.cli.output.progress import Progress
from stream_lsh.cli.runs.input_rows import DELETED, InputRows
from stream_lsh.files.discover import TABLES, Input
from stream_lsh.kinds.record.files import RecordPart, read_records
from stream_lsh.kinds.record.messages import check_size
from stream_lsh.kinds.record.rows import RecordNames, deleted
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import Reader
from stream_lsh.settings.units import counted
from stream_lsh.wire.message import AUTO

T = TypeVar("T")


def add_records(parser: Parser) -> None:
    """The files of records, and the profile that compares them."""
    parser.add_argument("file", nargs="+", metavar="FILE", help="file of records; - for standard input")
    profiles = "people, companies, products, bibliography, or a file"
    parser.add_argument("--profile", required=True, metavar="NAME", help=profiles)


def add_record_input(parser: Parser, *, timed: bool = False) -> None:
    """Add the options for reading records, and the general ones; `timed` adds those for event times."""
    add = parser.add_argument_group("input").add_argument
    add_format(add, TABLES)
    add("--id-column", metavar="NAME", help="field or column of the id (default: that of the profile)")
    add("--source-column", metavar="NAME", help="field or column of the source (default: that of the profile)")
    if timed:
        add("--time-column", metavar="NAME", help="field or column of the time (default time)")
        add_time_unit(add)
    add_encoding(add)
    add_max_bytes(parser, add, "records")
    add_rejects(add)
    add_general(parser)


class RecordReader:
    """The records of some files, batch after batch.

    Args:
        inputs: the files.
        options: those of `add_record_input`; if they include `time_column`, even None, times are read.
        profile: names the columns of id and source, unless an option does.
        rejects: gets a line for each rejected record.

    Attributes:
        records: how many were read.
        again: how many of them have the id of one before them.
        reasons: how many were rejected, by reason.
        progress: of the reading; the caller clears it.
        names: of the columns of id, source and time.
        rows: records the rows that are read; None: they are not needed.
    """

    def __init__(
        self, inputs: Sequence[Input], options: Namespace, profile: Profile, rejects: Output | None = None
    ) -> None:
        self.records = self.again = 0
        self.reasons: Counter[str] = Counter()
        self.progress = Progress(sum(file.size for file in inputs), shown=not options.quiet, what="records")
        self._inputs, self._options, self._rejects = inputs, options, rejects
        time_column = getattr(options, "time_column", None)
        self.names = RecordNames.of(
            profile,
            options.id_column,
            options.source_column,
            time_column,
            timed="time_column" in options,
            time_unit=getattr(options, "time_unit", AUTO),
        )
        self._check = partial(check_size, Reader(profile))
        self._ids: set[str] = set()
        self.rows: InputRows | None = None

    def __iter__(self) -> Iterator[list[Record]]:
        parts = read_records(
            self._inputs,
            self.names,
            max_bytes=self._options.max_bytes,
            encoding=self._options.encoding,
            check=self._check,
        )
        quiet = self._options.quiet
        for part in parts:
            reject(part.refused, self.progress, self.reasons, quiet=quiet, rejects=self._rejects)
            self._report_repeats(part)
            if self.rows is not None:
                lengths = (DELETED if deleted(record) else 0 for record in part.records)
                self.rows.note([record.id for record in part.records], lengths, part.refused)
            self.records += len(part.records)
            self.progress.update(part.position, self.records)
            yield part.records

    def by_id(self) -> dict[str, Record]:
        """The last record of each id, without deleted ones."""
        records = dict[str, Record]()
        try:
            for batch in self:
                for record in batch:
                    if deleted(record):
                        records.pop(record.id, None)
                    else:
                        records[record.id] = record
        finally:
            self.progress.clear()
        return records

    def _report_repeats(self, part: RecordPart[Record]) -> None:
        for record, line in zip(part.records, part.lines, strict=True):
            if record.id not in self._ids:
                self._ids.add(record.id)
                continue
            self.again += 1
            if self.again <= SHOWN and not self._options.quiet:
                self.progress.clear()
                id = ascii(record.id)[:80]
                report_lines([f"{part.path}:{line}: the id {id} is repeated: this record replaces the one before it"])

    def end(self) -> int:
        """The exit code: 1 if all records were rejected, or at least one with `--strict`."""
        code = exit_code(self.records, self.reasons.total(), strict=self._options.strict)
        return ended(code, self._rejected(), quiet=self._options.quiet)

    def summary(self) -> list[str]:
        """Lines about repeated ids and rejected records, for the summary."""
        again = (
            f"{counted(self.again, 'repeated id')}: the last record of each counts; --id-column names another column"
        )
        return [*([again] if self.again else []), *self._rejected()]

    def _rejected(self) -> list[str]:
        return summary(self.reasons, list_rejects(self._rejects))


class RecordsInMemory(NamedTuple, Generic[T]):
    """Records in memory: the value made of each, its source, and the index of each id."""

    made: list[T]
    sources: list[str]
    rows: dict[str, int]


def keep(batches: Iterator[list[Record]], make: Callable[[Record], T], most: int | None = None) -> RecordsInMemory[T]:
    """Collect records in the order in which their ids first occur: the last of each id, unless it is deleted.

    Args:
        batches: the records.
        make: returns the value to keep of a record.
        most: the maximum number of records; None: all.
    """
    kept: dict[str, tuple[T, str]] = {}
    for record in islice((record for batch in batches for record in batch), most):
        if deleted(record):
            kept.pop(record.id, None)
        else:
            kept[record.id] = make(record), record.source
    made, sources = [made for made, _ in kept.values()], [source for _, source in kept.values()]
    return RecordsInMemory(made, sources, {id: row for row, id in enumerate(kept)})
