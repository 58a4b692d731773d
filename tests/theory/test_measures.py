"""Exact similarities and distances: the worked examples.

Reference: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, sections 3.1 and 3.5.
"""

import math

import numpy as np
import pytest

from stream_lsh.arrays import U64
from stream_lsh.measure.bags import MaxUnion, SumUnion, bag, max_union, sum_union
from stream_lsh.measure.containment_distance import ContainmentDistance, contained
from stream_lsh.measure.cosine import Angle, Cosine, cosine
from stream_lsh.measure.distances import distance
from stream_lsh.measure.edit import Edit, EditShare, common
from stream_lsh.measure.jaccard import jaccard
from stream_lsh.measure.jaccard_distance import JaccardDistance, JaccardOfBits
from stream_lsh.measure.levenshtein import Levenshtein


def hashes(letters: str) -> U64:
    """One hash for each letter, ascending."""
    return np.sort(np.frombuffer(letters.encode(), np.uint8)).astype(np.uint64)


def test_the_bit_columns_10111_and_10011_have_a_jaccard_similarity_of_three_quarters() -> None:
    one, other = np.array([1, 0, 1, 1, 1]), np.array([1, 0, 0, 1, 1])
    assert JaccardOfBits()(one, other) == 1 / 4
    assert jaccard(*(np.flatnonzero(column).astype(np.uint64) for column in (one, other))) == 3 / 4
    assert JaccardDistance()(*(np.flatnonzero(column).astype(np.uint64) for column in (one, other))) == 1 / 4


def test_the_bags_abcc_and_aacccc_are_three_sevenths_similar_by_the_greater_counts() -> None:
    one, other = hashes("abcc"), hashes("aacccc")
    assert max_union(one, other) == 3 / 7
    assert MaxUnion()(one, other) == 4 / 7
    assert jaccard(bag(one), bag(other)) == 3 / 7


def test_the_bags_abcc_and_aacccc_are_three_tenths_similar_by_the_sum_of_counts_and_no_bags_beyond_a_half() -> None:
    one, other = hashes("abcc"), hashes("aacccc")
    assert sum_union(one, other) == 3 / 10
    assert SumUnion()(one, other) == 7 / 10
    assert sum_union(one, one) == sum_union(other, other) == 1 / 2


def test_containment_of_an_excerpt_is_whole_in_one_direction_and_partial_in_the_other() -> None:
    excerpt, page = hashes("bd"), hashes("abcde")
    assert contained(excerpt, page) == 1.0
    assert contained(page, excerpt) == 2 / 5
    assert ContainmentDistance()(page, excerpt) == 0.0


def test_vectors_with_a_cosine_of_one_half_are_sixty_degrees_apart() -> None:
    one, other = np.array([1, 2, -1]), np.array([2, 1, 1])
    assert cosine(one, other) == pytest.approx(1 / 2, abs=1e-15)
    assert Angle()(one, other) == pytest.approx(60, abs=1e-12)
    assert Cosine()(one, other) == pytest.approx(60 / 180, abs=1e-15)


def test_norms_of_the_vectors_2_7_and_6_4() -> None:
    one, other = np.array([2, 7]), np.array([6, 4])
    assert [distance(name)(one, other) for name in ("euclidean", "l1", "linf")] == [5, 7, 4]
    assert distance("l3")(one, other) == pytest.approx(math.cbrt(4**3 + 3**3), rel=1e-15)


def test_the_bit_vectors_10101_and_11110_differ_in_three_positions() -> None:
    one, other = np.array([1, 0, 1, 0, 1]), np.array([1, 1, 1, 1, 0])
    assert distance("hamming")(one, other) == 3
    assert distance("hamming_bits")(np.packbits(one), np.packbits(other)) == 3


def test_abcde_and_acfdeg_are_three_insertions_and_deletions_apart() -> None:
    assert common("abcde", "acfdeg") == 4
    assert Edit()("abcde", "acfdeg") == 3
    assert Levenshtein()("kitten", "sitting") == 3
    assert Edit()("kitten", "sitting") == 5


def test_strings_of_distinct_symbols_in_one_order_are_as_far_apart_as_their_sets(seed: int) -> None:
    chance = np.random.default_rng(seed)
    letters = np.array(list("abcdefghij"))
    for _ in range(300):
        one, other = ("".join(letters[chance.random(10) < 0.6]) for _ in range(2))
        shared, edits = common(one, other), Edit()(one, other)
        assert shared == len(set(one) & set(other))
        assert edits == len(set(one) ^ set(other))
        assert EditShare()(one, other) == JaccardDistance()(hashes(one), hashes(other))
        if one or other:
            assert EditShare()(one, other) == edits / (shared + edits)
