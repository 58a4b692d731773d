"""From an object of a file to a record: its fields side by side, its id, its source, its time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from time import time as now

import msgspec

from stream_lsh.errors import ConfigError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.record.messages import checked_source
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile, column_of
from stream_lsh.wire.ids import checked_id
from stream_lsh.wire.message import AUTO, EXPECTED_TIME, time_of_message, typed

TIME = "time"
"""What files call the event time if nothing else is said."""
DELETED = "deleted"

_PLANS = 256
_MAX_AHEAD_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class RecordNames:
    """What files call the id, the source and the time: the first of these names that a file has.

    Attributes:
        id: names of the id.
        source: names of the source.
        must: whether a table has to have the source, for somebody has named its column.
        time: name of the time; "" where nobody asks for it.
        must_time: as `must`.
        time_unit: of times that are numbers.
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
        """Those of a profile, unless an option has named the column; `timed` if times are read at all."""
        return cls(
            profile.id_columns if id_column is None else (id_column,),
            profile.source_columns if source_column is None else (source_column,),
            source_column is not None,
            (time_column or TIME) if timed else "",
            timed and time_column is not None,
            time_unit,
        )


class RecordMaker:
    """Makes the records of one file.

    Args:
        names: what the id and the source are called.
        source: of a record that does not tell; "" for none.

    Example:
        >>> make = RecordMaker(RecordNames(("id",), ("source",)), "")
        >>> make.record({"ID": 7, "name": "Ann"})
        Record(id='7', fields={'name': 'Ann'}, source='', time_ms=0)
        >>> make.record({"id": "7", "Source": "crm", "name": {"first": "Ann"}, "phones": [{"no": "1"}, {"no": "2"}]})
        Record(id='crm/7', fields={'name_first': 'Ann', 'no': ['1', '2']}, source='crm', time_ms=0)
    """

    def __init__(self, names: RecordNames, source: str) -> None:
        self._names = names
        self._source = source
        self._latest_ms = int(now() * 1000) + _MAX_AHEAD_MS
        self._plans: dict[tuple[str, ...], tuple[str | None, str | None]] = {}

    def require(self, path: str, columns: Sequence[str]) -> None:
        """Nothing, if the columns of a table have the id, and source and time where these were named.

        Raises:
            ConfigError: they have not -> name the column.
        """
        id, source = self._plan(tuple(columns))
        shown = ", ".join(repr(name) for name in columns[:20] if name)
        if id is None:
            wanted = " or ".join(map(repr, self._names.id[:6]))
            raise ConfigError(
                f"{path}: got no column {wanted} for the id, there are {shown}: name it with --id-column, or in the "
                "profile with `id_columns`"
            )
        if source is None and self._names.must:
            raise ConfigError(f"{path}: got no column {self._names.source[0]!r} for the source, there are {shown}")
        if self._names.must_time and self._names.time not in columns:
            raise ConfigError(f"{path}: got no column {self._names.time!r} for the time, there are {shown}")

    def record(self, columns: Mapping[str, object]) -> Record:
        """The record in an object.

        Raises:
            InputError: without an id, or with a source or a time that cannot be used -> put it aside.
        """
        fields = flat(columns)
        id_column, source_column = self._plan(tuple(fields))
        id = _word(fields.get(id_column or ""))
        if not id:
            wanted = " or ".join(f"`{name}`" for name in ((id_column,) if id_column else self._names.id[:6]))
            raise UnusableDocument(
                "id", f"got no {wanted}, expected a text or a whole number; --id-column names another"
            )
        own_source = checked_source(_word(fields.get(source_column or "")), source_column or "source")
        source = own_source or self._source
        special = (id_column, source_column)
        return Record(
            checked_id(full_id(source, id)),
            {name: value for name, value in fields.items() if name not in special},
            source,
            self._time(fields.get(self._names.time)) if self._names.time else 0,
        )

    def _time(self, value: object) -> int:
        name = self._names.time
        time = typed({name: value}, name, (str, int, float), "time", EXPECTED_TIME)
        if isinstance(time, str):
            time = time.strip() or None
        time_ms = time_of_message(time, 0, unit=self._names.time_unit)
        if time_ms > self._latest_ms:
            raise UnusableDocument("time", "got a time that has not come yet: a wrong clock, or another --time-unit?")
        return time_ms

    def _plan(self, columns: tuple[str, ...]) -> tuple[str | None, str | None]:
        """The columns of the id and of the source."""
        if columns not in self._plans:
            if len(self._plans) >= _PLANS:  # records without a common form must not fill the memory
                self._plans.clear()
            self._plans[columns] = (_column(self._names.id, columns), _column(self._names.source, columns))
        return self._plans[columns]


def _column(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column of one of some names; one that is written just so goes before one that only sounds like it."""
    return next((name for name in names if name in columns), None) or column_of(names, columns)


def full_id(source: str, id: str) -> str:
    """What a record goes by: no two records of different sources have the same.

    Example:
        >>> full_id("crm", "7"), full_id("", "a/b"), full_id("a/b", "c")
        ('crm/7', 'a/b', 'a%2Fb/c')
    """
    return f"{source.replace('%', '%25').replace('/', '%2F')}/{id}" if source else id


def deleted(record: Record, name: str = DELETED) -> bool:
    """Whether a record says of itself that there is no such record any more, as messages do."""
    return record.fields.get(name) is True


def _word(value: object) -> str:
    """An id or a source as a text; "" for what is none."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a column of numbers with gaps, as pandas writes it
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def fields_of(line: bytes, encoding: str = "utf-8") -> Mapping[str, object]:
    """The object in a line of JSON.

    Raises:
        MalformedMessage: it is none -> put it aside.
    """
    try:
        text = line.decode(encoding)
    except UnicodeDecodeError as error:
        raise MalformedMessage(
            "encoding",
            f"got bytes that are not {encoding.upper()} (at byte {error.start}): say with --encoding what they are",
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
    """The fields of an object side by side, each a text, a number, or several of them.

    The fields of an inner object have its name before theirs.  Those of objects in a list stand as if they were the
    record's own.  What comes several times has several values.

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
    """A value as standard forms take it; Parquet has types that JSON has not."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)
