"""The functions of each family against their definitions."""

import itertools
import math

import numpy as np
import pytest

from stream_lsh.errors import ConfigError, InvariantError, UnusableDocument
from stream_lsh.lsh.families.bit_sampling import BitSampling
from stream_lsh.lsh.families.functions import NOTHING, agreements
from stream_lsh.lsh.families.grid_triples import GridTriples
from stream_lsh.lsh.families.hyperplanes import Hyperplanes, estimated_angle
from stream_lsh.lsh.families.lengths import Lengths, about_equal
from stream_lsh.lsh.families.lines import Lines
from stream_lsh.lsh.families.minhash import MinHash
from stream_lsh.text.shingles import Shingles


def test_a_function_of_bit_sampling_is_one_coordinate(seed: int) -> None:
    items = np.random.default_rng(seed).integers(0, 256, (200, 9), np.uint8)
    values = BitSampling(9).draw(60, seed)(items)
    columns = {column.tobytes() for column in items.T.astype(np.uint32)}
    assert {column.tobytes() for column in values.T} == columns


def test_planes_through_0_know_the_direction_only() -> None:
    hashes = Hyperplanes(3).draw(50, 1)
    vector = np.array([[1.0, -2.0, 3.0]])
    assert np.array_equal(hashes(vector), hashes(8 * vector))
    assert np.array_equal(hashes(vector), 1 - hashes(-vector))
    assert (hashes(0 * vector) == 1).all()


def test_the_margin_of_a_plane_is_the_other_side_and_the_square_of_the_projection(seed: int) -> None:
    left, right = np.random.default_rng(seed).uniform(0.5, 1.0, (2, 30, 16))
    hashes = Hyperplanes(16).draw(20, seed)
    projections = []
    for vectors in (left, right, (left + right) / 2):
        values, (others, costs) = hashes(vectors), hashes.margins(vectors)
        assert np.array_equal(others[:, :, 0], 1 - values)
        projections.append(np.where(values == 1, 1, -1) * np.sqrt(costs[:, :, 0]))
    assert np.allclose((projections[0] + projections[1]) / 2, projections[2], atol=1e-6)
    assert np.array_equal(hashes.margins(4 * left).costs, hashes.margins(left).costs)


def test_sketches_of_unequal_shapes_are_refused() -> None:
    for left, right in (((0, 3), (0, 3)), ((2, 3), (1, 3)), ((2, 0), (2, 0))):
        with pytest.raises(ConfigError, match="sketches"):
            estimated_angle(np.zeros(left, np.uint32), np.zeros(right, np.uint32))


def test_cells_follow_one_another_along_a_line() -> None:
    hashes = Lines(1, width=2.0).draw(8, 3)
    places = np.linspace(-50, 50, 4001)[:, None]
    values = hashes(places).astype(np.int64)
    steps = np.diff(values, axis=0) % 4294967295
    for column in steps.T:
        assert set(np.unique(column).tolist()) in ({0, 1}, {0, 4294967294})
    assert (values != NOTHING).all()


