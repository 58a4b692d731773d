"""Tables in memory: frames of pandas, polars and pyarrow, datasets, and lists of dicts, through one interface."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib import import_module
from importlib.util import find_spec
from itertools import compress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stream_lsh.errors import ConfigError, InputError, MalformedMessage
from stream_lsh.wire.message import EXPECTED_TIME, time_of_message

LIBRARIES = ("pandas", "polars", "pyarrow")
"""The libraries of frames, in the order of preference for a new one."""
DICTS = "dicts"
"""In place of a library: a list of dicts."""
_EXPECTED = "an in-memory frame of pandas, polars or pyarrow, a datasets.Dataset, or an iterable of dicts"
_SHOWN = 20

Columns = Mapping[str, Sequence[Any]]


class Table(Protocol):
    """A table of any of these types.

    Attributes:
        names: of its columns.
        library: one of LIBRARIES, of a frame with the same columns; or DICTS.
    """

    names: list[str]
    library: str

    def column(self, argument: str, name: str) -> list[Any]:
        """The values of a column, None where they are missing; raises ConfigError if there is no such column."""

    def result(self, kept: NDArray[np.bool_] | None, added: Columns) -> Any:
        """The rows that are kept, with additional columns of whole numbers; None: all rows."""

    def new(self, columns: Columns) -> Any:
        """Another table of the same type."""


def table_of(data: object) -> Table:
    """The table.

    Raises:
        ConfigError: the type is not supported, two columns have one name, or narwhals is missing.
    """
    if type(data).__module__.split(".")[0] == "datasets":
        return _Dataset(data)
    return _Dicts(data) if _is_dicts(data) else _Frame(data)


def frame_of(columns: Columns, types: Mapping[str, type], library: str | None) -> Any:
    """A frame with some columns.

    Args:
        columns: all of the same length.
        types: of the values, `str`, `int` or `float`; values may be missing.
        library: one of LIBRARIES or DICTS; None: the first one that is installed.

    Raises:
        ConfigError: another library, or it is missing.

    Example:
        >>> frame_of({"left": ["a"], "similarity": [0.5]}, {"left": str, "similarity": float}, "dicts")
        [{'left': 'a', 'similarity': 0.5}]
    """
    if library == DICTS:
        return _as_dicts(columns)
    chosen = library or next((name for name in LIBRARIES if find_spec(name)), LIBRARIES[0])
    if chosen not in LIBRARIES or not find_spec(chosen):
        reason = "which is not installed" if chosen in LIBRARIES else f"expected {', '.join(LIBRARIES)} or {DICTS}"
        raise ConfigError(f"library: got {chosen!r}, {reason}")
    narwhals = _narwhals()
    names = {str: narwhals.String, int: narwhals.Int64, float: narwhals.Float64}
    schema = {name: names[types[name]] for name in columns}
    return narwhals.from_dict({**columns}, schema, backend=chosen).to_native()


def check_column(argument: str, name: str, names: Sequence[str]) -> None:
    """Raise ConfigError if a table has no column of this name; the message lists those that it has."""
    if name not in names:
        shown = ", ".join(map(repr, names[:_SHOWN])) or "none"
        raise ConfigError(f"{argument}: got the column {name!r}, expected one of {shown}")


def ids_of(table: Table, argument: str, name: str) -> list[str]:
    """The ids in a column.

    Raises:
        MalformedMessage: a value that is neither a text nor a whole number.
    """
    ids = []
    for row, value in enumerate(table.column(argument, name)):
        number = value.is_integer() if isinstance(value, float) else isinstance(value, int | np.integer)
        if not isinstance(value, str) and (not number or isinstance(value, bool)):
            shown = "no value" if value is None else f"{value!r:.40}"
            expected = f"got {shown} in row {row} of {name!r}, expected a text or a whole number"
            raise MalformedMessage("id", f"{argument}: {expected}")
        ids.append(value if isinstance(value, str) else str(int(value)))
    return ids


def texts_of(table: Table, argument: str, name: str) -> list[str | None]:
    """The texts in a column, None where they are missing.

    Raises:
        ConfigError: a value that is no text.
    """
    values = table.column(argument, name)
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            raise ConfigError(f"{argument}: got {type(value).__name__} in row {row} of {name!r}, expected strings")
    return values


def times_of(table: Table, argument: str, name: str | None, count: int) -> list[int]:
    """The times in a column as milliseconds since 1970, 0 where they are missing; without a column all 0.

    A time without a time zone is one of UTC.

    Raises:
        MalformedMessage: a value that is no time.
    """
    if name is None:
        return [0] * count
    times = []
    for row, value in enumerate(table.column(argument, name)):
        try:
            times.append(_time_of(value))
        except InputError as error:
            raise MalformedMessage("time", f"{argument}: in row {row} of {name!r}: {error}") from None
    return times


def _time_of(value: Any) -> int:
    time = plain_time(value)
    if isinstance(time, bool) or not isinstance(time, str | int | float | None):
        raise MalformedMessage("time", f"got {type(value).__name__}, expected {EXPECTED_TIME}")
    return time_of_message(time, 0)


def plain_time(value: Any) -> Any:
    """A time of the standard library or of pandas in milliseconds since 1970; another value as it is.

    Example:
        >>> plain_time(datetime(1970, 1, 2)), plain_time(date(1970, 1, 2)), plain_time("1970-01-02")
        (86400000, 86400000, '1970-01-02')
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return math.floor(aware.timestamp() * 1000 + 0.5)
    return int(value) if isinstance(value, np.integer) else value


