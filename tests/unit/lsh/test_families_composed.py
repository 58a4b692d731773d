from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import U32
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.families.bit_sampling import BitSampling
from stream_lsh.lsh.families.family import Composed, Step
from stream_lsh.lsh.families.functions import NOTHING
from stream_lsh.lsh.families.grid_triples import GridTriples
from stream_lsh.lsh.families.hyperplanes import Hyperplanes
from stream_lsh.lsh.families.minhash import MinHash

steps = st.lists(st.builds(Step, st.sampled_from(["AND", "OR"]), st.integers(1, 5)), max_size=4).map(tuple)


def tree(agree: list[bool], cascade: tuple[Step, ...]) -> bool:
    """Whether a function agrees, from its base functions, by recursion from the outermost step."""
    if not cascade:
        (one,) = agree
        return one
    kind, size = cascade[-1]
    each = len(agree) // size
    branches = [tree(agree[i * each : (i + 1) * each], cascade[:-1]) for i in range(size)]
    return all(branches) if kind == "AND" else any(branches)


def exact(probability: Fraction, cascade: tuple[Step, ...]) -> Fraction:
    for kind, size in cascade:
        probability = probability**size if kind == "AND" else 1 - (1 - probability) ** size
    return probability


def items(seed: int, count: int, dimension: int = 12) -> U32:
    generator = np.random.default_rng(seed)
    left = generator.random((count, dimension)) < 0.5
    return np.asarray(np.concatenate((left, left ^ (generator.random((count, dimension)) < 0.2))), np.uint32)


@given(steps, st.integers(1, 3), st.integers(0, 1000))
def test_a_drawn_function_agrees_as_its_tree_does(cascade: tuple[Step, ...], count: int, seed: int) -> None:
    drawn = Composed(BitSampling(12), cascade).draw(count, seed)
    values = drawn(items(seed, 20))
    left, right = values[:20], values[20:]
    cost = values.shape[1] // count
    want = [[tree(row[i * cost : (i + 1) * cost], cascade) for i in range(count)] for row in (left == right).tolist()]
    assert drawn.agree(left, right).tolist() == want


@given(st.integers(0, 1000), steps)
def test_the_probability_is_the_exact_one(thousandths: int, cascade: tuple[Step, ...]) -> None:
    composed = Composed(BitSampling(1000), cascade)
    want = exact(1 - Fraction(thousandths, 1000), cascade)
    distance = np.array([float(thousandths)])
    assert composed.curve(distance)[0] == pytest.approx(float(want), rel=1e-9, abs=1e-300)
    assert composed.misses(distance)[0] == pytest.approx(float(1 - want), rel=1e-9, abs=1e-300)
    assert composed.probability(float(thousandths)) == composed.curve(distance)[0]
    assert composed.probability(distance).tolist() == composed.curve(distance).tolist()


def test_a_list_of_distances_has_a_probability_for_each() -> None:
    for family in (MinHash(), MinHash().and_(2)):
        assert family.probability([0.25, 0.5]).tolist() == [family.probability(one) for one in (0.25, 0.5)]  # type: ignore[call-overload]


def test_the_missed_share_is_precise_where_the_probability_is_1() -> None:
    composed = MinHash().and_(2).or_(400)
    missed = composed.misses(np.array([0.2]))[0]
    assert composed.probability(0.2) == 1.0
    assert missed == pytest.approx(float((1 - Fraction(64, 100)) ** 400), rel=1e-9)
    assert 0 < missed < 1e-170


def test_a_cascade_is_a_value() -> None:
    one = Hyperplanes(8).and_(4).or_(3)
    assert one == Composed(Hyperplanes(8), (Step("AND", 4), Step("OR", 3)))
    assert hash(one) == hash(Hyperplanes(8).and_(4).or_(3))
    assert one != Hyperplanes(8).or_(4).and_(3)
    assert (one.name, one.unit, one.farthest, one.cost) == ("hyperplanes AND 4 OR 3", "degrees", 180.0, 12)
    assert Composed(Hyperplanes(8)).cost == 1