def test_the_margins_of_a_line_are_the_cells_on_both_sides_with_the_squares_of_the_distances(seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((50, 5))
    hashes = Lines(5, width=2.0).draw(12, seed)
    values, (others, costs) = hashes(vectors).astype(np.int64), hashes.margins(vectors)
    assert np.array_equal(others[:, :, 0], (values - 1) % 4294967295)
    assert np.array_equal(others[:, :, 1], (values + 1) % 4294967295)
    assert np.allclose(np.sqrt(costs).sum(axis=2), 1)
    # On a line in one dimension a step to the border, and a little more, gives the other cell.
    one = Lines(1, width=2.0)
    place = np.array([[3.3]])
    line = one.draw(1, seed)
    projection = float(np.sqrt(line.margins(place).costs[0, 0, 0]) - np.sqrt(line.margins(place + 1e-6).costs[0, 0, 0]))
    slope = projection / -1e-6  # cells a unit
    below, above = np.sqrt(line.margins(place).costs[0, 0]) / slope
    for distance, other in ((-below, 0), (above, 1)):
        assert line(place + 1.001 * distance)[0, 0] == line.margins(place).others[0, 0, other]
        assert line(place + 0.999 * distance)[0, 0] == line(place)[0, 0]


def test_a_vector_too_far_out_for_its_cells_is_rejected() -> None:
    hashes = Lines(2, width=1.0).draw(3, 1)
    hashes(np.array([[1e9, -1e9]]))
    for far in (1e14, 1e300):
        with pytest.raises(UnusableDocument, match="vector 1 of the batch is more than 2\\^40 cells"):
            hashes(np.array([[1.0, 1.0], [far, far]]))
    with pytest.raises(UnusableDocument, match="2\\^40 cells"):
        Lines(2, width=1e-100).draw(3, 1)(np.array([[1e300, 1.0]]))


def test_a_function_of_grid_triples_has_different_squares_each_choice_equally_likely(seed: int) -> None:
    hashes = GridTriples(5).draw(20_000, seed)
    choices = list(itertools.combinations(range(5), 3))
    prints = np.array([[square in choice for square in range(5)] for choice in choices])
    held = hashes(prints) == 0
    assert (held.sum(axis=0) == 1).all(), "each function is one choice of three"
    assert np.abs(held.mean(axis=1) - 0.1).max() < 5 * math.sqrt(0.1 * 0.9 / 20_000)


def test_prints_without_the_squares_agree_with_none_not_even_with_each_other() -> None:
    values = GridTriples(20).draw(50, 1)(np.array([[True] * 20, [True] * 20, [False] * 20]))
    assert agreements(values[0], values[1]).all()
    assert not agreements(values[2], values[2]).any()
    assert not agreements(values[0], values[2]).any()


def test_documents_without_shingles_agree_with_none() -> None:
    empty = Shingles(np.empty(0, np.uint64), np.array([0, 0]))
    for scheme in ("fast", "classic"):
        values = MinHash(scheme).draw(16, 1)(empty)
        assert (values == NOTHING).all()
        assert not agreements(values, values).any()


def test_lengths_are_in_cells_that_grow_with_them() -> None:
    hashes = Lengths(1.5).draw(10, 7)
    lengths = np.array([0, 1, 2, 10, 15, 16, 1000, 2**40, 2**53])
    values = hashes(lengths).astype(np.int64)
    assert (values[0] == NOTHING).all()
    assert (np.diff(values[1:], axis=0) >= 0).all()
    differ = values[4] - values[3]
    assert set(np.unique(differ).tolist()) <= {1}, "a ratio of 1.5 is a cell"
    assert agreements(hashes(lengths), hashes(lengths))[1:].all()


def test_lengths_that_are_none_are_a_bug() -> None:
    for wrong in (np.array([-1]), np.array([[1]])):
        with pytest.raises(InvariantError, match="lengths"):
            Lengths().draw(2, 1)(wrong)


def test_a_length_filter_loses_no_pair_over_the_threshold(seed: int) -> None:
    generator = np.random.default_rng(seed)
    left, right = generator.integers(1, 60, (2, 5000))
    shared = np.minimum(left, right)  # as similar as sets of these sizes can be
    jaccard = shared / (left + right - shared)
    kept = about_equal(left, right, 1 / 0.8)
    assert kept[jaccard >= 0.8].all()
    assert not kept[jaccard < 0.79].any()
    with pytest.raises(ConfigError, match="expected 1 or more"):
        about_equal(left, right, 0.8)


def test_a_pair_exactly_at_the_ratio_is_not_lost_by_rounding() -> None:
    shorter, longer = (one.ravel() for one in np.indices((120, 120)) + 1)
    for less, more in zip(shorter.tolist(), longer.tolist(), strict=True):
        if less <= more:
            assert about_equal(np.array([less]), np.array([more]), 1 / (less / more))[0], (less, more)


@pytest.mark.parametrize("items", [np.full((1, 3), 0.5), np.full((1, 3), 1 << 32), np.full((1, 3), np.nan)])
def test_coordinates_that_would_be_cut_off_are_refused(items: np.ndarray) -> None:
    with pytest.raises(InvariantError, match=r"got items of the type \w+, expected bool or unsigned"):
        BitSampling(3).draw(4, seed=1)(items)
