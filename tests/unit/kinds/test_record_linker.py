"""Records in memory: matches and entities, which do not depend on the order of arrival."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh import (
    ConfigError,
    DamagedBytes,
    Guards,
    MalformedMessage,
    NearDuplicates,
    Record,
    RecordLinker,
    UnusableDocument,
)
from stream_lsh.records.profile import Comparison, Field, LshBlocking, Profile

NAME = Comparison(field="name", comparator="jaro-winkler", levels=(0.9,), m=(0.85, 0.1, 0.05), u=(0.01, 0.04, 0.95))
BORN = Comparison(field="born", comparator="exact", m=(0.95, 0.05), u=(0.02, 0.98))
TOWN = Comparison(field="town", comparator="exact", m=(0.8, 0.2), u=(0.2, 0.8))
PROFILE = Profile(
    name="people",
    fields=(
        Field(name="name", type="name"),
        Field(name="born", type="identifier", keep="most-recent"),
        Field(name="town", type="name"),
    ),
    comparisons=(NAME, BORN, TOWN),
    rules=("name", "born", "town + name:first1"),
    match=0.9,
    review=0.2,
    prior=0.05,
)
"""Bits: prior -4.2; name 6.4, 1.3, -4.2; born 5.6, -4.3; town 2, -2.  Nothing depends on frequencies."""


def record(id: str, name: str, born: str = "", town: str = "", **more: Any) -> Record:
    return Record(id, {"name": name, "born": born, "town": town}, **more)


ANN, ANNE, ANA = record("1", "Ann Lee", "1980"), record("2", "Ann Lee", "1980", "Leeds"), record("3", "Ann Lee")


def test_a_match_has_the_weight_of_each_field_and_the_rules_that_found_it() -> None:
    linker = RecordLinker(PROFILE)
    linker.add(ANN)
    (match,) = linker.add(ANNE)
    assert (match.left, match.right, match.rules) == ("1", "2", ("name", "born"))
    # log2(.85 / .01), log2(.95 / .02), log2(.05 / .95); no town, so nothing for it
    assert match.weights == pytest.approx({"name": 6.409, "born": 5.570}, abs=1e-3)
    assert match.score == pytest.approx(6.409 + 5.570 - 4.248, abs=2e-3)
    assert match.probability == pytest.approx(1 / (1 + 2**-match.score), abs=1e-4)
    assert (linker.matches(), linker.reviews()) == ([match], [])


def test_a_pair_between_the_thresholds_is_for_review_and_connects_nothing() -> None:
    linker = RecordLinker(PROFILE)
    linker.add(ANA)
    assert linker.add(ANN) == []
    (pair,) = linker.reviews()
    assert (pair.left, pair.right) == ("1", "3")
    assert 0.2 <= pair.probability < 0.9
    assert (linker.matches(), linker.entities(), linker.entity_of("1")) == ([], [], None)


def test_decisions_hold_against_scores_and_can_be_taken_back() -> None:
    linker = RecordLinker(PROFILE)
    linker.add_many([ANN, ANNE, ANA])
    assert [entity.members for entity in linker.entities()] == [("2", "1")]
    linker.decide("3", "1", same=True)
    assert [sorted(entity.members) for entity in linker.entities()] == [["1", "2", "3"]]
    linker.decide("1", "2", same=False)
    assert "2" not in {id for entity in linker.entities() for id in entity.members}
    linker.add(replace_town(ANNE, "York"))  # the decision outlives a change of the record
    assert linker.entity_of("2") is None
    linker.decide("2", "1", same=None)
    linker.decide("1", "3", same=None)
    assert [entity.members for entity in linker.entities()] == [("2", "1")]


def replace_town(one: Record, town: str) -> Record:
    return one._replace(fields={**one.fields, "town": town})


def test_two_records_that_are_decided_to_differ_are_kept_apart_in_any_cluster() -> None:
    linker = RecordLinker(PROFILE)
    linker.add_many([record("1", "Ann Lee", "1980"), record("2", "Ann Lee", "1980"), record("3", "Ann Lee", "1980")])
    linker.decide("1", "3", same=False)
    groups = [set(entity.members) for entity in linker.entities()]
    assert groups in ([{"1", "2"}], [{"2", "3"}])


def test_a_decision_in_words_is_refused() -> None:
    linker = RecordLinker(PROFILE)
    linker.add_many([record("1", "Ann Lee", "1980"), record("2", "Ann Lee", "1980")])
    for word in ("different", "same", ""):
        with pytest.raises(ConfigError, match=f"decide: got '{word}', expected True, False or None"):
            linker.decide("1", "2", word)  # type: ignore[arg-type]
    assert len(linker.matches()) == 1


def test_a_golden_record_keeps_the_values_that_the_profile_prefers() -> None:
    linker = RecordLinker(PROFILE)
    linker.add_many(
        [
            record("1", "ann lee", "1980", time_ms=3),
            record("2", "Ann Lee", "1980", "Leeds", time_ms=1),
            record("3", "Ann Lee", "1980", time_ms=2),
        ]
    )
    (entity,) = linker.entities()
    assert entity.golden == {"name": "Ann Lee", "born": "1980", "town": "Leeds"}


def test_of_a_clean_source_an_entity_has_one_record() -> None:
    linker = RecordLinker(replace(PROFILE, one_to_one=True))
    linker.add_many(
        [
            record("a1", "Ann Lee", "1980", "Leeds", source="a"),
            record("b1", "Ann Lee", "1980", "Leeds", source="b"),
            record("b2", "Ann Lee", "1980", "York", source="b"),
        ]
    )
    assert [sorted(entity.members) for entity in linker.entities()] == [["a1", "b1"]]
    assert [(match.left, match.right) for match in linker.matches()] == [("a1", "b1")]
    lost = [(review.left, review.right) for review in linker.reviews()]
    assert ("a1", "b2") in lost
    assert ("a1", "b1") not in lost
    # The next best takes the place of the best.
    linker.remove("b1")
    assert [(match.left, match.right) for match in linker.matches()] == [("a1", "b2")]
    assert linker.reviews() == []


def test_of_two_partners_with_probability_1_the_one_with_more_bits_is_the_match() -> None:
    certain = replace(NAME, u=(1e-10, 0.05, 0.95)), replace(BORN, u=(1e-10, 1.0))
    profile = replace(PROFILE, one_to_one=True, link="link", comparisons=(*certain, TOWN))
    linker = RecordLinker(profile)
    linker.add_many(
        [record("a", "Ann Lee", "1980", "Leeds", source="x"), record("b", "Ann Lee", "1980", "York", source="y")]
    )
    assert [(match.left, match.right) for match in linker.matches()] == [("a", "b")]
    (match,) = linker.add(record("c", "Ann Lee", "1980", "Leeds", source="y", time_ms=9))
    assert (match.left, match.right) == ("a", "c")
    (lost,) = linker.reviews()
    assert (lost.left, lost.right) == ("a", "b")
    assert lost.probability == match.probability == 1
    assert lost.score < match.score


def test_records_of_one_source_are_not_compared_where_only_sources_are_linked() -> None:
    linker = RecordLinker(replace(PROFILE, link="link"))
    linker.add_many([record("1", "Ann Lee", "1980", source="a"), record("2", "Ann Lee", "1980", source="a")])
    assert linker.matches() == []
    linker.add(record("3", "Ann Lee", "1980", source="b"))
    assert [(match.left, match.right) for match in linker.matches()] == [("1", "3"), ("2", "3")]


def test_a_search_finds_what_adding_would_find_and_changes_nothing() -> None:
    linker = RecordLinker(PROFILE)
    linker.add_many([ANN, ANA, record("4", "Bob Ray", "1955")])
    found = linker.search(ANNE.fields)
    assert [(one.id, round(one.score, 2)) for one in found] == [("1", 7.73), ("3", 2.16)]
    assert (len(linker), linker.matches(), len(linker.reviews())) == (3, [], 1)
    assert linker.search({"name": "", "shoe size": 9}) == []


def test_a_record_without_values_matches_nothing() -> None:
    linker = RecordLinker(PROFILE)
    linker.add_many([record("1", "n/a"), record("2", ""), Record("3", {})])
    assert (len(linker), linker.matches(), linker.reviews()) == (3, [], [])


def test_an_unusable_record_is_rejected_and_changes_nothing() -> None:
    linker = RecordLinker(PROFILE)
    for wrong, error in (
        (Record("", {"name": "x"}), UnusableDocument),
        (Record("1", {"name": {"first": "x"}}), MalformedMessage),
        (Record("1", {"name": 10**5000}), MalformedMessage),
        (Record("1", {"name": ["x", 10**5000]}), MalformedMessage),
        (Record("1", {"name": "x"}, time_ms="now"), MalformedMessage),  # type: ignore[arg-type]
        (Record("1", {"name": "x"}, source="s" * 101), UnusableDocument),
    ):
        with pytest.raises(error):
            linker.add(wrong)
    assert len(linker) == 0
    with pytest.raises(ConfigError, match="did you mean 'people'"):
        RecordLinker("peple")


def test_the_time_of_a_row_may_be_any_as_that_of_a_record() -> None:
    framed, added = RecordLinker(PROFILE), RecordLinker(PROFILE)
    framed.add_frame([{"id": "1", "name": "Ann Lee", "time": "2100-01-01"}])
    added.add(Record("1", {"name": "Ann Lee"}, time_ms=4_102_444_800_000))
    assert framed.record("1") == added.record("1")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"prior": 1.0}, "people: prior: got 1, expected a number above 0 and below 1"),
        ({"match": math.nan}, "people: match: got nan, expected a number above 0 and below 1"),
        ({"smoothing": 0.0}, "people: smoothing: got 0, expected a number above 0"),
        ({"link": "dedup"}, "people: link: got 'dedup', expected one of dedupe, link, both; did you mean 'dedupe'?"),
        ({"rules": ()}, "people: rules: got none and no [[lsh]], expected blocking"),
        ({"lsh": (LshBlocking(fields=()),)}, "people: lsh.0.fields: got none, expected one or more"),
        ({"fields": (*PROFILE.fields, Field(name="seen", type="dat"))}, "people: field.3.type: got 'dat'"),
        (
            {"fields": (*PROFILE.fields, Field(name="seen", type="date", order="ymd"))},
            "people: field.3.order: got 'ymd', expected one of mdy, dmy",
        ),
        (
            {"comparisons": (*PROFILE.comparisons, replace(TOWN, field="city"))},
            "people: comparison.3.field: got the field 'city', expected one of the profile",
        ),
        (
            {"comparisons": (*PROFILE.comparisons, replace(TOWN, comparator="levenshtein", levels=(math.inf,)))},
            "people: comparison.3.levels: levenshtein: got the levels inf, expected distances in whole numbers",
        ),
        ({"comparisons": (replace(TOWN, weight=0.0),)}, "people: comparison.0.weight: got 0, expected a number"),
    ],
)  # fmt: skip
def test_a_profile_with_a_contradiction_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        RecordLinker(replace(PROFILE, **changes))
    assert any(one.startswith(problem) for one in raised.value.problems), raised.value.problems
    with pytest.raises(ConfigError):
        RecordLinker.learned(replace(PROFILE, **changes), [])


def test_a_linker_that_has_learned_scores_by_what_it_learned() -> None:
    names = ["ann lee", "bob ray", "cid fox", "dan orr", "eva kay", "fay may"]
    records = [
        record(f"{number} {copy}", f"{name} {number % 7}", str(1950 + number), "leeds")
        for number, name in enumerate(names * 20)
        for copy in range(2)
    ]
    unlearned = replace(PROFILE, prior=None, comparisons=tuple(replace(one, m=(), u=()) for one in (NAME, BORN, TOWN)))
    linker = RecordLinker.learned(unlearned, records)
    assert linker.profile.learned
    linker.add_many(records)
    assert sum(match.left.split()[0] == match.right.split()[0] for match in linker.matches()) >= 110


NAMES, YEARS, TOWNS = ("Ann Lee", "Anne Lee", "Bob Ray", ""), ("1980", "1981", ""), ("Leeds", "York", "")
versions = st.builds(
    record,
    st.sampled_from("abcdef"),
    st.sampled_from(NAMES),
    st.sampled_from(YEARS),
    st.sampled_from(TOWNS),
    source=st.sampled_from(("", "x", "y")),
    time_ms=st.integers(0, 3),
)
decisions = st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.sampled_from((True, False))).filter(
    lambda one: one[0] != one[1]
)
steps = st.lists(st.one_of(versions, versions, st.sampled_from("abcdef")), max_size=14)


def results_of(linker: RecordLinker) -> tuple[object, ...]:
    """Everything but the ids of entities, which are those of their first members."""
    entities = {(frozenset(entity.members), tuple(sorted(entity.golden.items()))) for entity in linker.entities()}
    return linker.matches(), linker.reviews(), entities


@settings(max_examples=150, deadline=None)
@given(steps, st.randoms(use_true_random=False), st.lists(decisions, max_size=3), st.booleans(), st.data())
def test_any_order_of_additions_and_removals_ends_with_the_results_of_the_remaining_records(
    arrivals: list[Record | str],
    chance: object,
    verdicts: list[tuple[str, str, bool]],
    one_to_one: bool,
    data: st.DataObject,
) -> None:
    profile = replace(PROFILE, one_to_one=one_to_one)
    linker, left = RecordLinker(profile), dict[str, Record]()
    # A pair that was decided to match keeps its decision until it is withdrawn, so decisions come last.
    places = [len(arrivals) if same else data.draw(st.integers(0, len(arrivals))) for _, _, same in verdicts]
    for number, step in enumerate([*arrivals, None]):
        for place, (one, other, same) in zip(places, verdicts, strict=True):
            if place == number:
                linker.decide(one, other, same)
        if isinstance(step, Record):
            linker.add(step)
            left[step.id] = step
        elif step is not None:
            linker.remove(step)
            left.pop(step, None)
    batch = RecordLinker(profile)
    rest = [*left.values()]
    chance.shuffle(rest)  # type: ignore[attr-defined]
    batch.add_many(rest)
    last = dict[tuple[str, ...], tuple[str, str, bool]]()
    for _, verdict in sorted(zip(places, verdicts, strict=True), key=lambda one: one[0]):
        last[tuple(sorted(verdict[:2]))] = verdict
    for one, other, same in last.values():
        batch.decide(one, other, same)
    assert results_of(linker) == results_of(batch)


def test_a_decided_pair_stays_published_when_its_records_may_not_be_compared_any_more() -> None:
    linker = RecordLinker(replace(PROFILE, link="link"))
    linker.add_many([record("1", "Ann Lee", "1980", source="crm"), record("2", "Ann Lee", "1980", source="shop")])
    linker.decide("1", "2", same=True)
    linker.add(record("2", "Ann Lee", "1980", source="crm"))  # of one source now, where only sources are linked
    (match,) = linker.matches()
    assert (match.left, match.right, match.probability) == ("1", "2", 0.0)
    assert match.weights.keys() == {"name", "born"}
    assert [entity.members for entity in linker.entities()] == [("2", "1")]
    linker.decide("1", "2", same=None)
    assert (linker.matches(), linker.entities()) == ([], [])


def test_a_rule_that_puts_everything_into_one_block_is_capped_and_named() -> None:
    profile = replace(PROFILE, rules=("town", "name"))
    linker = RecordLinker(profile, max_candidates=32)
    linker.add_many(record(str(number), f"{chr(97 + number % 26)}{number} lee", "", "Leeds") for number in range(60))
    # Each of the last 27 skips the records behind the 32 newest before it, and no two share a name.
    assert linker.counts.capped_by_block == {"town": 27}
    assert linker.counts.capped_postings == 27
    uncapped = RecordLinker(profile, max_candidates=0)
    uncapped.add_many(record(str(number), f"x{number} lee", "", "Leeds") for number in range(60))
    assert (uncapped.counts.capped_by_block, uncapped.counts.candidates) == ({}, 60 * 59 // 2)


@settings(max_examples=40, deadline=None)
@given(steps, steps, st.lists(st.tuples(decisions, st.booleans()), max_size=3), st.booleans())
def test_a_saved_linker_continues_with_the_same_results(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[Record | str],
    after: list[Record | str],
    verdicts: list[tuple[tuple[str, str, bool], bool]],
    one_to_one: bool,
) -> None:
    path = tmp_path_factory.mktemp("save") / "people.slsh"
    linker = RecordLinker(replace(PROFILE, one_to_one=one_to_one), guards=Guards(max_size=4))
    for step in before:
        linker.add(step) if isinstance(step, Record) else linker.remove(step)
    for (one, other, same), early in verdicts:
        if early:
            linker.decide(one, other, same)
    linker.save(path)
    again = RecordLinker.load(path)
    assert again.profile == linker.profile
    for step in after:
        if isinstance(step, Record):
            assert again.add(step) == linker.add(step)
        else:
            assert again.remove(step) == linker.remove(step)
        assert results_of(again) == results_of(linker)
        assert (again.entities(), len(again)) == (linker.entities(), len(linker))
    for (one, other, same), early in verdicts:
        for each in (linker, again):
            each.decide(one, other, None if early else same)
        assert results_of(again) == results_of(linker)
    assert again.search(ANN.fields) == linker.search(ANN.fields)


def test_frequencies_learned_weights_and_the_way_a_pair_is_weighed_are_saved(tmp_path: Path) -> None:
    weighed = replace(PROFILE, smoothing=5.0, comparisons=(replace(NAME, term_frequency=True), BORN, TOWN))
    linker = RecordLinker(weighed)
    linker.add_many([record(str(number), "Ann Lee" if number % 3 else "Zoe Quist", "1980") for number in range(30)])
    linker.save(tmp_path / "people")
    again = RecordLinker.load(tmp_path / "people")
    for name in ("Ann Lee", "Zoe Quist"):
        asked = {"name": name, "born": "1980"}
        assert again.search(asked) == linker.search(asked)
    best = [linker.search({"name": name, "born": "1980"})[0].score for name in ("Ann Lee", "Zoe Quist")]
    assert best[0] < best[1], "a rare name weighs more"
    assert again.matches() == linker.matches()


@pytest.mark.slow
def test_neither_removed_nor_replaced_records_make_a_linker_grow() -> None:
    linker = RecordLinker(PROFILE)
    linker.add_many([ANN, ANNE, ANA])
    linker.decide("1", "3", same=True)
    before = results_of(linker)
    for number in range(3000):
        linker.add(record(f"goes{number}", "Bob Ray", str(1950 + number % 50)))
        assert linker.remove(f"goes{number}")
    assert results_of(linker) == before
    assert len(linker) == 3
    assert linker.counts.documents == 6003
    assert len(linker._pipeline.documents._ids) < 1100
    assert len(linker._ledger.newest) < 1100
    for number in range(2000):
        linker.add(record("2", "Ann Lee", "1980", f"Leeds {number}"))
    assert len(linker._ledger.graph.nodes.ids) < 1100
    linker.add(ANNE)
    assert results_of(linker) == before


def test_compaction_changes_no_result() -> None:
    linker = RecordLinker(PROFILE)
    linker.add_many([ANN, ANNE, ANA, record("4", "Bob Ray", "1955"), record("5", "Bob Ray", "1955")])
    linker.decide("1", "2", same=False)
    linker.remove("5")
    before = (*results_of(linker), linker.entities(), linker.search(ANN.fields), linker.counts)
    linker._compact()
    assert (*results_of(linker), linker.entities(), linker.search(ANN.fields), linker.counts) == before
    linker.decide("1", "2", same=None)
    assert [entity.members for entity in linker.entities()] == [("2", "1")]


def test_a_file_of_something_else_is_no_linker(tmp_path: Path) -> None:
    NearDuplicates().save(tmp_path / "near")
    with pytest.raises(DamagedBytes, match="its head does not describe records"):
        RecordLinker.load(tmp_path / "near")
    RecordLinker(PROFILE).save(tmp_path / "people")
    with pytest.raises(DamagedBytes, match="its head does not describe near-duplicates"):
        NearDuplicates.load(tmp_path / "people")


def test_explanations_have_the_scores_of_the_matches_whatever_was_added_later() -> None:
    rows = [
        Record(f"{n}-{copy}", {"name": f"{name} {surname}{'y' * copy}", "dob": f"198{n}-02-03", "city": "Leeds"})
        for n, (name, surname) in enumerate((("Jane", "Doe"), ("Ann", "Smith"), ("Bob", "Marlowe")))
        for copy in range(2)
    ]
    linker = RecordLinker.learned("people", rows)
    linker.count_first(rows)
    linker.add_many(rows)
    assert len(linker.matches()) >= 3
    for match in linker.matches():
        evidence = linker.explain(match.left, match.right)
        assert evidence.total == pytest.approx(match.score, abs=0.001)
        assert {step.field: step.adds for step in evidence.steps if not step.missing} == pytest.approx(
            match.weights, abs=0.001
        )
        assert evidence.shared == match.rules
    assert linker.record("0-1").fields["full_name"] == "Jane Doey"
    for missing in (lambda: linker.explain("0-0", "x"), lambda: linker.record("x")):
        with pytest.raises(UnusableDocument, match="'x', expected the id of a record"):
            missing()
