"""Every signature scheme, compared with the protocol: the contract for pipelines and indexes."""

import importlib
import inspect
import pkgutil
import random
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh import sketch
from stream_lsh.arrays import U32
from stream_lsh.errors import ConfigError
from stream_lsh.sketch.catalog import SCHEMES, scheme
from stream_lsh.sketch.estimate import union
from stream_lsh.sketch.merging import union_by_group, union_of_all
from stream_lsh.sketch.scheme import EMPTY_SLOT, SignatureScheme
from stream_lsh.text.shingles import Shingles, join_shingles, offsets_of

NOT_IN_THE_CATALOG: dict[str, str] = {}
"""Classes that keep the protocol and have no name in the catalog, with the reason."""

documents = st.lists(st.lists(st.integers(0, (1 << 64) - 1), max_size=20), max_size=5)


def inherited(cls: type) -> set[str]:
    """The attributes of a class and of its bases, but for those of every object."""
    return {name for base in cls.__mro__[:-1] for name in vars(base)}


def schemes_of(module: ModuleType) -> dict[str, type]:
    """The classes of a module that make signatures, by their full name."""
    return {
        f"{module.__name__}.{name}": value
        for name, value in inspect.getmembers(module, inspect.isclass)
        if value.__module__ == module.__name__ and {"__call__", "name", "version"} <= inherited(value)
        if not getattr(value, "_is_protocol", False)
    }


def all_schemes() -> dict[str, type]:
    """Every class of the room that makes signatures."""
    names = [module.name for module in pkgutil.walk_packages(sketch.__path__, f"{sketch.__name__}.")]
    return {name: value for module in names for name, value in schemes_of(importlib.import_module(module)).items()}


def batch(documents: list[list[int]]) -> Shingles:
    counts = np.array([len(document) for document in documents], np.int64)
    return Shingles(np.array([h for document in documents for h in document], np.uint64), offsets_of(counts))


def random_batch(seed: int, sizes: list[int]) -> Shingles:
    generator = np.random.default_rng(seed)
    return Shingles(generator.integers(0, 1 << 64, sum(sizes), np.uint64), offsets_of(np.array(sizes, np.int64)))


every_scheme = pytest.mark.parametrize("name", sorted(SCHEMES))
every_shape = pytest.mark.parametrize(("slots", "seed"), [(128, 1), (1, 2), (33, 7)])


def test_every_class_that_makes_signatures_is_in_the_catalog_or_excluded_with_a_reason() -> None:
    found = set(all_schemes())
    in_catalog = {f"{made.__module__}.{made.__qualname__}" for made in (type(scheme(name)) for name in SCHEMES)}
    assert found - in_catalog == set(NOT_IN_THE_CATALOG)
    assert in_catalog <= found
    assert all(NOT_IN_THE_CATALOG.values())


def test_a_scheme_that_the_catalog_lacks_is_found() -> None:
    module = ModuleType("attic")
    exec("class Old:\n    name, version = 'old', 1\n    def __call__(self, shingles): ...", vars(module))  # noqa: S102
    assert list(schemes_of(module)) == ["attic.Old"]


@every_scheme
@every_shape
def test_a_scheme_with_the_same_settings_computes_the_same_signatures(name: str, slots: int, seed: int) -> None:
    made = scheme(name, slots, seed)
    again = scheme(made.name, made.slots, made.seed)
    shingles = random_batch(seed, [0, 1, 5, 300])
    assert (made.name, made.slots, made.seed, made.version) == (name, slots, seed, again.version)
    assert np.array_equal(made(shingles), again(shingles))


@every_scheme
def test_another_seed_makes_other_signatures(name: str, seed: int) -> None:
    shingles = random_batch(seed, [40])
    assert not np.array_equal(scheme(name, 128, 1)(shingles), scheme(name, 128, 2)(shingles))


