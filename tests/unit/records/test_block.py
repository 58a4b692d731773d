"""Blocking: which records meet, and that nothing but their own values decides it."""

import random
import time
from itertools import combinations

import numpy as np
import pytest

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.record.scheme import RecordScheme
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.block.pairs import candidate_pairs
from stream_lsh.records.block.rules import MOST_KEYS, Rule
from stream_lsh.records.block.transforms import transform
from stream_lsh.records.model import SEVERAL, Values
from stream_lsh.records.profile import Field, LshBlocking, Profile
from tests.evaluation.one_to_one import best_pairs

PLACES = {"given": 0, "surname": 1, "born": 2}
ANN = ("ann", "leeds", "1978-11-12")


def meet(rule: str, one: Values, other: Values) -> bool:
    made = Rule(rule, PLACES)
    return not set(made.keys(one)).isdisjoint(made.keys(other))


@pytest.mark.parametrize(
    ("rule", "other", "expected"),
    [
        ("surname", ("zoe", "leeds", ""), True),
        ("surname", ("ann", "leed", "1978-11-12"), False),
        ("surname:first3", ("", "leet", ""), True),
        ("surname:last3", ("", "xeds", ""), True),
        ("surname:soundex", ("", "leads", ""), True),
        ("surname:metaphone", ("", "leads", ""), True),
        ("surname + born", ("", "leeds", "1978-11-12"), True),
        ("surname + born", ("", "leeds", "1978-11-13"), False),
        ("surname + born:year", ("", "leeds", "1978-01-01"), True),
        ("born:month + born:day", ("", "", "1999-11-12"), True),
        ("given|surname + born", ("leeds", "ann", "1978-11-12"), True),
        ("given + born", ("leeds", "ann", "1978-11-12"), False),
        ("surname:letters", ("", "eedsl", ""), True),
        ("born:digits", ("", "", "19781112"), True),
    ],
)
def test_records_meet_where_the_parts_of_a_rule_agree(rule: str, other: Values, expected: bool) -> None:
    assert meet(rule, ANN, other) is expected
    assert meet(rule, ANN, ANN)


@pytest.mark.parametrize(
    "rule", ["surname", "given + surname", "given|surname", "surname:token", "born:year + surname"]
)
def test_a_missing_part_is_no_key(rule: str) -> None:
    assert Rule(rule, PLACES).keys(("", "", "")) == []
    assert not meet(rule, ("", "", ""), ("", "", ""))


@pytest.mark.parametrize(
    ("name", "value"), [("year", "about-1978"), ("day", "1978-11"), ("digits", "x"), ("number", "")]
)
def test_a_transform_of_what_it_cannot_read_gives_nothing(name: str, value: str) -> None:
    assert transform(name)(value) == ()


def test_any_of_several_values_and_words_may_agree() -> None:
    assert meet("surname", ("", f"leeds{SEVERAL}york", ""), ("", f"hull{SEVERAL}york", ""))
    assert meet("surname:token", ("", "leeds bradford", ""), ("", "york bradford", ""))
    assert not meet("surname:token", ("", "leeds of x", ""), ("", "york of x", ""))
    many = SEVERAL.join(f"name{number}" for number in range(40))
    assert len(Rule("given|surname", PLACES).keys((many, many, ""))) <= MOST_KEYS


def test_a_rule_of_many_parts_over_many_values_has_its_first_keys_in_a_moment() -> None:
    names = [f"field{n}" for n in range(6)]
    rule = Rule(" + ".join(f"{name}:token" for name in names), {name: place for place, name in enumerate(names)})
    several = SEVERAL.join(" ".join(f"word{value}{word}" for word in range(6)) for value in range(8))
    began = time.process_time()
    found = rule.keys((several,) * 6)  # 48 words in each part: 48 ** 6 ways to choose one of each
    assert time.process_time() - began < 1.0
    assert len(set(found)) == rule.width == MOST_KEYS


