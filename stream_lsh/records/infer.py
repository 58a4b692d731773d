"""Proposes a profile for unknown records: types of fields, comparisons and blocking rules from the values.

The type of a column is one by which most of its values can be read, with a hint from its name.  Two fields form a
blocking rule if few enough records share their values.  No single field is in all rules, so an error in one field does
not hide a match.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from stream_lsh.errors import InputError
from stream_lsh.records.model import Record
from stream_lsh.records.profile import (
    ID_COLUMNS,
    SOURCE_COLUMNS,
    Comparison,
    Field,
    LshBlocking,
    Profile,
    column_of,
    folded,
)
from stream_lsh.records.standardise.catalog import standard_value, standardiser
from stream_lsh.records.standardise.date import exists

SAMPLE = 5_000
"""The size of the sample: the first records."""
_MOST = 0.8
"""The share of values that determines a type."""
_LEAST_FILLED = 0.02
_FEW_VALUES = 60
_RULES, _FREE_OF_EACH = 16, 4
_PAIRS_A_RECORD = 3.0
_HINTS = (
    ("email", "email|mail"),
    ("phone", "phone|tel|mobile|fax"),
    ("postcode", "postcode|postal|zip"),
    ("date", "date|dob|birth|born"),
    ("address", "address|street|addr|suburb|city|town|road"),
    ("name", "name|forename|surname|author|creator"),
    ("identifier", "ssn|socsec|passport|license|licence|taxid|isbn|ean|gtin|sku|model|number"),
)
_CHANGING = frozenset({"address", "postcode", "phone", "email", "location"})
"""Types of values that change over time: the most recent one is kept."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A column: its name, its type with the reason, and the standard values of the sample."""

    column: str
    name: str
    type: str
    why: str
    values: list[str]

    @property
    def distinct(self) -> int:
        return len({value for value in self.values if value})

    @property
    def mean_words(self) -> float:
        filled = [value.count(" ") + 1 for value in self.values if value]
        return sum(filled) / max(1, len(filled))

    @property
    def filled(self) -> float:
        return sum(map(bool, self.values)) / max(1, len(self.values))


@dataclass(frozen=True, slots=True)
class Inferred:
    """A proposed profile.

    Attributes:
        profile: the profile.
        why: the reason for the type of each field, by its name.
        left_out: columns that are not fields, each with the reason.
    """

    profile: Profile
    why: Mapping[str, str]
    left_out: Mapping[str, str]


def infer(records: Sequence[Record], name: str = "inferred") -> Profile:
    """The profile of `inferred`.

    Example:
        >>> people = [Record(str(n), {"Surname": s, "dob": d}) for n, (s, d) in enumerate(
        ...     [("Smith", "1980-01-02"), ("Jones", "1990-03-04"), ("Brown", "1970-05-06")])]
        >>> profile = infer(people)
        >>> [(field.name, field.type) for field in profile.fields], profile.rules
        ([('surname', 'name'), ('dob', 'date')], ('surname', 'dob', 'surname:soundex + dob'))
    """
    return inferred(records, name).profile


def inferred(records: Sequence[Record], name: str = "inferred") -> Inferred:
    """A profile proposed from some records; train it on them before use.

    Raises:
        InputError: no column has values to compare.
    """
    sample = records[:SAMPLE]
    columns = list(dict.fromkeys(column for record in sample for column in record.fields))
    special = {column_of(names, columns) for names in (ID_COLUMNS, SOURCE_COLUMNS)}
    seen, names, left_out = list[_Seen](), set[str](), dict[str, str]()
    for column in columns:
        if column not in special:
            one = _looked_at(column, [record.fields.get(column) for record in sample], names)
            if one.filled < _LEAST_FILLED or one.distinct < 2:
                left_out[column] = "nearly no values" if one.filled < _LEAST_FILLED else "one value only"
                continue
            seen.append(one)
            names.add(one.name)
    if not seen:
        raise InputError("fields", f"got {len(records)} records without two values to compare in any column")
    profile = Profile(
        name=name,
        fields=tuple(_field(one) for one in seen),
        comparisons=tuple(_comparison(one) for one in seen),
        rules=_rules(seen),
        lsh=tuple(LshBlocking(fields=(one.name,)) for one in seen if one.type == "text" and one.mean_words >= 3),
    )
    why = {one.name: f"{one.why}; {one.filled:.0%} filled, {one.distinct:,} different values" for one in seen}
    return Inferred(profile, why, left_out)


def _field(one: _Seen) -> Field:
    keep = "most-recent" if one.type in _CHANGING else "most-frequent"
    return Field(name=one.name, type=one.type, columns=(one.column,), keep=keep)


def _looked_at(column: str, raw: Sequence[object], taken: set[str]) -> _Seen:
    plain = [standard_value(value, str.strip) for value in raw]
    type, why = _type_of(column, [value for value in plain if value])
    standardise = standardiser(type)
    name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")[:48]
    name = name if re.match("[a-z]", name) else f"field_{name}".strip("_")
    while name in taken:
        name += "_"
    return _Seen(column, name, type, why, [standard_value(value, standardise) for value in raw])


