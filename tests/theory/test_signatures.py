"""Signatures: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.3, and what memory they take."""

import numpy as np

from stream_lsh.sketch.advice import advise_slots, signature_memory
from stream_lsh.sketch.estimate import chernoff_slots, standard_error
from stream_lsh.sketch.permutations import (
    NO_ROW,
    agreeing_share,
    characteristic_matrix,
    minhashes_by_permutation,
    signature_matrix,
    universal_hashes,
)
from tests.evaluation.oracles import jaccard, minhash_by_permutation, minhash_by_row_hashing

ROWS = "abcde"
SETS = ("ad", "c", "bde", "acd")
PERMUTATIONS = ("bedac", "cebda", "adbec")
MATRIX = characteristic_matrix(SETS, ROWS)
MINHASHES = minhashes_by_permutation(MATRIX, np.array([[ROWS.index(row) for row in order] for order in PERMUTATIONS]))


def test_the_characteristic_matrix_has_a_row_an_element_and_a_column_a_set() -> None:
    assert MATRIX.astype(int).tolist() == [[1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 1, 0]]


def test_the_minhashes_of_three_permutations() -> None:
    named = [[ROWS[row] for row in minhashes] for minhashes in MINHASHES.tolist()]
    assert named == [list("dcbd"), list("dcec"), list("acda")]
    assert named == [[minhash_by_permutation(members, order) for members in SETS] for order in PERMUTATIONS]


def test_the_first_and_the_fourth_set_are_similar_by_two_thirds_and_by_their_signatures_too() -> None:
    assert jaccard(SETS[0], SETS[3]) == 2 / 3
    assert agreeing_share(MINHASHES, 0, 3) == 2 / 3


def test_the_third_and_the_fourth_set_are_similar_by_a_fifth_and_by_their_signatures_not_at_all() -> None:
    assert jaccard(SETS[2], SETS[3]) == 1 / 5
    assert agreeing_share(MINHASHES, 2, 3) == 0


def test_two_hashes_simulate_permutations_of_five_rows() -> None:
    hashes = universal_hashes(5, factors=[1, 3], terms=[1, 1], prime=5)
    assert hashes.T.tolist() == [[1, 2, 3, 4, 0], [1, 4, 2, 0, 3]]


def test_the_signature_matrix_is_filled_row_by_row_by_minima() -> None:
    hashes = universal_hashes(5, factors=[1, 3], terms=[1, 1], prime=5)
    after = [signature_matrix(MATRIX[:rows], hashes[:rows]).tolist() for rows in range(6)]
    none = NO_ROW
    assert after == [
        [[none, none, none, none], [none, none, none, none]],
        [[1, none, none, 1], [1, none, none, 1]],
        [[1, none, 2, 1], [1, none, 4, 1]],
        [[1, 3, 2, 1], [1, 2, 4, 1]],
        [[1, 3, 2, 1], [0, 2, 0, 0]],
        [[1, 3, 0, 1], [0, 2, 0, 0]],
    ]
    of_sets = [[ROWS.index(element) for element in members] for members in SETS]
    assert after[-1] == [[minhash_by_row_hashing(members, a, 1, 5) for members in of_sets] for a in (1, 3)]


def test_the_signature_matrix_estimates_similarities_roughly() -> None:
    signatures = signature_matrix(MATRIX, universal_hashes(5, [1, 3], [1, 1], 5))
    assert agreeing_share(signatures, 0, 3) == 1.0  # truly 2/3
    assert agreeing_share(signatures, 0, 2) == 0.5  # truly 1/4
    assert agreeing_share(signatures, 0, 1) == 0.0  # truly 0


def test_chernoffs_bound_for_a_tenth_of_one_half_at_five_percent_is_1199_slots_and_fewer_suffice() -> None:
    assert chernoff_slots(0.5, relative_error=0.1, failure=0.05) == 1199
    advice = advise_slots(0.5, relative_error=0.1, failure=0.05)
    assert (advice.by_chernoff, advice.slots) == (1199, 290)


def test_250_values_of_4_bytes_are_a_kilobyte_a_document_and_a_gigabyte_a_million() -> None:
    assert signature_memory(1, 250) == 1_000
    assert signature_memory(1_000_000, 250) == 1_000_000_000
    assert signature_memory(1_000_000, 250, bits=2) == 63_000_000


def test_the_variance_of_an_estimate_is_j_times_1_minus_j_by_k() -> None:
    assert round(standard_error(0.5, 128) ** 2, 15) == 0.5 * (1 - 0.5) / 128
