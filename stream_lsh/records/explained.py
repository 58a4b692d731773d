"""Explains the score of two records: the steps from the prior to the score, and the blocks that could make them a pair.

A score is a sum, so its explanation is exact.  With trained weights, each comparison adds its match weight to the
prior.  Without them, each comparison adds its term of the weighted mean to 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, log2
from typing import NamedTuple

from stream_lsh.records.block.blocker import Blocker, blocker_of
from stream_lsh.records.compare.comparator import EQUAL, MISSING
from stream_lsh.records.model import SEVERAL, Values
from stream_lsh.records.profile import Profile, comparison_names
from stream_lsh.records.score import Scored, Scorer
from stream_lsh.records.steps import Frequency, Step, waterfall

RawValues = Mapping[str, object]
"""The raw values of a record, in the order of the profile's fields; None for a missing value."""


class Verdict(StrEnum):
    """The classification of a score by the thresholds of the profile."""

    MATCH = "match"
    REVIEW = "review"
    NONE = "no match"


class Met(NamedTuple):
    """The keys of two records in one block.

    Attributes:
        name: the rule, or `lsh 1`.
        shared: the number of keys that both records have.
        keys: the number of keys of each record; 0 if a part of the rule has no value.
    """

    name: str
    shared: int
    keys: tuple[int, int]


@dataclass(frozen=True, slots=True, repr=False)
class PairEvidence:
    """The explanation of the score of two records.

    Attributes:
        learned: whether steps are bits; otherwise they are terms of a weighted mean.
        prior: the bits of the prior, to which the steps are added; 0 for a mean.
        steps: in the order of the profile.
        total: the sum of prior and steps.
        probability: of a match; the mean, without trained weights.
        match: the least probability of a match.
        review: the least probability of a pair to review.
        blocks: all blocks of the profile.
        linkable: whether the profile compares records of these two sources.
    """

    learned: bool
    prior: float
    steps: tuple[Step, ...]
    total: float
    probability: float
    match: float
    review: float
    blocks: tuple[Met, ...]
    linkable: bool

    def __repr__(self) -> str:
        return f"<PairEvidence: {self.verdict}, {self.total:+.2f}, probability {self.probability:.4f}>"

    @property
    def verdict(self) -> Verdict:
        """The classification of the score, whether or not the records are candidates."""
        if self.probability >= self.match:
            return Verdict.MATCH
        return Verdict.REVIEW if self.probability >= self.review else Verdict.NONE

    @property
    def shared(self) -> tuple[str, ...]:
        """The blocks that the records share."""
        return tuple(block.name for block in self.blocks if block.shared)

    @property
    def compared(self) -> bool:
        """Whether the records are candidates; if not, a pipeline never scores them."""
        return self.linkable and any(block.shared for block in self.blocks)

    def _repr_html_(self) -> str:
        """The waterfall, for notebooks."""
        return "".join(self.waterfall())

    def waterfall(self) -> Iterator[str]:
        """The steps as a table with bars, in HTML."""
        return waterfall(self.steps, self.prior, self.total, learned=self.learned)

    def threshold(self, probability: float) -> float:
        """A probability, converted to the scale of the total."""
        if not self.learned:
            return probability
        return -inf if probability <= 0 else inf if probability >= 1 else log2(probability / (1 - probability))


