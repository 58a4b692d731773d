"""Validates a profile as a whole: its parts must be consistent."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from stream_lsh.errors import ConfigError
from stream_lsh.records.block.lsh import lsh_block
from stream_lsh.records.block.rules import Rule
from stream_lsh.records.compare.catalog import COMPARATORS, comparator
from stream_lsh.records.profile import KEEPS, LINKS, ORDERS, PARTS, Comparison, Profile, comparison_names
from stream_lsh.records.standardise.catalog import TYPES
from stream_lsh.records.standardise.characters import fold
from stream_lsh.spelling import suggestion

Place = tuple[str | int, ...]
"""The place of a problem: table, index, key."""
_SURE = 1e-3


def problems(profile: Profile) -> Iterator[tuple[Place, str]]:
    """All problems of a profile, each with its place."""
    places = {name: place for place, name in enumerate(profile.names)}
    yield from _numbers(profile)
    yield from _choices(profile)
    yield from _fields(profile, places)
    yield from _keeping(profile)
    for at, comparison in enumerate(profile.comparisons):
        if comparison.field not in places:
            yield ("comparison", at, "field"), _unknown(comparison.field, places)
        yield from (((("comparison", at, key)), problem) for key, problem in _comparison(comparison))
        yield from (((("comparison", at, key)), problem) for key, problem in _given(comparison, profile))
    for at, rule in enumerate(profile.rules):
        try:
            Rule(rule, places)
        except ConfigError as error:
            yield ("rules", at), str(error)
    for at, lsh in enumerate(profile.lsh):
        if not lsh.fields:
            yield ("lsh", at, "fields"), "got none, expected one or more"
        unknown = [name for name in lsh.fields if name not in places]
        yield from ((("lsh", at, "fields"), _unknown(name, places)) for name in unknown)
        if lsh.fields and not unknown:
            try:
                lsh_block(lsh, places)
            except ConfigError as error:
                yield ("lsh", at, "threshold"), str(error)
    if not profile.comparisons:
        yield ("comparison",), "got none, expected one or more: they define a match"
    if not profile.rules and not profile.lsh:
        yield ("rules",), "got none and no [[lsh]], expected blocking: without it no two records are compared"
    if profile.review > profile.match:
        yield ("review",), f"got {profile.review:g}, expected at most `match`, {profile.match:g}"
    if (profile.prior is None) != (not any(comparison.m for comparison in profile.comparisons)):
        yield ("prior",), "got a prior without `m` and `u`, or these without it, expected all of them or none"


def checked(profile: Profile) -> Profile:
    """The profile itself.

    Raises:
        ConfigError: all problems of the profile.
    """
    problems_found = [f"{profile.name}: {'.'.join(map(str, place))}: {problem}" for place, problem in problems(profile)]
    if problems_found:
        raise ConfigError(problems_found)
    return profile


def _numbers(profile: Profile) -> Iterator[tuple[Place, str]]:
    """Numbers out of range; those of a file are checked when it is read."""
    for key in ("match", "prior"):
        share = getattr(profile, key)
        if share is not None and not 0 < share < 1:
            yield (key,), f"got {share:g}, expected a number above 0 and below 1"
    for key in ("review", "bridge"):
        share = getattr(profile, key)
        if not 0 <= share < 1:
            yield (key,), f"got {share:g}, expected a number from 0 to below 1"
    if not 0 < profile.smoothing < inf:
        yield ("smoothing",), f"got {profile.smoothing:g}, expected a number above 0"
    for at, comparison in enumerate(profile.comparisons):
        if not 0 < comparison.weight < inf:
            yield ("comparison", at, "weight"), f"got {comparison.weight:g}, expected a number above 0"


def _choices(profile: Profile) -> Iterator[tuple[Place, str]]:
    """Unknown names; those of a file are checked when it is read."""
    yield from _choice(("link",), profile.link, LINKS)
    for at, field in enumerate(profile.fields):
        yield from _choice(("field", at, "type"), field.type, [*TYPES])
        yield from _choice(("field", at, "order"), field.order, ORDERS)
        yield from _choice(("field", at, "part"), field.part, ("", *PARTS))
        yield from _choice(("field", at, "keep"), field.keep, KEEPS)


def _choice(place: Place, name: str, known: Sequence[str]) -> Iterator[tuple[Place, str]]:
    if name not in known:
        yield place, f"got {name!r}, expected one of {', '.join(filter(None, known))}{suggestion(name, known)}"


def _fields(profile: Profile, places: Mapping[str, int]) -> Iterator[tuple[Place, str]]:
    seen: set[str] = set()
    for at, field in enumerate(profile.fields):
        if field.name in seen:
            yield ("field", at, "name"), f"got {field.name!r} a second time, expected names that differ"
        seen.add(field.name)
        yield from ((("field", at, "of"), _unknown(name, places)) for name in field.of if name not in places)
        if field.part and not field.of:
            yield ("field", at, "part"), "got one, expected `of` beside it: it is a part of other fields"
    if not profile.fields:
        yield ("field",), "got none, expected one or more"


def _keeping(profile: Profile) -> Iterator[tuple[Place, str]]:
    for at, field in enumerate(profile.fields):
        if field.keep == "source-priority" and not profile.source_priority:
            expected = "expected it before the tables: the names of the sources, best first"
            yield ("field", at, "keep"), f"got {field.keep!r} without `source_priority`, {expected}"
    seen: set[str] = set()
    for source in profile.source_priority:
        if fold(source) in seen:
            yield (
                ("source_priority",),
                f"got {source!r} a second time, expected sources that differ (case does not count)",
            )
        seen.add(fold(source))


def _comparison(one: Comparison) -> Iterator[tuple[str, str]]:
    try:
        size = len(comparator(one.comparator, one.levels).levels)
    except ConfigError as error:
        yield ("levels" if one.comparator in COMPARATORS else "comparator"), str(error).removeprefix("comparator: ")
        return
    if bool(one.m) != bool(one.u):
        yield ("u" if one.m else "m"), "got none, expected both `m` and `u`, or neither"
    for key, shares in (("m", one.m), ("u", one.u)):
        if shares and len(shares) != size:
            yield key, f"got {len(shares)} probabilities, expected {size}, one for each level of {one.comparator}"
        elif shares and (abs(sum(shares) - 1) > _SURE or min(shares) <= 0):
            yield key, f"got probabilities that add up to {sum(shares):g}, expected 1, each of them above 0"


def _given(one: Comparison, profile: Profile) -> Iterator[tuple[str, str]]:
    names = [name for name in comparison_names(profile) if name != one.field]
    for name in one.given:
        if name not in names:
            yield "given", f"got {name!r}, expected another comparison of the profile{suggestion(name, names)}"
    if len(one.given) != len(one.given_u):
        yield "given_u", f"got {len(one.given_u)} probabilities, expected {len(one.given)}, one for each of `given`"
    elif any(not 0 < share < 1 for share in one.given_u):
        yield "given_u", f"got {max(one.given_u):g}, expected probabilities between 0 and 1"


def _unknown(name: str, places: Mapping[str, int]) -> str:
    return f"got the field {name!r}, expected one of the profile{suggestion(name, places)}"
