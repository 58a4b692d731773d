"""Raw records, and records as columns of standardised values.

A standardised value is a text without control characters, "" for a missing value.  Several values of one field are
joined to one text with `SEVERAL`.  So a value is always one string, which can be hashed, compared and stored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.markup.bars import weights
from stream_lsh.markup.page import table
from stream_lsh.markup.texts import line

SEVERAL = "\x1f"
"""The separator of the values of one field."""

Values: TypeAlias = tuple[str, ...]
"""The standardised values of one record, in the order of the profile's fields."""

_BETWEEN = "\x1e"


class Record(NamedTuple):
    """A record: named fields with an id.

    Attributes:
        id: given by the user; a later record with the same id replaces this one.
        fields: by the name of the column; a value is a text, several texts, or None if it is missing.
        source: the origin of the record; two records of a source without duplicates are never one entity.
        time_ms: event time, milliseconds since the epoch.
    """

    id: str
    fields: Mapping[str, object]
    source: str = ""
    time_ms: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One value of each of n records; equal values are stored once.

    Attributes:
        codes: int64[n], the index of the record's value in `values`; -1 for a missing value.
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
        """The column of some values, "" for a missing value."""
        places: dict[str, int] = {"": -1}
        codes = [places.setdefault(value, len(places) - 1) for value in values]
        return cls(np.array(codes, np.int64), list(places)[1:])


def as_text(values: Values, id: str) -> str:
    r"""Values and id as one text, which a table of documents can store.

    Example:
        >>> as_text(("ann", ""), "7"), values_of(as_text(("ann", ""), "7"), 2)
        ('ann\x1e\x1e7', ('ann', ''))
    """
    return _BETWEEN.join((*values, id))


def values_of(text: str, fields: int) -> Values:
    """The values of the first `fields` fields in a text of `as_text`, without the id."""
    return tuple(text.split(_BETWEEN, fields)[:fields])


@dataclass(frozen=True, slots=True)
class RecordMatch:
    """Two records that are, or may be, one entity: `left` < `right` by UTF-8 bytes.

    Attributes:
        probability: of a match; for a profile without trained weights, the weighted mean.
        score: the probability in bits, with the prior.
        weights: the match weight of each comparison for which both records have a value, by its name.
        rules: the blocks that contain both records.
    """

    left: str
    right: str
    probability: float
    score: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict, repr=False)
    rules: tuple[str, ...] = field(default=(), repr=False)

    def _repr_html_(self) -> str:
        """The waterfall of the score, for notebooks; without trained weights, the probability alone."""
        parts = [f"<p>{line(self.left)} and {line(self.right)}: probability {self.probability:.4f}</p>"]
        if self.score != self.probability:
            parts += weights(self.weights, self.score - sum(self.weights.values()))
        return "".join(parts)


class SimilarRecord(NamedTuple):
    """A record that matches, or may match, the query of a search."""

    id: str
    probability: float
    score: float
    weights: Mapping[str, float]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity: the records of one thing.

    Attributes:
        id: constant for the life of the entity, whatever its members.
        members: ids, newest first by event time.
        golden: the surviving value of each field, by the `keep` rules of the profile.
    """

    id: str
    members: tuple[str, ...]
    golden: Mapping[str, object] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """The golden record, for notebooks."""
        rows = [(line(name), line(value)) for name, value in self.golden.items() if value not in (None, "")]
        return "".join(table(["field", "value"], rows, f"{len(self.members):,} records: golden record"))
