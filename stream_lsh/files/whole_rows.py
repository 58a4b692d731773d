"""The rows of input files with all their columns, for outputs that contain the input.

`json_blocks` reads the columns that are compared; this module reads the same rows, at the same places, as a whole.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import msgspec

from stream_lsh.errors import InputError, MalformedMessage
from stream_lsh.files.columnar import record_batches, row_values, without_views
from stream_lsh.files.discover import Input
from stream_lsh.files.json_blocks import TEXTS, several_of, text_blocks
from stream_lsh.files.lines import check_distinct
from stream_lsh.files.rows import line_chunks, row_chunks
from stream_lsh.wire.field_names import FieldNames

_BATCH_ROWS = 8192
"""Of columnar files; as many as fit the bound of a batch."""

_Item = TypeVar("_Item")

Row = Mapping[str, Any]
Place = tuple[str, int | str]
"""A file, and the line, the row or the file in a folder."""


class RowBatch(NamedTuple):
    """Consecutive rows of a file, without the rejected ones.

    Attributes:
        rows: by column; values of JSON lines are `msgspec.Raw`.  None for Parquet and Arrow.
        columns: the `pyarrow.RecordBatch` of Parquet and Arrow; None for other formats.
        lines: the rows as the input has them, of JSON; None for other formats.
    """

    rows: Sequence[Row] | None
    columns: Any = None
    lines: Sequence[bytes] | None = None

    def __len__(self) -> int:
        return self.columns.num_rows if self.rows is None else len(self.rows)

    def as_rows(self) -> Sequence[Row]:
        """The rows by column, for any format."""
        return row_values(self.columns) if self.rows is None else self.rows


class RowSource(NamedTuple):
    """The inputs of a command.

    Attributes:
        inputs: the files, in order.
        names: of the columns of id and text.
        max_bytes: as for `json_blocks`.
        html: whether files may be pages.
        encoding: of tables and of JSON lines.
        skip_space: whether blanks around the names of columns and behind delimiters of tables are skipped.
    """

    inputs: Sequence[Input]
    names: FieldNames
    max_bytes: int
    html: bool = False
    encoding: str = "utf-8"
    skip_space: bool = False

    def batches(self, rejected: Collection[Place]) -> Iterator[RowBatch]:
        """The rows of all files, in order.

        Args:
            rejected: the places of the rows to omit.

        Raises:
            ConfigError: a table has a column twice.
            InputError, OSError: a file cannot be read.
        """
        for file in self.inputs:
            if file.format in TEXTS:
                yield from self._text_rows(file, rejected, several=several_of(file, self.inputs))
            elif file.holds_json:
                yield from _json_rows(file, self.max_bytes, rejected, self.encoding)
            elif file.columnar:
                yield from _columnar_rows(file, rejected)
            else:
                yield from self._table_rows(file, rejected)

    def _text_rows(self, file: Input, rejected: Collection[Place], *, several: bool) -> Iterator[RowBatch]:
        for block in text_blocks(file, self.names, self.max_bytes, several=several, html=self.html):
            places = ((block.places.path, at) for at in block.places.at)
            lines = [line for line, place in zip(block.lines, places, strict=True) if line and place not in rejected]
            yield RowBatch([json_row(line) for line in lines])

    def _table_rows(self, file: Input, rejected: Collection[Place]) -> Iterator[RowBatch]:
        header: list[str] = []

        def reader_of(row: list[str]) -> Callable[[list[str] | InputError], Row] | None:
            header.extend([name.strip() for name in row] if self.skip_space else row)
            check_distinct(file.path, header, filter(None, header))
            return _read if header else None

        def _read(row: list[str] | InputError) -> Row:
            if isinstance(row, InputError):
                raise row
            return dict(zip(header, row, strict=False))

        chunks = row_chunks(file, reader_of, self.max_bytes, encoding=self.encoding, skip_space=self.skip_space)
        for chunk in chunks:
            rows = [
                row for at, row in chunk.rows if not isinstance(row, InputError) and (file.path, at) not in rejected
            ]
            yield RowBatch(rows)


def json_value(value: Any) -> str:
    """A value that JSON and CSV cannot represent, such as a time of a library, as a text."""
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def json_row(line: bytes) -> Row:
    """The members of a JSON object, each as its bytes.

    Example:
        >>> {name: bytes(value) for name, value in json_row(b'{"id": 7, "score": 1.50}').items()}
        {'id': b'7', 'score': b'1.50'}

    Raises:
        MalformedMessage: it is not an object; its place was not rejected before, so the file has changed since.
    """
    try:
        return _decode(line)
    except msgspec.DecodeError:
        return _escaped(line)


def _escaped(line: bytes) -> Row:
    """The members of an object that only the parser of the standard library accepts: lone surrogates in names."""
    try:
        members = json.loads(line)
        return {name: msgspec.Raw(json.dumps(value).encode()) for name, value in members.items()}
    except (ValueError, AttributeError):
        raise changed() from None


def changed() -> MalformedMessage:
    """The error for an input whose rows have changed since they were first read."""
    return MalformedMessage(
        "file", "the input changed while it was read: run the command again when no program writes to it"
    )


def _json_rows(file: Input, max_bytes: int, rejected: Collection[Place], encoding: str) -> Iterator[RowBatch]:
    for first, lines, _, _ in line_chunks(file, max_bytes):
        if first == 1 and lines:
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        kept = [
            line
            for at, line in enumerate(map(bytes.strip, lines), first)
            if line and (not rejected or (file.path, at) not in rejected)
        ]
        if encoding != "utf-8":
            kept = [line.decode(encoding).encode() for line in kept]
        yield RowBatch([json_row(line) for line in kept], lines=kept)


def _columnar_rows(file: Input, rejected: Collection[Place]) -> Iterator[RowBatch]:
    omitted = {at for path, at in rejected if path == file.path}
    for read, first, _ in _read_ahead(record_batches(file, lambda _: None, _BATCH_ROWS)):
        batch = without_views(read)
        rows = range(first, first + batch.num_rows)
        if omitted.isdisjoint(rows):
            yield RowBatch(None, batch)
        else:
            kept = [index for index, at in enumerate(rows) if at not in omitted]
            yield RowBatch(None, batch.take(kept) if kept else batch.slice(0, 0))


def _read_ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """The same items; a thread reads the next one while the consumer has one."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, items, None)
        while (item := following.result()) is not None:
            following = thread.submit(next, items, None)
            yield item