@every_scheme
@every_shape
@settings(max_examples=40)  # times schemes and shapes
@given(documents=documents)
def test_signatures_are_pure_and_leave_their_arguments_alone(
    name: str, slots: int, seed: int, documents: list[list[int]]
) -> None:
    made, shingles = scheme(name, slots, seed), batch(documents)
    hashes, offsets = shingles.hashes.copy(), shingles.offsets.copy()
    signatures = made(shingles)
    assert np.array_equal(signatures, made(shingles))
    assert np.array_equal(shingles.hashes, hashes)
    assert np.array_equal(shingles.offsets, offsets)
    assert signatures.dtype == np.uint32
    assert signatures.shape == (len(documents), slots)
    assert not np.shares_memory(signatures, shingles.hashes)


@every_scheme
@every_shape
def test_a_batch_has_the_signatures_of_its_documents_one_by_one(name: str, slots: int, seed: int) -> None:
    made = scheme(name, slots, seed)
    shingles = random_batch(3, [0, 3, 900, 40, 0, 1, 2500, 250, 0])
    alone = [made(batch([shingles.document(row).tolist()]))[0] for row in range(len(shingles))]
    assert np.array_equal(made(shingles), np.array(alone, np.uint32))


@every_scheme
def test_no_documents_have_no_signatures(name: str) -> None:
    assert scheme(name)(join_shingles([])).shape == (0, 128)


@every_scheme
@every_shape
@settings(max_examples=40)  # times schemes and shapes
@given(document=st.lists(st.integers(0, (1 << 64) - 1), min_size=1, max_size=20), order=st.randoms())
def test_order_and_repetitions_change_nothing(
    name: str, slots: int, seed: int, document: list[int], order: random.Random
) -> None:
    again = document * 3
    order.shuffle(again)
    first, second = scheme(name, slots, seed)(batch([document, again]))
    assert np.array_equal(first, second)


@every_scheme
@every_shape
def test_only_documents_without_shingles_have_empty_slots(name: str, slots: int, seed: int) -> None:
    signatures = scheme(name, slots, seed)(random_batch(8, [0, 1, 2, 500, 0]))
    assert [(row == EMPTY_SLOT).mean() for row in signatures] == [1.0, 0.0, 0.0, 0.0, 1.0]


@every_scheme
def test_hashes_at_the_ends_of_their_range_are_shingles_like_any_other(name: str) -> None:
    signatures = scheme(name)(batch([[0], [(1 << 64) - 1], [1 << 32], [(1 << 32) - 1]]))
    assert not (signatures == EMPTY_SLOT).any()


@every_scheme
def test_a_huge_document_is_signed_like_the_union_of_its_parts(name: str) -> None:
    made = scheme(name, 64)
    shingles = random_batch(9, [70_000, 130_000, 1])
    parts = made(shingles)
    whole = made(Shingles(shingles.hashes, np.array([0, shingles.hashes.size])))
    assert np.array_equal(whole[0], union_of_all(parts))
    assert not (whole == EMPTY_SLOT).any()


@every_scheme
@every_shape
@settings(max_examples=40)  # times schemes and shapes
@given(left=documents, right=documents)
def test_the_signature_of_a_union_is_the_minimum_bit_for_bit(
    name: str, slots: int, seed: int, left: list[list[int]], right: list[list[int]]
) -> None:
    made = scheme(name, slots, seed)
    pairs = list(zip(left, right, strict=False))
    of_left, of_right = made(batch([a for a, _ in pairs])), made(batch([b for _, b in pairs]))
    assert np.array_equal(union(of_left, of_right), made(batch([a + b for a, b in pairs])))


@every_scheme
def test_many_documents_merge_by_group_into_the_signatures_of_the_groups(name: str, seed: int) -> None:
    made: SignatureScheme = scheme(name, 64)
    generator = np.random.default_rng(seed)
    shingles = random_batch(seed, generator.integers(0, 60, 40).tolist())
    groups = generator.integers(0, 7, 40)
    united: U32 = union_by_group(made(shingles), groups, count=8)
    together = [
        [h for row in np.flatnonzero(groups == g).tolist() for h in shingles.document(row).tolist()] for g in range(8)
    ]
    assert np.array_equal(united, made(batch(together)))
    assert (united[7] == EMPTY_SLOT).all()


@every_scheme
def test_slots_out_of_range_are_refused(name: str) -> None:
    for slots in (0, 65_537):
        with pytest.raises(ConfigError, match="slots"):
            scheme(name, slots)
