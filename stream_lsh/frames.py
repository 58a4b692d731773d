"""Near-duplicates in tables in memory: frames of pandas, polars or Arrow, and lists of dicts."""

import math
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import compress
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.text.in_memory import NearDuplicates
from stream_lsh.ledger.clusters.kept import COLUMN, RULES, is_rule, kept_rows, ranks
from stream_lsh.model import Document

T = TypeVar("T")
_SHOWN = 20


def deduplicate(
    data: T, *, text: str = "text", keep: str | None = "first", cluster: str | None = None, **settings: Any
) -> T:
    """A table without its near-duplicate rows.

    Args:
        data: a frame of pandas, polars or pyarrow (extra `frames`), or an iterable of dicts.
        text: the column that is compared.
        keep: from each cluster, keep the `first`, `last`, `longest` or `shortest` row, or the one with the greatest
            number in a column (`column:NAME`), the first among equals; None keeps all rows.
        cluster: the name of a column to add, with the number of the first row of each row's cluster, counted from 0.
        settings: arguments of `NearDuplicates`, such as `threshold`.

    Returns:
        a table of the same type, or a list for an iterable; `data` is unchanged.  Rows keep their order, their index
        and all their columns.

    Guarantees:
        a row without a text matches nothing and is kept.

    Raises:
        ConfigError: a column does not exist, exists twice, or has values of the wrong type; the settings are invalid;
            the type of the table is not supported; the library for frames is missing.

    Example:
        >>> rows = [{"text": "to be or not to be", "n": 1}, {"text": "To be, or not to be", "n": 2}, {"text": None}]
        >>> deduplicate(rows, keep="column:n")
        [{'text': 'To be, or not to be', 'n': 2}, {'text': None}]
        >>> [row["cluster"] for row in deduplicate(rows, keep=None, cluster="cluster")]
        [0, 0, 2]
    """
    if keep is not None and not is_rule(keep):
        raise ConfigError(f"keep: got {keep!r}, expected {', '.join(RULES)}, column:NAME or None")
    table: _Frame | _Dicts = _Dicts(data) if _is_dicts(data) else _Frame(data)
    if cluster is not None and cluster in table.names:
        raise ConfigError(f"cluster: the table already has a column {cluster!r}, expected a new name")
    texts = _texts(table.column("text", text), text)
    ids = [f"{row:012d}" for row in range(len(texts))]
    near = NearDuplicates(**settings)
    near.add_many(Document(id, one) for id, one in zip(ids, texts, strict=True) if one is not None)
    cluster_of = {member: min(found.members) for found in near.clusters() for member in found.members}
    kept = None
    if keep is not None:
        lengths = [len(one or "") for one in texts]
        rank = ranks(keep, lengths) if keep in RULES else _numbers(table, keep.removeprefix(COLUMN))
        kept = kept_rows(ids, lengths, cluster_of, rank)
    numbers = [int(cluster_of.get(id, id)) for id in ids]
    return cast("T", table.result(kept, {} if cluster is None else {cluster: numbers}))


class _Dicts:
    """Rows as dicts; a row may lack columns."""

    def __init__(self, rows: Any) -> None:
        self._rows: list[dict[str, Any]] = list(rows)
        wrong = next((row for row in self._rows if not isinstance(row, dict)), None)
        if wrong is not None:
            raise ConfigError(f"got a row of type {type(wrong).__name__}, expected dicts")
        self.names = list(dict.fromkeys(name for row in self._rows for name in row))

    def column(self, argument: str, name: str) -> list[Any]:
        if self._rows:
            _check_column(argument, name, self.names)
        return [row.get(name) for row in self._rows]

    def result(self, kept: NDArray[np.bool_] | None, added: dict[str, list[int]]) -> list[dict[str, Any]]:
        rows = self._rows
        if added:
            rows = [{**row, **{name: values[at] for name, values in added.items()}} for at, row in enumerate(rows)]
        return list(rows if kept is None else compress(rows, kept))


class _Frame:
    """A frame of any library that narwhals knows."""

    def __init__(self, data: Any) -> None:
        try:
            self._narwhals: Any = import_module("narwhals")
        except ImportError:
            raise ConfigError(
                'frames need narwhals: pip install "stream_lsh[frames]", or pass a list of dicts'
            ) from None
        kind = type(data).__name__
        try:
            self._frame = self._narwhals.from_native(data, eager_only=True)
            self.names: list[str] = self._frame.columns
        except self._narwhals.exceptions.DuplicateError:
            raise ConfigError(f"got a {kind} with two columns of the same name, expected distinct names") from None
        except TypeError:
            expected = "an in-memory frame of pandas, polars or pyarrow, or an iterable of dicts"
            raise ConfigError(f"got {kind}, expected {expected}") from None
        if len({*self.names}) < len(self.names):  # pyarrow allows it
            raise ConfigError(f"got a {kind} with two columns of the same name, expected distinct names")

    def column(self, argument: str, name: str) -> list[Any]:
        _check_column(argument, name, self.names)
        series = self._frame[name]
        missing = series.is_null().to_list()
        return [None if lacks else value for value, lacks in zip(series.to_list(), missing, strict=True)]

    def result(self, kept: NDArray[np.bool_] | None, added: dict[str, list[int]]) -> Any:
        frame = self._frame
        for name, values in added.items():
            column = self._narwhals.new_series(name, values, self._narwhals.Int64, backend=frame.implementation)
            frame = frame.with_columns(_with_index(self._narwhals, column, frame))
        return (frame if kept is None or kept.all() else frame.filter(kept.tolist())).to_native()


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


def _check_column(argument: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        shown = ", ".join(map(repr, names[:_SHOWN])) or "none"
        raise ConfigError(f"{argument}: got the column {name!r}, expected one of {shown}")


def _texts(values: Sequence[object], name: str) -> list[str | None]:
    """The texts of a column; None where they are missing, as NaN is in pandas."""
    found: list[str | None] = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            found.append(value)
        elif value is None or value != value:  # noqa: PLR0124 - NaN
            found.append(None)
        else:
            raise ConfigError(f"text: got {type(value).__name__} in row {row} of {name!r}, expected strings")
    return found


def _numbers(table: _Frame | _Dicts, name: str) -> NDArray[np.float64]:
    numbers = np.full(len(values := table.column("keep", name)), -math.inf)
    for row, value in enumerate(values):
        if value is None:
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ConfigError(f"keep: got {value!r:.60} in row {row} of {name!r}, expected a number") from None
        numbers[row] = -math.inf if math.isnan(number) else number
    return numbers
