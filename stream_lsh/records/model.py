"""A record as it came, and records as columns of standardised values.

A standardised value is a text without control characters, "" where there is none.  Several values of one field are
one text, with `SEVERAL` between them.  So a value is always one string, which hashes, compares and is stored as one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from stream_lsh.arrays import I64

SEVERAL = "\x1f"
"""Between the values of one field."""

Values: TypeAlias = tuple[str, ...]
"""The standardised values of one record, in the order of the profile's fields."""

_BETWEEN = "\x1e"


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


def as_text(values: Values, id: str) -> str:
    r"""Values and id as one text, which a table of documents can keep.

    Example:
        >>> as_text(("ann", ""), "7"), values_of(as_text(("ann", ""), "7"), 2)
        ('ann\x1e\x1e7', ('ann', ''))
    """
    return _BETWEEN.join((*values, id))


def values_of(text: str, fields: int) -> Values:
    """The values in such a text, of so many fields; whatever the id holds."""
    return tuple(text.split(_BETWEEN, fields)[:fields])


@dataclass(frozen=True, slots=True)
class RecordMatch:
    """Two records that are the same thing, or may be: `left` < `right` by UTF-8 bytes.

    Attributes:
        probability: of a match; of a profile that has learned nothing, the weighted mean.
        score: the same in bits, with the prior.
        weights: bits of each comparison in which both have a value, by its name.
        rules: the blocks that both are in.
    """

    left: str
    right: str
    probability: float
    score: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict, repr=False)
    rules: tuple[str, ...] = field(default=(), repr=False)


class SimilarRecord(NamedTuple):
    """A record that another one matches, or may match."""

    id: str
    probability: float
    score: float
    weights: Mapping[str, float]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entity:
    """Records that are one thing, under an id that stays.

    Attributes:
        id: as long as the entity lives, whoever joins or leaves.
        members: ids, newest first by event time.
        golden: of each field the value that stands for it, as the profile keeps it.
    """

    id: str
    members: tuple[str, ...]
    golden: Mapping[str, object] = field(default_factory=dict)
