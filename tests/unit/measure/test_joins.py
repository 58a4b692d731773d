"""The four joins against a comparison of every two: small universes, thresholds that quotients hit."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import U64
from stream_lsh.errors import ConfigError
from stream_lsh.measure import joins
from stream_lsh.measure.filters import least_shared, most_members, prefix_lengths
from stream_lsh.measure.joins import prefix_hits
from stream_lsh.measure.joins.join import METHODS, Joined, join
from stream_lsh.measure.joins.online import Index
from tests.evaluation import oracles

JoinMatch = dict[tuple[int, int], float]

quotients = st.tuples(st.integers(1, 20), st.integers(1, 20)).map(lambda two: min(two) / max(two))
thresholds = st.one_of(st.sampled_from([0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0]), quotients)
small_sets = st.integers(2, 9).flatmap(lambda most: st.lists(st.frozensets(st.integers(0, most)), max_size=12))
wide_sets = st.lists(st.frozensets(st.integers(0, 30), min_size=15), max_size=12)
collections = st.one_of(small_sets, wide_sets)


def arrays(sets: Sequence[frozenset[int]]) -> list[U64]:
    return [np.array(sorted(one), np.uint64) for one in sets]


def pairs(found: Joined) -> JoinMatch:
    columns = (found.left.tolist(), found.right.tolist(), found.similarity.tolist())
    return {(left, right): similarity for left, right, similarity in zip(*columns, strict=True)}


def brute_force(sets: Sequence[frozenset[int]], threshold: float) -> JoinMatch:
    every_two = combinations(range(len(sets)), 2)
    compared = {(a, b): oracles.jaccard(sets[a], sets[b]) for a, b in every_two}
    return {pair: similarity for pair, similarity in compared.items() if similarity >= threshold}


def test_the_methods_are_named_in_the_order_of_the_theory() -> None:
    assert list(METHODS) == ["length", "prefix", "position", "suffix"]
    assert joins.__doc__ is not None
    assert all(f"\n    {name} " in joins.__doc__ for name in METHODS)


@given(collections, thresholds)
def test_every_method_gives_the_pairs_of_a_comparison_of_every_two_and_compares_no_more_than_the_one_before(
    sets: list[frozenset[int]], threshold: float
) -> None:
    wanted = brute_force(sets, threshold)
    found = {method: join(arrays(sets), threshold, method=method) for method in METHODS}
    assert {method: pairs(one) for method, one in found.items()} == dict.fromkeys(METHODS, wanted)
    compared = [one.compared for one in found.values()]
    assert compared == sorted(compared, reverse=True)
    assert compared[-1] >= len(wanted)
    for one in found.values():
        assert one.shared.tolist() == [len(sets[a] & sets[b]) for a, b in wanted]


@given(collections, collections, thresholds)
def test_two_collections_are_joined_as_every_one_with_every_other_would_be(
    sets: list[frozenset[int]], others: list[frozenset[int]], threshold: float
) -> None:
    every_two = product(range(len(sets)), range(len(others)))
    compared = {(a, b): oracles.jaccard(sets[a], others[b]) for a, b in every_two}
    wanted = {pair: similarity for pair, similarity in compared.items() if similarity >= threshold}
    found = [join(arrays(sets), threshold, arrays(others), method=method) for method in METHODS]
    assert [pairs(one) for one in found] == [wanted] * len(METHODS)
    counts = [one.compared for one in found]
    assert counts == sorted(counts, reverse=True)


@given(collections, thresholds)
def test_sets_that_come_one_by_one_find_those_before_them(sets: list[frozenset[int]], threshold: float) -> None:
    index, found = Index(threshold), JoinMatch()
    for number, one in enumerate(sets):
        found |= {(other, number): similarity for other, similarity in index.add_and_find(sorted(one))}
    assert found == brute_force(sets, threshold)
    assert len(found) <= index.compared <= len(sets) * (len(sets) - 1) // 2


@given(collections, thresholds, st.permutations(range(20)))
def test_the_order_of_the_sets_does_not_matter(sets: list[frozenset[int]], threshold: float, drawn: list[int]) -> None:
    order = [at for at in drawn if at < len(sets)]
    found = {method: join(arrays([sets[at] for at in order]), threshold, method=method) for method in METHODS}
    wanted = brute_force(sets, threshold)
    for method, one in found.items():
        assert {tuple(sorted((order[a], order[b]))): s for (a, b), s in pairs(one).items()} == wanted, method
        if method != "position":  # of two equally long strings the later one probes
            assert one.compared == join(arrays(sets), threshold, method=method).compared


@given(st.lists(st.frozensets(st.integers(0, 6)), max_size=15), thresholds, st.integers(1, 7))
def test_hits_that_are_examined_in_chunks_give_the_same_pairs(
    sets: list[frozenset[int]], threshold: float, together: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix_hits, "_TOGETHER", together)
        found = {method: join(arrays(sets), threshold, method=method) for method in METHODS}
    for method, one in found.items():
        whole = join(arrays(sets), threshold, method=method)
        assert (pairs(one), one.compared) == (pairs(whole), whole.compared)


@given(st.integers(0, 3_000), thresholds)
def test_the_bounds_are_those_of_exact_arithmetic(size: int, threshold: float) -> None:
    least, most = int(least_shared(np.array([size]), threshold)[0]), int(most_members(np.array([size]), threshold)[0])
    reaching = [shared for shared in range(1, size + 1) if shared / size >= threshold]
    assert least == min(reaching, default=0)
    if size:
        assert size / most >= threshold > size / (most + 1)
        assert int(prefix_lengths(np.array([size]), threshold)[0]) == size - least + 1
    else:
        assert most == prefix_lengths(np.array([0]), threshold)[0] == 0


@given(st.integers(1, 400), st.integers(1, 100))
def test_the_length_of_a_prefix_follows_from_the_distance_in_whole_numbers(size: int, percent: int) -> None:
    distance = 1 - Fraction(percent, 100)
    assert int(prefix_lengths(np.array([size]), percent / 100)[0]) == int(distance * size) + 1


def test_huge_sizes_have_bounds() -> None:
    sizes = np.array([(1 << 40) - 1, 10**9, 3 * 10**9])
    for threshold in (0.9, 0.7, 1 / 3, 0.999999, 1.0):
        least, most = least_shared(sizes, threshold), most_members(sizes, threshold)
        assert (least / sizes >= threshold).all()
        assert ((least - 1) / sizes < threshold).all()
        assert (sizes / most >= threshold).all()
        assert (sizes / (most + 1) < threshold).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sets", [[], [set()], [set(), set()], [set(), {1}]])
def test_nothing_is_similar_to_nothing(method: str, sets: list[set[int]]) -> None:
    made = arrays([frozenset(one) for one in sets])
    for threshold in (0.1, 1.0):
        found = join(made, threshold, method=method)
        assert (len(found), found.compared) == (0, 0)
        assert len(join(made, threshold, made[:1], method=method)) == 0
        assert len(join(made, threshold, [], method=method)) == 0


def test_a_threshold_is_met_by_the_quotient_that_equals_it() -> None:
    sets = arrays([frozenset(range(10)), frozenset(range(9)), frozenset(range(1, 10))])
    for method in METHODS:
        assert pairs(join(sets, 0.9, method=method)) == {(0, 1): 0.9, (0, 2): 0.9}
        assert pairs(join(sets, float(np.nextafter(0.9, 1)), method=method)) == {}


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.1, float("nan")])
def test_an_invalid_threshold_is_rejected(threshold: float) -> None:
    with pytest.raises(ConfigError, match="threshold: got"):
        join([], threshold)
    with pytest.raises(ConfigError, match="threshold: got"):
        Index(threshold)


def test_an_unknown_method_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"method: got 'sufix', expected length, .* did you mean 'suffix'"):
        join([], 0.9, method="sufix")