def test_its_table_has_the_curve_the_fixed_point_and_the_cost() -> None:
    table = BitSampling(100).or_(4).and_(4).table(rows=5).splitlines()
    assert table[0] == "bit_sampling(dimension=100) OR 4 AND 4"
    assert [line.split() for line in table[2:8]][1] == ["20", "0.8", "0.99362"]
    assert len(table) == 11
    assert table[-2:] == ["fixed point: 0.2755", "base functions: 16"]
    assert "fixed point: none" in BitSampling(100).and_(3).table()


@pytest.mark.parametrize("kind", ["AND", "OR"])
def test_and_alone_and_or_alone_have_no_fixed_point(kind: Literal["AND", "OR"]) -> None:
    assert Composed(MinHash(), (Step(kind, 3),)).fixed_points() == ()
    assert Composed(MinHash(), (Step(kind, 1),)).fixed_points() == ()
    assert Composed(MinHash()).fixed_points() == ()


@given(st.integers(2, 30), st.integers(2, 200))
def test_a_fixed_point_is_mapped_to_itself(rows: int, bands: int) -> None:
    for composed in (MinHash().and_(rows).or_(bands), MinHash().or_(bands).and_(rows)):
        (point,) = composed.fixed_points()
        # The curve is steep there: the result is the last number before the step.
        low, high = composed.amplified(np.array([point * (1 - 1e-9), 1 - (1 - point) * (1 - 1e-9)]))[0]
        assert low <= point <= high


def test_no_function_and_other_steps_are_refused() -> None:
    with pytest.raises(ConfigError, match="AND 0: expected AND or OR of at least 1 function"):
        MinHash().and_(0)
    with pytest.raises(ConfigError, match="OR -1"):
        MinHash().and_(2).or_(-1)
    with pytest.raises(ConfigError, match="XOR 2"):
        Composed(MinHash(), (Step("XOR", 2),))  # type: ignore[arg-type]


@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 100))
def test_an_or_of_ands_makes_those_candidates_that_share_a_bucket(rows: int, bands: int, seed: int) -> None:
    both = items(seed, 50)
    composed = BitSampling(12).and_(rows).or_(bands)
    keys = composed.bands()(composed.draw(1, seed)(both))
    shared = (keys[:50] == keys[50:]).any(axis=1)
    assert np.array_equal(composed.candidates(both[:50], both[50:], seed), shared)


def test_candidates_are_those_of_the_seed() -> None:
    both = items(5, 400)
    composed = BitSampling(12).and_(4).or_(2)
    found = composed.candidates(both[:400], both[400:], 1)
    assert found.dtype == np.bool_
    assert np.array_equal(found, composed.candidates(both[:400], both[400:], 1))
    assert np.array_equal(found, composed.candidates(both[400:], both[:400], 1))
    assert not np.array_equal(found, composed.candidates(both[:400], both[400:], 2))


def test_and_alone_or_alone_and_neither_have_bands_too() -> None:
    base = BitSampling(12)
    for composed, bands, rows in (
        (base.and_(3), 1, 3),
        (base.or_(3), 3, 1),
        (Composed(base), 1, 1),
        (base.and_(2).or_(5), 5, 2),
    ):
        banding = composed.bands(seed=4)
        assert (banding.bands, banding.rows, banding.seed) == (bands, rows, 4)
    for other in (base.or_(2).and_(2), base.and_(2).or_(2).and_(2), base.and_(2).and_(2)):
        with pytest.raises(ConfigError, match="other cascades have no buckets"):
            other.bands()


def test_bands_with_an_undefined_value_are_marked() -> None:
    values = np.array([[1, 2, NOTHING, 4], [NOTHING, NOTHING, 3, 4]], np.uint32)
    assert MinHash().and_(2).or_(2).defined_bands(values).tolist() == [[True, False], [False, True]]
    family = GridTriples(30, occupied=0.5).or_(64)
    prints = np.random.default_rng(1).random((40, 30)) < 0.5
    drawn = family.draw(1, 1)
    defined_bands = family.defined_bands(drawn(prints))
    keys = family.bands()(drawn(prints))
    shared = ((keys[:20] == keys[20:]) & defined_bands[:20] & defined_bands[20:]).any(axis=1)
    assert np.array_equal(shared, family.candidates(prints[:20], prints[20:], 1))
    assert 0 < defined_bands.mean() < 0.3
