"""The doubts about estimated weights, each with its reason and with advice.

The profile keeps them (`Profile.doubts`), so that every program that uses the weights can report them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from stream_lsh.records.profile import Profile
from stream_lsh.records.train.agreement import Agreement
from stream_lsh.records.train.expectation import BEFORE

FEW = 100
"""Fewer records than this give unreliable weights."""
_MANY_A_RECORD = 3.0
"""More expected matches a record are rare in files, and usual where fields repeat each other."""


class Numbers(NamedTuple):
    """The numbers behind some weights, as `learning.Training` describes them.

    Attributes:
        records: their number.
        at_limit: whether learning ended at the limit of rounds.
        expected: the number of expected matches.
        matches: of each comparison, the expected number of matches with both values.
        others: of each comparison, the number of random pairs with both values.
        agreement: the pairs that agree in all their known fields.
        labelled: whether there were labels.
        raised: the threshold before training, if training raised it; else 0.
    """

    records: int
    at_limit: bool
    expected: float
    matches: Sequence[float]
    others: Sequence[float]
    agreement: Agreement
    labelled: bool = False
    raised: float = 0.0


def doubts_of(profile: Profile, numbers: Numbers) -> tuple[str, ...]:
    """The doubts about the weights of a profile, the most important ones first."""
    found = [*_of_all(profile, numbers)]
    pairs = "labelled and expected matches" if numbers.labelled else "expected matches"
    fields: dict[str, list[str]] = {}
    for comparison, matches, others in zip(profile.comparisons, numbers.matches, numbers.others, strict=True):
        if others < 1:
            doubt = "no estimate, no two records have a value: the weights are meaningless"
        elif matches < 1:
            doubt = f"no estimate of m, none of the {pairs} has a value on both sides"
        elif matches < BEFORE:
            doubt = f"m is estimated from fewer than {BEFORE:.0f} {pairs}; more records or labels make it reliable"
        elif comparison.m[0] <= comparison.u[0]:
            doubt = "equal values are no evidence for a match: does the field distinguish records?"
        else:
            continue
        fields.setdefault(doubt, []).append(comparison.field)
    return (*found, *(f"{', '.join(names)}: {doubt}" for doubt, names in fields.items()))


def _of_all(profile: Profile, numbers: Numbers) -> list[str]:
    """The doubts that concern all fields."""
    found, agreed = [], numbers.agreement
    if numbers.records < FEW:
        found.append(
            f"{numbers.records} records are few: the weights are unreliable; train on more records of this sort"
        )
    if numbers.at_limit:
        found.append("no convergence within the limit of iterations: m may still change; labels make it definite")
    if numbers.expected < 0.5:
        found.append("no two of these records are expected to match: are there duplicates, do the blocking rules fit?")
    if agreed.single is not None:
        field = profile.comparisons[agreed.single].field
        found.append(
            f"{field} is the only compared field with values: nothing distinguishes equal values of different "
            "entities; compare more fields"
        )
    if agreed.pairs >= 1 and agreed.chance > agreed.pairs / 2:
        found.append(
            f"{agreed.pairs:,.0f} pairs agree in all their known fields, but chance explains {agreed.chance:,.0f}: "
            "frequent values are no evidence; compare more fields"
        )
    if numbers.expected > _MANY_A_RECORD * numbers.records:
        found.append(
            f"{numbers.expected:,.0f} matches are expected among {numbers.records:,} records: do fields repeat each "
            "other? Leave one of them out, or raise `match`"
        )
    if numbers.raised:
        found.append(
            f"matches from {numbers.raised:g} on would chain entities together: `match` is {profile.match:g}; "
            "look at the largest entities"
        )
    return found
