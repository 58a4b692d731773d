"""Similar sets in memory: the pairs are those of all pairs, whatever the history; fingerprints as often as promised."""

import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh import ConfigError, DamagedBytes, MalformedMessage, NearDuplicates, SimilarSets, UnusableDocument
from stream_lsh.kinds.set.content import items_text
from stream_lsh.kinds.set.grid_scheme import GridScheme
from tests.evaluation.oracles import bag_jaccard, containment, jaccard

IDS = st.sampled_from([f"set{number}" for number in range(8)])
ITEMS = st.lists(st.sampled_from(["a", "b", "c", "d", 1, "1", 2]), max_size=7)
ACTIONS = st.lists(st.tuples(IDS, st.none() | ITEMS), max_size=30)
Pairs = dict[tuple[str, str], float]


def pairs_of(memory: SimilarSets) -> Pairs:
    return {(match.left, match.right): match.similarity for match in memory.matches()}


def exact_pairs(sets: dict[str, list[Any]], threshold: float, similarity: Any = jaccard) -> Pairs:
    named = {id: [*map(str, items)] for id, items in sets.items()}
    return {
        (left, right): found
        for left in sets
        for right in sets
        if left < right and (found := similarity(named[left], named[right])) >= threshold
    }


def many_sets(chance: random.Random, count: int) -> dict[str, list[str]]:
    """Baskets in families of three, that differ in a few items."""
    found = {}
    for number in range(0, count, 3):
        base = [f"item{chance.randrange(5_000)}" for _ in range(chance.choice((5, 20, 60)))]
        for copy in range(3):
            kept = [item for item in base if chance.random() < 0.95]
            found[f"s{number + copy:04}"] = kept + [f"item{chance.randrange(5_000)}"] * (copy == 2)
    return found


@settings(max_examples=60)
@given(ACTIONS, st.booleans())
def test_any_history_ends_with_all_pairs_of_what_survived_it(actions: list[tuple[str, Any]], bag: bool) -> None:
    memory, live = SimilarSets(0.5, max_candidates=0, bag=bag), dict[str, list[Any]]()
    for id, items in actions:
        if items is None:
            assert memory.remove(id) == (live.pop(id, None) is not None)
        else:
            memory.add(id, items)
            live[id] = items
    found, true = pairs_of(memory), exact_pairs(live, 0.5, bag_jaccard if bag else jaccard)
    assert found.items() <= true.items()
    # Pairs at the threshold may be missed, with a probability of 0.01 each; those well above it are not.
    assert found.items() >= {pair: one for pair, one in true.items() if one > 0.8}.items()
    assert len(memory) == len(live)


@settings(max_examples=60)
@given(ACTIONS, st.booleans(), st.sampled_from([0.5, 0.6, 2 / 3, 0.75, 0.9]))
def test_the_method_exact_misses_no_pair(actions: list[tuple[str, Any]], bag: bool, threshold: float) -> None:
    memory, live = SimilarSets(threshold, bag=bag, method="exact"), dict[str, list[Any]]()
    for id, items in actions:
        if items is None:
            memory.remove(id)
            live.pop(id, None)
        else:
            memory.add(id, items)
            live[id] = items
    assert pairs_of(memory) == exact_pairs(live, threshold, bag_jaccard if bag else jaccard)


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_pairs_are_found_as_often_as_promised_and_no_others(threshold: float, seed: int) -> None:
    chance, found, wanted = random.Random(seed), 0, 0
    for number in range(4):
        sets = many_sets(chance, 150)
        memory = SimilarSets(threshold, max_candidates=0, seed=number)
        memory.add_many(sets.items())
        pairs, true = pairs_of(memory), exact_pairs(sets, threshold)
        assert pairs.items() <= true.items()
        found, wanted = found + len(pairs), wanted + len(true)
    # Each is found with a probability of at least 0.989: six standard deviations below that.
    assert wanted > 250
    assert found >= 0.989 * wanted - 6 * math.sqrt(0.989 * 0.011 * wanted)


def test_containment_finds_small_sets_in_larger_ones() -> None:
    sets = {"all": [*"abcdefgh"], "half": [*"abcd"], "other": [*"wxyz"]}
    memory = SimilarSets(0.9, measure="containment", max_candidates=0)
    (match,) = memory.add_many(sets.items())
    assert (match.left, match.right, match.similarity) == ("all", "half", containment("abcd", "abcdefgh", 2.0))
    assert (match.left_shingles, match.right_shingles) == (8, 4)


