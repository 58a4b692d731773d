"""Unions of many documents, and the sizes that signatures estimate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.sketch.cardinality import estimated_sizes, shared_shingles, size_standard_error, united_shingles
from stream_lsh.sketch.catalog import scheme
from stream_lsh.sketch.estimate import union
from stream_lsh.sketch.merging import union_by_group, union_of_all
from stream_lsh.sketch.scheme import EMPTY_SLOT
from stream_lsh.sketch.signature_batch import SignatureBatch, signed
from stream_lsh.text.shingles import Shingles, offsets_of


@given(st.lists(st.integers(0, 4), max_size=20), st.integers(0, 1000))
def test_the_union_of_a_group_is_the_union_of_its_members_one_after_the_other(groups: list[int], seed: int) -> None:
    signatures = np.random.default_rng(seed).integers(0, 1 << 32, (len(groups), 6)).astype(np.uint32)
    want = np.full((5, 6), EMPTY_SLOT, np.uint32)
    for group, signature in zip(groups, signatures, strict=True):
        want[group] = union(want[group], signature)
    assert np.array_equal(union_by_group(signatures, np.array(groups, np.int64), 5), want)
    assert np.array_equal(union_of_all(signatures), union_of_all(want))


def test_the_union_of_nothing_is_the_signature_of_an_empty_document() -> None:
    nothing = np.empty((0, 3), np.uint32)
    assert union_of_all(nothing).tolist() == [EMPTY_SLOT] * 3
    assert union_of_all(nothing).dtype == np.uint32
    assert union_by_group(nothing, np.empty(0, np.int64), 2).tolist() == [[EMPTY_SLOT] * 3] * 2


@pytest.mark.parametrize("groups", [[0], [0, 2], [-1, 0], [0, 1, 1]])
def test_groups_that_do_not_fit_are_a_bug(groups: list[int]) -> None:
    with pytest.raises(InvariantError, match="expected one each, 0 to 1"):
        union_by_group(np.zeros((2, 3), np.uint32), np.array(groups), 2)


def test_the_union_of_sizes_is_the_size_of_the_union() -> None:
    classic = scheme("classic", 4096)
    generator = np.random.default_rng(1)
    hashes = generator.integers(0, 1 << 64, 3000, np.uint64)
    shingles = Shingles(np.concatenate((hashes[:2000], hashes[1000:])), offsets_of(np.array([2000, 2000])))
    batch = signed(classic, shingles)
    united = SignatureBatch(classic, union_of_all(batch.values)[None])
    left, right = estimated_sizes(batch).tolist()
    assert estimated_sizes(united)[0] == pytest.approx(3000, rel=5 / 64)
    assert (left, right) == (pytest.approx(2000, rel=5 / 64), pytest.approx(2000, rel=5 / 64))


def test_schemes_whose_slots_give_no_size_are_rejected() -> None:
    empty = Shingles(np.empty(0, np.uint64), np.zeros(2, np.int64))
    for made in (scheme("fast"), scheme("classic", 2)):
        with pytest.raises(ConfigError, match="as of classic"):
            estimated_sizes(signed(made, empty))
    assert estimated_sizes(signed(scheme("classic", 3), empty)).tolist() == [0.0]


def test_intersection_and_union_follow_from_sizes_and_similarity() -> None:
    for left, right, shared in ((5, 7, 3), (1, 1, 0), (4, 4, 4), (1, 900, 1)):
        together = left + right - shared
        arguments = np.array([shared / together]), np.array([float(left)]), np.array([float(right)])
        assert shared_shingles(*arguments).tolist() == pytest.approx([shared])
        assert united_shingles(*arguments).tolist() == pytest.approx([together])


def test_two_slots_have_no_finite_error() -> None:
    assert size_standard_error(3) == 1.0
    with pytest.raises(ConfigError, match="slots: got 2, expected 3 or more"):
        size_standard_error(2)