def explain_pair(
    pair: tuple[Values, Values],
    profile: Profile,
    scorer: Scorer,
    *,
    raw_values: tuple[RawValues, RawValues] | None = None,
    sources: tuple[str, str] | None = None,
    blocker: Blocker | None = None,
) -> PairEvidence:
    """The evidence of two records.

    Args:
        pair: their standardised values.
        profile: by which they are compared.
        scorer: of the profile, with the frequencies to apply.
        raw_values: their raw values.
        sources: of the records; None: unknown.
        blocker: of the profile, if the caller has one already.

    Guarantees:
        prior and steps add up to the total, which equals that of the scorer except for the last bits of a float.

    Example:
        >>> from stream_lsh.records.profile import Comparison, Field
        >>> name = Comparison(field="name", comparator="exact", m=(0.8, 0.2), u=(0.1, 0.9))
        >>> people = Profile(
        ...     name="people", fields=(Field(name="name"),), comparisons=(name,), rules=("name",), prior=0.5
        ... )
        >>> found = explain_pair((("ann",), ("ann",)), people, Scorer(people))
        >>> [(step.field, step.level, step.adds) for step in found.steps], found.total, found.verdict, found.shared
        ([('name', 'equal', 3.0)], 3.0, <Verdict.MATCH: 'match'>, ('name',))
    """
    (scored,) = scorer.score_one(pair[0], [pair[1]])
    return PairEvidence(
        learned=profile.learned,
        prior=scorer.prior_bits if profile.learned else 0.0,
        steps=_steps(pair, profile, scorer, scored, raw_values),
        total=scored.total,
        probability=scored.probability,
        match=profile.match,
        review=profile.review,
        blocks=_met(blocker_of(profile) if blocker is None else blocker, pair),
        linkable=profile.link != "link" or sources is None or sources[0] != sources[1],
    )


def _steps(
    pair: tuple[Values, Values],
    profile: Profile,
    scorer: Scorer,
    scored: Scored,
    raw_values: tuple[RawValues, RawValues] | None,
) -> tuple[Step, ...]:
    plain, most, predictors = _worth(profile, scorer, scored.levels)
    names = comparison_names(profile)
    steps = []
    for at, (comparison, place, comparator) in enumerate(
        zip(profile.comparisons, scorer.places, scorer.comparators, strict=True)
    ):
        level = scored.levels[at]
        values = pair[0][place], pair[1][place]
        # With several values it is undefined which one counts, so frequencies do not apply.
        counts = level == EQUAL and predictors[at] is None and values[0] == values[1] and SEVERAL not in values[0]
        seen = scorer.seen(at, values[0]) if profile.learned and counts else None
        adds = scored.weights[at] if profile.learned else plain[at]
        steps.append(
            Step(
                field=comparison.field,
                comparator=comparator.spec,
                level="" if level == MISSING else comparator.levels[level],
                values=values,
                given=(None, None)
                if raw_values is None
                else (raw_values[0].get(comparison.field), raw_values[1].get(comparison.field)),
                adds=adds,
                most=most[at],
                frequency=None if seen is None else Frequency(adds - plain[at], *seen),
                predicted_by="" if (other := predictors[at]) is None or level == MISSING else names[other],
            )
        )
    return tuple(steps)


def _worth(
    profile: Profile, scorer: Scorer, levels: Sequence[int]
) -> tuple[Sequence[float], Sequence[float], Sequence[int | None]]:
    """The contribution of each level, that of equal values, and the comparison that predicts each one."""
    if profile.learned:
        bits, predictors = zip(*scorer.level_bits(levels), strict=True)
        own = [0.0 if level == MISSING else each[level] for each, level in zip(bits, levels, strict=True)]
        return own, [each[EQUAL] for each in bits], predictors
    shares = [
        0.0 if level == MISSING else comparison.weight
        for comparison, level in zip(profile.comparisons, levels, strict=True)
    ]
    together = sum(shares) or 1.0
    most = [share / together for share in shares]
    last_levels = [len(comparator.levels) - 1 for comparator in scorer.comparators]
    heights = [0.0 if level == MISSING else 1 - level / last for level, last in zip(levels, last_levels, strict=True)]
    return [share * height for share, height in zip(most, heights, strict=True)], most, [None] * len(levels)


def _met(blocker: Blocker, pair: tuple[Values, Values]) -> tuple[Met, ...]:
    owners, names = blocker.owners.tolist(), blocker.names
    left, right = (_keys_by_owner(owners, row, len(names)) for row in blocker.keys(pair).tolist())
    return tuple(
        Met(name, len(ours & theirs), (len(ours), len(theirs)))
        for name, ours, theirs in zip(names, left, right, strict=True)
    )


def _keys_by_owner(owners: Sequence[int], row: Sequence[int], blocks: int) -> list[set[int]]:
    keys = [set[int]() for _ in range(blocks)]
    for owner, key in zip(owners, row, strict=True):
        if key:
            keys[owner].add(key)
    return keys
