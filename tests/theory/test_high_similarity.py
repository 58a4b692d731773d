"""High similarity without false negatives: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.9."""

from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.measure.filters import least_shared, most_members, position_allows, prefix_lengths, suffix_allows
from stream_lsh.measure.joins.join import join
from stream_lsh.measure.joins.online import Index

DISTANCES = [Fraction(percent, 100) for percent in (0, 5, 10, 20, 25, 30, 40, 50)]
SIZES = np.arange(1, 200)


@pytest.mark.parametrize(("string", "under"), [("abcdef", "ab"), ("bcdef", "bc"), ("cdef", "c"), ("caaa", "c")])
def test_with_a_distance_of_a_fifth_strings_are_filed_under_their_first_symbols(string: str, under: str) -> None:
    assert Index(0.8).filed_under(string) == under


def test_a_string_is_only_compared_with_those_of_the_buckets_that_it_is_looked_for_in() -> None:
    index = Index(0.8)
    for string in ("abcdef", "bcdef", "cdef"):
        index.add(string)
    asked = dict[str, list[int]]()
    for string in ("caaa", "abcdef", "bcdef", "cdef"):
        asked[string] = filed(index, index.filed_under(string))
    assert asked == {"caaa": [1, 2], "abcdef": [0, 1], "bcdef": [0, 1, 2], "cdef": [1, 2]}
    assert set(index.candidates("caaa")) <= set(asked["caaa"])
    assert index.find("caaa") == []


def filed(index: Index, symbols: object) -> list[int]:
    """The numbers of the strings in the buckets of these symbols."""
    return sorted({number for symbol in str(symbols) for number, _ in index._filed.get(symbol, ())})


@pytest.mark.parametrize("distance", DISTANCES)
def test_lengths_are_within_the_bounds_of_the_length_filter(distance: Fraction) -> None:
    least, most = least_shared(SIZES, float(1 - distance)), most_members(SIZES, float(1 - distance))
    for size, lower, upper in zip(SIZES.tolist(), least.tolist(), most.tolist(), strict=True):
        assert [m for m in (lower - 1, lower) if size * (1 - distance) <= m] == [lower]
        assert [m for m in (upper, upper + 1) if m <= size / (1 - distance)] == [upper]


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_prefix_has_one_more_than_the_distance_times_the_length(distance: Fraction) -> None:
    lengths = prefix_lengths(SIZES, float(1 - distance))
    assert lengths.tolist() == [floor(distance * size) + 1 for size in SIZES.tolist()]


@pytest.mark.parametrize("distance", DISTANCES)
def test_kept_pairs_meet_where_the_inequalities_of_the_theory_allow_it(distance: Fraction) -> None:
    for size, other in product(range(1, 13), repeat=2):
        places = list(product(range(1, size + 1), range(1, other + 1)))
        i, j = (np.array(column) for column in zip(*places, strict=True))
        zeros = np.zeros(len(places), np.int64)
        sizes, others = zeros + size, zeros + other
        at_positions = [b <= (distance * size - distance - a + 2) / (1 - distance) for a, b in places]
        assert position_allows(sizes, i - 1, j - 1, float(1 - distance)).tolist() == at_positions
        kept = suffix_allows(sizes, others, i - 1, j - 1, float(1 - distance))
        assert kept.tolist() == [left_over(size, other, *two) <= distance for two in places]


def left_over(size: int, other: int, i: int, j: int) -> Fraction:
    """The least distance of two strings whose first shared symbols are these, by what is left behind them."""
    p, q = size - i, other - j
    shared, apart = min(p, q) + 1, i + j - 2 + abs(p - q)
    return Fraction(apart, apart + shared)


letters = st.lists(st.frozensets(st.sampled_from("abcdefgh"), min_size=1), max_size=10)


@given(letters, st.sampled_from(DISTANCES))
def test_all_four_give_the_all_pairs_answer_with_fewer_comparisons_in_this_order(
    sets: list[frozenset[str]], distance: Fraction
) -> None:
    wanted = [
        (a, b)
        for b, a in product(range(len(sets)), repeat=2)
        if a < b and 1 - Fraction(len(sets[a] & sets[b]), len(sets[a] | sets[b])) <= distance
    ]
    arrays = [np.array(sorted(map(ord, one)), np.uint64) for one in sets]
    compared = []
    for method in ("length", "prefix", "position", "suffix"):
        found = join(arrays, float(1 - distance), method=method)
        assert sorted(zip(found.left.tolist(), found.right.tolist(), strict=True)) == sorted(wanted)
        compared.append(found.compared)
    assert compared == sorted(compared, reverse=True)
