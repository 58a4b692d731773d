"""The contract of distances, tested for every one in `stream_lsh.measure`."""

import importlib
import math
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import stream_lsh.measure
from stream_lsh.measure.distance import Distance
from stream_lsh.measure.distances import DISTANCES, distance
from stream_lsh.measure.euclidean import Euclidean

_MEMBERS = {name for name in vars(Distance) if not name.startswith("_")} | {"__call__"}

Maker = Callable[[np.random.Generator, int], Any]
"""One item that is not empty, of at most `size` elements, symbols or dimensions; vectors of exactly `size`."""


def _set(chance: np.random.Generator, size: int) -> Any:
    return np.sort(chance.permutation(size)[: chance.integers(1, size + 1)]).astype(np.uint64)


def _bag(chance: np.random.Generator, size: int) -> Any:
    return np.sort(chance.integers(0, 4, chance.integers(1, size + 1))).astype(np.uint64)


def _bits(chance: np.random.Generator, size: int) -> Any:
    found = chance.random(size) < 0.5
    found[chance.integers(size)] = True
    return found


def _bytes(chance: np.random.Generator, size: int) -> Any:
    return chance.integers(0, 256, size, np.uint8)


def _numbers(chance: np.random.Generator, size: int) -> Any:
    return chance.normal(size=size).astype(np.float32) * 10.0 ** chance.integers(-3, 4)


def _string(chance: np.random.Generator, size: int) -> Any:
    return "".join(chance.choice(list("abc"), chance.integers(1, size + 1)))


MAKERS: Mapping[str, Maker] = {
    "JaccardDistance": _set,
    "JaccardOfBits": _bits,
    "ContainmentDistance": _set,
    "MaxUnion": _bag,
    "SumUnion": _bag,
    "Angle": _numbers,
    "Cosine": _numbers,
    "Euclidean": _numbers,
    "Hamming": _bits,
    "HammingBits": _bytes,
    "Edit": _string,
    "EditShare": _string,
    "Levenshtein": _string,
}
"""Class to what makes its items at random."""

_A, _B, _BOTH = (np.array(values, np.uint64) for values in ([1], [2], [1, 2]))
NO_METRIC: Mapping[str, Callable[[Distance], bool]] = {
    # different sets at 0, and a shorter way round
    "containment": lambda far: far(_A, _BOTH) == 0 and far(_A, _B) > far(_A, _BOTH) + far(_BOTH, _B),
    # a bag that is not at 0 from itself
    "sum_union": lambda far: far(_A, _A) > 0,
}
"""Name to an axiom that does not hold."""


def found() -> dict[str, type[Distance]]:
    """Every class in the room that has what a distance has."""
    classes: dict[str, type[Distance]] = {}
    for module in pkgutil.walk_packages(stream_lsh.measure.__path__, "stream_lsh.measure."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, type) and value.__module__ == module.name and value is not Distance:
                if all(hasattr(value, member) for member in _MEMBERS):
                    classes[name] = value
    return classes


ALL: list[Distance] = [*(kind() for kind in found().values()), Euclidean(1), Euclidean(3.5), Euclidean(math.inf)]
EVERY = pytest.mark.parametrize("far", ALL, ids=lambda far: str(far.name))


def items(far: Distance, seed: int, count: int, size: int) -> list[Any]:
    """Some items at random that a distance takes."""
    chance, make = np.random.default_rng(seed), MAKERS[type(far).__name__]
    return [make(chance, size) for _ in range(count)]


def test_every_distance_has_a_maker_of_items() -> None:
    assert set(found()) == set(MAKERS)
    assert _MEMBERS == {"name", "metric", "unit", "many", "__call__"}


def test_every_distance_is_known_by_its_name() -> None:
    assert {type(make()) for make in DISTANCES.values()} == set(found().values())
    assert [name for name, make in DISTANCES.items() if make().name != name] == []


@EVERY
def test_a_distance_comes_back_by_its_name(far: Distance) -> None:
    assert distance(far.name) == far
    assert far.unit


@EVERY
def test_arguments_stay_as_they_are(far: Distance, seed: int) -> None:
    left, right, again = items(far, seed, 9, 6), items(far, seed + 1, 9, 6), items(far, seed, 9, 6)
    far.many(left, right)
    far(left[0], right[0])
    assert all(np.array_equal(one, other) for one, other in zip(left, again, strict=True))


@EVERY
def test_both_directions_are_equal_to_the_last_bit(far: Distance, seed: int) -> None:
    left, right = items(far, seed, 300, 7), items(far, seed + 1, 300, 7)
    assert far.many(left, right).tobytes() == far.many(right, left).tobytes()


@EVERY
@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 130])
def test_a_batch_is_one_by_one_to_the_last_bit(far: Distance, size: int, seed: int) -> None:
    left, right = items(far, seed, 60, size), items(far, seed + 1, 60, size)
    batch = far.many(left, right)
    assert batch.dtype == np.float64
    assert batch.tolist() == [far(one, other) for one, other in zip(left, right, strict=True)]
    assert far.many(left[3:5], right[3:5]).tolist() == batch[3:5].tolist()


@EVERY
def test_declared_metrics_satisfy_the_axioms_and_the_others_violate_one(far: Distance, seed: int) -> None:
    some = items(far, seed, 24, 4)
    table = np.array([[far(one, other) for other in some] for one in some])
    assert (table >= 0).all()
    if not far.metric:
        assert NO_METRIC[far.name](far)
        return
    same = np.array([[np.array_equal(one, other) for other in some] for one in some])
    assert ((table == 0) == same).all()
    assert not same.all()
    round_about = (table[:, :, None] + table[None, :, :]).min(axis=1)
    assert (table <= round_about * (1 + 1e-12)).all()


def test_a_counterexample_belongs_to_a_distance_that_is_no_metric() -> None:
    assert set(NO_METRIC) == {far.name for far in ALL if not far.metric}


@EVERY
def test_no_items_have_no_distances(far: Distance, seed: int) -> None:
    none: Any = np.array(items(far, seed, 1, 4))[:0] if MAKERS[type(far).__name__] in (_bits, _bytes, _numbers) else []
    assert far.many(none, none).shape == (0,)
    assert far.many(none, none).dtype == np.float64


@EVERY
def test_an_empty_item_has_a_distance_from_itself(far: Distance, seed: int) -> None:
    empty = items(far, seed, 1, 4)[0][:0]
    nothing_in_common = {"angle": 90.0, "cosine": 0.5}.get(far.name, 1.0 if far.unit == "share" else 0.0)
    assert far(empty, empty) == nothing_in_common


@EVERY
def test_huge_items_have_a_distance(far: Distance, seed: int) -> None:
    one, other = items(far, seed, 2, 20_000)
    apart = far(one, other)
    assert math.isfinite(apart)
    assert 0 < apart
    assert far.many([one, other], [other, one]).tolist() == [apart, apart]


@EVERY
def test_a_huge_batch_is_handled_piece_by_piece_with_the_same_result(far: Distance, seed: int) -> None:
    some = items(far, seed, 30, 30)
    left, right = some * 300, list(reversed(some)) * 300
    assert far.many(left, right).tolist() == far.many(some, list(reversed(some))).tolist() * 300
