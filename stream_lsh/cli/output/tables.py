"""Tables as outputs: JSON lines, CSV, TSV or Parquet, depending on the file extension."""

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from itertools import compress, islice
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from stream_lsh.cli.output.atomic_files import Output
from stream_lsh.cli.output.formats import PARQUET, format_of
from stream_lsh.cli.output.result_columns import Columns
from stream_lsh.errors import ConfigError
from stream_lsh.files.whole_rows import Row, RowBatch, json_row, json_value

_ROW_GROUP_BYTES = 32 << 20
_RESULTS = 1000
"""Results that are converted together."""


class TableOutput(ABC):
    """Writes rows, batch by batch, to an output that the caller finishes."""

    @abstractmethod
    def write(
        self, batch: RowBatch, kept: NDArray[np.bool_] | None = None, added: Mapping[str, Sequence[str]] = {}
    ) -> None:
        """Write rows.

        Args:
            batch: consecutive rows.
            kept: the rows to write; None for all.
            added: additional columns, with a value for each row of the batch.

        Raises:
            ConfigError: the rows already have one of these columns, or have values that the format cannot store.
            OSError: the disk is full, or a similar failure.
        """

    def end(self) -> None:  # noqa: B027 - only some formats have an end
        """Write what follows the last row."""


class JsonLinesOutput(TableOutput):
    """An object per line."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(
        self, batch: RowBatch, kept: NDArray[np.bool_] | None = None, added: Mapping[str, Sequence[str]] = {}
    ) -> None:
        """Write rows; lines of JSON are copied, and with additional columns their values keep their bytes."""
        rows = _rows(batch, kept, added)
        if added or batch.lines is None:
            self._output.write(map(_as_line, rows))
            return
        lines = batch.lines if kept is None else compress(batch.lines, kept.tolist())
        # An object of a JSON array may have several lines.
        self._output.write(_as_line(row) if b"\n" in line else line for line, row in zip(lines, rows, strict=True))


class CsvOutput(TableOutput):
    """A header, and a line per row.

    Nested values are JSON, and missing ones are empty.

    Args:
        output: the file.
        columns: of the input and those that are added.
        delimiter: of the columns.
    """

    def __init__(self, output: Output, columns: Sequence[str], delimiter: str) -> None:
        self._output, self._columns = output, columns
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        self._writer.writerow(columns)

    def write(
        self, batch: RowBatch, kept: NDArray[np.bool_] | None = None, added: Mapping[str, Sequence[str]] = {}
    ) -> None:
        """Write rows."""
        for row in _rows(batch, kept, added):
            self._writer.writerow([_cell(row.get(name)) for name in self._columns])
        self.end()

    def end(self) -> None:
        """Write the header, if there was no row."""
        self._output.put(self._text.getvalue().encode("utf-8", "surrogatepass"))
        self._text.seek(0)
        self._text.truncate()


class ParquetOutput(TableOutput):
    """Row groups of about 32 MB; at most two of them are in memory, as a thread writes one while the next is read.

    Args:
        output: the file.
        schema: a `pyarrow.Schema` of the input.
        added: names of the columns that are added.
    """

    def __init__(self, output: Output, schema: Any, added: Sequence[str]) -> None:
        self._arrow: Any = import_module("pyarrow")
        self._schema = schema
        whole = schema
        for name in added:
            _check_new(name, schema.names)
            whole = whole.append(self._arrow.field(name, self._arrow.string()))
        self._whole = whole
        self._writer: Any = import_module("pyarrow.parquet").ParquetWriter(
            self._arrow.PythonFile(_Sink(output), mode="w"), whole, compression="zstd"
        )
        self._waiting: list[Any] = []
        self._bytes = 0
        self._thread = ThreadPoolExecutor(1)
        self._group: Future[None] | None = None

    def write(
        self, batch: RowBatch, kept: NDArray[np.bool_] | None = None, added: Mapping[str, Sequence[str]] = {}
    ) -> None:
        """Write rows; an error can be that of earlier rows."""
        arrow = self._arrow
        try:
            columns = self._columns(batch)
            columns += [arrow.array(added[name], arrow.string()) for name in self._whole.names[len(self._schema) :]]
            table = arrow.RecordBatch.from_arrays(columns, schema=self._whole)
            if kept is not None and not kept.all():
                table = table.filter(_mask(arrow, kept))
        except (arrow.ArrowException, UnicodeEncodeError) as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(f"got values that Parquet cannot store ({reason}): write JSON lines instead") from None
        self._waiting.append(table)
        self._bytes += table.nbytes
        if self._bytes >= _ROW_GROUP_BYTES:
            self._write_group()

    def _columns(self, batch: RowBatch) -> list[Any]:
        arrow = self._arrow
        if batch.rows is None:
            held = set(batch.columns.schema.names)
            return [
                _as_type(batch.columns.column(field.name), field.type)
                if field.name in held
                else arrow.nulls(len(batch), field.type)
                for field in self._schema
            ]
        rows = [{name: plain_value(value) for name, value in row.items()} for row in batch.rows]
        return cast("list[Any]", arrow.RecordBatch.from_pylist(rows, self._schema).columns)

    def _write_group(self) -> None:
        """Start to write a row group, once the one before is written."""
        if self._group is not None:
            self._group.result()
        table = self._arrow.Table.from_batches(self._waiting, self._whole)
        self._group = self._thread.submit(self._writer.write_table, table)
        self._waiting, self._bytes = [], 0

    def end(self) -> None:
        """Write the last row group and the footer."""
        if self._waiting:
            self._write_group()
        if self._group is not None:
            self._group.result()
        self._thread.shutdown()
        self._writer.close()


def _mask(arrow: Any, kept: NDArray[np.bool_]) -> Any:
    """The rows to keep as `pyarrow.BooleanArray`; its constructor from arrays would import pandas."""
    bits = arrow.py_buffer(np.packbits(kept, bitorder="little").tobytes())
    return arrow.Array.from_buffers(arrow.bool_(), len(kept), [None, bits])


def _as_type(column: Any, type: Any) -> Any:
    return column if column.type == type else column.cast(type)


class _Sink(io.RawIOBase):
    """An output as a Python file object."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self._output.closed:  # a writer that is deleted after a failure writes a footer
            self._output.put(bytes(data))
        return len(data)


