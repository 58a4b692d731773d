from fractions import Fraction

import numpy as np
import pytest

from stream_lsh.arrays import F64
from stream_lsh.errors import InvariantError
from stream_lsh.lsh.families.draws import below, gaussians, random_words, signs, uniforms
from stream_lsh.lsh.families.hyperplanes import Hyperplanes
from stream_lsh.lsh.families.lines import Lines
from stream_lsh.lsh.families.projections import Directions


def exact(directions: F64, fraction: int, vector: F64) -> list[Fraction]:
    """The projections on the directions as they are rounded, in whole numbers of Python."""
    return [
        sum((Fraction(round(v * 2**fraction), 2**fraction) * Fraction(x) for v, x in zip(row, vector, strict=True)),
            Fraction(0))
        for row in directions.tolist()
    ]  # fmt: skip


@pytest.mark.parametrize("slices", [1, 2])
@pytest.mark.parametrize("dimension", [1, 3, 64, 700])
def test_projections_are_those_of_exact_arithmetic_but_for_what_the_slices_leave(
    slices: int, dimension: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    directions = gaussians(5, dimension, seed, salt=1)
    vectors = generator.standard_normal((4, dimension)) * np.array([[1.0], [1e-3], [1e9], [1e-290]])
    found = Directions(directions, bits=(4, 16), slices=slices)("test", vectors)
    bits = 52 - 20 - max(1, (dimension - 1).bit_length())
    for row, vector in enumerate(vectors.tolist()):
        largest = max(map(abs, vector))
        left_out = 2 * largest * 2.0 ** -(slices * bits) * float(np.abs(directions).sum(axis=1).max())
        for got, want in zip(found[row].tolist(), exact(directions, 16, np.array(vector)), strict=True):
            assert abs(Fraction(got) - want) <= Fraction(left_out) + abs(want) / 2**50


def test_a_vector_has_the_same_projections_whatever_its_batch(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for dimension in (2, 7, 384):
        directions = Directions(gaussians(64, dimension, seed, salt=1), bits=(4, 16), slices=2)
        vectors = generator.standard_normal((300, dimension)) * 10.0 ** generator.integers(-9, 9, (300, 1))
        together = directions("test", vectors)
        for size in (1, 2, 3, 17, 300):
            for start in range(0, 300 - size + 1, 50):
                assert np.array_equal(directions("test", vectors[start : start + size]), together[start : start + size])
        assert np.array_equal(directions("test", np.asfortranarray(vectors)), together)
        assert np.array_equal(directions("test", vectors[::-1])[::-1], together)


@pytest.mark.parametrize("family", [Hyperplanes(96), Hyperplanes(96, signs=True), Lines(96, 1.0)], ids=str)
def test_on_the_border_between_two_values_a_vector_alone_has_the_value_that_it_has_in_a_batch(
    family: Hyperplanes | Lines, seed: int
) -> None:
    """Vectors are moved to the border of a function, by halves, until the next number is on the other side."""
    generator = np.random.default_rng(seed)
    hashes = family.draw(40, seed)
    low, high = generator.standard_normal((2, 40, 96))
    values = hashes(low)
    own = np.arange(40)  # vector i is moved to the border of function i
    differ = values[own, own] != hashes(high)[own, own]
    for _ in range(80):
        middle = (low + high) / 2
        beyond = hashes(middle)[own, own] != values[own, own]
        high, low = np.where(beyond[:, None], middle, high), np.where(beyond[:, None], low, middle)
    assert differ.sum() > 5
    borders = np.concatenate((low[differ], high[differ]))
    assert np.abs(low[differ] - high[differ]).max() < 1e-14
    assert np.array_equal(hashes(borders), np.concatenate([hashes(one[None]) for one in borders]))


def test_vectors_of_any_size_have_a_direction(seed: int) -> None:
    vector = np.random.default_rng(seed).standard_normal((1, 40))
    vector /= np.abs(vector).max()
    for signed in (False, True):
        hashes = Hyperplanes(40, signs=signed).draw(200, seed)
        want = hashes(vector)
        for power in (-1000, -300, 300, 1023):
            assert np.array_equal(hashes(vector * 2.0**power), want), power
        assert not (hashes(-vector) == want).any()


def test_single_precision_is_taken_as_it_is(seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((9, 8)).astype(np.float32)
    for family in (Hyperplanes(8), Lines(8, 1.0)):
        assert np.array_equal(family.draw(32, 1)(vectors), family.draw(32, 1)(vectors.astype(np.float64)))


def test_vectors_of_another_dimension_are_a_bug() -> None:
    with pytest.raises(InvariantError, match=r"hyperplanes: got items of the shape \(2, 4\), expected \(n, 3\)"):
        Hyperplanes(3).draw(5, 1)(np.zeros((2, 4)))


# Draws


def test_a_run_of_numbers_is_the_beginning_of_every_longer_one() -> None:
    assert random_words(5, 3, 1).tolist() == random_words(50, 3, 1)[:5].tolist()
    assert below(100, 5, 3, 1).tolist() == below(100, 50, 3, 1)[:5].tolist()
    assert gaussians(2, 7, 3, 1).tolist() == gaussians(9, 7, 3, 1)[:2].tolist()


def test_seeds_and_salts_give_numbers_of_their_own() -> None:
    runs = [random_words(1000, seed, salt) for seed in (-1, 0, 1, 2, 1 << 40) for salt in (1, 2, 3)]
    assert np.unique(np.concatenate(runs)).size == 15_000


def test_numbers_have_the_distributions_of_their_names(seed: int) -> None:
    count = 200_000
    uniform = uniforms(count, seed, 1)
    assert 0 < uniform.min() < uniform.max() < 1
    for place in (0.1, 0.5, 0.9):
        assert abs(float((uniform < place).mean()) - place) < 5 * (place * (1 - place) / count) ** 0.5
    normal = gaussians(count // 10, 10, seed, 2).ravel()
    for place, want in ((-2.0, 0.02275), (-1.0, 0.158655), (0.0, 0.5), (1.5, 0.933193)):
        assert abs(float((normal < place).mean()) - want) < 5 * (want * (1 - want) / count) ** 0.5
    assert np.abs(normal).max() < 9
    signed = signs(count // 10, 10, seed, 3)
    assert set(np.unique(signed).tolist()) == {-1.0, 1.0}
    assert abs(float(signed.mean())) < 5 / count**0.5
    drawn = np.bincount(below(7, count, seed, 4), minlength=7)
    assert np.abs(drawn / count - 1 / 7).max() < 5 * (6 / 49 / count) ** 0.5
