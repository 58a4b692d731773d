"""Converts objects of files to records: flat fields, id, source, time."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

import msgspec

from stream_lsh.errors import ConfigError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.record.messages import checked_source
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile, column_of
from stream_lsh.wire.ids import checked_id
from stream_lsh.wire.message import AUTO, EXPECTED_TIME, time_of_message, typed

TIME = "time"
"""The default name of the event time in files."""
DELETED = "deleted"

_PLANS = 256


@dataclass(frozen=True, slots=True)
class RecordNames:
    """The names of the columns of id, source and time; of several names the first one in a file counts.

    Attributes:
        id: names of the id.
        source: names of the source.
        must: whether a table must have the source, because an option names its column.
        time: name of the time; "" if times are not read.
        must_time: whether a table must have the time.
        time_unit: of numeric times.
    """

    id: tuple[str, ...]
    source: tuple[str, ...]
    must: bool = False
    time: str = ""
    must_time: bool = False
    time_unit: str = AUTO

    @classmethod
    def of(
        cls,
        profile: Profile,
        id_column: str | None = None,
        source_column: str | None = None,
        time_column: str | None = None,
        *,
        timed: bool = False,
        time_unit: str = AUTO,
    ) -> "RecordNames":
        """The names of a profile, unless an option names the column; `timed`: whether times are read."""
        return cls(
            profile.id_columns if id_column is None else (id_column,),
            profile.source_columns if source_column is None else (source_column,),
            source_column is not None,
            (time_column or TIME) if timed else "",
            timed and time_column is not None,
            time_unit,
        )


class RecordMaker:
    """Constructs the records of one file.

    Args:
        names: of the columns of id and source.
        source: the default source; "" for none.
        check: raises InputError for a record that is to be rejected; None: all are accepted.
        latest_ms: the latest possible event time; None: any.

    Example:
        >>> make = RecordMaker(RecordNames(("id",), ("source",)), "")
        >>> make.record({"ID": 7, "name": "Ann"})
        Record(id='7', fields={'name': 'Ann'}, source='', time_ms=0)
        >>> make.record({"id": "7", "Source": "crm", "name": {"first": "Ann"}, "phones": [{"no": "1"}, {"no": "2"}]})
        Record(id='crm/7', fields={'name_first': 'Ann', 'no': ['1', '2']}, source='crm', time_ms=0)
    """

    def __init__(
        self,
        names: RecordNames,
        source: str,
        check: Callable[[Record], None] | None = None,
        latest_ms: int | None = None,
    ) -> None:
        self._names = names
        self._source = source
        self._check = check
        self._latest_ms = latest_ms
        self._plans: dict[tuple[str, ...], tuple[str | None, str | None]] = {}

    def require(self, path: str, columns: Sequence[str], *, has_ids: bool = False) -> None:
        """Check that a table has a column for the id, and those for source and time if an option names them.

        Args:
            path: of the table, for messages.
            columns: of the table.
            has_ids: whether the ids are given in another way than by a column.

        Raises:
            ConfigError: a column is missing -> name the column.
        """
        id, source = self._plan(tuple(columns))
        shown = ", ".join(repr(name) for name in columns[:20] if name)
        if id is None and not has_ids:
            wanted = " or ".join(map(repr, self._names.id[:6]))
            raise ConfigError(
                f"{path}: got no column {wanted} for the id, found {shown}: set --id-column, or "
                "`id_columns` of the profile"
            )
        if source is None and self._names.must:
            raise ConfigError(f"{path}: got no column {self._names.source[0]!r} for the source, found {shown}")
        if self._names.must_time and self._names.time not in columns:
            raise ConfigError(f"{path}: got no column {self._names.time!r} for the time, found {shown}")

    def record(self, columns: Mapping[str, object]) -> Record:
        """The record in an object.

        Raises:
            InputError: no id, an unusable source or time, or as of `check` -> reject the record.
        """
        fields = flat(columns)
        id_column, source_column = self._plan(tuple(fields))
        id = word(fields.get(id_column or ""))
        if not id:
            wanted = " or ".join(f"`{name}`" for name in ((id_column,) if id_column else self._names.id[:6]))
            got = fields.get(id_column or "")
            found = f"no {wanted}" if got is None or isinstance(got, str) else f"{got!a:.60} as {wanted}"
            raise UnusableDocument("id", f"got {found}, expected a text or a whole number; --id-column names another")
        own_source = checked_source(word(fields.get(source_column or "")), source_column or "source")
        source = own_source or self._source
        special = (id_column, source_column)
        record = Record(
            checked_id(full_id(source, id)),
            {name: value for name, value in fields.items() if name not in special},
            source,
            self._time(fields.get(self._names.time)) if self._names.time else 0,
        )
        if self._check is not None:
            self._check(record)
        return record

    def _time(self, value: object) -> int:
        name = self._names.time
        time = typed({name: value}, name, (str, int, float), "time", EXPECTED_TIME)
        if isinstance(time, str):
            time = time.strip() or None
        time_ms = time_of_message(time, 0, unit=self._names.time_unit)
        if self._latest_ms is not None and time_ms > self._latest_ms:
            raise UnusableDocument("time", "got a time in the future: a wrong clock, or another --time-unit?")
        return time_ms

    def _plan(self, columns: tuple[str, ...]) -> tuple[str | None, str | None]:
        """The columns of the id and of the source."""
        if columns not in self._plans:
            if len(self._plans) >= _PLANS:  # records without a common form must not fill the memory
                self._plans.clear()
            self._plans[columns] = special_columns(self._names, columns)
        return self._plans[columns]


def special_columns(names: RecordNames, columns: Sequence[str]) -> tuple[str | None, str | None]:
    """The columns of the id and of the source, if a file with these columns has them."""
    return _column(names.id, columns), _column(names.source, columns)


def _column(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column with one of these names; an exact match takes precedence over a match of folded names."""
    return next((name for name in names if name in columns), None) or column_of(names, columns)