def _as_line(row: Row) -> bytes:
    return msgspec.json.encode(row, enc_hook=json_value)


def _rows(batch: RowBatch, kept: NDArray[np.bool_] | None, added: Mapping[str, Sequence[str]]) -> Iterable[Row]:
    """The rows to write, by column."""
    rows: Iterable[Row] = batch.as_rows()
    if added:
        rows = [_extended(row, added, index) for index, row in enumerate(rows)]
    return rows if kept is None else compress(rows, kept.tolist())


def _extended(row: Row, added: Mapping[str, Sequence[str]], index: int) -> Row:
    for name in added:
        _check_new(name, row)
    return {**row, **{name: values[index] for name, values in added.items()}}


def _check_new(name: str, columns: Iterable[str]) -> None:
    if name in columns:
        raise ConfigError(f"the input already has a column {name!r}, which would be replaced: rename it")


def plain_value(value: Any) -> Any:
    """A value of a row as a Python object."""
    if not isinstance(value, msgspec.Raw):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:  # lone surrogates
        return json.loads(bytes(value))


def _cell(value: Any) -> str:
    """A value as a cell of a table."""
    if isinstance(value, msgspec.Raw):
        raw = bytes(value)
        value = plain_value(value) if raw[:1] in (b'"', b"n") else raw.decode()
    if isinstance(value, str) or value is None:
        return value or ""
    text = msgspec.json.encode(value, enc_hook=json_value)
    return cast("str", msgspec.json.decode(text)) if text[:1] == b'"' else text.decode()


def table_output(
    output: Output, format: str, added: Sequence[str], columns: Callable[[], Sequence[str]], schema: Callable[[], Any]
) -> TableOutput:
    """The writer of a table.

    Args:
        output: the file.
        format: one of `table_format`.
        added: names of the columns that are added.
        columns: returns the columns of the input, for formats with a header.
        schema: returns the `pyarrow.Schema` of the input, for Parquet.
    """
    if format == "jsonl":
        return JsonLinesOutput(output)
    if format == PARQUET:
        return ParquetOutput(output, schema(), added)
    return CsvOutput(output, [*columns(), *added], "\t" if format == "tsv" else ",")


class ResultTable(Output):
    """Results as a table: the lines of JSON that are written become rows.

    Args:
        path: the file; its extension is that of a table.
        columns: of the results.

    Raises:
        ConfigError: it cannot be made, or pyarrow is missing.
    """

    def __init__(self, path: str, columns: Columns) -> None:
        schema = result_schema(columns) if format_of(path) == PARQUET else None
        super().__init__(path)
        self._any = [name for name, column in columns.items() if column in (object, {str: object})] if schema else ()
        self._table = table_output(self, format_of(path), (), lambda: [*columns], lambda: schema)

    def write(self, lines: Iterable[bytes]) -> None:
        """Write results, each a JSON object.

        Raises:
            ConfigError: the format cannot store a value.
            OSError: the disk is full, or a similar failure.
        """
        remaining = iter(lines)
        while some := [json_row(line) for line in islice(remaining, _RESULTS)]:
            self._table.write(RowBatch([self._as_texts(row) for row in some] if self._any else some))

    def _as_texts(self, row: Row) -> Row:
        """A row with texts in the columns of any values."""
        texts: dict[str, Any] = {}
        for name in self._any:
            value = plain_value(row.get(name))
            texts[name] = (
                {key: _cell(inner) for key, inner in value.items()} if isinstance(value, dict) else _cell(value)
            )
        return {**row, **texts}

    def finish(self) -> None:
        """The table is complete: it gets its name."""
        self._table.end()
        super().finish()


def result_schema(columns: Columns) -> Any:
    """The `pyarrow.Schema` of the columns of results.

    Raises:
        ConfigError: pyarrow is missing.
    """
    arrow = arrow_library()
    plain = {str: arrow.string(), object: arrow.string(), int: arrow.int64(), float: arrow.float64()}

    def type_of(column: Any) -> Any:
        if isinstance(column, list):
            return arrow.list_(type_of(column[0]))
        if not isinstance(column, Mapping):
            return plain[column]
        if str in column:
            return arrow.map_(arrow.string(), type_of(column[str]))
        return arrow.struct([(name, type_of(inner)) for name, inner in column.items()])

    return arrow.schema([(name, type_of(column)) for name, column in columns.items()])


def arrow_library() -> Any:
    """The library pyarrow; raises ConfigError where it is missing."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise ConfigError('Parquet needs pyarrow: pip install "stream_lsh[parquet]", or write JSON lines') from None
