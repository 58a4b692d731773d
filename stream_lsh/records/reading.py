"""Reads records: maps columns to fields, and converts values to standard forms."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stream_lsh.errors import MalformedMessage
from stream_lsh.records.model import SEVERAL, Column, Record, Values
from stream_lsh.records.profile import Profile, folded
from stream_lsh.records.standardise.catalog import (
    LONGEST_TEXT,
    MOST_LISTED,
    NOTHING,
    Standardise,
    standard_value,
    standardiser,
)
from stream_lsh.records.standardise.name import SUFFIXES

LONGEST_RECORD = 4 * LONGEST_TEXT
"""The most characters of a record's standardised values, all fields together."""
_MOST_PLANS, _MOST_COLUMNS = 256, 1_000


class Plan(NamedTuple):
    """The columns of records of one form, in order of precedence.

    Attributes:
        fields: for each field of the profile the columns that may contain its value.
        ids: columns that may contain the id.
        sources: columns that may contain the source.
    """

    fields: list[list[str]]
    ids: list[str]
    sources: list[str]


class Reader:
    """Converts records to standardised values, in the order of a profile's fields.

    Columns that are not in the profile are ignored.

    Args:
        profile: the fields and their columns.

    Raises:
        MalformedMessage: on reading, a value that is not a text, a number or a list of these -> dead-letter the record.

    Example:
        >>> from stream_lsh.records.profile import Field
        >>> name, full = Field(name="surname", type="name", columns=("last name",)), Field(name="full", of=("surname",))
        >>> reader = Reader(Profile(name="people", fields=(name, full), comparisons=()))
        >>> record = Record("1", {"LAST_NAME": " O'Neill", "shoe size": 9})
        >>> reader.values(record), reader.raw_values(record)
        (('oneill', 'oneill'), {'surname': " O'Neill"})
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._missing = missing_of(profile)
        self._fields: list[tuple[str, Standardise]] = [
            (field.name, standardiser(field.type, field.order)) for field in profile.fields
        ]
        self._names = [tuple(map(folded, (*field.columns, field.name))) for field in profile.fields]
        self._ids, self._sources = (
            tuple(map(folded, columns)) for columns in (profile.id_columns, profile.source_columns)
        )
        places = {name: place for place, name in enumerate(profile.names)}
        self._of = [
            (at, [places[name] for name in one.of], one.part) for at, one in enumerate(profile.fields) if one.of
        ]
        self._plans: dict[tuple[str, ...], Plan] = {}

    def values(self, record: Record) -> Values:
        """The standardised values of a record, one for each field of the profile, "" for a missing value.

        Guarantees:
            at most `LONGEST_RECORD` characters together; the longest values are cut to this limit.
        """
        return self.read(record.fields)[0]

    def raw_values(self, record: Record) -> dict[str, object]:
        """The values before standardisation, by the names of the profile's fields; a field without a value is absent.

        Guarantees:
            each is the value whose standard form is in `values`; of a list only the items that are read.  Values that
            are derived from other fields are absent.
        """
        return self.read(record.fields)[1]

    def read(self, columns: Mapping[str, object]) -> tuple[Values, dict[str, object]]:
        """`values` and `raw_values` of the columns of a record, in one pass."""
        plan = self.plan(tuple(columns)).fields
        values, raw_values = list[str](), dict[str, object]()
        for candidates, (name, standardise) in zip(plan, self._fields, strict=True):
            value = ""
            for column in candidates:
                raw = columns[column]
                try:
                    value = standard_value(raw, standardise, self._missing)
                except MalformedMessage as error:
                    raise MalformedMessage(error.reason, f"{ascii(column)[:60]}: {error}") from None
                if value:
                    raw_values[name] = raw[:MOST_LISTED] if isinstance(raw, list | tuple) else raw
                    break
            values.append(value)
        return _bounded(self._derived(values)), raw_values

    def _derived(self, values: list[str]) -> Values:
        """The values, completed by those derived from other fields."""
        own = tuple(values)
        for at, places, part in self._of:
            if not own[at]:
                words = " ".join([own[place].partition(SEVERAL)[0] for place in places]).split()
                values[at] = self._fields[at][1](" ".join(_part_of(words, part)))
        return tuple(values)

    def plan(self, columns: tuple[str, ...]) -> Plan:
        """The plan for records with these columns; all records of a file share it.

        Raises:
            MalformedMessage: the name of a column is no text.
        """
        plan = self._plans.get(columns)
        if plan is None:
            for column in columns:
                if not isinstance(column, str):
                    raise MalformedMessage("field", f"got {column!r:.60} as the name of a field, expected a text")
            by_name = {folded(column): column for column in reversed(columns)}
            fields, ids, sources = (
                [[by_name[name] for name in names if name in by_name] for names in several]
                for several in (self._names, [self._ids], [self._sources])
            )
            plan = Plan(fields, ids[0], sources[0])
            if len(self._plans) >= _MOST_PLANS:  # records without a common form must not fill the memory
                self._plans.clear()
            if len(columns) <= _MOST_COLUMNS:
                self._plans[columns] = plan
        return plan


def _part_of(words: list[str], part: str) -> list[str]:
    """The last word, the others or all; a generation such as `jr` is no surname and stays with the others."""
    last = len(words) - 1
    while last > 1 and words[last] in SUFFIXES:
        last -= 1
    return words[last : last + 1] if part == "last" else words[:last] + words[last + 1 :] if part == "first" else words


def _bounded(values: Values) -> Values:
    """The values, with the longest ones cut to a common length, so that all of them fit the limit."""
    if sum(map(len, values)) <= LONGEST_RECORD:
        return values
    room, left = LONGEST_RECORD, len(values)
    for length in sorted(map(len, values)):
        if length * left > room:
            break
        room, left = room - length, left - 1
    return tuple(_cut(value, room // left) for value in values)


def _cut(value: str, most: int) -> str:
    """The first characters of a value; of several values the complete ones that fit, or the beginning of the first."""
    if len(value) <= most:
        return value
    whole, _, _ = value[: most + 1].rpartition(SEVERAL)
    return whole or value[:most].rstrip()


def missing_of(profile: Profile) -> frozenset[str]:
    """The texts for a missing value, in lower case."""
    return NOTHING | {text.strip().lower() for text in profile.missing}


def columns_of(records: Sequence[Values]) -> list[Column]:
    """The values of n records as one column for each field."""
    return [Column.of(values) for values in zip(*records, strict=True)] if records else []
