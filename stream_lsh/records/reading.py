"""Records to values: which columns are which fields, and their standard forms."""

from collections.abc import Iterable, Sequence

from stream_lsh.records.model import SEVERAL, Column, Record, Values
from stream_lsh.records.profile import Profile, folded
from stream_lsh.records.standardise.catalog import NOTHING, Standardise, standard_value, standardiser


class Reader:
    """Records to standardised values, in the order of a profile's fields.

    Columns that the profile does not name are not read.

    Args:
        profile: which fields there are, and what files call them.

    Raises:
        MalformedMessage: on reading, a value that is no text, number or list of them -> dead-letter the record.

    Example:
        >>> from stream_lsh.records.profile import Field
        >>> name, full = Field(name="surname", type="name", columns=("last name",)), Field(name="full", of=("surname",))
        >>> reader = Reader(Profile(name="people", fields=(name, full), comparisons=()))
        >>> reader.values(Record("1", {"LAST_NAME": " O'Neill", "shoe size": 9}))
        ('oneill', 'oneill')
    """

    def __init__(self, profile: Profile) -> None:
        self._missing = NOTHING | {text.strip().lower() for text in profile.missing}
        self._types: list[Standardise] = [standardiser(field.type, field.order) for field in profile.fields]
        self._names = [tuple(map(folded, (*field.columns, field.name))) for field in profile.fields]
        places = {name: place for place, name in enumerate(profile.names)}
        self._of = [
            (at, [places[name] for name in one.of], one.part) for at, one in enumerate(profile.fields) if one.of
        ]
        self._plans: dict[tuple[str, ...], list[list[str]]] = {}

    def values(self, record: Record) -> Values:
        """The standardised values of a record: as many as the profile has fields, "" for none."""
        fields = record.fields
        plan = self._plan(tuple(fields))
        found = []
        for columns, standardise in zip(plan, self._types, strict=True):
            value = ""
            for column in columns:
                value = standard_value(fields[column], standardise, self._missing)
                if value:
                    break
            found.append(value)
        given = tuple(found)
        for at, places, part in self._of:
            if not found[at]:
                words = " ".join([given[place].partition(SEVERAL)[0] for place in places]).split()
                chosen = words[-1:] if part == "last" else words[:-1] if part == "first" else words
                found[at] = self._types[at](" ".join(chosen))
        return tuple(found)

    def _plan(self, columns: tuple[str, ...]) -> list[list[str]]:
        """The columns of each field, in the order in which they are asked; the same for all records of a file."""
        if columns not in self._plans:
            if len(self._plans) > 256:  # records without a common form must not fill the memory
                self._plans.clear()
            by_name = {folded(column): column for column in reversed(columns)}
            self._plans[columns] = [[by_name[name] for name in names if name in by_name] for names in self._names]
        return self._plans[columns]


def columns_of(records: Sequence[Values]) -> list[Column]:
    """The values of n records as one column for each field."""
    return [Column.of(values) for values in zip(*records, strict=True)] if records else []


def words_of(values: Iterable[str]) -> Iterable[str]:
    """The distinct words of each value, one value after the other."""
    for value in values:
        yield from sorted(set(value.replace(SEVERAL, " ").split()))
