"""The contract of every sensitive family, for all its inputs."""

import copy
import json
from typing import Any

import numpy as np
import pytest

from stream_lsh.errors import ConfigError, UnusableDocument
from stream_lsh.lsh.families.catalog import FAMILIES, family
from stream_lsh.lsh.families.functions import NOTHING, Hashes
from stream_lsh.text.shingles import Shingles
from tests.families import Sample, discovered, parts, samples, size

COUNT = 24
every_family = pytest.mark.parametrize("sample", samples(), ids=str)


def items_of(sample: Sample, count: int, seed: int) -> Any:
    return sample.items(np.random.default_rng(seed), count)


def columns(items: Any) -> list[Any]:
    return [items.hashes, items.offsets] if hasattr(items, "hashes") else [items]


def test_every_family_of_the_room_is_tried_and_is_in_the_catalog() -> None:
    assert {type(sample.family) for sample in samples()} == discovered() == set(FAMILIES.values())
    assert all(name == one.name for name, one in FAMILIES.items())


@every_family
def test_hashing_is_pure(sample: Sample, seed: int) -> None:
    items = items_of(sample, 50, seed)
    before = copy.deepcopy(items)
    hashes = sample.family.draw(COUNT, seed)
    first = hashes(items)
    assert first.shape == (50, COUNT)
    assert first.dtype == np.uint32
    kept = first.copy()
    first[:] = 5
    assert np.array_equal(hashes(items), kept)
    assert all(np.array_equal(one, other) for one, other in zip(columns(items), columns(before), strict=True))


@every_family
def test_drawn_functions_depend_on_the_seed_alone(sample: Sample, seed: int) -> None:
    items = items_of(sample, 200, seed)
    values = sample.family.draw(COUNT, seed)(items)
    assert np.array_equal(sample.family.draw(COUNT, seed)(items), values)
    for other in (seed + 1, seed ^ (1 << 31), 0):
        assert not np.array_equal(sample.family.draw(COUNT, other)(items), values)


def test_minhashing_depends_on_the_seed_for_large_sets_too(seed: int) -> None:
    hashes = np.random.default_rng(seed).integers(0, 1 << 64, 100_000, np.uint64)
    large = Shingles(hashes, np.array([0, hashes.size]))
    for name in ("fast", "classic"):
        values = [family("minhash", scheme=name).draw(64, one)(large) for one in (seed, seed + 1)]
        assert float((values[0] == values[1]).mean()) < 0.1


@every_family
def test_functions_differ_from_one_another(sample: Sample, seed: int) -> None:
    values = sample.family.draw(COUNT, seed)(items_of(sample, 400, seed))
    different = len({column.tobytes() for column in values.T})
    # Coordinates are drawn with replacement; on a plane and on a line there are few functions.
    assert different > COUNT * 0.6


@every_family
def test_a_batch_gives_the_same_bits_as_its_single_items(sample: Sample, seed: int) -> None:
    items = items_of(sample, 150, seed)
    hashes = sample.family.draw(COUNT, seed)
    alone = [hashes(parts(items, [row])) for row in range(150)]
    assert np.array_equal(hashes(items), np.concatenate(alone))
    if has_margins(hashes):
        together = margins(hashes, items)
        one_by_one = [margins(hashes, parts(items, [row])) for row in range(150)]
        for column in (0, 1):
            assert np.array_equal(together[column], np.concatenate([one[column] for one in one_by_one]))


def has_margins(hashes: Hashes) -> bool:
    return hasattr(hashes, "margins")


def margins(hashes: Any, items: Any) -> Any:
    return hashes.margins(items)


@every_family
def test_the_order_of_the_items_does_not_matter(sample: Sample, seed: int) -> None:
    items = items_of(sample, 150, seed)
    order = np.random.default_rng(seed).permutation(150)
    hashes = sample.family.draw(COUNT, seed)
    assert np.array_equal(hashes(parts(items, order.tolist())), hashes(items)[order])


@every_family
def test_an_empty_batch_has_no_values(sample: Sample, seed: int) -> None:
    empty = parts(items_of(sample, 3, seed), slice(0, 0))
    hashes = sample.family.draw(COUNT, seed)
    assert hashes(empty).shape == (0, COUNT)
    if has_margins(hashes):
        assert [len(column) for column in margins(hashes, empty)] == [0, 0]


