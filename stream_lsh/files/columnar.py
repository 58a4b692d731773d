"""Parquet and Arrow files as batches of rows, within a fixed bound of memory; needs the extra `parquet`.

Parquet is read page by page.  Of an Arrow file (IPC, which is also Feather 2), as a file or as a stream, one record
batch is in memory, of which only the wanted columns are decompressed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from stream_lsh.errors import ConfigError, MalformedMessage
from stream_lsh.files.discover import ARROW, Input
from stream_lsh.files.lines import check_distinct
from stream_lsh.files.rows import ROWS

_BUFFER_BYTES, _BATCH_BYTES, _COLUMN_BYTES = 1 << 16, 64 << 20, 4 << 30
"""The read buffer, the values in memory at once, and the largest column of a row group."""
_LEAST_ROWS = 4
"""Of a batch; batches of one row take 80 us a row."""
_FILE, _FEATHER_1 = b"ARROW1", b"FEA1"
"""The first bytes of an Arrow file, and of the first version of Feather, which is another format."""
_NAMES = {ARROW: "Arrow"}
_NUMBER_BYTES = 16
"""The largest number in a column of Parquet."""
_STORED_ONCE = frozenset({"PLAIN", "RLE", "BIT_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "BYTE_STREAM_SPLIT"})
_DICTIONARIES = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY"})
"""The encodings of Parquet in which each value takes its own bytes, and those with a dictionary."""


def record_batches(
    file: Input, columns_of: Callable[[list[str]], Sequence[str] | None], most_rows: int = ROWS
) -> Iterator[tuple[Any, int, int]]:
    """The rows of a file, as `pyarrow.RecordBatch`, each with the number of its first row and the position behind it.

    Rows are numbered from 1; positions are bytes of the file.

    Args:
        file: the file.
        columns_of: from the names of all columns to those that are read; None: all of them.
        most_rows: of a batch.

    Raises:
        ConfigError: pyarrow is missing, a wanted column occurs twice, or from `columns_of`.
        MalformedMessage: the file cannot be read, or a row group has too large a column.
    """
    number = 1
    with _reading(file) as (arrow, parquet):
        batches = _arrow_batches if file.format == ARROW else _parquet_batches
        for batch, position in batches(file, arrow, parquet, columns_of, most_rows):
            yield batch, number, position
            number += batch.num_rows


def file_schema(file: Input) -> Any:
    """The `pyarrow.Schema` of a file; raises as `record_batches` does."""
    with _reading(file) as (arrow, parquet):
        if file.format != ARROW:
            return _without_views(arrow, parquet.read_schema(file.path))
        with arrow.OSFile(file.path) as source:
            return _without_views(arrow, _opened(file, arrow, source, None).schema)


def row_values(batch: Any) -> list[dict[str, Any]]:
    """The rows of a batch by column; columns of texts with bytes that are not UTF-8 have bytes as values."""
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except UnicodeDecodeError:
        arrow = import_module("pyarrow")
        texts = {arrow.string(): arrow.binary(), arrow.large_string(): arrow.large_binary()}
        fields = [field.with_type(texts.get(field.type, field.type)) for field in batch.schema]
        rows = batch.cast(arrow.schema(fields)).to_pylist()
    return rows


def without_views(batch: Any) -> Any:
    """A batch whose texts and bytes are not views, as in `file_schema`."""
    return batch.cast(_without_views(import_module("pyarrow"), batch.schema))


@contextmanager
def _reading(file: Input) -> Iterator[tuple[Any, Any]]:
    """The libraries; their errors become those of the package."""
    name = _NAMES.get(file.format, "Parquet")
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ConfigError(
            f'{file.path}: {name} needs pyarrow: pip install "stream_lsh[parquet]"; or use CSV or JSON lines'
        ) from None
    try:
        yield arrow, parquet
    except (arrow.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        # The library raises an OSError without a number for damaged bytes.
        reason = str(error).partition("\n")[0]
        raise MalformedMessage(file.format, f"{file.path}: cannot be read as {name}: {reason}") from None


def _wanted(
    file: Input, names: list[str], columns_of: Callable[[list[str]], Sequence[str] | None]
) -> Sequence[str] | None:
    columns = columns_of(names)
    check_distinct(file.path, names, names if columns is None else columns)
    return columns


# -- Arrow


def _opened(file: Input, arrow: Any, source: Any, columns: Sequence[str] | None) -> Any:
    """A reader of an Arrow file or stream that reads some columns, or all of them."""
    ipc = import_module("pyarrow.ipc")
    begin = source.read(len(_FILE))
    source.seek(0)
    if begin.startswith(_FEATHER_1):
        raise MalformedMessage(
            ARROW, f"{file.path}: got Feather of version 1, expected version 2: write it again, as with to_feather"
        )
    opened = ipc.open_file if begin == _FILE else ipc.open_stream
    reader = opened(source)
    if columns is None:
        return reader
    fields = [reader.schema.get_field_index(name) for name in columns]
    source.seek(0)
    return opened(source, options=ipc.IpcReadOptions(included_fields=fields))


def _arrow_batches(
    file: Input, arrow: Any, _: Any, columns_of: Callable[[list[str]], Sequence[str] | None], most_rows: int
) -> Iterator[tuple[Any, int]]:
    """The rows of an Arrow file; values are checked, because the library does not check offsets into them."""
    with arrow.OSFile(file.path) as source:
        reader = _opened(file, arrow, source, None)
        columns = _wanted(file, reader.schema.names, columns_of)
        if columns is not None:
            source.seek(0)
            reader = _opened(file, arrow, source, columns)
        several, in_memory = getattr(reader, "num_record_batches", None), 0
        batches = reader if several is None else map(reader.get_batch, range(several))
        for number, read in enumerate(batches, 1):
            read.validate(full=True)
            batch = read.cast(_without_views(arrow, read.schema))
            in_memory += batch.nbytes
            position = min(file.size, in_memory) if several is None else file.size * number // several
            fit = _BATCH_BYTES * batch.num_rows // max(1, batch.nbytes)
            rows = min(most_rows, max(_LEAST_ROWS, fit))
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows), position


def _without_views(arrow: Any, schema: Any) -> Any:
    """A schema without the types of views, which the library cannot filter."""
    plain = {arrow.string_view(): arrow.large_string(), arrow.binary_view(): arrow.large_binary()}

    def without(type: Any) -> Any:
        if arrow.types.is_list(type) or arrow.types.is_large_list(type):
            made = arrow.list_ if arrow.types.is_list(type) else arrow.large_list
            return made(type.value_field.with_type(without(type.value_type)))
        if arrow.types.is_struct(type):
            return arrow.struct([field.with_type(without(field.type)) for field in type])
        return plain.get(type, type)

    return arrow.schema([field.with_type(without(field.type)) for field in schema], schema.metadata)


# -- Parquet


def _parquet_batches(
    file: Input, _: Any, parquet: Any, columns_of: Callable[[list[str]], Sequence[str] | None], most_rows: int
) -> Iterator[tuple[Any, int]]:
    with parquet.ParquetFile(file.path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as opened:
        columns = _wanted(file, opened.schema_arrow.names, columns_of)
        read, total = 0, max(1, opened.metadata.num_rows)
        for number in range(opened.metadata.num_row_groups):
            _check_group(file.path, opened, number)
            rows = min(most_rows, max(_LEAST_ROWS, _rows_that_fit(file.path, opened, number, columns, most_rows)))
            for batch in opened.iter_batches(batch_size=rows, row_groups=[number], columns=columns):
                read += batch.num_rows
                yield batch, file.size * read // total


def _check_group(path: str, file: Any, number: int) -> None:
    """Raise MalformedMessage if a row group has too large a column."""
    group = file.metadata.row_group(number)
    chunks = [group.column(at) for at in range(group.num_columns)]
    size, name = max(((chunk.total_uncompressed_size, chunk.path_in_schema) for chunk in chunks), default=(0, ""))
    if size > _COLUMN_BYTES:
        raise MalformedMessage(
            "parquet",
            f"{path}: row group {number} has {group.total_byte_size} bytes, {size} of them in the column {name!r}, "
            f"expected at most {_COLUMN_BYTES} in a column: write the file with fewer rows in a row group",
        )


def _rows_that_fit(path: str, file: Any, number: int, columns: Sequence[str] | None, most_rows: int) -> int:
    """The rows of a row group that fit the memory, whatever their values are.

    With a buffer, pages are read one by one; without it, each column of a row group is read whole.

    Args:
        path: of the file.
        file: the file.
        number: of the row group.
        columns: those that are read; None: all.
        most_rows: of a batch.
    """
    group, largest = file.metadata.row_group(number), 1
    for at in range(len(file.schema)):
        name = file.schema.column(at).path
        if columns is None or any(name == one or name.startswith(f"{one}.") for one in columns):
            # A value is at most its column, so a small column needs no look at its values.
            size: int = group.column(at).total_uncompressed_size
            is_small = size * min(most_rows, group.num_rows) <= _BATCH_BYTES
            largest = max(largest, size if is_small else _largest_cell(path, file, number, at))
    return _BATCH_BYTES // largest


def _largest_cell(path: str, file: Any, number: int, at: int) -> int:
    """The largest value of a column in a row group that may occur in many rows, in bytes; otherwise the mean one.

    A value may be all of its column, and with a dictionary every row may have the longest value in it.  A column that
    does not fit a batch has no large dictionary, as writers limit its size: its cells are stored once each.

    Args:
        path: of the file.
        file: the file.
        number: of the row group.
        at: the number of the column.
    """
    group, column = file.metadata.row_group(number), file.schema.column(at)
    chunk = group.column(at)
    size: int = chunk.total_uncompressed_size
    mean: int = max(1, size // max(1, group.num_rows))
    encodings = frozenset(chunk.encodings)
    if not column.max_repetition_level:
        if not column.physical_type.endswith("BYTE_ARRAY"):
            return _NUMBER_BYTES
        if column.length:
            return int(column.length)
    if size > _BATCH_BYTES or (encodings <= _STORED_ONCE and not chunk.has_dictionary_page):
        return mean
    if column.max_repetition_level or not encodings <= _STORED_ONCE | _DICTIONARIES or not chunk.has_dictionary_page:
        return max(1, size)
    longest = _longest_in_dictionary(path, file, number, column.path)
    return max(mean, size if longest is None else min(size, longest))


def _longest_in_dictionary(path: str, file: Any, number: int, column: str) -> int | None:
    """The bytes of the longest value in the dictionary of a column; None if it has at most one value.

    The library loads the dictionary with the first row.  A single value may be that of the row, outside of it.
    """
    parquet, compute = import_module("pyarrow.parquet"), import_module("pyarrow.compute")
    reading = {"buffer_size": _BUFFER_BYTES, "pre_buffer": False, "metadata": file.metadata}
    with parquet.ParquetFile(path, read_dictionary=[column], **reading) as opened:
        rows = next(opened.iter_batches(batch_size=1, row_groups=[number], columns=[column]), None)
    values: Any = () if rows is None else rows.column(0)
    while hasattr(values, "flatten") and not hasattr(values, "dictionary"):
        (values,) = values.flatten()
    dictionary = getattr(values, "dictionary", ())
    return int(compute.max(compute.binary_length(dictionary)).as_py()) if len(dictionary) > 1 else None
