"""Fields and comparisons of a proposed profile: how values of each type are compared."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from stream_lsh.records.infer.columns import Seen, free_name
from stream_lsh.records.profile import Comparison, Field

_CHANGING = frozenset({"address", "postcode", "phone", "email", "location"})
"""Types of values that change over time: the most recent one is kept."""
_TEXT_WEIGHT = 3.0
"""The weight of a text of several words in the weighted mean, which orders pairs before weights are learned."""

_COMPARED: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "name": ("jaro-winkler", (0.94, 0.88, 0.7)),
    "company": ("jaro-winkler", (0.94, 0.88, 0.7)),
    "date": ("date", ()),
    "address": ("token-sort", (0.9, 0.7)),
    "phone": ("phone", ()),
    "email": ("jaro-winkler", (0.95, 0.88)),
    "postcode": ("damerau", (1.0, 2.0)),
    "identifier": ("damerau", (1.0, 2.0)),
    "text": ("jaro-winkler", (0.94, 0.88, 0.7)),
    "number": ("number", (0.01, 0.1)),
    "price": ("price", ()),
    "measure": ("measure", ()),
    "category": ("damerau", (1.0,)),
    "location": ("distance", (0.1, 1.0, 10.0)),
}
_FORMS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "year": ("number", (1.0, 2.0)),
}


class Joint(NamedTuple):
    """Several columns that are compared as one field, with the reason."""

    field: Field
    comparison: Comparison
    why: str


def field_of(one: Seen) -> Field:
    """The field of a column."""
    keep = "most-recent" if one.kind.type in _CHANGING else "longest" if one.is_long else "most-frequent"
    return Field(name=one.name, type=one.kind.type, columns=(one.column,), keep=keep)


def comparison_of(one: Seen) -> Comparison:
    """The comparison of a column."""
    comparator, levels = _FORMS.get(one.kind.form) or _COMPARED[one.kind.type]
    text = one.is_text and (one.kind.type in ("text", "company") or (one.kind.type == "name" and one.mean_words >= 3))
    if text:
        comparator, levels = "qgram-cosine", ()
    frequent = one.kind.type not in ("date", "number", "price", "measure", "location") and one.mean_words < 3
    return Comparison(
        field=one.name,
        comparator=comparator,
        levels=levels,
        term_frequency=frequent,
        weight=_TEXT_WEIGHT if text else 1.0,
    )


def joined(group: Sequence[Seen], name: str, why: str) -> Joint:
    """Several columns as one text."""
    return Joint(
        Field(name=name, type="text", of=tuple(one.name for one in group), keep="longest"),
        Comparison(field=name, comparator="qgram-cosine", weight=_TEXT_WEIGHT),
        why,
    )


def place_of(latitude: Seen, longitude: Seen, name: str) -> Joint:
    """Latitude and longitude as one place."""
    comparator, levels = _COMPARED["location"]
    return Joint(
        Field(name=name, type="location", of=(latitude.name, longitude.name), keep="most-recent"),
        Comparison(field=name, comparator=comparator, levels=levels),
        "compared as one place, by distance",
    )


def joint_name(parts: Sequence[str], taken: Collection[str]) -> str:
    """The name of a joint field, which no other field and no column has.

    Args:
        parts: the names of its fields.
        taken: the folded names of all columns and fields.

    Example:
        >>> joint_name(["title", "brand"], ["title", "brand", "titlebrand"])
        'title_brand_2'
    """
    return free_name("_".join(parts)[:56].rstrip("_"), taken)