def full_id(source: str, id: str) -> str:
    """The id of a record in all sources: records of different sources have different ids.

    Example:
        >>> full_id("crm", "7"), full_id("", "a/b"), full_id("a/b", "c")
        ('crm/7', 'a/b', 'a%2Fb/c')
    """
    return f"{source.replace('%', '%25').replace('/', '%2F')}/{id}" if source else id


def deleted(record: Record, name: str = DELETED) -> bool:
    """Whether a record is marked as deleted, as in messages."""
    return record.fields.get(name) is True


def word(value: object) -> str:
    """An id or a source as a text; "" for a value of another type."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a column of numbers with gaps, as pandas writes it
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def fields_of(line: bytes, encoding: str = "utf-8") -> Mapping[str, object]:
    """The object in a line of JSON.

    Raises:
        MalformedMessage: the line is not a JSON object -> reject it.
    """
    try:
        text = line.decode(encoding)
    except UnicodeDecodeError as error:
        raise MalformedMessage(
            "encoding",
            f"got bytes that are not {encoding.upper()} (at byte {error.start}): set --encoding",
        ) from None
    try:
        fields = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise MalformedMessage("json", f"got a line that is not JSON ({error}), expected an object a line") from None
    except RecursionError:
        raise MalformedMessage("json", "got JSON that is nested too deeply, expected an object with fields") from None
    if not isinstance(fields, dict):
        raise MalformedMessage(
            "json", f"got {json.dumps(fields)[:60]}, expected a JSON object with the fields of a record"
        )
    return fields


def flat(columns: Mapping[str, object]) -> Mapping[str, object]:
    """The flattened fields of an object, each a text, a number, or a list of these.

    A field of an inner object is prefixed with the name of the object.  Fields of objects in a list become fields of
    the record without a prefix.  A field that occurs several times has a list of values.

    Example:
        >>> flat({"name": {"first": "Ann"}, "FEATURES": [{"PHONE": "1"}, {"PHONE": "2", "DOB": None}], "tags": ["x"]})
        {'name_first': 'Ann', 'PHONE': ['1', '2'], 'DOB': None, 'tags': 'x'}
    """
    if all(value is None or type(value) in (str, int, float, bool) for value in columns.values()):
        return columns
    fields: dict[str, object] = {}
    try:
        _gather(columns, "", fields)
    except RecursionError:
        raise MalformedMessage("json", "got values that are nested too deeply, expected fields") from None
    return fields


def _gather(columns: Mapping[str, object], before: str, fields: dict[str, object]) -> None:
    for key, value in columns.items():
        _put(value, f"{before}{key}", before, fields)


def _put(value: object, name: str, before: str, fields: dict[str, object]) -> None:
    if isinstance(value, dict):
        _gather(value, f"{name}_", fields)
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, dict):
                _gather(item, before, fields)
            else:
                _put(item, name, before, fields)
    elif fields.get(name) is None:
        fields[name] = _plain(value)
    elif value is not None:
        others = fields[name]
        fields[name] = [*(others if isinstance(others, list) else [others]), _plain(value)]


def _plain(value: object) -> object:
    """A value of a type that standard forms accept; Parquet has more types than JSON."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)