def test_sets_match_as_documents_with_the_same_shingles_do() -> None:
    sets = {"a": [*"abcdef"], "b": [*"abcdeg"], "c": [*"xyz"]}
    memory, near = SimilarSets(0.5), NearDuplicates(0.5, "word:1")
    memory.add_many(sets.items())
    near.add_many((id, " ".join(items)) for id, items in sets.items())
    assert memory.matches() == near.matches()
    assert memory.clusters() == near.clusters()
    assert memory.query([*"abcdef"]) == near.query("a b c d e f")


def test_an_empty_set_is_there_and_matches_nothing() -> None:
    memory = SimilarSets(0.5)
    assert memory.add("a", []) == memory.add("b", []) == []
    assert memory.query([]) == []
    assert "a" in memory
    assert len(memory) == 2


@pytest.mark.parametrize("items", [np.array([3, 1]), {np.int32(1), 3}, np.array(["1", "3"])])
def test_items_of_numpy_are_those_of_python(items: Any) -> None:
    memory = SimilarSets(0.5)
    memory.add("a", [1, 3])
    assert memory.add("b", items)[0].similarity == memory.query(items)[1].similarity == 1


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ([1.5], MalformedMessage, "got 1.5 in `items`, expected strings and integers"),
        ([None], MalformedMessage, "got None in `items`"),
        ("abc", MalformedMessage, "got 'abc', expected several items: put one into a list"),
        ([True], MalformedMessage, "got True in `items`"),
        (np.array([1.5]), MalformedMessage, "got 1.5 in `items`"),
        (["x" * 1_025], UnusableDocument, "got an item of 1025 characters in `items`, expected at most 1024 bytes"),
        (["é" * 513], UnusableDocument, "got an item of 513 characters"),
        ([1 << 64], UnusableDocument, "got an integer of more than 64 bits"),
    ],
)
def test_unusable_items_are_rejected(items: Any, error: type[Exception], message: str) -> None:
    memory = SimilarSets(0.5)
    with pytest.raises(error, match="got ") as caught:
        memory.add("a", items)
    assert message in str(caught.value)
    assert caught.value.reason == "items"  # type: ignore[attr-defined]
    assert "a" not in memory


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 1.5}, "threshold"),
        ({"measure": "containmnt"}, "containment"),
        ({"squares": 100, "bag": True}, "bag: got true"),
        ({"squares": 100, "measure": "containment"}, "measure: got containment, expected jaccard"),
        ({"squares": 2}, "grid.squares: got 2, expected at least the 3 squares of a function"),
        ({"squares": 100, "threshold": 1.0}, "threshold: got 1.0"),
        ({"max_candidates": -1}, "max_candidates: got -1"),
        ({"method": "exat"}, "did you mean 'exact'"),
        ({"method": "exact", "recall": 0.9}, "recall: got 0.9, expected none"),
        ({"method": "exact", "squares": 100}, "method: got exact, expected lsh for fingerprints"),
    ],
)
def test_invalid_settings_are_rejected(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SimilarSets(**arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "arguments", [{}, {"bag": True}, {"method": "exact"}, {"squares": 30, "functions": 200, "size": 2}]
)
def test_a_file_brings_everything_back(arguments: dict[str, Any], tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    memory = SimilarSets(0.6, **arguments)
    for number in range(40):
        memory.add(f"s{number}", [chance.randrange(20) for _ in range(12)])
    memory.remove("s3")
    memory.save(tmp_path / "sets")
    again = SimilarSets.load(tmp_path / "sets")
    assert memory.matches()
    assert (again.matches(), again.clusters(), len(again)) == (memory.matches(), memory.clusters(), 39)
    assert again.add("s3", range(12)) == memory.add("s3", range(12))
    with pytest.raises(DamagedBytes, match="does not describe near-duplicates"):
        NearDuplicates.load(tmp_path / "sets")


# -- fingerprints


def prints(chance: np.random.Generator, squares: int, fingers: int) -> tuple[list[list[int]], list[list[int]]]:
    """Two prints of each finger: a fifth of the squares occupied, 80 % of which the other print has as well.

    A square that the first print does not have, the second one has so often that it has a fifth of them too.
    """
    first = chance.random((fingers, squares)) < 0.2
    second = np.where(first, chance.random(first.shape) < 0.8, chance.random(first.shape) < 0.05)
    return tuple([np.flatnonzero(row).tolist() for row in side] for side in (first, second))  # type: ignore[return-value]


def within_bound(hits: int, of: int, probability: float) -> bool:
    """Within five standard deviations of the binomial distribution."""
    return abs(hits - of * probability) <= 5 * math.sqrt(of * probability * (1 - probability))


def test_prints_of_one_finger_meet_and_others_seldom_do_as_often_as_promised(seed: int) -> None:
    # Over the functions too, for those of one draw are met by all prints: a draw for each pair of fingers.
    chance, squares, same, other, of = np.random.default_rng(seed), 1_000, 0, 0, 400
    for number in range(of // 4):
        scheme = GridScheme(squares, seed=number)
        sides = prints(chance, squares, 4)
        ones, others = (scheme.holding(scheme.sign([items_text(items) for items in side])) for side in sides)
        same += int((ones & others).any(axis=1).sum())
        other += int((ones & np.roll(others, 1, axis=0)).any(axis=1).sum())
    # The promise is for prints whose squares are a fifth on the average; this seed's are.
    assert within_bound(same, of, scheme.promise(0.2, 0.8))
    assert within_bound(other, of, scheme.promise(0.2, 0.2))
    assert (round(scheme.promise(0.2, 0.8), 3), round(scheme.promise(0.2, 0.2), 3)) == (0.985, 0.063)


def test_one_print_finds_its_finger_among_many_and_many_find_theirs(seed: int) -> None:
    chance, fingers, squares = np.random.default_rng(seed), 300, 1_000
    first, second = prints(chance, squares, fingers)
    one_to_many = SimilarSets(0.5, squares=squares, max_candidates=0)
    assert one_to_many.add_many((f"finger{number}", items) for number, items in enumerate(first)) == []
    found = [[one.id for one in one_to_many.query(items)] for items in second]
    assert all(ids in ([], [f"finger{number}"]) for number, ids in enumerate(found))
    promise = GridScheme(squares).promise(0.2, 0.8)
    # The same functions serve all fingers, so the bound is a little wider than that of independent ones.
    assert fingers * promise - sum(map(bool, found)) <= 6 * math.sqrt(fingers * promise * (1 - promise))
    one_to_many.add_many((f"scan{number}", items) for number, items in enumerate(second))
    many_to_many = {(match.left, match.right) for match in one_to_many.matches()}
    assert many_to_many == {(f"finger{number}", f"scan{number}") for number, ids in enumerate(found) if ids}
    compared = one_to_many._pipeline.counts.candidates / (2 * fingers * (2 * fingers - 1) / 2)
    assert compared < 0.1


def test_buckets_of_a_print_are_the_functions_that_hold_and_its_digest() -> None:
    scheme = GridScheme(6, functions=40, size=2, seed=3)
    signatures = scheme.sign([items_text(items) for items in ([0, 1, 2], [0, 1, 2, 3, 4, 5], [4], [])])
    buckets, held = scheme.buckets(signatures), scheme.holding(signatures)
    assert held[1].all()
    assert not held[2].any()
    assert [len({*row.tolist()} - {0}) for row in buckets] == [int(held[0].sum()) + 1, 41, 1, 0]
    assert {*buckets[0, :-1].tolist()} - {0} <= {*buckets[1].tolist()}
    assert Counter(bucket & 1 for bucket in buckets[1, :-1].tolist()) == {0: 40}


def test_a_dense_print_is_in_as_many_buckets_as_there_may_be() -> None:
    scheme = GridScheme(100)
    buckets = scheme.buckets(scheme.sign([items_text(range(100)), items_text(range(99))]))
    assert buckets.shape == (2, scheme.width)
    assert np.count_nonzero(buckets, axis=1).tolist() == [65, 65]
    assert len({*buckets[0].tolist()} & {*buckets[1].tolist()}) > 50
    memory = SimilarSets(0.9, squares=100)
    assert memory.add("a", range(100)) == []
    assert [match.similarity for match in memory.add("b", range(99))] == [0.99]


def test_squares_outside_of_the_grid_are_refused() -> None:
    memory = SimilarSets(0.5, squares=10)
    for items in ([10], [-1], ["1"], [1.0], [True]):
        with pytest.raises(UnusableDocument, match="expected squares, integers from 0 to 9"):
            memory.add("a", items)  # type: ignore[arg-type]
