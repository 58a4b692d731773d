"""Golden records: one value of each field of an entity, selected from its members.

Each field has its own rule (`keep` of the profile).  A member counts if it has a value with a non-empty standard form;
a list is one value.

    most-frequent      the standard form that the most members have; of several the one with the newest member.  It is
                       published in the spelling that the most of its members have; of several in the longest
    most-recent        the value of the newest member
    first              the value of the oldest member
    longest            the value with the most characters, without white space at its ends and with runs of it as one
    source-priority    the value of the source that is first in `source_priority`, in any case; all other sources
                       follow with equal rank

Ties are resolved for the newer member, and among members with equal times for the one whose id comes first.  Fields are
independent: a golden record can have the street of one member and the postcode of another.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import missing_of
from stream_lsh.records.standardise.catalog import Standardise, standard_value, standardiser, text_of
from stream_lsh.records.standardise.characters import fold

_MOST_KNOWN = 4_096
"""The size of the cache of standard forms of a field."""


class Member(NamedTuple):
    """One record of an entity.

    Attributes:
        id: unique among the members.
        source: of the record.
        time_ms: event time, milliseconds since the epoch.
        fields: raw values, by the names of the profile's fields (`Reader.raw_values`).
    """

    id: str
    source: str
    time_ms: int
    fields: Mapping[str, Any]


class GoldenRecords:
    """Computes golden records from members.

    Args:
        profile: with the rule of each field; a valid one (`check`).

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
        """The golden record of some members: raw values by field, in the order of the profile.

        A field without a value in any member is absent.

        Guarantees:
            each value is that of a member; the result does not depend on the order of the members.
        Cost:
            the standard form (some 3 us) of every value of fields that keep the most frequent one, and usually of one
            value of other fields; a sort of the members for each field.
        """
        return {name: member.fields[name] for name, member in self.origins(members).items()}

    def origins(self, members: Iterable[Member]) -> dict[str, Member]:
        """The member that each value of the golden record comes from, as `of`; of equal values the newest member's."""
        newest = sorted(members, key=lambda member: (-member.time_ms, member.id))
        origins: dict[str, Member] = {}
        for name, rule, standard in self._fields:
            having = [(member, member.fields[name]) for member in newest if name in member.fields]
            origin = rule(having, standard)
            if origin is not None:
                origins[name] = origin
        return origins


_Having = Sequence[tuple[Member, Any]]
"""Members with their values of a field, the newest first."""
_Rule = Callable[[_Having, Callable[[Any], str]], Member | None]
"""Selects the member whose value survives, given the standardiser; None if no value has a standard form."""


def _standard(standardise: Standardise, missing: frozenset[str]) -> Callable[[Any], str]:
    """A cached standardiser: a growing entity is published again, with the same values, on each change."""
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
    # The sort is stable, so the newest of equal members stays first.
    return lambda having, standard: next((one for one, value in sorted(having, key=order) if standard(value)), None)


def _most_frequent(having: _Having, standard: Callable[[Any], str]) -> Member | None:
    if having and all(value == having[0][1] for _, value in having):
        return having[0][0] if standard(having[0][1]) else None
    forms = [standard(value) for _, value in having]
    counts = Counter(form for form in forms if form)
    if not counts:
        return None
    # `max` returns the first of equal counts: that of the newest member.
    most = max(counts, key=counts.__getitem__)
    alike = [one for form, one in zip(forms, having, strict=True) if form == most]
    spellings = Counter(_spelling(value) for _, value in alike)
    return max(alike, key=lambda one: (spellings[_spelling(one[1])], len(_spelling(one[1]))))[0]


def _spelling(value: Any) -> str:
    """A value as readers see it."""
    texts = map(text_of, value) if isinstance(value, list | tuple) else [text_of(value)]
    return " ".join(" ".join(texts).split())
