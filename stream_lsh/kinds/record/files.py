"""Files of records for the commands: rows of tables, JSON objects, Parquet, as records with an id and a source.

    .csv  .tsv  .tab                           a header, then a record per row
    .parquet  .pq  .arrow  .feather  .ipc      a record per row; needs the extra `parquet`
    .jsonl  .ndjson  .json                     a JSON object per line; of .json also an array of objects

All formats except Parquet and Arrow, which have their own compression, may be compressed: `.gz` and `.zst`.

The source of a record is the value of its source column.  Without one it is the name of the file, if there are several
files; the records of a single file have no source.  The files of a folder have one source, the folder.  Two sources
may use one id for different entities, so the id of a record with a source is `source/id`, without one the plain id.
"""

import codecs
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Generic, Protocol, TypeVar

from stream_lsh.errors import ConfigError, InputError, MalformedMessage
from stream_lsh.files.chunks import Refused
from stream_lsh.files.columnar import record_batches, row_values
from stream_lsh.files.discover import TABLES, Input, find_inputs
from stream_lsh.files.inflate import STDIN
from stream_lsh.files.json_blocks import MAX_AHEAD_MS
from stream_lsh.files.lines import check_distinct, too_large, undecoded
from stream_lsh.files.rows import ReadRow, line_chunks, row_chunks
from stream_lsh.kinds.record.messages import LONGEST_SOURCE
from stream_lsh.kinds.record.rows import RecordMaker, RecordNames, fields_of
from stream_lsh.records.model import Record