def test_rules_never_share_keys_and_keep_bit_0_free() -> None:
    same = ("leeds", "leeds", "leeds")
    keys = [Rule(rule, PLACES).keys(same) for rule in ("given", "surname", "born", "given + surname", "surname:first9")]
    assert len({key for own in keys for key in own}) == 5
    assert all(key and key % 2 == 0 for own in keys for key in own)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("sirname", "did you mean 'surname'"),
        ("surname:soundx", "did you mean 'soundex'"),
        ("surname + ", "expected one of the profile"),
        ("", "expected one of the profile"),
    ],
)
def test_an_unreadable_rule_is_rejected(rule: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Rule(rule, PLACES)


PROFILE = Profile(
    name="people",
    fields=(Field(name="given"), Field(name="surname"), Field(name="born")),
    comparisons=(),
    rules=("surname:first3", "given|surname + born:year", "surname:token"),
    lsh=(LshBlocking(fields=("given", "surname"), threshold=0.4),),
)


def some_records(seed: int, count: int = 60) -> list[Values]:
    rng = random.Random(seed)
    names = ["ann", "anne", "bob", "leeds", "leads lee", "york", "", "王杰"]
    return [
        (rng.choice(names), rng.choice(names), rng.choice(["1978-11-12", "1978", "1980-01-01", ""]))
        for _ in range(count)
    ]


def test_keys_depend_on_the_record_alone(seed: int) -> None:
    blocker, records = blocker_of(PROFILE), some_records(seed)
    keys = blocker.keys(records)
    assert keys.shape == (len(records), blocker.owners.size)
    assert blocker.names == (*PROFILE.rules, "lsh 1")
    order = np.random.default_rng(seed).permutation(len(records))
    assert (blocker.keys([records[row] for row in order]) == keys[order]).all()
    for row, values in enumerate(records):
        assert (blocker.keys([values])[0] == keys[row]).all()
        of_rules = keys[row][: sum(rule.width for rule in blocker.rules)]
        assert set(blocker.keys_of(values)) == {key for key in of_rules.tolist() if key}


def test_a_record_without_values_has_no_keys() -> None:
    assert not blocker_of(PROFILE).keys([("", "", "")]).any()


def test_lsh_finds_similar_values_and_distinguishes_fields() -> None:
    blocker = blocker_of(Profile(name="x", fields=PROFILE.fields, comparisons=(), lsh=PROFILE.lsh))
    one, near, swapped = blocker.keys(
        [("jonathan", "smithson", ""), ("jonathan", "smithsen", ""), ("smithson", "jonathan", "")]
    )
    assert (one == near).any()
    assert not (one == swapped).any()


@pytest.mark.parametrize("cap", [0, 1, 3])
def test_candidate_pairs_are_those_that_share_a_key(cap: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 6, (40, 4)).astype(np.uint64) * np.uint64(2)
    owners = np.array([0, 1, 1, 2])
    expected: dict[tuple[int, int], int] = {}
    for owner in range(3):
        columns = np.flatnonzero(owners == owner)
        buckets: dict[int, list[int]] = {}
        for row, own in enumerate(keys[:, columns].tolist()):
            for key in set(own) - {0}:
                earlier = buckets.setdefault(key, [])
                for other in earlier[-cap:] if cap else earlier:
                    expected[other, row] = expected.get((other, row), 0) | 1 << owner
                earlier.append(row)
    found = candidate_pairs(keys, owners, cap)
    pairs = zip(found.left.tolist(), found.right.tolist(), strict=True)
    assert dict(zip(pairs, found.rules.tolist(), strict=True)) == expected
    assert expected


def test_no_records_have_no_pairs() -> None:
    found = candidate_pairs(np.empty((0, 3), np.uint64), np.arange(3))
    assert found.left.size == found.right.size == found.rules.size == 0


def test_the_best_pairs_do_not_depend_on_the_order(seed: int) -> None:
    rng = random.Random(seed)
    pairs = [(one, other, rng.randint(0, 5)) for one in range(8) for other in range(8, 16) if rng.random() < 0.4]
    taken: set[int] = set()
    expected = set()
    for total, one, other in sorted((-total, one, other) for one, other, total in pairs):
        if not {one, other} & taken:
            taken |= {one, other}
            expected.add((one, other, -total))
    for _ in range(5):
        rng.shuffle(pairs)
        left, right, totals = (np.array(column) for column in zip(*pairs, strict=True))
        kept = best_pairs(left, right, totals.astype(np.float64))
        assert {pairs[at] for at in kept.tolist()} == expected


def test_a_record_may_have_a_partner_in_each_source() -> None:
    left, right, totals = np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([9.0, 8.0, 7.0])
    assert best_pairs(left, right, totals, np.array([0, 1, 1, 2])).tolist() == [0, 2]
    assert [len(best_pairs(left[:0], right[:0], totals[:0])), *combinations([1], 2)] == [0]


def test_the_libraries_behind_shingles_are_part_of_what_keys_depend_on() -> None:
    import Stemmer  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415

    def settings(shingles: str) -> dict[str, str | int | float]:
        lsh = LshBlocking(fields=("given", "surname"), shingles=shingles)
        return RecordScheme(Profile(name="x", fields=PROFILE.fields, comparisons=(), lsh=(lsh,))).settings

    assert Stemmer.version() in str(settings("stem:en:1")["lsh_libraries"])
    assert "lsh_libraries" not in settings("char:3")
