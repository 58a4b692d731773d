"""Learning from little or no contrast: files with few matches, one field, no duplicates, or nothing but duplicates."""

import random
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from stream_lsh.kinds.record.in_memory import RecordLinker, training_on
from stream_lsh.kinds.record.profiles import bundled
from stream_lsh.records.model import Record
from stream_lsh.records.train.agreement import agreeing, agreement
from stream_lsh.records.train.patterns import Patterns, patterns_of

GIVEN = (
    "ann bob carl dora emil fred gina hans ida jack kate leo mary nina otto paul rita sam tina uwe vera will".split()
)
SURNAMES = "smith jones brown miller davis wilson moore taylor thomas white harris martin garcia clark lewis".split()


def person(rng: random.Random) -> dict[str, str]:
    """A person, who shares single values with others."""
    return {
        "first_name": rng.choice(GIVEN),
        "last_name": rng.choice(SURNAMES) + rng.choice(("", *SURNAMES)),
        "dob": f"19{rng.randrange(30, 99)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
        "city": rng.choice(("leeds", "york", "hull", "bath", "derby")),
    }


def matched(rows: Sequence[dict[str, str]], profile: str = "people") -> set[tuple[str, str]]:
    """The matches among records with these fields, by weights that are learned from them; ids are row numbers."""
    records = [Record(f"{row:05}", fields) for row, fields in enumerate(rows)]
    linker = RecordLinker.learned(profile, records)
    linker.add_many(records)
    return {(match.left, match.right) for match in linker.matches()}


@pytest.mark.parametrize("others", [1, 50, 300])
def test_one_equal_email_address_is_a_match(others: int) -> None:
    rows = [{"email": f"{name}.{number}@mail.example"} for number, name in zip(range(others), GIVEN * 20, strict=False)]
    assert matched([*rows, {"email": "x.y@mail.example"}, {"email": "x.y@mail.example"}]) == {
        (f"{others:05}", f"{others + 1:05}")
    }


def test_twenty_equal_codes_are_twenty_matches(seed: int) -> None:
    rng = random.Random(seed)
    codes = [f"{number:08}" for number in rng.sample(range(10**8), 200)]
    assert len(matched([{"soc_sec_id": code} for code in [*codes, *codes[:20]]])) == 20


@pytest.mark.parametrize("copies", [3, 10, 60])
def test_identical_records_are_one_entity(copies: int, seed: int) -> None:
    rows = [person(random.Random(seed))] * copies
    records = [Record(str(number), fields) for number, fields in enumerate(rows)]
    linker = RecordLinker.learned("people", records)
    linker.add_many(records)
    assert [len(entity.members) for entity in linker.entities()] == [copies]


@pytest.mark.parametrize("others", [20, 48, 400])
def test_two_equal_records_among_others_match(others: int, seed: int) -> None:
    rng = random.Random(seed)
    rows = [person(rng) for _ in range(others)]
    found = matched([*rows, rows[7]])
    assert ("00007", f"{others:05}") in found
    assert len(found) <= 4


def test_equal_names_that_chance_explains_are_no_matches(seed: int) -> None:
    rng = random.Random(seed)
    every = [*product(GIVEN, SURNAMES)]
    rows = [{"name": " ".join(rng.choice(every))} for _ in range(300)]
    training = training_on(bundled("people"), [Record(str(row), fields) for row, fields in enumerate(rows)])
    agreed = training.agreement
    assert agreed.pairs >= 60  # 44,850 pairs of 330 names
    assert 0.7 * agreed.pairs < agreed.chance
    assert training.expected < 0.25 * agreed.pairs
    # The same names, each twice: half of the agreement is beyond chance.
    doubled = [Record(f"{row}{copy}", fields) for row, fields in enumerate(rows) for copy in "ab"]
    training = training_on(bundled("people"), doubled)
    assert training.expected > 0.5 * 300


def test_no_duplicates_give_no_matches(seed: int) -> None:
    rng = random.Random(seed)
    assert len(matched([person(rng) for _ in range(300)])) <= 3


def test_everything_doubled_is_found_doubled(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample([*product(GIVEN, SURNAMES)], 150)  # no namesakes
    rows = [person(rng) | {"first_name": given, "last_name": surname} for given, surname in names]
    found = matched([row for row in rows for _ in range(2)])
    truth = {(f"{2 * row:05}", f"{2 * row + 1:05}") for row in range(150)}
    assert found >= truth
    assert len(found - truth) <= 4


def test_pairs_of_a_single_category_are_no_matches() -> None:
    rows = [{"city": city} for city in ("leeds", "york", "hull", "bath", "derby") for _ in range(40)]
    assert not matched(rows)


def test_a_field_that_follows_from_another_one_is_no_further_evidence() -> None:
    rng = np.random.default_rng(3)
    # 200 postcodes of 20 towns, and names: pairs without a name on both sides know postcode and town alone.
    postcode, named = rng.integers(0, 200, (2, 50_000)), rng.random(50_000) < 0.5
    same, town = postcode[0] == postcode[1], postcode[0] % 20 == postcode[1] % 20
    name = np.where(named, np.where(rng.random(50_000) < 0.001, 0, 1), 255)
    levels = np.column_stack((np.where(same, 0, 1), np.where(town, 0, 1), name)).astype(np.uint8)
    found = agreement(patterns_of(levels[same]), patterns_of(levels), len(levels), 320, [0.01] * 3)
    both = np.array([[0, 0, 255]], np.uint8)
    assert found.least_of(both)[0] < 0.2
    assert found.chance > 0.7 * found.pairs


def test_the_excess_over_chance_is_expected_to_match() -> None:
    # 1,000 pairs with equal values in both fields; independent shares of 0.01 and 0.02 explain 200 of a million.
    levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)
    counts = np.array([1_000.0, 9_800, 19_800, 969_400])
    found = agreement(Patterns(levels[:1], counts[:1]), Patterns(levels, counts), 1_000_000, 1_500, [0.01, 0.01])
    assert found.pairs == 1_000
    assert found.chance == pytest.approx(200, rel=0.05)
    assert found.least_of(levels).tolist() == pytest.approx([1 - (200 + 200**0.5) / 1_000, 0, 0, 0], abs=0.01)


def test_agreement_ignores_missing_values_and_needs_one_value() -> None:
    levels = np.array([[0, 255, 0], [0, 255, 3], [255, 255, 255]], np.uint8)
    assert agreeing(levels).tolist() == [True, False, False]
