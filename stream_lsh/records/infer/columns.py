"""Columns of standardised values, and placeholders for missing values.

Words such as `n/a` and `not available` are placeholders wherever they occur.  Values such as 0.0, 1900-01-01 or 99999
may be values: they are placeholders where they are far more frequent than any other value of their column.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stream_lsh.records.infer.types import LONG_WORDS, Kind, kind_of
from stream_lsh.records.profile import folded
from stream_lsh.records.standardise.catalog import NOTHING, standard_value, standardiser

_WORDS = frozenset(
    "na n.a. n.a n.d. nil void undefined unspecified unassigned missing blank empty tbd tba unk unk. [unknown] "
    "(unknown) <na> <null> (none) [none] (null) \\n . .. ... _ __ ---".split()
) | {
    "not available", "not applicable", "not known", "not specified", "not provided", "not given", "no value", "no data",
    "no entry", "not entered", "to be determined",
}  # fmt: skip
_MAYBE = re.compile(
    r"[-+$€£]?[0.,:/\s()-]*0[0.,:/\s()-]*|-1|-?9{3,}(?:\.0+)?|\(?9{3}\)?[\s-]?9{3}-?9{4}|x{1,10}|"
    r"1900-01-01|1970-01-01|0?1/0?1/1900|0?1/0?1/1970|9999-12-31|12/31/9999|0001-01-01|other|various|anonymous|test|"
    r"no (?:phone|fax|email|website|name|address)|no|none given"
)
_TYPED = 2_000
"""The number of values that determine the type."""
_LEAST, _TIMES = 5, 5
"""A placeholder that may be a value occurs this often, and this many times as often as the next value."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A column of a sample.

    Attributes:
        column: its name in files.
        name: of the field.
        kind: its type.
        values: the standardised values, "" for a missing one.
        placeholders: values that stand for a missing one, with their count.
    """

    column: str
    name: str
    kind: Kind
    values: list[str]
    placeholders: Mapping[str, int]

    @property
    def distinct(self) -> int:
        """The number of different values."""
        return len({value for value in self.values if value})

    @property
    def mean_words(self) -> float:
        """The mean number of words of a value."""
        filled = [value.count(" ") + 1 for value in self.values if value]
        return sum(filled) / max(1, len(filled))

    @property
    def filled(self) -> float:
        """The share of records with a value."""
        return sum(map(bool, self.values)) / max(1, len(self.values))

    @property
    def is_text(self) -> bool:
        """Whether values are texts of several words."""
        return self.kind.type in ("text", "name", "company", "address") and self.mean_words >= 1.5

    @property
    def is_long(self) -> bool:
        """Whether values are long texts."""
        return self.kind.type == "text" and self.mean_words > LONG_WORDS


def placeholders_of(columns: Sequence[Sequence[object]]) -> frozenset[str]:
    """The texts that stand for a missing value in all of some columns, in lower case; the default ones are not listed.

    Args:
        columns: the value of each record, None if absent.

    Example:
        >>> sorted(placeholders_of([["51.5", "52.25", "48.1", "47.2", "46.3", *["0.0"] * 5], ["x", "not available"]]))
        ['0.0', 'not available']
    """
    counts = [Counter(value.lower() for value in plain_values(column) if value) for column in columns]
    words = {value for own in counts for value in own if value in _WORDS}
    frequent = [_frequent(own) for own in counts]
    maybe = {value for own in frequent for value in own}
    # A text is missing in all columns or in none, because the reader knows one list for the record.
    content = {
        value for own, found in zip(counts, frequent, strict=True) for value in maybe - found if own[value] >= _LEAST
    }
    return frozenset(words | (maybe - content))


def plain_values(raw: Sequence[object]) -> list[str]:
    """The values of a column as texts, "" for a missing one."""
    return [standard_value(value, str.strip) for value in raw]


def seen_of(column: str, raw: Sequence[object], taken: Iterable[str], missing: frozenset[str] = frozenset()) -> Seen:
    """The column with a name.

    Args:
        column: its name in files.
        raw: its value in each record, None if absent.
        taken: the folded names of other columns and fields.
        missing: placeholders, as of `placeholders_of`.

    Example:
        >>> one = seen_of("Lat", ["51.5", "52.25", "0.0"], [], frozenset({"0.0"}))
        >>> one.kind.form, one.values, one.placeholders
        ('latitude', ['51.5', '52.25', ''], {'0.0': 1})
    """
    plain = plain_values(raw)
    found = Counter(value.lower() for value in plain if value.lower() in missing)
    content = [value for value in plain if value and value.lower() not in missing]
    kind = kind_of(column, content[:: max(1, len(content) // _TYPED)])
    standardise, every = standardiser(kind.type), NOTHING | missing
    values = [standard_value(value, standardise, every) for value in raw]
    return Seen(column, _field_name(column, {*taken}), kind, values, dict(sorted(found.items())))


def _frequent(counts: Mapping[str, int]) -> set[str]:
    """The values that look like placeholders and are far more frequent than any other value."""
    maybe = {value: count for value, count in counts.items() if _MAYBE.fullmatch(value)}
    others = sorted((count for value, count in counts.items() if value not in maybe), reverse=True)
    if len(others) < _LEAST:
        return set()
    return {value for value, count in maybe.items() if count >= max(_LEAST, _TIMES * others[0])}


def _field_name(column: str, taken: Collection[str]) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")[:48]
    return free_name(name if re.match("[a-z]", name) else f"field_{name}".strip("_"), taken)


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken: a field reads the columns with its own name, too.

    Args:
        name: of a field.
        taken: the folded names of other columns and fields.

    Example:
        >>> free_name("title_brand", {"title", "brand", "titlebrand"}), free_name("title", {"brand"})
        ('title_brand_2', 'title')
    """
    free, number = name, 1
    while folded(free) in taken:
        number += 1
        free = f"{name}_{number}"
    return free