@every_family
def test_a_huge_batch_gives_the_same_bits_as_its_halves(sample: Sample, seed: int) -> None:
    items = items_of(sample, 5000, seed)
    hashes = sample.family.draw(COUNT, seed)
    halves = [hashes(parts(items, slice(0, 2500))), hashes(parts(items, slice(2500, 5000)))]
    assert np.array_equal(hashes(items), np.concatenate(halves))
    assert size(items) == 5000


@every_family
def test_nothing_is_drawn_of_nothing(sample: Sample, seed: int) -> None:
    if sample.family.name != "minhash":  # a signature has a slot at least
        assert sample.family.draw(0, seed)(items_of(sample, 3, seed)).shape == (3, 0)
    else:
        with pytest.raises(ConfigError, match="slots"):
            sample.family.draw(0, seed)


@every_family
def test_the_settings_make_an_equal_family_again(sample: Sample) -> None:
    one = sample.family
    again = family(one.name, **json.loads(json.dumps(one.settings())))
    assert again == one
    assert str(again) == str(one)
    assert all(f"{name}={value}" in str(one) for name, value in one.settings().items())
    assert (one.cost, one.version) == (1, 1)
    assert one.unit


@every_family
def test_the_curve_never_rises_and_a_number_gives_the_same_as_an_array(sample: Sample) -> None:
    distances = np.linspace(0, 2 * sample.family.farthest, 101)
    curve = sample.family.probability(distances)
    assert curve.shape == (101,)
    assert ((curve >= 0) & (curve <= 1)).all()
    assert (np.diff(curve) <= 1e-15).all()
    assert curve[0] > curve[-1]
    assert [sample.family.probability(distance) for distance in distances.tolist()] == curve.tolist()
    assert 0 <= sample.family.probability(float("inf")) <= sample.family.probability(1e300) <= curve[-1]


@every_family
def test_a_distance_below_0_and_distances_in_the_wrong_order_are_refused(sample: Sample) -> None:
    with pytest.raises(ConfigError, match="got the distance -1"):
        sample.family.probability(-1.0)
    for d1, d2 in ((0.5, 0.5), (0.5, 0.2), (-1.0, 0.5)):
        with pytest.raises(ConfigError, match="d1 < d2"):
            sample.family.sensitivity(d1, d2)


@pytest.mark.parametrize("name", ["hyperplanes", "lines"])
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_a_vector_with_a_component_that_is_no_number_is_rejected(name: str, wrong: float) -> None:
    vectors = np.ones((3, 4))
    vectors[1, 2] = wrong
    settings = {"width": 1.0} if name == "lines" else {}
    with pytest.raises(UnusableDocument, match=f"{name}: vector 1 of the batch") as caught:
        family(name, dimension=4, **settings).draw(3, 1)(vectors)
    assert caught.value.reason == "vector"


def test_an_empty_value_differs_from_every_value() -> None:
    generator = np.random.default_rng(1)
    for sample in samples():
        if sample.family.name in ("bit_sampling", "hyperplanes", "lines"):
            assert (sample.family.draw(COUNT, 1)(sample.items(generator, 500)) != NOTHING).all()


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("hyperplane", {"dimension": 3}, "did you mean 'hyperplanes'"),
        ("hyperplanes", {}, "dimension"),
        ("hyperplanes", {"dimensions": 3}, "dimensions"),
        ("hyperplanes", {"dimension": 0}, "got dimension = 0, expected 1 or more"),
        ("bit_sampling", {"dimension": -1}, "got dimension = -1, expected 1 or more"),
        ("lines", {"dimension": 3, "width": 0.0}, "got width = 0.0, expected a number between 1e-150 and 1e150"),
        ("lines", {"dimension": 3, "width": float("nan")}, "expected a number between 1e-150 and 1e150"),
        ("lines", {"dimension": 1, "width": 1.0, "uniform": True}, "got dimension = 1, expected 2 or more"),
        ("minhash", {"scheme": "clasic"}, "did you mean 'classic'"),
        ("grid_triples", {"squares": 2}, "got squares = 2, expected 3 or more"),
        ("grid_triples", {"squares": 9, "size": 0}, "got size = 0, expected 1 or more"),
        ("grid_triples", {"squares": 9, "occupied": 0.0}, "got occupied = 0.0"),
        ("lengths", {"ratio": 1.0}, "got ratio = 1.0, expected 1.01 or more"),
    ],
)
def test_wrong_settings_are_refused(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        family(name, **settings)
