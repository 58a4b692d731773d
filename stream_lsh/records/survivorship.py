"""Golden records: of all that the records of one thing say, the values that stand for it.

Each field keeps by a rule of its own (`keep` of the profile).  A member counts where it has a value, one that its
field's standard form says something of; a list is one value.

    most-frequent      the standard form that the most members have; of several the one with the newest member.  It is
                       told in the spelling that the most of its members have; of several in the longest
    most-recent        the value of the newest member
    first              the value of the oldest member
    longest            the value with the most characters, white space at its ends and in its middle not counted twice
    source-priority    the value of the source that comes first in `source_priority`, in any case; sources that are not
                       in it come after all others, alike

What is still tied goes to the newer member, and of members of one moment to the one whose id comes first.  Fields keep
one by one: a golden record can have the street of one member and the postcode of another that alone has one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import missing_of
from stream_lsh.records.standardise.catalog import Standardise, standard_value, standardiser, text_of
from stream_lsh.records.standardise.characters import fold

_MOST_KNOWN = 4_096
"""Values of a field whose standard forms are remembered."""


class Member(NamedTuple):
    """One record of a thing.

    Attributes:
        id: no two members have the same.
        source: where it comes from.
        time_ms: event time, milliseconds since the epoch.
        fields: raw values, by the names of the profile's fields (`Reader.raw_values`).
    """

    id: str
    source: str
    time_ms: int
    fields: Mapping[str, Any]


class GoldenRecords:
    """Members to golden records.

    Args:
        profile: how each field keeps; checked (`check`).

    Example:
        >>> from stream_lsh.records.profile import Field
        >>> name, phone = Field(name="name", type="name"), Field(name="phone", type="phone", keep="most-recent")
        >>> golden = GoldenRecords(Profile(name="people", fields=(name, phone), comparisons=()))
        >>> golden.of([
        ...     Member("a", "crm", 1, {"name": "ANN LEE", "phone": "555-0100"}),
        ...     Member("b", "shop", 2, {"name": "Ann Lee", "phone": "555-0199"}),
        ...     Member("c", "shop", 3, {"name": "Anne Lee"}),
        ... ])
        {'name': 'Ann Lee', 'phone': '555-0199'}
    """

    def __init__(self, profile: Profile) -> None:
        missing = missing_of(profile)
        ranks = {fold(source): rank for rank, source in reversed(list(enumerate(profile.source_priority)))}
        self._fields = [
            (field.name, _rule(field.keep, ranks), _standard(standardiser(field.type, field.order), missing))
            for field in profile.fields
        ]

    def of(self, members: Iterable[Member]) -> dict[str, Any]:
        """The golden record of some members: values as they were given, by field, in the order of the profile.

        A field in which no member has a value is not in it.

        Guarantees:
            each value is one of the members'; in whatever order they come, the answer is the same.
        Cost:
            the standard form of every value (some 3 us) of the fields that keep the most frequent one, elsewhere of
            one value as a rule; a sort of the members for each field.
        """
        newest = sorted(members, key=lambda member: (-member.time_ms, member.id))
        golden: dict[str, Any] = {}
        for name, rule, standard in self._fields:
            having = [(member, member.fields[name]) for member in newest if name in member.fields]
            value = rule(having, standard)
            if value is not None:
                golden[name] = value
        return golden


_Having = Sequence[tuple[Member, Any]]
"""Members with their values of a field, the newest ones first."""
_Rule = Callable[[_Having, Callable[[Any], str]], Any]
"""From these, and from the standard form of a value, to the value that survives; None where none says anything."""


def _standard(standardise: Standardise, missing: frozenset[str]) -> Callable[[Any], str]:
    """The standard form of a value; those that came lately are remembered, for a thing that grows is told each time."""
    standards: dict[str, str] = {}

    def form(value: Any) -> str:
        if not isinstance(value, str):
            return standard_value(value, standardise, missing)
        standard = standards.get(value)
        if standard is None:
            if len(standards) >= _MOST_KNOWN:
                standards.clear()
            standard = standards[value] = standard_value(value, standardise, missing)
        return standard

    return form


def _rule(keep: str, ranks: Mapping[str, int]) -> _Rule:
    if keep == "most-frequent":
        return _most_frequent
    order: Callable[[tuple[Member, Any]], Any] = {
        "most-recent": lambda having: 0,
        "first": lambda having: having[0].time_ms,
        "longest": lambda having: -len(_spelling(having[1])),
        "source-priority": lambda having: ranks.get(fold(having[0].source), len(ranks)),
    }[keep]
    # Sorting keeps the newest first of all that are equal.
    return lambda having, standard: next((value for _, value in sorted(having, key=order) if standard(value)), None)


def _most_frequent(having: _Having, standard: Callable[[Any], str]) -> Any:
    if having and all(value == having[0][1] for _, value in having):
        return having[0][1] if standard(having[0][1]) else None
    forms = [(standard(value), value) for _, value in having]
    counts = Counter(form for form, _ in forms if form)
    if not counts:
        return None
    # Of counts that are equal the first one seen is the greatest: that of the newest member.
    most = max(counts, key=counts.__getitem__)
    values = [value for form, value in forms if form == most]
    spellings = Counter(map(_spelling, values))
    return max(values, key=lambda value: (spellings[_spelling(value)], len(_spelling(value))))


def _spelling(value: Any) -> str:
    """What a reader sees of a value."""
    texts = map(text_of, value) if isinstance(value, list | tuple) else [text_of(value)]
    return " ".join(" ".join(texts).split())
