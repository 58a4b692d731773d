import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import U32
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.families.functions import Margins
from stream_lsh.lsh.families.hyperplanes import Hyperplanes
from stream_lsh.lsh.families.lines import Lines
from stream_lsh.lsh.multi_probe import probes


def batch(rows: int, choices: int, seed: int) -> tuple[U32, Margins]:
    """Values and margins of 5 items in 2 bands, as of hyperplanes or of lines."""
    generator = np.random.default_rng(seed)
    values = generator.integers(10, 20, (5, 2 * rows)).astype(np.uint32)
    inside = generator.random((5, 2 * rows))
    if choices == 1:
        return values, Margins((values + np.uint32(100))[:, :, None], np.square(inside)[:, :, None])
    others = np.stack((values - np.uint32(1), values + np.uint32(1)), axis=2)
    return values, Margins(others, np.square(np.stack((inside, 1 - inside), axis=2)))


def by_all_sets(values: U32, margins: Margins, item: int, band: slice) -> list[list[int]]:
    """Every way to change the functions of a band, sorted by its cost."""
    others, costs = margins.others[item, band].tolist(), margins.costs[item, band].tolist()
    own = values[item, band].tolist()
    found = []
    for choice in itertools.product(range(margins.costs.shape[2] + 1), repeat=len(own)):
        changed = [others[row][one - 1] if one else own[row] for row, one in enumerate(choice)]
        found.append((sum(costs[row][one - 1] for row, one in enumerate(choice) if one), changed))
    return [changed for _, changed in sorted(found)]


@given(st.integers(1, 5), st.integers(1, 2), st.integers(0, 10_000), st.data())
def test_probes_are_the_cheapest_sets_of_changes_in_order(
    rows: int, choices: int, seed: int, data: st.DataObject
) -> None:
    values, margins = batch(rows, choices, seed)
    count = data.draw(st.integers(0, min(40, (choices + 1) ** rows - 1)))
    found = probes(values, margins, rows, count)
    assert found.shape == (5, 1 + count, 2 * rows)
    assert found.dtype == np.uint32
    for item in range(5):
        for band in (slice(0, rows), slice(rows, 2 * rows)):
            assert found[item, :, band].tolist() == by_all_sets(values, margins, item, band)[: 1 + count]


def test_ties_are_broken_in_the_same_way_alone_and_in_a_batch() -> None:
    values = np.zeros((50, 12), np.uint32)
    margins = Margins(np.ones((50, 12, 1), np.uint32), np.full((50, 12, 1), 0.1))
    found = probes(values, margins, 6, 30)
    assert len({one.tobytes() for one in found}) == 1
    alone = probes(values[:1], Margins(margins.others[:1], margins.costs[:1]), 6, 30)
    assert np.array_equal(alone[0], found[0])
    assert np.unique(found[0, :, :6], axis=0).shape[0] == 31


@pytest.mark.parametrize("family", [Hyperplanes(20), Lines(20, 2.0)], ids=str)
def test_no_bucket_is_named_twice_and_probes_do_not_depend_on_the_batch(family: Hyperplanes | Lines, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((30, 20))
    hashes = family.draw(24, seed)
    found = probes(hashes(vectors), hashes.margins(vectors), 8, 60)
    for band in (slice(0, 8), slice(8, 16), slice(16, 24)):
        assert all(np.unique(one[:, band], axis=0).shape[0] == 61 for one in found)
    assert np.array_equal(found[:, 0], hashes(vectors))
    for row in range(30):
        one = vectors[row : row + 1]
        assert np.array_equal(probes(hashes(one), hashes.margins(one), 8, 60)[0], found[row])


def test_no_items_have_no_probes() -> None:
    hashes = Hyperplanes(4).draw(6, 1)
    nothing = np.empty((0, 4))
    assert probes(hashes(nothing), hashes.margins(nothing), 3, 5).shape == (0, 6, 6)


def test_more_perturbations_than_there_are_and_rows_that_do_not_fit_are_refused() -> None:
    values, margins = batch(3, 2, 1)
    assert probes(values, margins, 3, 26).shape == (5, 27, 6)
    with pytest.raises(ConfigError, match="got 27 perturbations of 3 rows, expected 0 to 26"):
        probes(values, margins, 3, 27)
    with pytest.raises(ConfigError, match="got 6 functions, expected a multiple of 4 rows"):
        probes(values, margins, 4, 1)