def rows_of(table: Table) -> Iterator[dict[str, Any]]:
    """The rows as dicts, without missing values."""
    columns = [table.column("", name) for name in table.names]
    for values in zip(*columns, strict=True):
        yield {name: value for name, value in zip(table.names, values, strict=True) if value is not None}


def _as_dicts(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, or NA and NaT of pandas, which compare in ways of their own."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


class _Dicts:
    """Rows as dicts; a row may lack columns."""

    library = DICTS

    def __init__(self, rows: Any) -> None:
        self._rows: list[dict[str, Any]] = list(rows)
        for row in self._rows:
            if not isinstance(row, dict):
                raise ConfigError(f"got a row of type {type(row).__name__}, expected dicts")
        self.names = list(dict.fromkeys(name for row in self._rows for name in row))
        if self._rows and not self.names:
            raise ConfigError("got rows without any column, expected dicts that name them")

    def column(self, argument: str, name: str) -> list[Any]:
        if self._rows:
            check_column(argument, name, self.names)
        values = [row.get(name) for row in self._rows]
        return [None if _is_missing(value) else value for value in values]

    def result(self, kept: NDArray[np.bool_] | None, added: Columns) -> list[dict[str, Any]]:
        rows = self._rows
        if added:
            rows = [{**row, **{name: values[at] for name, values in added.items()}} for at, row in enumerate(rows)]
        return list(rows if kept is None else compress(rows, kept))

    def new(self, columns: Columns) -> list[dict[str, Any]]:
        return _as_dicts(columns)


class _Frame:
    """A frame of any library that narwhals knows."""

    def __init__(self, data: Any) -> None:
        self._narwhals = _narwhals()
        kind = type(data).__name__
        try:
            self._frame = self._narwhals.from_native(data, eager_only=True)
            self.names: list[str] = self._frame.columns
        except self._narwhals.exceptions.DuplicateError:
            raise ConfigError(f"got a {kind} with two columns of the same name, expected distinct names") from None
        except TypeError:
            raise ConfigError(f"got {kind}, expected {_EXPECTED}") from None
        if len({*self.names}) < len(self.names):  # pyarrow allows it
            raise ConfigError(f"got a {kind} with two columns of the same name, expected distinct names")
        self.library = str(self._frame.implementation.value)

    def column(self, argument: str, name: str) -> list[Any]:
        check_column(argument, name, self.names)
        series = self._frame[name]
        values: list[Any] = series.to_list()
        if series.dtype.is_float() or series.is_null().any():
            missing = series.is_null().to_list()
            values = [
                None if lacks or _is_missing(value) else value for value, lacks in zip(values, missing, strict=True)
            ]
        return values

    def result(self, kept: NDArray[np.bool_] | None, added: Columns) -> Any:
        frame = self._frame
        for name, values in added.items():
            column = self._narwhals.new_series(name, values, self._narwhals.Int64, backend=frame.implementation)
            frame = frame.with_columns(_with_index(self._narwhals, column, frame))
        return (frame if kept is None or kept.all() else frame.filter(kept.tolist())).to_native()

    def new(self, columns: Columns) -> Any:
        return self._narwhals.from_dict({**columns}, backend=self._frame.implementation).to_native()


class _Dataset:
    """A dataset of the library `datasets`, through its Arrow table."""

    library = "pyarrow"

    def __init__(self, data: Any) -> None:
        if not hasattr(data, "add_column") or not hasattr(data, "num_rows") or isinstance(data, dict):
            raise ConfigError(
                f"got {type(data).__name__}, expected one datasets.Dataset in memory, such as data['train']"
            )
        self._data = data
        self._frame = _Frame(data.with_format("arrow")[:])
        self.names = self._frame.names

    def column(self, argument: str, name: str) -> list[Any]:
        return self._frame.column(argument, name)

    def result(self, kept: NDArray[np.bool_] | None, added: Columns) -> Any:
        data = self._data
        for name, values in added.items():
            data = data.add_column(name, list(values))
        return data if kept is None or kept.all() else data.select(np.flatnonzero(kept))

    def new(self, columns: Columns) -> Any:
        return type(self._data)(self._frame.new(columns))


def _narwhals() -> Any:
    try:
        return import_module("narwhals")
    except ImportError:
        raise ConfigError('frames need narwhals: pip install "stream_lsh[frames]", or pass a list of dicts') from None


def _with_index(narwhals: Any, column: Any, frame: Any) -> Any:
    """A column with the index of a frame, by which pandas aligns; other libraries have no index."""
    return (
        narwhals.maybe_set_index(column, index=narwhals.maybe_get_index(frame))
        if (narwhals.maybe_get_index(frame) is not None)
        else column
    )


def _is_dicts(data: object) -> bool:
    """Whether this is an iterable of dicts and not a frame; frames have columns."""
    return isinstance(data, Iterable) and not hasattr(data, "columns") and not isinstance(data, str | bytes | dict)
