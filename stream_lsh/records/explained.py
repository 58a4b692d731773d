"""Why two records match, or do not: the steps from the prior to their score, and what could have brought them together.

A score is a sum, so nothing has to be estimated to explain it.  Learned, each comparison adds its bits to those of the
prior.  As long as nothing was learned, each adds its part of the weighted mean, to 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, log2
from typing import NamedTuple

from stream_lsh.records.block.blocker import Blocker, blocker_of
from stream_lsh.records.compare.comparator import EQUAL, MISSING
from stream_lsh.records.model import SEVERAL, Values
from stream_lsh.records.profile import Profile
from stream_lsh.records.score import Scored, Scorer

RawValues = Mapping[str, object]
"""The values of a record as they came, in the order of the profile's fields; None where there is none."""


class Verdict(StrEnum):
    """What the thresholds of the profile make of a score."""

    MATCH = "match"
    REVIEW = "review"
    NONE = "no match"


class Frequency(NamedTuple):
    """How the frequency of a value that both records have changed what it is worth.

    Attributes:
        adds: bits; below 0 for a value that many have.
        records: that have the value, as far as they were counted.
        of: values of the field that were counted.
    """

    adds: float
    records: int
    of: int


class Step(NamedTuple):
    """What one comparison adds.

    Attributes:
        field: its name.
        comparator: with its settings, such as `jaro-winkler 0.92 0.8`.
        level: what the level is called; "" where a value is missing.
        values: as they were compared, "" where there is none.
        given: as they came; None where there is none, or where nobody told.
        adds: to the total: bits, or a part of the mean.
        most: what equal values add, however frequent they are.
        frequency: where the value's frequency counts; its bits are among `adds`.
    """

    field: str
    comparator: str
    level: str
    values: tuple[str, str]
    given: tuple[object, object]
    adds: float
    most: float
    frequency: Frequency | None

    @property
    def missing(self) -> bool:
        """Whether one of the two has no value, so that nothing was compared."""
        return not self.level


class Met(NamedTuple):
    """What one block makes of two records.

    Attributes:
        name: the rule, or `lsh 1`.
        shared: keys that both have.
        keys: how many keys each of them has; 0 where a part of the rule has no value.
    """

    name: str
    shared: int
    keys: tuple[int, int]


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """Why two records match, or do not.

    Attributes:
        learned: whether steps are bits; else they are parts of a weighted mean.
        prior: where the steps begin: bits of the prior, 0 for a mean.
        steps: in the order of the profile.
        total: prior and steps together.
        probability: of a match; the mean, where nothing was learned.
        match: the probability from which a pair is a match.
        review: from which somebody should look at it.
        blocks: all of the profile.
        linkable: whether the profile compares records of these two sources at all.
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

    @property
    def verdict(self) -> Verdict:
        """What the score says, whether or not the two are ever compared."""
        if self.probability >= self.match:
            return Verdict.MATCH
        return Verdict.REVIEW if self.probability >= self.review else Verdict.NONE

    @property
    def shared(self) -> tuple[str, ...]:
        """The blocks that bring the two together."""
        return tuple(block.name for block in self.blocks if block.shared)

    @property
    def compared(self) -> bool:
        """Whether anything brings the two together: if not, no score is ever made, however high it would be."""
        return self.linkable and any(block.shared for block in self.blocks)

    def threshold(self, probability: float) -> float:
        """A probability on the scale of the total."""
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
        profile: under which they are compared.
        scorer: of the profile, with the frequencies that count.
        raw_values: their values as they came.
        sources: theirs; None: nobody knows.
        blocker: of the profile, if it is at hand.

    Guarantees:
        prior and steps add up to the total, which is the scorer's own, but for the last bits of a float.

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
    plain, most = _worth(profile, scorer, scored.levels)
    steps = []
    for at, (comparison, place, comparator) in enumerate(
        zip(profile.comparisons, scorer.places, scorer.comparators, strict=True)
    ):
        level = scored.levels[at]
        values = pair[0][place], pair[1][place]
        # Of several values nobody knows which one counts, so their frequency is not asked for.
        counts = level == EQUAL and values[0] == values[1] and SEVERAL not in values[0]
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
            )
        )
    return tuple(steps)


def _worth(profile: Profile, scorer: Scorer, levels: Sequence[int]) -> tuple[Sequence[float], Sequence[float]]:
    """What each level adds, and what equal values would."""
    if profile.learned:
        return scorer.level_bits(levels), scorer.level_bits([EQUAL] * len(levels))
    shares = [
        0.0 if level == MISSING else comparison.weight
        for comparison, level in zip(profile.comparisons, levels, strict=True)
    ]
    together = sum(shares) or 1.0
    most = [share / together for share in shares]
    last_levels = [len(comparator.levels) - 1 for comparator in scorer.comparators]
    heights = [0.0 if level == MISSING else 1 - level / last for level, last in zip(levels, last_levels, strict=True)]
    return [share * height for share, height in zip(most, heights, strict=True)], most


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