def _type_of(column: str, values: Sequence[str]) -> tuple[str, str]:
    """A type and the reason for it."""
    hint = next((type for type, names in _HINTS if re.search(names, folded(column))), "")
    written = _of_form(values)
    if written:
        return written
    if hint in ("phone", "postcode", "identifier") and _share(values, ".*[0-9].*") >= _MOST:
        return hint, "its name, and most values have digits"
    if _share(values, r"[-+]?[0-9]+([.,][0-9]+)?") >= _MOST:
        return _of_digits(values)
    if _share(values, r"(?=.*[0-9])[A-Za-z0-9-]{4,32}") >= _MOST:
        return "identifier", "most values are one word with digits"
    distinct = len({value.lower() for value in values})
    if hint in ("address", "name"):
        return hint, "its name"
    few = distinct <= _FEW_VALUES and distinct * 10 <= len(values)
    return ("category", "few values come again and again") if few else ("text", "no other type fits")


def _of_form(values: Sequence[str]) -> tuple[str, str] | None:
    """The type of values that is determined by their form alone; None if it is not."""
    if _share(values, r"[^\s@]+@[^\s@]+") >= _MOST:
        return "email", "most values are words around an @"
    days = sum(exists(standardiser("date")(value)) for value in values)
    return ("date", "most values can be read as dates") if days >= _MOST * max(1, len(values)) else None


def _of_digits(values: Sequence[str]) -> tuple[str, str]:
    """The type of digits: numbers vary in length, codes have one length, and a measure has few values."""
    lengths = {len(value) for value in values}
    if len(lengths) <= 2 and max(lengths) >= 5:
        return "identifier", "most values are digits of one length"
    if max(lengths) == min(lengths) == 4:
        if _share(values, "(1[5-9]|20)[0-9]{2}") >= _MOST:
            return "number", "most values can be read as years"
        return "postcode", "most values are four digits"
    return "number", "most values are numbers"


def _share(values: Sequence[str], pattern: str) -> float:
    compiled = re.compile(pattern)
    return sum(compiled.fullmatch(value) is not None for value in values) / max(1, len(values))


def _comparison(one: _Seen) -> Comparison:
    comparator, levels = _COMPARED[one.type]
    if one.type in ("name", "text", "category") and one.mean_words >= 3:
        comparator, levels = ("token-sort", (0.9, 0.75, 0.6, 0.45)) if one.type == "name" else _COMPARED["text"]
    elif one.type == "text":
        comparator, levels = _COMPARED["name"]
    elif one.type == "number" and _share([value for value in one.values if value], "(1[5-9]|20)[0-9]{2}") >= _MOST:
        levels = (1.0, 2.0)
    frequent = one.type not in ("date", "number", "location") and one.mean_words < 3
    return Comparison(field=one.name, comparator=comparator, levels=levels, term_frequency=frequent)


_COMPARED: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "name": ("jaro-winkler", (0.94, 0.88, 0.7)),
    "date": ("date", ()),
    "address": ("token-sort", (0.9, 0.7)),
    "phone": ("phone", ()),
    "email": ("jaro-winkler", (0.95, 0.88)),
    "postcode": ("damerau", (1.0, 2.0)),
    "identifier": ("damerau", (1.0, 2.0)),
    "text": ("qgram-jaccard", (0.9, 0.75, 0.6, 0.4)),
    "number": ("number", (0.01, 0.1)),
    "category": ("damerau", (1.0,)),
    "location": ("distance", (1.0, 10.0)),
}


def _rules(seen: Sequence[_Seen]) -> tuple[str, ...]:
    """Rules of one field, then rules of two fields, those with the most candidate pairs first."""
    alone = [(column.name, column, column.values) for column in seen if column.type != "category"]
    rules = [rule for rule, _, values in alone if _pairs(values) <= _PAIRS_A_RECORD * len(values)]
    parts = [(f"{column.name}{_SOUND.get(column.type, '')}", column) for column in seen]
    costs = []
    for (rule, left), (other_rule, right) in combinations(parts, 2):
        both = [f"{a}\x1f{b}" if a and b else "" for a, b in zip(_parts(left), _parts(right), strict=True)]
        cost = _pairs(both)
        if 0 < cost <= _PAIRS_A_RECORD * len(both) or len(seen) == 2:
            costs.append((-cost, f"{rule} + {other_rule}", {left.name, right.name}))
    used: dict[str, int] = {}
    for _, rule, names in sorted(costs, key=lambda cost: (cost[0], cost[1])):
        if len(rules) < _RULES and all(used.get(name, 0) < _FREE_OF_EACH for name in names):
            rules.append(rule)
            used |= {name: used.get(name, 0) + 1 for name in names}
    return tuple(rules)


_SOUND: Mapping[str, str] = {"name": ":soundex", "address": ":first5", "text": ":first5"}


def _parts(one: _Seen) -> list[str]:
    if one.type == "name":
        from stream_lsh.records.compare.phonetic import phonetic_code  # noqa: PLC0415

        return [phonetic_code(value) for value in one.values]
    return [value[:5] for value in one.values] if one.type in _SOUND else one.values


def _pairs(values: Sequence[str]) -> int:
    counts: dict[str, int] = {}
    for value in values:
        if value:
            counts[value] = counts.get(value, 0) + 1
    return sum(count * (count - 1) // 2 for count in counts.values())
