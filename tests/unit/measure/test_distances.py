"""Distances against slow and obvious ones, and at the limits of floating-point numbers."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel, LCSseq
from rapidfuzz.distance import Levenshtein as Library

from stream_lsh.errors import ConfigError, InputError
from stream_lsh.measure.bags import shared_of_bags
from stream_lsh.measure.cosine import Angle, Cosine, cosine, cosines
from stream_lsh.measure.distances import DISTANCES, distance
from stream_lsh.measure.edit import Edit, common
from stream_lsh.measure.euclidean import Euclidean
from stream_lsh.measure.hamming import Hamming, HammingBits
from stream_lsh.measure.levenshtein import Levenshtein
from stream_lsh.measure.vectors import AT_ONCE

strings = st.text("abcd", max_size=90)
numbers = st.lists(st.integers(-9, 9), min_size=1, max_size=6)


def longest_common(one: str, other: str) -> int:
    """The table of the textbook, row by row."""
    row = [0] * (len(other) + 1)
    for symbol in one:
        above, row = row, [0]
        for place, there in enumerate(other):
            row.append(above[place] + 1 if symbol == there else max(above[place + 1], row[place]))
    return row[-1]


@given(strings, strings)
def test_the_longest_common_subsequence_is_that_of_the_table(one: str, other: str) -> None:
    assert common(one, other) == longest_common(one, other) == LCSseq.similarity(one, other)
    assert Edit()(one, other) == Indel.distance(one, other)


@given(strings, strings)
def test_levenshtein_is_that_of_the_library(one: str, other: str) -> None:
    assert Levenshtein()(one, other) == Library.distance(one, other)


@given(st.lists(st.integers(0, 5), max_size=70), st.lists(st.integers(0, 5), max_size=70))
def test_symbols_of_strings_may_be_anything(one: list[int], other: list[int]) -> None:
    letters, others = ("".join(map(str, symbols)) for symbols in (one, other))
    assert Edit()(one, other) == Edit()(letters, others)
    assert Levenshtein()(one, other) == Levenshtein()(letters, others)


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_bags_share_the_lesser_counts(one: list[int], other: list[int]) -> None:
    shared = (Counter(one) & Counter(other)).total()
    assert shared_of_bags(np.array(one, np.uint64), np.array(other, np.uint64)) == shared


@pytest.mark.parametrize("exponent", range(-300, 0, 20))
def test_tiny_angles_keep_their_digits(exponent: int) -> None:
    tiny = 10.0**exponent
    one, other = [1.0, 0.0], [1.0, math.tan(tiny)]
    assert math.radians(Angle()(one, other)) == pytest.approx(tiny, rel=1e-14, abs=0)


def test_a_small_angle_between_any_directions_keeps_what_an_arc_cosine_loses(seed: int) -> None:
    for one, other in np.random.default_rng(seed).normal(size=(50, 2, 40)):
        across = other - one * (one @ other) / (one @ one)
        turned = one + across * math.sqrt(one @ one) / math.sqrt(across @ across) * 1e-9
        assert math.radians(Angle()(one, turned)) == pytest.approx(1e-9, rel=1e-6, abs=0)


def test_angles_near_a_half_turn_keep_theirs() -> None:
    assert 180 - Angle()([1, 0], [-1, 1e-8]) == pytest.approx(math.degrees(1e-8), rel=1e-6, abs=0)
    assert Angle()([1, 2, 3], [-2, -4, -6]) == 180
    assert Cosine()([1, 2, 3], [-2, -4, -6]) == 1


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_vectors_of_any_length_have_the_same_angle_and_cosine(scale: float) -> None:
    one, other = np.array([1.0, 2.0, -1.0]), np.array([2.0, 1.0, 1.0])
    assert Angle()(one * scale, other) == pytest.approx(60, abs=1e-9)
    assert cosine(one * scale, other * scale) == pytest.approx(0.5, abs=1e-12)


def test_the_zero_vector_is_at_a_right_angle_from_everything_and_similar_to_nothing() -> None:
    zero, one = [0.0, 0.0], [1.0, 2.0]
    assert Angle().many([zero, zero, one], [zero, one, zero]).tolist() == [90, 90, 90]
    assert cosines([zero, zero, one], [zero, one, one]).tolist() == [0, 0, 1]


def test_vectors_that_point_the_same_way_are_at_no_angle() -> None:
    assert Angle()([0.1, 0.7, 0.3], [0.2, 1.4, 0.6]) == 0
    assert cosine([0.1, 0.7, 0.3], [0.2, 1.4, 0.6]) == 1


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_cosine_is_the_one_of_the_definition(dimensions: int, chance_seed: int) -> None:
    one, other = np.random.default_rng(chance_seed).normal(size=(2, dimensions))
    expected = one @ other / math.sqrt(one @ one) / math.sqrt(other @ other)
    assert cosine(one, other) == pytest.approx(expected, abs=1e-12)
    assert math.cos(math.radians(Angle()(one, other))) == pytest.approx(expected, abs=1e-12)


@given(numbers, st.sampled_from([1, 1.5, 2, 3, 64, math.inf]), st.integers(0, 2**32 - 1))
def test_norms_are_those_of_the_definition(one: list[int], p: float, chance_seed: int) -> None:
    other = np.random.default_rng(chance_seed).integers(-9, 10, len(one))
    apart = [abs(here - int(there)) for here, there in zip(one, other, strict=True)]
    expected = max(apart) if p == math.inf else sum(one**p for one in apart) ** (1 / p)
    assert Euclidean(p)(one, other) == pytest.approx(expected, rel=1e-13)


def test_a_norm_does_not_leave_the_range_of_its_result() -> None:
    assert Euclidean()([3e200, 0], [0, 4e200]) == pytest.approx(5e200, rel=1e-15)
    assert Euclidean()([3e-200, 0], [0, 4e-200]) == pytest.approx(5e-200, rel=1e-15)
    assert Euclidean()([5e-324], [0]) == 5e-324
    assert Euclidean()([1.7e308], [-1.7e308]) == math.inf


def test_rows_beyond_one_block_are_all_there() -> None:
    rows = np.arange(3 * AT_ONCE, dtype=np.float64)[:, None]
    assert Euclidean().many(rows, rows + 1).tolist() == [1.0] * len(rows)
    assert set(Angle().many(rows[1:], -rows[1:]).tolist()) == {180.0}


def test_an_array_stored_by_columns_has_the_same_distances(seed: int) -> None:
    left, right = np.random.default_rng(seed).normal(size=(2, 50, 33))
    for far in (Angle(), Euclidean(), Euclidean(3), Hamming()):
        by_columns = far.many(np.asfortranarray(left), np.asfortranarray(right))
        assert by_columns.tolist() == far.many(left, right).tolist()


def test_packed_bits_differ_where_the_bits_do(seed: int) -> None:
    left, right = np.random.default_rng(seed).random((2, 40, 77)) < 0.5
    packed = [np.packbits(side, axis=1) for side in (left, right)]
    assert HammingBits().many(*packed).tolist() == Hamming().many(left, right).tolist()


@pytest.mark.parametrize("far", [Angle(), Cosine(), Euclidean(), Hamming()], ids=lambda far: str(far.name))
@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ([1, 2], [1, 2, 3], "got shapes (1, 2) and (1, 3)"),
        ([[1, 2]], [[1, 2]], "got shapes (1, 1, 2)"),
        ([1, [2, 3]], [1, 2], "got lists of different lengths"),
        (["a"], ["b"], "expected numbers or bits"),
        ([math.nan], [1.0], "not a number"),
    ],
)
def test_invalid_pairs_of_vectors_are_rejected(far: Angle, one: Any, other: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        far(one, other)
    assert words in str(caught.value)
    assert caught.value.reason == "vector"


def test_rows_of_different_lengths_are_rejected() -> None:
    with pytest.raises(InputError, match="got lists of different lengths, expected rows of one length"):
        Euclidean().many([[1, 2], [3]], [[1, 2], [3]])


@pytest.mark.parametrize("far", [Angle(), Euclidean(), cosine])
def test_an_infinite_value_has_no_distance(far: Angle) -> None:
    with pytest.raises(InputError, match="infinite"):
        far([math.inf, 1], [1, 1])


def test_packed_bits_are_of_one_unsigned_type() -> None:
    for other in (np.zeros(2, np.int8), np.zeros(2, np.uint16)):
        with pytest.raises(InputError, match="packed bits"):
            HammingBits()(np.zeros(2, np.uint8), other)


@pytest.mark.parametrize("p", [0.5, 0, -1, 65, math.nan])
def test_a_p_that_makes_no_norm_is_refused(p: float) -> None:
    with pytest.raises(ConfigError, match=r"p: got .*, expected a number from 1 to 64, or inf"):
        Euclidean(p)


def test_norms_are_known_by_their_p() -> None:
    assert distance("l2") == distance("euclidean") == Euclidean()
    assert distance("l1.25") == Euclidean(1.25)
    with pytest.raises(ConfigError, match="p: got 0"):
        distance("l0.5")


@pytest.mark.parametrize(
    ("name", "meant"), [("Jacard", "jaccard"), ("levenstein", "levenshtein"), ("euclid", "euclidean"), ("dice", None)]
)
def test_an_unknown_name_is_answered_with_the_nearest_one(name: str, meant: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        distance(name)
    assert str(caught.value).partition("; did you mean ")[2] == ("" if meant is None else f"{meant!r}?")
    assert all(known in str(caught.value) for known in DISTANCES)
