"""Training: pooled levels, the competition of a one-to-one link, and frequencies."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.kinds.record.in_memory import RecordLinker, learned_from, training_on
from stream_lsh.ledger.clusters.guards.links import components
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.block.pairs import candidate_pairs
from stream_lsh.records.model import Record, Values
from stream_lsh.records.profile import Comparison, Field, LshBlocking, Profile
from stream_lsh.records.reading import columns_of
from stream_lsh.records.score import Scorer
from stream_lsh.records.train.expectation import pooled
from stream_lsh.records.train.learning import allowed, train, trained
from stream_lsh.records.train.one_to_one import best_pairs, learn_one_to_one
from stream_lsh.records.train.threshold import _labels, threshold_without_chains


def test_no_level_weighs_more_than_a_higher_one() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        m, u = rng.dirichlet(np.full(6, 0.3)) + 1e-9, rng.dirichlet(np.ones(6)) + 1e-9
        ratio = pooled(m, u)
        assert (np.diff(ratio) <= 1e-12 * ratio[:-1]).all()
        # Pooling moves no weight: the matches of each block are as many as before.
        assert (ratio * u).sum() == pytest.approx(m.sum())


def slow_pairs(ends: list[tuple[int, int]], order: list[int]) -> list[int]:
    """The pairs one after the other, each with two free ends."""
    used, chosen = set[int](), []
    for pair in order:
        if used.isdisjoint(ends[pair]):
            used.update(ends[pair])
            chosen.append(pair)
    return chosen


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: len({*pair}) == 2), max_size=30),
    st.randoms(use_true_random=False),
)
def test_best_pairs_are_those_of_a_greedy_choice(ends: list[tuple[int, int]], rng: random.Random) -> None:
    order = rng.sample(range(len(ends)), len(ends))
    left, right = (np.array([pair[side] for pair in ends], np.int64) for side in (0, 1))
    found = best_pairs((left, right), np.array(order, np.int64))
    assert sorted(found.tolist()) == sorted(slow_pairs(ends, order))


@pytest.mark.parametrize("mixed", [False, True])
def test_a_record_is_in_one_of_the_best_pairs_wherever_its_source_stands_in_the_file(mixed: bool) -> None:
    ordered = [("a", row) for row in range(60)] + [("b", row) for row in range(60)]
    rows = sorted(ordered, key=lambda one: one[1]) if mixed else ordered
    records = [
        Record(f"{source}/{row}", {"title": f"blue lamp {row} {row + (source == 'b')}"}, source) for source, row in rows
    ]
    one = Comparison(field="title", comparator="token-jaccard", levels=(0.8, 0.5))
    profile = Profile(
        name="titles",
        fields=(Field(name="title"),),
        comparisons=(one,),
        rules=("title:token",),
        link="link",
        one_to_one=True,
    )
    assert training_on(profile, records).probability.size <= 60


def test_rivals_show_what_a_field_is_worth() -> None:
    rng = np.random.default_rng(3)
    records, rivals = 400, 5
    # Each record has a partner of high similarity in half of the cases, and rivals that share its brand.
    left = np.repeat(np.arange(records), 1 + rivals)
    right = np.concatenate(
        [[row, *rng.choice(np.delete(np.arange(records), row), rivals, replace=False)] for row in range(records)]
    )
    match = (left == right) & (left < records // 2)
    similarity = np.where(
        match, rng.choice([0, 1, 2], left.size, p=[0.5, 0.4, 0.1]), rng.choice([2, 3, 4], left.size, p=[0.1, 0.4, 0.5])
    )
    brand = np.zeros(left.size, np.int64)
    levels = np.column_stack((similarity, brand)).astype(np.uint8)
    ends = (left, records + right)
    none = np.zeros(left.size, np.bool_)
    learned = learn_one_to_one(levels, [5, 2], ends, -similarity.astype(np.float64), none, refused=none)
    assert learned is not None
    assert learned.expected == pytest.approx(records / 2, rel=0.15)
    bits = np.log2(learned.m[0] / learned.u[0])
    assert bits[0] > 3
    assert bits[4] < -3
    assert abs(np.log2(learned.m[1][0] / learned.u[1][0])) < 0.1  # rivals share the brand


def test_too_few_rivals_teach_nothing() -> None:
    rows = np.arange(100)
    levels = np.zeros((100, 1), np.uint8)
    none = np.zeros(100, np.bool_)
    assert learn_one_to_one(levels, [2], (rows, rows), np.zeros(100), none, refused=none) is None


def test_frequencies_count_in_learning_as_in_scores(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"common {'abcd'[rng.randrange(4)]} word{number}" for number in range(200)]
    records: list[Values] = [(name,) for name in names for _ in range(2)]
    one = Comparison(field="title", comparator="tfidf", levels=(0.9, 0.5))
    profile = Profile(name="titles", fields=(Field(name="title"),), comparisons=(one,), rules=("title:token",))
    blocker = blocker_of(profile)
    columns = columns_of([*records, ("common a other",), ("common b another",)])
    learned = train(profile, columns, blocker.keys([*records, ("common a other",), ("common b another",)]), blocker)
    # "common" is in every title: without its frequency a pair with it alone would reach a similarity of 0.5.
    assert learned.comparisons[0].u[2] < 0.01


@pytest.mark.parametrize(("records", "proposed"), [(3_000, 0.7), (300, 0.5)])
def test_only_long_chains_raise_the_threshold(records: int, proposed: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chain = np.arange(records - 1)
    certain = (chain[::3], chain[::3] + 1)
    doubtful = (chain, chain + 1)
    pairs = np.concatenate((certain[0], doubtful[0])), np.concatenate((certain[1], doubtful[1]))
    probability = np.concatenate((np.full(certain[0].size, 0.97), rng.uniform(0.61, 0.64, doubtful[0].size)))
    expected = float(probability.sum())
    assert threshold_without_chains(pairs, probability, records, expected, 0.5) == proposed
    assert threshold_without_chains(pairs, probability, records, expected, 0.93) == 0.93
    # With as many expected matches as a whole group has, nothing is raised.
    assert threshold_without_chains(pairs, probability, records, records**2 / 2, 0.5) == 0.5


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20))
def test_components_by_label_propagation_are_those_of_disjoint_sets(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    parts: dict[int, list[int]] = {}
    for row, label in enumerate(_labels(left, right, 13).tolist()):
        parts.setdefault(label, []).append(row)
    assert sorted(parts.values()) == sorted(components(13, pairs))


@pytest.mark.parametrize("one_to_one", [False, True])
def test_probabilities_of_training_are_those_of_a_scorer_that_counted_the_records(one_to_one: bool, seed: int) -> None:
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghij", k=5)) for _ in range(80)]
    records, sources = list[Values](), list[int]()
    for number in range(150):
        title, brand = " ".join(rng.choices(words, k=5)), rng.choice(words[:9])
        records += [(title, brand), (" ".join(rng.sample(title.split(), 4)), brand if number % 3 else "")]
        sources += [0, 1]
    profile = Profile(
        name="things",
        fields=(Field(name="title"), Field(name="brand")),
        comparisons=(
            Comparison(field="title", comparator="qgram-cosine"),
            Comparison(field="brand", comparator="exact", term_frequency=True),
        ),
        rules=("title:token",),
        link="link",
        one_to_one=one_to_one,
    )
    blocker, columns = blocker_of(profile), columns_of(records)
    keys, origin = blocker.keys(records), np.array(sources)
    training = trained(profile, columns, keys, blocker, origin)
    left, right = allowed(*candidate_pairs(keys, blocker.owners, 50)[:2], origin, "link")
    scorer = Scorer(training.profile)
    scorer.count(records)
    expected = scorer.score(columns, left, right).probability
    assert training.probability.size >= 100
    if one_to_one:
        assert np.isin(training.probability, expected).all()
    else:
        assert training.probability.tolist() == expected.tolist()


def test_a_profile_that_finds_no_rivals_learns_from_all_pairs(seed: int) -> None:
    rng = random.Random(seed)
    names = ["".join(rng.choices("abcdefghijklmnop", k=9)) for _ in range(60)]
    records: list[Values] = [(name,) for name in names for _ in range(2)]
    one = Comparison(field="name", comparator="jaro-winkler", levels=(0.9, 0.8))
    profile = Profile(
        name="names", fields=(Field(name="name"),), comparisons=(one,), rules=("name",), link="link", one_to_one=True
    )
    blocker, sources = blocker_of(profile), np.tile([0, 1], 60)
    training = trained(profile, columns_of(records), blocker.keys(records), blocker, sources)
    assert training.expected == pytest.approx(60, rel=0.05)
    (learned,) = training.profile.comparisons
    # Names of other letters are in the last level, which only a comparison of random pairs shows.
    assert learned.u[3] > 0.9


def test_a_rare_level_weighs_no_more_than_a_level_of_higher_similarity(seed: int) -> None:
    rng = random.Random(seed)
    records: list[Values] = []
    for number in range(1_000):
        name = "".join(rng.choices("abcdefghijklmnop", k=9))
        born = f"19{rng.randrange(10, 99)}-0{rng.randrange(1, 10)}-11"
        # A quarter of the matches have a name with an error, at any place, so each level has few pairs.
        at = 3 + number % 5
        records += [(name, born), (name if number % 4 else f"{name[:at]}{name[at + 1 :]}{'xy'[number % 2]}", born)]
    levels = (0.97, 0.95, 0.93, 0.91, 0.9, 0.88, 0.85, 0.8, 0.7)
    profile = Profile(
        name="people",
        fields=(Field(name="name", type="name"), Field(name="born", type="date")),
        comparisons=(
            Comparison(field="name", comparator="jaro-winkler", levels=levels),
            Comparison(field="born", comparator="exact"),
        ),
        rules=("name:first3", "born"),
    )
    blocker = blocker_of(profile)
    learned = train(profile, columns_of(records), blocker.keys(records), blocker)
    for comparison in learned.comparisons:
        bits = np.log2(np.array(comparison.m) / np.array(comparison.u))
        assert (np.diff(bits) <= 1e-9).all()


def test_pairs_of_one_agency_that_lsh_finds_are_no_matches(seed: int) -> None:
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choices("abcdefghijklmnop", k=8))

    records: list[Values] = []
    for _ in range(60):
        agency = f"{word()} {word()} {word()}"
        records += [(f"{agency} {word()[:4]}", f"{rng.randrange(1, 999)} {word()}") for _ in range(8)]
    copies = [(name[1:], address) for name, address in rng.sample(records, 120)]
    profile = Profile(
        name="sites",
        fields=(Field(name="name"), Field(name="address", type="address")),
        comparisons=(
            Comparison(field="name", comparator="token-jaccard", levels=(0.8, 0.5)),
            Comparison(field="address", comparator="jaro-winkler", levels=(0.95, 0.85)),
        ),
        rules=("address",),
        lsh=(LshBlocking(fields=("name",), shingles="char:3", threshold=0.5),),
    )
    blocker = blocker_of(profile)
    learned = train(profile, columns_of([*records, *copies]), blocker.keys([*records, *copies]), blocker)
    address = learned.comparisons[1]
    assert address.m[-1] < 0.1
    assert learned.prior == pytest.approx(120 / (600 * 599 / 2), rel=0.3)


def test_few_fields_leave_matches_below_95_per_cent_and_the_threshold_of_a_profile_includes_them(seed: int) -> None:
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choices("abcdefghijklm", k=6))

    names, surnames = [word() for _ in range(60)], [word() for _ in range(150)]
    records = list[Record]()
    for number in range(600):
        row = {"name": rng.choice(names), "surname": rng.choice(surnames), "year": str(rng.randint(1930, 1999))}
        records.append(Record(f"{number}a", dict(row)))
        if number % 2:
            wrong = rng.choice(("name", "surname", "year", "", ""))
            records.append(Record(f"{number}b", {**row, **({wrong: word()} if wrong else {})}))
    fields = ("name", "surname", "year")
    profile = Profile(
        name="people",
        fields=tuple(Field(name=field) for field in fields),
        comparisons=tuple(Comparison(field=field, comparator="exact") for field in fields),
        rules=("name + surname", "name + year", "surname + year"),
    )
    truth = {(f"{number}a", f"{number}b") for number in range(1, 600, 2)}
    weights, f1 = learned_from(profile, records), list[float]()
    for each in (weights, replace(weights, match=0.95)):
        linker = RecordLinker(each)
        linker.count_first(records)
        linker.add_many(records)
        found = {(match.left, match.right) for match in linker.matches()}
        f1.append(2 * len(found & truth) / (len(found) + len(truth)))
    assert f1[0] >= f1[1] + 0.03