_ENDINGS = (
    *(".gz", ".zst", ".csv", ".tsv", ".tab", ".parquet", ".pq"),
    *(".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".json"),
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Maker(Protocol[T_co]):
    """Constructs the records of one file."""

    def require(self, path: str, columns: Sequence[str]) -> None:
        """Raise ConfigError if a table with these columns has no records of this sort."""

    def record(self, columns: Mapping[str, object]) -> T_co:
        """The record in a row or an object; raises InputError to reject it."""


@dataclass(slots=True)
class RecordPart(Generic[T]):
    """Consecutive records of a file.

    Attributes:
        path: of the file.
        records: in order.
        lines: for each record the line of the file where it ends, the row, or the element of an array.
        refused: the rejected records among them.
        position: bytes of all inputs read so far.
    """

    path: str
    position: int = 0
    records: list[T] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def find_record_inputs(paths: Sequence[str], format: str | None, delimiter: str = "") -> list[Input]:
    """The files with their formats.

    Raises:
        ConfigError: a file does not exist, or has no records; all problems at once.
    """
    return find_inputs(paths, format, TABLES, delimiter=delimiter)


def source_names(inputs: Sequence[Input]) -> list[str]:
    """The default source of each file's records, for records without one; empty for a single file or folder.

    Example:
        >>> source_names([Input("in/ACM.csv.gz", "csv", 0), Input("in/DBLP2.csv", "csv", 0)])
        ['ACM', 'DBLP2']
        >>> source_names([Input("old/people.csv", "csv", 0), Input("new/people.csv", "csv", 0)])
        ['old/people.csv', 'new/people.csv']

    Raises:
        ConfigError: a path that is too long for a source.
    """
    paths = dict.fromkeys(file.folder or file.path for file in inputs)
    if len(paths) < 2:
        return [""] * len(inputs)
    stems = {path: _stem(path) for path in paths}
    counts = Counter(stems.values())
    names = [path if counts[stems[path]] > 1 else stems[path] for path in (file.folder or file.path for file in inputs)]
    problems = [
        f"{name}: got a file name of more than {LONGEST_SOURCE} characters as the source: rename the file, or name a "
        "column with --source-column"
        for name in dict.fromkeys(names)
        if len(name) > LONGEST_SOURCE
    ]
    if problems:
        raise ConfigError(problems)
    return names


def _stem(path: str) -> str:
    name = "stdin" if path == STDIN else PurePath(path).name
    ending = next((candidate for candidate in _ENDINGS if name.lower().endswith(candidate)), "")
    return _stem(name.removesuffix(name[-len(ending) :])) if ending and len(name) > len(ending) else name


def read_records(
    inputs: Sequence[Input],
    names: RecordNames,
    *,
    max_bytes: int,
    encoding: str = "utf-8",
    check: Callable[[Record], None] | None = None,
) -> Iterator[RecordPart[Record]]:
    """The records of all files, in order.

    Args:
        inputs: the files to read.
        names: of the columns of the id, the source and the time.
        max_bytes: of a line or row; in Parquet a column of a row group may have 4 GB.
        encoding: of text.
        check: see `RecordMaker`.

    Raises:
        ConfigError: a table without a column for the id, or a missing library.
        InputError, OSError: a file cannot be read at all.
    """
    latest_ms = int(time.time() * 1000) + MAX_AHEAD_MS
    makers = [RecordMaker(names, source, check, latest_ms) for source in source_names(inputs)]
    return read_rows(inputs, makers, max_bytes=max_bytes, encoding=encoding)


def read_rows(
    inputs: Sequence[Input], makers: Sequence[Maker[T]], *, max_bytes: int, encoding: str = "utf-8"
) -> Iterator[RecordPart[T]]:
    """The rows of all files, in order, each as its maker constructs it; the rest as in `read_records`."""
    before = 0
    for file, make in zip(inputs, makers, strict=True):
        if file.holds_json:
            parts = _line_parts(file, make, max_bytes, encoding)
        elif file.columnar:
            parts = _columnar_parts(file, make)
        else:
            parts = _table_parts(file, make, max_bytes, encoding)
        for part in parts:
            part.position += before
            yield part
        before += file.size


def _line_parts(file: Input, make: Maker[T], max_bytes: int, encoding: str) -> Iterator[RecordPart[T]]:
    for first, lines, errors, position in line_chunks(file, max_bytes):
        part, wrong = RecordPart[T](file.path, position), dict(errors)
        for at, line in enumerate(lines):
            number = first + at
            if at in wrong:
                _reject(part, number, wrong[at])
            elif len(line) > max_bytes:
                _reject(part, number, too_large(len(line), max_bytes))
            elif line.strip():
                text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                _take(part, number, make, lambda text=text: fields_of(text, encoding))
        yield part


def _table_parts(file: Input, make: Maker[T], max_bytes: int, encoding: str) -> Iterator[RecordPart[T]]:
    def reader_of(row: list[str]) -> ReadRow[T]:
        header = _header(file.path, row, encoding)
        make.require(file.path, header)
        return lambda row: make.record(_row_fields(row, header, max_bytes, encoding))

    for chunk in row_chunks(file, reader_of, max_bytes, encoding=encoding, skip_space=True):
        lines = [line for line, record in chunk.rows if not isinstance(record, InputError)]
        yield RecordPart(file.path, chunk.position, chunk.values, lines, chunk.refused)


def _header(path: str, row: Sequence[str], encoding: str) -> list[str]:
    header = [name.strip() for name in row]
    if not any(header):
        raise ConfigError(f"{path}: got nothing, expected a header with the names of the columns")
    if any(map(undecoded, header)):
        raise ConfigError(f"{path}: {_not_decoded(encoding)}")
    check_distinct(path, header, filter(None, header))
    return header


def _row_fields(
    row: list[str] | InputError, header: Sequence[str], max_bytes: int, encoding: str
) -> Mapping[str, object]:
    if isinstance(row, InputError):
        raise row
    if len(row) != len(header):
        raise MalformedMessage(
            "csv", f"got a row of {len(row)} fields, expected {len(header)} as in the header: is a quote missing?"
        )
    if any(map(undecoded, row)):
        raise MalformedMessage("encoding", _not_decoded(encoding))
    size = sum(map(len, row))
    if 4 * size > max_bytes and (size := sum(len(value.encode()) for value in row)) > max_bytes:
        raise too_large(size, max_bytes)
    return {name: value for name, value in zip(header, row, strict=True) if name}


def _not_decoded(encoding: str) -> str:
    return f"got bytes that are not {encoding.upper()}: set --encoding, such as latin-1"


def _columnar_parts(file: Input, make: Maker[T]) -> Iterator[RecordPart[T]]:
    def columns_of(names: list[str]) -> None:
        make.require(file.path, names)

    for batch, first, position in record_batches(file, columns_of):
        part = RecordPart[T](file.path, position)
        for number, row in enumerate(row_values(batch), first):
            _take(part, number, make, lambda row=row: row)
        yield part


def _take(part: RecordPart[T], line: int, make: Maker[T], read: Any) -> None:
    """Read one record, or its error, into a part."""
    try:
        record = make.record(read())
    except InputError as error:
        _reject(part, line, error)
    else:
        part.records.append(record)
        part.lines.append(line)


def _reject(part: RecordPart[T], line: int, error: InputError) -> None:
    part.refused.append(Refused.of(part.path, line, error))
