"""Scores of pairs and clusters, against the measures of the tests, slow definitions and another library."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.measure.evaluation import Grouping, Score, bcubed, by_threshold, clusters, evaluate, of_pairs, pairs
from tests.evaluation import clustering

COUNT = 9
items = st.integers(0, COUNT - 1)
edges = st.lists(st.tuples(items, items), max_size=14)
scored = st.lists(st.tuples(items, items, st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9, 1.0])), min_size=1, max_size=20)
labels = st.lists(st.integers(0, 4), min_size=COUNT, max_size=COUNT).map(lambda found: np.array(found, np.int64))


def grouping(found: list[tuple[int, int]]) -> Grouping:
    return of_pairs(COUNT, [one for one, _ in found], [other for _, other in found])


def set_of(found: list[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(min(pair), max(pair)) for pair in found if pair[0] != pair[1]}


def connected(found: set[tuple[int, int]]) -> list[str]:
    groups = clustering.components((str(one), str(other)) for one, other in found)
    return clustering.labels_of(map(str, range(COUNT)), groups)


def within(found: "np.ndarray") -> set[tuple[int, int]]:
    return {(one, other) for one, other in combinations(range(COUNT), 2) if found[one] == found[other]}


def share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def expected(found: set[tuple[int, int]], true: set[tuple[int, int]]) -> Score:
    both = len(found & true)
    return Score(share(both, len(found)), share(both, len(true)), len(found), len(true), both)


@given(edges, edges)
def test_pairs_are_compared_as_sets(found: list[tuple[int, int]], true: list[tuple[int, int]]) -> None:
    assert pairs(grouping(found), grouping(true)) == expected(set_of(found), set_of(true))


@given(edges, labels)
def test_pairs_and_clusters_are_compared_as_sets_of_pairs(found: list[tuple[int, int]], true: "np.ndarray") -> None:
    assert pairs(grouping(found), Grouping(true)) == expected(set_of(found), within(true))
    assert pairs(Grouping(true), grouping(found)) == expected(within(true), set_of(found))


@given(labels, labels)
def test_clusters_have_the_scores_of_their_definitions(found: "np.ndarray", true: "np.ndarray") -> None:
    one, other = found.tolist(), true.tolist()
    for got, want in (
        (pairs(Grouping(found), Grouping(true)), clustering.pairwise(one, other)),
        (clusters(found, true), clustering.exact_clusters(one, other)),
        (bcubed(found, true), clustering.bcubed(one, other)),
    ):
        assert (got.precision, got.recall, got.f1) == pytest.approx((want.precision, want.recall, want.f1), abs=1e-12)


@given(edges, edges)
def test_the_clusters_of_pairs_are_what_they_connect(found: list[tuple[int, int]], true: list[tuple[int, int]]) -> None:
    got = evaluate(grouping(found), grouping(true))
    sides = connected(set_of(found)), connected(set_of(true))
    assert got.clusters is not None
    assert got.bcubed is not None
    assert got.clusters[:2] == pytest.approx(tuple(vars_of(clustering.exact_clusters(*sides))))
    assert got.bcubed[:2] == pytest.approx(tuple(vars_of(clustering.bcubed(*sides))))


def vars_of(score: clustering.Score) -> tuple[float, float]:
    return score.precision, score.recall


@given(scored, edges)
def test_a_threshold_takes_the_pairs_that_reach_it(
    found: list[tuple[int, int, float]], true: list[tuple[int, int]]
) -> None:
    left, right, similarity = zip(*found, strict=True)
    truth = grouping(true)
    rows = by_threshold(of_pairs(COUNT, left, right, similarity), truth)
    for threshold, got in rows:
        part = [(one, other) for one, other, value in found if value >= threshold]
        assert got == evaluate(grouping(part), truth)
    values = {value for one, other, value in found if one != other}
    every = {value: evaluate(grouping([(a, b) for a, b, at in found if at >= value]), truth) for value in values}
    if rows:
        assert max(at.pairs.f1 for _, at in rows) == max(at.pairs.f1 for at in every.values())
        assert rows[0][1] == evaluate(grouping([(a, b) for a, b, _ in found]), truth)
        assert len(rows) <= 20
    else:
        assert not set_of([(one, other) for one, other, _ in found])


@given(edges, edges, edges)
def test_with_non_matches_only_labelled_pairs_count(
    found: list[tuple[int, int]], true: list[tuple[int, int]], false: list[tuple[int, int]]
) -> None:
    right = set_of(true)
    wrong = set_of(false) - right
    truth = grouping(true)
    known = Grouping(truth.labels, truth.left, truth.right, None, np.array(sorted(wrong), np.int64).reshape(-1, 2))
    got = evaluate(grouping(found), known)
    if wrong:
        assert got.pairs == expected(set_of(found) & (right | wrong), right)
        assert (got.clusters, got.bcubed) == (None, None)
    else:
        assert got == evaluate(grouping(found), truth)


def test_scores_of_other_libraries() -> None:
    """er-evaluation 2.3.0: pairwise_precision, pairwise_recall; bcubed 1.5: precision, recall."""
    found = np.array([n * n % 7 for n in range(40)])
    true = np.array([n % 5 * (n % 3 > 0) for n in range(40)])
    got = evaluate(Grouping(found), Grouping(true))
    assert got.pairs[:2] == (0.23036649214659685, 0.2037037037037037)
    assert got.bcubed is not None
    assert got.bcubed[:2] == pytest.approx((0.30492424242424243, 0.2816666666666666), abs=1e-12)


def test_the_example_of_menestrina() -> None:
    """Six records, true a b c | d e | f, found a b | c d | e f: one pair of three is right, of four; no cluster is."""
    got = evaluate(Grouping(np.array([0, 0, 1, 1, 2, 2])), Grouping(np.array([0, 0, 0, 1, 1, 2])))
    assert got.pairs == Score(1 / 3, 1 / 4, 3, 4, 1)
    assert got.clusters == Score(0.0, 0.0, 3, 2, 0)
    # B-cubed precision: a b 1 each, c d e f 1/2 each; recall: a b 2/3 each, c 1/3, d e 1/2 each, f 1.
    assert got.bcubed is not None
    assert got.bcubed[:2] == pytest.approx((4 / 6, (2 / 3 + 2 / 3 + 1 / 3 + 1 / 2 + 1 / 2 + 1) / 6))


def test_a_chain_of_a_hundred_thousand_pairs_is_one_cluster() -> None:
    order = np.random.default_rng(1).permutation(100_000)
    made = of_pairs(order.size, order[:-1].tolist(), order[1:].tolist())
    assert not made.labels.any()
