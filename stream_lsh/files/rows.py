"""Rows of tables and lines of files in chunks, each with the number of its line: the loop of every reader of files."""

import codecs
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from stream_lsh.errors import ConfigError, InputError
from stream_lsh.files.chunks import Refused
from stream_lsh.files.discover import JSON, Input
from stream_lsh.files.inflate import Chunk, text_chunks
from stream_lsh.files.json_array import ArraySplitter, begins_array
from stream_lsh.files.lines import Splitter, cells, header_of, table_rows

ROWS = 256
"""Rows of a chunk."""
_ON_ONE_LINE = {b"{": ".", b"[": "'.[]'"}
"""Programs for jq, by the first line of JSON over several lines."""
_BLANK_BYTES = 1 << 20
"""Of a file that begins with blanks; what follows is not a JSON array."""

T = TypeVar("T")
ReadRow = Callable[[list[str] | InputError], T]
"""From a row of `table_rows` to its value; raises InputError for one that is rejected."""


class RowChunk(NamedTuple, Generic[T]):
    """Consecutive rows of a table.

    Attributes:
        path: of the table.
        rows: the line on which each ends, with its value or the reason why it is rejected.
        position: bytes of the file read so far.
    """

    path: str
    rows: Sequence[tuple[int, T | InputError]]
    position: int

    @property
    def values(self) -> list[T]:
        """The values of the rows that are not rejected."""
        return [value for _, value in self.rows if not isinstance(value, InputError)]

    @property
    def refused(self) -> list[Refused]:
        """The rejected rows."""
        return [Refused.of(self.path, line, error) for line, error in self.rows if isinstance(error, InputError)]


def row_chunks(
    file: Input,
    reader_of: Callable[[list[str]], ReadRow[T] | None],
    max_bytes: int,
    *,
    encoding: str = "utf-8",
    skip_space: bool = False,
) -> Iterator[RowChunk[T]]:
    """The rows of a table behind its header, but for empty ones.

    Args:
        file: the table.
        reader_of: from the header, [] for an empty file, to what reads a row; None for a table without rows.
        max_bytes: of the columns that are used.
        encoding: of the file.
        skip_space: whether blanks behind a delimiter are skipped.

    Raises:
        ConfigError: from `reader_of`, or a header that cannot be read.
        InputError, OSError: the file cannot be read as a whole.
    """
    position = [0]
    rows = table_rows(
        file.path,
        file.format,
        position,
        encoding=encoding,
        max_bytes=max_bytes,
        skip_space=skip_space,
        delimiter=file.delimiter,
    )
    read = reader_of(header_of(file.path, rows))
    if read is None:
        return
    pending_rows: list[tuple[int, T | InputError]] = []
    for row, line in rows:
        if row == []:
            continue
        try:
            pending_rows.append((line, read(row)))
        except InputError as error:
            pending_rows.append((line, error))
        if len(pending_rows) == ROWS:
            yield RowChunk(file.path, pending_rows, position[0])
            pending_rows = []
    yield RowChunk(file.path, pending_rows, position[0])


def cell_reader(
    columns_of: Callable[[list[str]], Sequence[int]], max_bytes: int, read: Callable[..., T]
) -> Callable[[list[str]], ReadRow[T] | None]:
    """A `reader_of` for some columns; an empty file has no rows.

    Args:
        columns_of: from the header to the places of the columns.
        max_bytes: of these columns together.
        read: from the cells of these columns to the value.
    """

    def reader_of(header: list[str]) -> ReadRow[T] | None:
        if not header:
            return None
        at, width = columns_of(header), len(header)
        return lambda row: read(*cells(row, width, at, max_bytes))

    return reader_of


class LineChunk(NamedTuple):
    """Consecutive lines of a file.

    Attributes:
        first: the number of the first one.
        lines: without their ends; blank where there is an error.
        errors: lines that are too long, by index.
        position: bytes of the file read so far.
    """

    first: int
    lines: list[bytes]
    errors: list[tuple[int, InputError]]
    position: int


def line_chunks(file: Input, max_bytes: int) -> Iterator[LineChunk]:
    """The lines of a file, as they are read; the last chunk has what follows the last end of a line, and may be empty.

    The elements of a JSON array are lines, too, numbered from 1.

    Args:
        file: the file.
        max_bytes: of a line.

    Raises:
        ConfigError: the file begins with the byte order mark of UTF-16 or UTF-32, or with JSON over several lines.
        MalformedMessage: a JSON array without an end, or damaged compressed data.
    """
    first, position = 1, 0
    chunks = text_chunks(file.path)
    begin = _begin(chunks) if file.format == JSON else []
    is_array = begins_array(b"".join(data for data, _ in begin))
    splitter = ArraySplitter(file.path, max_bytes) if is_array else Splitter(max_bytes)
    for data, position in chain(begin, chunks):
        lines, errors = splitter.split(data)
        if lines:
            if first == 1 and file.holds_json:
                _check_first(file.path, lines[0])
            yield LineChunk(first, lines, errors, position)
            first += len(lines)
    lines, errors = splitter.end()
    yield LineChunk(first, lines, errors, position)


def _check_first(path: str, line: bytes) -> None:
    """Raise ConfigError for the first line of JSON that continues on others: all of them would be rejected."""
    program = _ON_ONE_LINE.get(line.removeprefix(codecs.BOM_UTF8).strip())
    if program is not None:
        raise ConfigError(
            f"{path}: got JSON over several lines, expected one object per line: convert it, as with `jq -c {program}`"
        )


def _begin(chunks: Iterator[Chunk]) -> list[Chunk]:
    """The chunks of a file up to the first character that is not blank, or up to a limit."""
    begin: list[Chunk] = []
    for chunk in chunks:
        begin.append(chunk)
        if chunk.data.strip() or sum(len(data) for data, _ in begin) > _BLANK_BYTES:
            break
    return begin
