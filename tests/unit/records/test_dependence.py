"""Fields that depend on each other: the values of one predict those of another one, and are not counted twice."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from stream_lsh.kinds.record.profiles import parse_profile, profile_text
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.check import problems
from stream_lsh.records.explained import explain_pair
from stream_lsh.records.given import given_ratio
from stream_lsh.records.profile import Comparison, Field, Profile
from stream_lsh.records.reading import columns_of
from stream_lsh.records.score import Scorer
from stream_lsh.records.train.dependence import pairs_within
from stream_lsh.records.train.learning import train
from tests.unit.records.test_agreement import GIVEN, SURNAMES

Rows = Sequence[tuple[str, ...]]


def word(rng: random.Random) -> str:
    return "".join(rng.choice(letters) for letters in ("bdfgklmnprst", "aeiou") * 3)


def with_copies(rows: Rows, copies: int, rng: random.Random) -> list[tuple[str, ...]]:
    """The rows, and copies of the first ones with one value missing."""
    found = [*rows]
    for row in rows[:copies]:
        at = rng.randrange(len(row))
        found.append((*row[:at], "", *row[at + 1 :]))
    return found


def things(names: Sequence[str]) -> Profile:
    """A profile of fields that are equal or not."""
    return Profile(
        name="things",
        fields=tuple(Field(name=name) for name in names),
        comparisons=tuple(Comparison(field=name, comparator="exact", term_frequency=True) for name in names),
        rules=tuple(names),
    )


def trained_on(names: Sequence[str], rows: Rows) -> Profile:
    profile = things(names)
    blocker = blocker_of(profile)
    return train(profile, columns_of(rows), blocker.keys(rows), blocker)


def agreeing(profile: Profile, fields: Sequence[str]) -> float:
    """The evidence of two records that agree in these fields, and know no other."""
    values = tuple("x" if name in fields else "" for name in profile.names)
    scorer = Scorer(profile)
    return scorer.score_one(values, [values])[0].total - scorer.prior_bits


def parts_of_an_address(rng: random.Random) -> Rows:
    """People who live in the same places: a postcode is in one town, a town in one county."""
    places = []
    for _ in range(12):
        county = word(rng)
        for _ in range(5):
            town = word(rng)
            places += [(f"{rng.randrange(10**5):05}", town, county) for _ in range(3)]
    return [
        (rng.choice(GIVEN) + word(rng)[:2], word(rng), f"{rng.randrange(10**4):04}", *rng.choice(places))
        for _ in range(500)
    ]


def cities_and_countries(rng: random.Random) -> Rows:
    cities = [(word(rng), country) for country in (word(rng) for _ in range(10)) for _ in range(6)]
    return [(word(rng), f"{rng.randrange(10**4):04}", *rng.choice(cities)) for _ in range(500)]


def titles_and_subtitles(rng: random.Random) -> Rows:
    """Editions of books: those of one title have one subtitle, and a subtitle is that of several titles."""
    subtitles = [word(rng) for _ in range(12)]
    books = [(word(rng), rng.choice(subtitles)) for _ in range(70)]
    return [(f"{rng.randrange(10**6):06}", word(rng), *rng.choice(books)) for _ in range(500)]


@pytest.mark.parametrize(
    ("rows", "names", "predicted"),
    [
        (
            parts_of_an_address,
            ("first", "last", "code", "postcode", "town", "county"),
            {"town": "postcode", "county": "town"},
        ),
        (cities_and_countries, ("name", "code", "city", "country"), {"country": "city"}),
        (titles_and_subtitles, ("code", "publisher", "title", "subtitle"), {"subtitle": "title"}),
    ],
)
def test_a_finer_field_predicts_a_coarser_one_and_never_the_reverse(
    rows: object, names: tuple[str, ...], predicted: dict[str, str], seed: int
) -> None:
    rng = random.Random(seed)
    profile = trained_on(names, with_copies(rows(rng), 60, rng))  # type: ignore[operator]
    for coarser, finer in predicted.items():
        both, finer_alone, alone = (agreeing(profile, fields) for fields in ((coarser, finer), (finer,), (coarser,)))
        assert both < finer_alone + 0.6 < finer_alone + alone - 1
        given = {one.field: one.given for one in profile.comparisons}
        assert coarser not in given[finer]


def test_independent_fields_and_matches_predict_nothing(seed: int) -> None:
    rng = random.Random(seed)
    rows = [(rng.choice(GIVEN), rng.choice(SURNAMES), f"{rng.randrange(10**3):03}", word(rng)[:2]) for _ in range(400)]
    profile = trained_on(("first", "last", "code", "syllable"), with_copies(rows, 200, rng))
    assert [one.given for one in profile.comparisons] == [()] * 4


def test_records_of_one_place_are_no_matches(seed: int) -> None:
    rng = random.Random(seed)
    rows = [(*(value if rng.random() < 0.5 else "" for value in row[:3]), *row[3:]) for row in parts_of_an_address(rng)]
    profile = trained_on(("first", "last", "code", "postcode", "town", "county"), [*rows, *rows[:100]])
    scorer = Scorer(profile)
    scorer.count(rows)
    left, right = np.triu_indices(len(rows), 1)
    found = scorer.score(columns_of(rows), left, right).probability
    assert (found >= 0.95).sum() <= 10
    assert found.sum() <= 100
    same = scorer.score(columns_of([*rows, *rows[:100]]), np.arange(100), np.arange(100) + len(rows)).probability
    assert (same >= 0.95).sum() >= 60


def test_scores_of_batches_streams_and_explanations_agree(seed: int) -> None:
    rng = random.Random(seed)
    rows = with_copies(cities_and_countries(rng), 100, rng)
    profile = trained_on(("name", "code", "city", "country"), rows)
    assert parse_profile(profile_text(profile), "things.toml") == profile
    scorer, columns = Scorer(profile), columns_of(rows)
    scorer.count(rows)
    left, right, _ = pairs_within(columns[2].codes)
    batch = scorer.score(columns, left, right)
    for at in range(0, left.size, 50):
        pair = rows[left[at]], rows[right[at]]
        (single,) = scorer.score_one(pair[0], [pair[1]])
        assert (single.total, single.weights) == (batch.total[at], tuple(batch.weights[at]))
        evidence = explain_pair(pair, profile, scorer)
        assert evidence.prior + sum(step.adds for step in evidence.steps) == pytest.approx(single.total)
        country = evidence.steps[3]
        assert country.predicted_by == ("" if country.missing else "city")
        assert country.frequency is None
        assert country.missing or abs(country.adds) <= 1.5


def test_a_predicted_value_weighs_between_nothing_and_its_own_weight() -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        m, u = np.sort(rng.dirichlet(np.ones(4)))[::-1], np.sort(rng.dirichlet(np.ones(4)))
        for share in (0.01, 0.3, 0.9, 0.999):
            given = given_ratio(m / u, u, share)
            assert 1 <= given[0] <= max(1, m[0] / u[0])
            assert (given <= given[0]).all()
            assert (given > 0).all()


def test_problems_of_given_are_reported() -> None:
    town = Comparison(field="town", comparator="exact", given=("postcod", "town"), given_u=(1.5,))
    profile = Profile(
        name="places",
        fields=(Field(name="postcode"), Field(name="town")),
        comparisons=(Comparison(field="postcode", comparator="exact"), town),
        rules=("town",),
    )
    assert [message for _, message in problems(profile)] == [
        "got 'postcod', expected another comparison of the profile; did you mean 'postcode'?",
        "got 'town', expected another comparison of the profile",
        "got 1 probabilities, expected 2, one for each of `given`",
    ]


@pytest.mark.parametrize("groups", [1, 5, 2000])
def test_pairs_of_a_group_count_as_its_records_less_one(groups: int) -> None:
    codes = np.repeat(np.arange(groups), 6)
    left, right, weights = pairs_within(codes)
    assert (codes[left] == codes[right]).all()
    assert (left != right).all()
    assert weights.sum() == pytest.approx(5 * groups) if groups <= 5 else left.size <= 6000
    assert pairs_within(np.array([-1, 3, -1, 4]))[0].size == 0
