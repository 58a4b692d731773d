"""Golden records: worked examples for each rule, and properties for any members in any order."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh.kinds.record.profiles import bundled
from stream_lsh.records.model import Record
from stream_lsh.records.profile import KEEPS, Field, Profile
from stream_lsh.records.reading import Reader
from stream_lsh.records.survivorship import GoldenRecords, Member


def profile(keep: str, type: str = "name") -> Profile:
    field = Field(name="x", type=type, keep=keep)
    return Profile(
        name="p", fields=(field,), comparisons=(), source_priority=("crm", "Web Shop"), missing=("not given",)
    )


def golden_record(profile: Profile, members: Iterable[Member]) -> dict[str, Any]:
    return GoldenRecords(profile).of(members)


def members(*values: tuple[str, str, int, Any]) -> list[Member]:
    return [Member(id, source, time_ms, {} if value is None else {"x": value}) for id, source, time_ms, value in values]


def kept(keep: str, *values: tuple[str, str, int, Any], type: str = "name") -> Any:
    found = {str(golden_record(profile(keep, type), order)) for order in itertools.permutations(members(*values))}
    assert len(found) == 1, found
    return golden_record(profile(keep, type), members(*values)).get("x")


# --- worked examples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # Two records have Ann Lee in one form or the other, one has Bob.
        ([("a", "", 1, "Ann Lee"), ("b", "", 2, "ANN LEE"), ("c", "", 9, "Bob")], "ANN LEE"),
        # The spelling of most, though another one is newer and longer.
        ([("a", "", 1, "Ann Lee"), ("b", "", 2, "Ann Lee"), ("c", "", 9, "Mrs. Ann Lee")], "Ann Lee"),
        # As many spell it either way: the longer one.
        ([("a", "", 1, "Mrs. Ann Lee"), ("b", "", 2, "Ann Lee")], "Mrs. Ann Lee"),
        # White space makes no spelling, and does not make it long: then it is the newer one as it came.
        ([("a", "", 2, "Ann Lee"), ("b", "", 1, "Ann    Lee ")], "Ann Lee"),
        # Ann and Bob are equally frequent: the value of the newest record, in any of its spellings.
        ([("a", "", 1, "ann"), ("b", "", 5, "ANN"), ("c", "", 3, "bob"), ("d", "", 4, "bob")], "ANN"),
        ([("a", "", 1, "ann"), ("b", "", 3, "ANN"), ("c", "", 2, "bob"), ("d", "", 4, "bob")], "bob"),
        # At one moment: the first id.
        ([("b", "", 1, "bob"), ("a", "", 1, "ann")], "ann"),
        # A placeholder has no vote.
        ([("a", "", 1, "N/A"), ("b", "", 2, "n/a"), ("c", "", 3, "..."), ("d", "", 4, "Not Given"), ("e", "", 0, "Bo")],
         "Bo"),
        # A list is one value, whatever the order of its elements.
        ([("a", "", 1, ["Bob", "Robert"]), ("b", "", 2, ["robert", "bob"]), ("c", "", 3, "Bob")], ["robert", "bob"]),
    ],
)  # fmt: skip
def test_the_most_frequent_value(values: list[tuple[str, str, int, Any]], expected: Any) -> None:
    assert kept("most-frequent", *values) == expected


def test_numbers_are_given_back_as_they_came() -> None:
    assert kept("most-frequent", ("a", "", 1, 2119), ("b", "", 2, 2119.0), ("c", "", 3, 7), type="number") == 2119
    assert kept("longest", ("a", "", 1, 12_345), ("b", "", 2, 7), type="number") == 12_345


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([("a", "", 1, "Ann"), ("b", "", 3, "Anne"), ("c", "", 2, "Ann")], "Anne"),
        ([("a", "", 1, "Ann"), ("b", "", 3, ""), ("c", "", 4, None), ("d", "", 2, "Anna")], "Anna"),
        ([("b", "", 3, "Anne"), ("a", "", 3, "Ann"), ("c", "", 3, "Anna")], "Ann"),
        ([("a", "", -5, "Ann"), ("b", "", -9, "Anne")], "Ann"),
    ],
)
def test_the_most_recent_value(values: list[tuple[str, str, int, Any]], expected: str) -> None:
    assert kept("most-recent", *values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([("a", "", 2, "Ann"), ("b", "", 1, "Anne"), ("c", "", 3, "Ann")], "Anne"),
        ([("a", "", 2, "Ann"), ("b", "", 1, "?"), ("c", "", 3, "Anna")], "Ann"),
        ([("b", "", 1, "Anne"), ("a", "", 1, "Ann")], "Ann"),
    ],
)
def test_the_first_value(values: list[tuple[str, str, int, Any]], expected: str) -> None:
    assert kept("first", *values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([("a", "", 1, "A. B. Lee"), ("b", "", 2, "Ann Bo Lee"), ("c", "", 3, "Ann")], "Ann Bo Lee"),
        ([("a", "", 1, "Ann            "), ("b", "", 2, "Anne")], "Anne"),
        ([("a", "", 1, "Anna"), ("b", "", 2, "Anne")], "Anne"),
        ([("a", "", 1, "................"), ("b", "", 2, "Anne")], "Anne"),
        ([("a", "", 1, ["Bob", "Rob"]), ("b", "", 2, "Robert")], ["Bob", "Rob"]),  # seven characters
        ([("a", "", 1, "王杰"), ("b", "", 2, "J")], "王杰"),
    ],
)
def test_the_longest_value(values: list[tuple[str, str, int, Any]], expected: Any) -> None:
    assert kept("longest", *values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([("a", "web shop", 9, "Anne"), ("b", "crm", 1, "Ann"), ("c", "list", 99, "Anna")], "Ann"),
        ([("a", "WEB SHOP", 1, "Anne"), ("b", "list", 99, "Anna")], "Anne"),
        ([("a", "crm", 1, "Ann"), ("b", "CRM", 2, "Anne")], "Anne"),  # the newer one of two of a source
        ([("a", "crm", 1, ""), ("b", "Web Shop", 1, "Anne")], "Anne"),
        ([("a", "list", 1, "Ann"), ("b", "", 2, "Anne"), ("c", "other", 0, "Anna")], "Anne"),  # in none: alike
    ],
)
def test_the_value_of_the_best_source(values: list[tuple[str, str, int, Any]], expected: str) -> None:
    assert kept("source-priority", *values) == expected


def test_a_field_without_values_is_left_out_and_no_members_give_an_empty_record() -> None:
    for keep in KEEPS:
        assert golden_record(profile(keep), []) == {}
        assert golden_record(profile(keep), members(("a", "", 1, None), ("b", "", 2, "n/a"), ("c", "", 3, []))) == {}


def test_four_records_of_one_man() -> None:
    # Rows 0 to 3 of the file fake_1000 of Splink, which are one person: each is wrong in something.
    columns = ("first_name", "surname", "dob", "city", "email")
    rows = [
        ("Robert", "Alan", "1971-06-24", "", "robert255@smith.net"),
        ("Robert", "Allen", "1971-05-24", "", "roberta25@smith.net"),
        ("Rob", "Allen", "1971-06-24", "London", "roberta25@smith.net"),
        ("Robert", "Alen", "1971-06-24", "Lonon", ""),
    ]
    people = bundled("people")
    reader = Reader(people)
    found = [
        Member(str(at), "", at, reader.raw_values(Record(str(at), dict(zip(columns, row, strict=True)))))
        for at, row in enumerate(rows)
    ]
    assert golden_record(people, found) == {
        "given_name": "Robert",
        "surname": "Allen",
        "date_of_birth": "1971-06-24",
        "suburb": "Lonon",  # the newest address counts, not the one that most have
        "email": "roberta25@smith.net",
    }


# --- whatever the members are ---------------------------------------------------------------------------------------

FIELDS = tuple(Field(name=keep.replace("-", "_"), type="name", keep=keep) for keep in KEEPS)
ALL = Profile(name="all", fields=FIELDS, comparisons=(), source_priority=("crm", "shop"))
WORDS = st.sampled_from(["Ann", "ANN", "ann ", "Bob", "bob", "Mr. Bob", "", "?", "...", "Zoë", "王杰"])
VALUES = WORDS | st.integers(0, 3) | st.lists(WORDS, max_size=2)
MEMBERS = st.lists(
    st.builds(
        Member,
        st.text("abc", min_size=1, max_size=3),
        st.sampled_from(["", "crm", "shop", "Shop", "list"]),
        st.integers(0, 3),
        st.dictionaries(st.sampled_from(ALL.names), VALUES),
    ),
    max_size=7,
    unique_by=lambda member: member.id,
)


@settings(max_examples=60)
@given(MEMBERS, st.randoms(use_true_random=False))
def test_the_order_of_the_members_makes_no_difference(found: list[Member], chance: Any) -> None:
    golden = GoldenRecords(ALL)
    expected = golden.of(found)
    origins = {name: one.id for name, one in golden.origins(found).items()}
    for _ in range(5):
        chance.shuffle(found)
        again = golden.of(found)
        assert again == expected
        assert {name: one.id for name, one in golden.origins(found).items()} == origins
        assert [type(value) for value in again.values()] == [type(value) for value in expected.values()]


@settings(max_examples=60)
@given(MEMBERS)
def test_each_value_is_one_of_the_members_and_no_other_one_has_more_right(found: list[Member]) -> None:
    golden, reader = golden_record(ALL, found), Reader(ALL)
    origins = GoldenRecords(ALL).origins(found)
    assert all(origin in found for origin in origins.values())
    assert golden == {name: origin.fields[name] for name, origin in origins.items()}

    def having(name: str) -> list[tuple[Member, str]]:
        at = ALL.names.index(name)
        read = ((one, reader.values(Record(one.id, one.fields))[at]) for one in found)
        return [(one, form) for one, form in read if form]

    assert set(golden) == {name for name in ALL.names if having(name)}
    assert list(golden) == [name for name in ALL.names if name in golden]
    for name, value in golden.items():
        candidates = having(name)
        holders = [one for one, _ in candidates if one.fields[name] is value or one.fields[name] == value]
        assert holders
        times = [one.time_ms for one, _ in candidates]
        if name == "most_recent":
            assert max(times) in [one.time_ms for one in holders]
        elif name == "first":
            assert min(times) in [one.time_ms for one in holders]
        elif name == "source_priority":
            ranks = [_rank(one) for one, _ in candidates]
            assert min(ranks) in [_rank(one) for one in holders]
        elif name == "longest":
            assert _length(value) == max(_length(one.fields[name]) for one, _ in candidates)
        else:
            forms = [form for _, form in candidates]
            own = next(form for one, form in candidates if one in holders)
            assert forms.count(own) == max(map(forms.count, forms))


def _rank(member: Member) -> int:
    return {"crm": 0, "shop": 1}.get(member.source.lower(), 2)


def _length(value: Any) -> int:
    parts: Sequence[Any] = value if isinstance(value, list) else [value]
    return len(" ".join(word for part in parts for word in str(part).split()))
