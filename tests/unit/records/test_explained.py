"""Why two records match: figures by hand, and pairs of real files whose truth is known."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import inf, log2
from pathlib import Path

import pytest

from stream_lsh.kinds.record.profiles import bundled
from stream_lsh.records.explained import PairEvidence, Verdict, explain_pair
from stream_lsh.records.model import SEVERAL, Record, Values
from stream_lsh.records.profile import Comparison, Field, Profile
from stream_lsh.records.reading import Reader
from stream_lsh.records.score import Scorer
from tests.evaluation.linking import learned
from tests.evaluation.record_corpora import Corpus, febrl, labelled, pair_of

PROFILE = Profile(
    name="people",
    fields=(Field(name="surname", type="name"), Field(name="born", type="date"), Field(name="city", type="address")),
    comparisons=(
        Comparison(
            field="surname", comparator="jaro-winkler", levels=(0.85,), term_frequency=True,
            m=(0.8, 0.15, 0.05), u=(0.01, 0.04, 0.95), weight=2,
        ),
        Comparison(field="born", comparator="exact", m=(0.9, 0.1), u=(0.001, 0.999)),
        Comparison(field="city", comparator="exact", m=(0.9, 0.1), u=(0.3, 0.7)),
    ),
    rules=("surname", "born:year + city", "city|surname"),
    prior=0.01,
    match=0.9,
    review=0.2,
)  # fmt: skip
SMITH: Values = ("smith", "1978-11-12", "leeds")
SMYTH: Values = ("smyth", "1978-11-12", "")
BEFORE = 1000
"""The default of `smoothing`."""


def explained(one: Values, other: Values, profile: Profile = PROFILE) -> PairEvidence:
    return explain_pair((one, other), profile, Scorer(profile))


def added_up(found: PairEvidence) -> float:
    return found.prior + sum(step.adds for step in found.steps)


# -- by hand


def test_each_field_adds_the_bits_of_its_level_to_those_of_the_prior() -> None:
    found = explained(SMITH, SMYTH)
    assert found.prior == pytest.approx(log2(1 / 99))
    assert [(step.field, step.comparator, step.level) for step in found.steps] == [
        ("surname", "jaro-winkler 0.85", "≥ 0.85"),
        ("born", "exact", "equal"),
        ("city", "exact", ""),
    ]
    assert [step.adds for step in found.steps] == pytest.approx([log2(0.15 / 0.04), log2(900), 0])
    assert [step.most for step in found.steps] == pytest.approx([log2(80), log2(900), log2(3)])
    assert found.total == pytest.approx(log2(1 / 99 * 0.15 / 0.04 * 900))
    assert found.probability == pytest.approx(1 / (1 + 99 * 0.04 / 0.15 / 900))


def test_a_missing_value_is_marked_and_adds_nothing() -> None:
    city = explained(SMITH, SMYTH).steps[2]
    assert (city.missing, city.level, city.adds, city.values, city.frequency) == (True, "", 0, ("leeds", ""), None)
    assert [step.missing for step in explained(SMITH, SMITH).steps] == [False, False, False]


def test_the_weight_of_the_frequency_of_a_value_is_shown_separately() -> None:
    scorer = Scorer(PROFILE)
    scorer.count([("smith", "", "")] * 502 + [("garski", "", "")] * 2 + [("jones", "", "")] * 1496)
    many, few = (
        explain_pair(((name, "", ""), (name, "", "")), PROFILE, scorer).steps[0] for name in ("smith", "garski")
    )
    # 500 of 2,000 others have the name; with a thousand more of which a hundredth would have it, 510 of 3,000.
    common = log2(0.01 / ((500 + BEFORE * 0.01) / (2000 + BEFORE)))
    assert many.frequency is not None
    assert list(many.frequency) == pytest.approx([common, 502, 2000])
    assert many.adds == pytest.approx(log2(80) + common)
    assert many.most == pytest.approx(log2(80))
    assert few.frequency is not None
    assert list(few.frequency) == pytest.approx([log2(0.01 / (10 / 3000)), 2, 2000])
    assert few.adds > few.most


@pytest.mark.parametrize(
    ("one", "other"),
    [("smith", "smyth"), ("smith", ""), (f"smith{SEVERAL}jones", "smith"), (f"a{SEVERAL}b", f"a{SEVERAL}b")],
    ids=["other value", "no value", "one of several", "several"],
)
def test_frequencies_are_shown_only_where_they_count(one: str, other: str) -> None:
    found = explain_pair(((one, "", ""), (other, "", "")), PROFILE, Scorer(PROFILE))
    assert found.steps[0].frequency is None
    assert added_up(found) == found.total


@pytest.mark.parametrize(
    ("match", "review", "verdict"),
    [(0.9, 0.2, Verdict.MATCH), (0.98, 0.2, Verdict.REVIEW), (0.99, 0.98, Verdict.NONE)],
)
def test_the_verdict_is_that_of_the_thresholds(match: float, review: float, verdict: Verdict) -> None:
    found = explained(SMITH, SMYTH, replace(PROFILE, match=match, review=review))
    assert found.probability == pytest.approx(0.9715, abs=1e-4)
    assert found.verdict == verdict
    assert (found.total >= found.threshold(match)) == (verdict == Verdict.MATCH)


def test_thresholds_are_on_the_scale_of_the_total() -> None:
    found = explained(SMITH, SMYTH)
    assert [found.threshold(p) for p in (0, 0.2, 0.5, 1)] == [-inf, pytest.approx(-2), 0, inf]
    assert explained(SMITH, SMYTH, replace(PROFILE, prior=None)).threshold(0.2) == 0.2


def test_the_rules_that_block_two_records_together_are_listed() -> None:
    found = explained(SMITH, SMYTH)
    assert found.blocks == (("surname", 0, (1, 1)), ("born:year + city", 0, (1, 0)), ("city|surname", 0, (2, 1)))
    assert (found.compared, found.shared, found.verdict) == (False, (), Verdict.MATCH)
    found = explained(SMITH, SMITH)
    assert (found.compared, found.shared) == (True, ("surname", "born:year + city", "city|surname"))
    assert found.blocks[2].shared == 2


def test_a_profile_that_links_sources_compares_none_with_itself() -> None:
    link = replace(PROFILE, link="link")
    pair = SMITH, SMITH
    same, other, unknown = (
        explain_pair(pair, link, Scorer(link), sources=sources) for sources in (("a", "a"), ("a", "b"), None)
    )
    assert [one.compared for one in (same, other, unknown)] == [False, True, True]
    assert not same.linkable
    assert explain_pair(pair, PROFILE, Scorer(PROFILE), sources=("a", "a")).compared


def test_without_learning_the_steps_are_parts_of_a_weighted_mean() -> None:
    found = explained(("smith", "1978-11-12", "leeds"), ("smyth", "1978-11-12", "york"), replace(PROFILE, prior=None))
    # Weights of 2, 1 and 1; the similar name stands halfway between equal and else.
    assert (found.learned, found.prior) == (False, 0)
    assert [(step.adds, step.most) for step in found.steps] == [(0.25, 0.5), (0.25, 0.25), (0, 0.25)]
    assert (found.total, found.probability, found.verdict) == (0.5, 0.5, Verdict.REVIEW)
    without = explained(SMITH, SMYTH, replace(PROFILE, prior=None))
    assert [step.adds for step in without.steps] == pytest.approx([1 / 3, 1 / 3, 0])
    nothing = explained(("", "", ""), SMITH, replace(PROFILE, prior=None))
    assert (nothing.total, [step.most for step in nothing.steps]) == (0, [0, 0, 0])


def test_values_are_shown_as_received_too() -> None:
    reader = Reader(bundled("people"))
    record = Record("1", {"Name": " Ann O'Neill", "DOB": 19781112, "phone": ["n/a", "(02) 555"], "town": "N/A"})
    assert reader.raw_values(record) == {
        "full_name": " Ann O'Neill", "date_of_birth": 19781112, "phone": ["n/a", "(02) 555"],
    }  # fmt: skip
    values = reader.values(record)
    profile = bundled("people")
    found = explain_pair(
        (values, values), profile, Scorer(profile), raw_values=(reader.raw_values(record), reader.raw_values(record))
    )
    born = next(step for step in found.steps if step.field == "date_of_birth")
    assert (born.values[0], born.given) == ("1978-11-12", (19781112, 19781112))


# -- real records


@cache
def people(data_dir: Path) -> tuple[Corpus, Profile, dict[str, Values], Scorer]:
    corpus = febrl(data_dir, 3)
    profile, _, values, _ = learned(bundled("people"), corpus.records)
    scorer = Scorer(profile)
    scorer.count(values)
    return corpus, profile, {one.id: own for one, own in zip(corpus.records, values, strict=True)}, scorer


@pytest.mark.corpus
def test_steps_add_up_for_matches_and_for_others(data_dir: Path) -> None:
    corpus, profile, values, scorer = people(data_dir)
    ids = [record.id for record in corpus.records]
    others = [pair for one, other in pairwise(ids) if (pair := pair_of(one, other)) not in corpus.truth]
    verdicts = dict[bool, list[Verdict]]()
    for pair in [*sorted(corpus.truth)[:400], *others[:400]]:
        found = explain_pair((values[pair[0]], values[pair[1]]), profile, scorer)
        assert added_up(found) == pytest.approx(found.total, abs=1e-9)
        assert found.probability == pytest.approx(1 / (1 + 2**-found.total))
        for step in found.steps:
            assert step.missing == ("" in step.values)
            assert step.frequency is None or step.values[0] == step.values[1]
        verdicts.setdefault(pair in corpus.truth, []).append(found.verdict)
    assert verdicts[True].count(Verdict.MATCH) > 390
    assert verdicts[False] == [Verdict.NONE] * 400


@pytest.mark.corpus
def test_a_true_pair_that_no_rule_finds_is_explained_as_a_match(data_dir: Path) -> None:
    _, profile, values, scorer = people(data_dir)
    # Name, date, postcode and number are mistyped, the two lines of the address have changed places, no suburb.
    found = explain_pair((values["rec-102-dup-2"], values["rec-102-dup-3"]), profile, scorer)
    assert found.verdict == Verdict.MATCH
    assert not found.compared
    assert not any(block.shared for block in found.blocks)
    assert any(all(block.keys) for block in found.blocks)


@pytest.mark.corpus
def test_real_pairs_add_up_without_learning_too(data_dir: Path) -> None:
    corpus, _, values, _ = people(data_dir)
    profile = bundled("people")
    for one, other in sorted(corpus.truth)[:100]:
        found = explain_pair((values[one], values[other]), profile, Scorer(profile))
        assert added_up(found) == pytest.approx(found.total)
        assert 0 <= found.total <= 1


@pytest.mark.corpus
def test_historical_records_are_explained(data_dir: Path) -> None:
    corpus = labelled(data_dir, "splink_historical_50k", "historical_50k.csv.gz")
    profile, _, every, _ = learned(bundled("people"), corpus.records)
    values = {record.id: own for record, own in zip(corpus.records, every, strict=True)}
    scorer = Scorer(profile)
    scorer.count(every)
    match, missed, other = (
        explain_pair((values[pair[0]], values[pair[1]]), profile, scorer)
        for pair in (
            ("Q100127000-1", "Q100127000-11"),  # Arthur and Artie Englefield
            ("Q104668828-15", "Q104668828-16"),  # Richard Powya and Rifhard Powys, postcodes that end otherwise
            ("Q100127000-1", "Q100137297-13"),
        )
    )
    assert pair_of("Q104668828-15", "Q104668828-16") in corpus.truth
    assert [(one.verdict, one.compared) for one in (match, missed, other)] == [
        (Verdict.MATCH, True),
        (Verdict.MATCH, False),
        (Verdict.NONE, False),
    ]
    assert match.steps[0].level == "a form of it"
    for one in (match, missed, other):
        assert added_up(one) == pytest.approx(one.total, abs=1e-9)
