"""A record as it came, and records as columns of standardised values.

A standardised value is a text without control characters, "" where there is none.  Several values of one field are
one text, with `SEVERAL` between them.  So a value is always one string, which hashes, compares and is stored as one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from stream_lsh.arrays import I64

SEVERAL = "\x1f"
"""Between the values of one field."""

Values: TypeAlias = tuple[str, ...]
"""The standardised values of one record, in the order of the profile's fields."""


class Record(NamedTuple):
    """What is matched: named fields under an id.

    Attributes:
        id: what the user calls it; a later record of the same id replaces this one.
        fields: by the name of the column; a value is a text, several texts, or None where it is missing.
        source: where it comes from; two records of a source without duplicates are never the same thing.
        time_ms: event time, milliseconds since the epoch.
    """

    id: str
    fields: Mapping[str, object]
    source: str = ""
    time_ms: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One value of each of n records, equal ones stored once.

    Attributes:
        codes: int64[n], the place of the record's value in `values`; -1 where there is none.
        values: distinct, none of them empty.

    Example:
        >>> column = Column.of(["ann", "", "bob", "ann"])
        >>> column.codes.tolist(), column.values
        ([0, -1, 1, 0], ['ann', 'bob'])
    """

    codes: I64
    values: list[str]

    @classmethod
    def of(cls, values: Iterable[str]) -> "Column":
        """The column of some values, "" for none."""
        places: dict[str, int] = {"": -1}
        codes = [places.setdefault(value, len(places) - 1) for value in values]
        return cls(np.array(codes, np.int64), list(places)[1:])
