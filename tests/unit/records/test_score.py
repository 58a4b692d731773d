"""Scores: computed by hand, one by one and in batches alike, and learned weights against the true ones."""

import random
from dataclasses import replace
from math import log2

import numpy as np
import pytest

from stream_lsh.errors import InputError
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.compare.comparator import MISSING
from stream_lsh.records.model import SEVERAL, Values
from stream_lsh.records.profile import Comparison, Field, Profile
from stream_lsh.records.reading import columns_of
from stream_lsh.records.score import MOST_BITS, Scorer
from stream_lsh.records.train.expectation import Evidence, counts_of, learn, normed, others_of
from stream_lsh.records.train.learning import random_pairs, train
from stream_lsh.records.train.patterns import patterns_of

PROFILE = Profile(
    name="people",
    fields=(Field(name="surname", type="name"), Field(name="born", type="date")),
    comparisons=(
        Comparison(
            field="surname", comparator="jaro-winkler", levels=(0.85,), term_frequency=True,
            m=(0.8, 0.15, 0.05), u=(0.01, 0.04, 0.95),
        ),
        Comparison(field="born", comparator="exact", m=(0.9, 0.1), u=(0.001, 0.999)),
    ),
    rules=("surname", "born"),
    prior=0.01,
)  # fmt: skip
RECORDS: list[Values] = [
    ("smith", "1978-11-12"), ("smith", "1980-01-01"), ("smyth", "1978-11-12"), ("garski", ""), ("garski", "1978-11-12"),
    ("", ""), (f"smith{SEVERAL}jones", "1980-01-01"), ("jones", ""),
]  # fmt: skip


def test_a_score_is_the_sum_of_the_bits_of_each_field_and_of_the_prior() -> None:
    one, two, three = Scorer(PROFILE).score_one(RECORDS[0], [RECORDS[1], RECORDS[2], RECORDS[5]])
    prior = log2(0.01 / 0.99)
    assert one.weights == pytest.approx((log2(80), log2(0.1 / 0.999)))
    assert one.total == pytest.approx(prior + log2(80) + log2(0.1 / 0.999))
    assert two.weights == pytest.approx((log2(0.15 / 0.04), log2(900)))
    assert two.probability == pytest.approx(1 / (1 + 2**-two.total))
    assert (three.weights, three.levels) == ((0.0, 0.0), (MISSING, MISSING))
    assert three.probability == pytest.approx(0.01)


def test_the_bits_of_many_fields_exceed_the_powers_of_two_without_an_error() -> None:
    fields = tuple(Field(name=f"field_{number}") for number in range(40))
    least = 2.0**-40
    comparisons = tuple(
        Comparison(field=field.name, comparator="exact", m=(1 - least, least), u=(least, 1 - least)) for field in fields
    )
    scorer = Scorer(Profile(name="many", fields=fields, comparisons=comparisons, prior=0.5))
    records: list[Values] = [("same",) * 40, ("same",) * 40, ("other",) * 40]
    equal, differing = scorer.score_one(records[0], records[1:])
    assert (equal.total, equal.probability) == (40 * MOST_BITS, 1.0)
    assert differing.total == -40 * MOST_BITS
    assert 0 <= differing.probability < 1e-300
    assert scorer.score(columns_of(records), np.array([0]), np.array([2])).probability[0] == differing.probability


def test_batches_and_single_pairs_have_the_same_scores() -> None:
    for profile in (PROFILE, replace(PROFILE, prior=None)):
        scorer = Scorer(profile)
        scorer.count(RECORDS)
        left, right = random_pairs(len(RECORDS), 1000, 1)
        scores = scorer.score(columns_of(RECORDS), left, right)
        for at, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            (single,) = scorer.score_one(RECORDS[one], [RECORDS[other]])
            (turned,) = scorer.score_one(RECORDS[other], [RECORDS[one]])
            assert single == turned
            assert single.levels == tuple(scores.levels[at])
            assert single.weights == pytest.approx(scores.weights[at])
            assert [single.total, single.probability] == pytest.approx([scores.total[at], scores.probability[at]])


def test_rare_values_weigh_more_and_no_more_than_the_bound() -> None:
    scorer = Scorer(PROFILE)
    scorer.count([("smith", "")] * 2_000 + [("garski", "")] * 2)
    frequent, rare = (scorer.score_one((name, ""), [(name, "")])[0].weights[0] for name in ("smith", "garski"))
    assert frequent < log2(80) < rare
    assert rare == pytest.approx(log2(0.8 / (1000 * 0.01 / 3_002)))
    scorer.count([("smith", "")] * 2_000, remove=True)
    assert scorer.score_one(("smith", ""), [("smith", "")])[0].weights[0] == pytest.approx(log2(80), abs=0.01)
    assert max(frequent, rare) <= MOST_BITS


def test_without_what_was_learned_the_score_is_the_weighted_mean_of_heights() -> None:
    unlearned = replace(
        PROFILE, prior=None, comparisons=(replace(PROFILE.comparisons[0], weight=3.0), PROFILE.comparisons[1])
    )
    same, near, other, half = Scorer(unlearned).score_one(
        ("smith", "1978-11-12"),
        [("smith", "1978-11-12"), ("smyth", "1978-11-12"), ("york", "1980-01-01"), ("smith", "")],
    )
    assert [same.total, near.total, other.total, half.total] == pytest.approx([1, (3 * 0.5 + 1) / 4, 0, 1])


