"""Parquet files as batches of rows, within a fixed bound of memory; needs the extra `parquet`."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from stream_lsh.errors import ConfigError, MalformedMessage
from stream_lsh.files.rows import ROWS

_BUFFER_BYTES, _BATCH_BYTES, _COLUMN_BYTES = 1 << 16, 64 << 20, 4 << 30
"""The read buffer, the values in memory at once, and the largest column of a row group."""
_LEAST_ROWS = 4
"""Of a batch; batches of one row take 80 us a row."""


def parquet_batches(
    path: str, columns_of: Callable[[list[str]], Sequence[str] | None], most_rows: int = ROWS
) -> Iterator[tuple[Any, int, int]]:
    """The rows of a file, as `pyarrow.RecordBatch`, each with the number of its first row and of all rows of the file.

    Rows are numbered from 1.

    Args:
        path: of the file.
        columns_of: from the names of all columns to those that are read; None: all of them.
        most_rows: of a batch.

    Raises:
        ConfigError: pyarrow is missing, or from `columns_of`.
        MalformedMessage: the file cannot be read, or a row group has too large a column.
    """
    arrow, parquet = _libraries(path)
    number = 1
    try:
        with parquet.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as opened:
            columns = columns_of(opened.schema_arrow.names)
            for batch in _batches(path, opened, columns, most_rows):
                yield batch, number, max(1, opened.metadata.num_rows)
                number += batch.num_rows
    except (arrow.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def parquet_schema(path: str) -> Any:
    """The `pyarrow.Schema` of a file; raises as `parquet_batches` does."""
    arrow, parquet = _libraries(path)
    try:
        return parquet.read_schema(path)
    except (arrow.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def _libraries(path: str) -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ConfigError(
            f'{path}: Parquet needs pyarrow: pip install "stream_lsh[parquet]"; or use CSV or JSON lines'
        ) from None


def _unreadable(path: str, error: Exception) -> Exception:
    """The error of the package; the library raises an OSError without a number for damaged bytes."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    reason = str(error).partition("\n")[0]
    return MalformedMessage("parquet", f"{path}: cannot be read as Parquet: {reason}")


def _batches(path: str, file: Any, columns: Sequence[str] | None, most_rows: int) -> Iterator[Any]:
    """The rows of a Parquet file, in batches that fit the memory.

    With a buffer, pages are read one by one; without it, each column of a row group is read whole.  The size of a cell
    is unknown: it may be all of its column, and in a dictionary-encoded column every row may have the same value.  A
    column that does not fit a batch has no such dictionary, as writers limit its size: its cells are stored once each,
    and a batch has as many rows as fit with cells of the mean size.

    Raises:
        MalformedMessage: a row group has too large a column.
    """
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        chunks = [group.column(at) for at in range(group.num_columns)]
        size, name = max(((chunk.total_uncompressed_size, chunk.path_in_schema) for chunk in chunks), default=(0, ""))
        if size > _COLUMN_BYTES:
            raise MalformedMessage(
                "parquet",
                f"{path}: row group {number} has {group.total_byte_size} bytes, {size} of them in the column {name!r}, "
                f"expected at most {_COLUMN_BYTES} in a column: write the file with fewer rows in a row group",
            )
        cell = max(1, size if size <= _BATCH_BYTES else size // max(1, group.num_rows))
        rows = min(most_rows, max(_LEAST_ROWS, _BATCH_BYTES // cell))
        yield from file.iter_batches(batch_size=rows, row_groups=[number], columns=columns)