M = [np.array([0.8, 0.15, 0.05]), np.array([0.9, 0.1]), np.array([0.7, 0.2, 0.1]), np.array([0.95, 0.05])]
U = [np.array([0.01, 0.04, 0.95]), np.array([0.05, 0.95]), np.array([0.002, 0.018, 0.98]), np.array([0.1, 0.9])]


def drawn(rng: np.random.Generator, count: int, share: float) -> np.ndarray:
    """Levels of pairs of which a share are matches; a tenth of the values are missing."""
    match = rng.random(count) < share
    levels = np.empty((count, len(M)), np.uint8)
    for at, (m, u) in enumerate(zip(M, U, strict=True)):
        levels[:, at] = np.where(match, rng.choice(m.size, count, p=m), rng.choice(u.size, count, p=u))
    levels[rng.random(levels.shape) < 0.1] = MISSING
    return levels


def test_expectation_maximisation_recovers_the_probabilities_that_the_pairs_were_drawn_with() -> None:
    rng = np.random.default_rng(7)
    # 1,000 matches among 200,000 pairs: blocking finds all matches, and 20,000 others, which resemble matches.
    matches, near, far = drawn(rng, 1_000, 1.0), drawn(rng, 20_000, 0.0), drawn(rng, 179_000, 0.0)
    near[:, 0] = np.where(rng.random(len(near)) < 0.5, 0, near[:, 0])
    far = far[(far[:, 0] != 0) | (rng.random(len(far)) < 0.2)]
    every = np.concatenate((matches, near, far))
    candidates = patterns_of(np.concatenate((matches, near)))
    sizes = [m.size for m in M]
    others = others_of(candidates, patterns_of(every), 1.0, sizes)
    start = [np.append(0.8, np.full(m.size - 1, 0.2 / (m.size - 1))) for m in M]
    none = np.zeros(len(candidates.levels))
    learned = learn(Evidence(candidates, none, none, none + 1, others, len(every), 1_000), start)
    for found, true in zip(learned.m, M, strict=True):
        assert found == pytest.approx(true, abs=0.05)
    true_u = counts_of(np.concatenate((near, far)), np.ones(len(near) + len(far)), [np.zeros(size) for size in sizes])
    for found, true in zip(learned.u, normed(true_u), strict=True):
        assert found == pytest.approx(true, abs=0.005)
    assert learned.prior == pytest.approx(1_000 / len(every), rel=0.1)
    assert learned.expected == pytest.approx(1_000, rel=0.1)
    assert learned.rounds < 200


def people(rng: random.Random, entities: int) -> tuple[list[Values], list[int]]:
    """Each person twice, the second time with some mistakes."""
    records, labels = list[Values](), list[int]()
    for entity in range(entities):
        surname = "".join(rng.choices("abcdefghijklmnop", k=6))
        born = f"19{rng.randint(10, 99)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        records += [
            (surname, born),
            (surname if rng.random() < 0.8 else surname[1:] + "x", born if rng.random() < 0.9 else ""),
        ]
        labels += [entity, entity]
    return records, labels


def test_training_needs_no_labels_and_finds_the_prior(seed: int) -> None:
    records, labels = people(random.Random(seed), 300)
    profile = replace(PROFILE, prior=None)
    profile = replace(profile, comparisons=tuple(replace(one, m=(), u=()) for one in profile.comparisons))
    assert not profile.learned
    blocker = blocker_of(profile)
    learned = train(profile, columns_of(records), blocker.keys(records), blocker)
    assert learned.learned
    assert learned.prior == pytest.approx(300 / (600 * 599 / 2), rel=0.2)
    left, right = random_pairs(len(records), 10**6, 1)
    found = Scorer(learned).score(columns_of(records), left, right).probability >= 0.5
    true = np.array(labels)[left] == np.array(labels)[right]
    assert (found & true).sum() >= 0.97 * true.sum()
    assert (found & ~true).sum() <= 0.06 * true.sum()  # of twelve seeds the worst has 0.043
    again = train(profile, columns_of(records), blocker.keys(records), blocker)
    assert again == learned


def test_training_on_nothing_to_compare_is_an_error() -> None:
    blocker = blocker_of(PROFILE)
    with pytest.raises(InputError, match="expected two or more"):
        train(PROFILE, columns_of(RECORDS[:1]), blocker.keys(RECORDS[:1]), blocker)
    with pytest.raises(InputError, match="no two may be compared"):
        train(replace(PROFILE, link="link"), columns_of(RECORDS), blocker.keys(RECORDS), blocker, np.zeros(8, np.int64))


@pytest.mark.parametrize(("records", "count"), [(2, 5), (40, 780), (40, 779), (1000, 2000), (100_000, 500)])
def test_random_pairs_are_distinct_and_ordered(records: int, count: int) -> None:
    left, right = random_pairs(records, count, seed=3)
    assert ((0 <= left) & (left < right) & (right < records)).all()
    codes = left * records + right
    assert np.unique(codes).size == codes.size == min(count, records * (records - 1) // 2)
