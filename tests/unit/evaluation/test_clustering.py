"""The measures of clusters, against their definitions pair by pair, and against published examples."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation import offline
from tests.evaluation.clustering import (
    Labels,
    Score,
    adjusted_rand_index,
    bcubed,
    components,
    exact_clusters,
    labels_of,
    pairwise,
)

groupings = st.integers(1, 14).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(0, 5), min_size=size, max_size=size),) * 2)
)
edges = st.lists(st.tuples(*(st.sampled_from("abcdefghij"),) * 2).filter(lambda pair: pair[0] != pair[1]), max_size=12)


def together(labels: Labels) -> set[tuple[int, int]]:
    return {(a, b) for a, b in combinations(range(len(labels)), 2) if labels[a] == labels[b]}


def groups(labels: Labels) -> list[frozenset[int]]:
    """That of each document."""
    return [frozenset(at for at, other in enumerate(labels) if other == one) for one in labels]


def share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


@given(groupings)
def test_pairwise_counts_the_pairs_of_documents_in_one_group(both: tuple[list[int], list[int]]) -> None:
    found, true = map(together, both)
    assert pairwise(*both) == Score(share(len(found & true), len(found)), share(len(found & true), len(true)))


@given(groupings)
def test_exact_clusters_counts_the_groups_of_two_and_more_that_are_equal(both: tuple[list[int], list[int]]) -> None:
    found, true = ({group for group in groups(labels) if len(group) > 1} for labels in both)
    same = len(found & true)
    assert exact_clusters(*both) == Score(share(same, len(found)), share(same, len(true)))


@given(groupings)
def test_bcubed_is_the_mean_over_documents(both: tuple[list[int], list[int]]) -> None:
    pairs = list(zip(*map(groups, both), strict=True))
    precision = sum(Fraction(len(found & true), len(found)) for found, true in pairs) / len(pairs)
    recall = sum(Fraction(len(found & true), len(true)) for found, true in pairs) / len(pairs)
    got = bcubed(*both)
    assert (got.precision, got.recall) == pytest.approx((float(precision), float(recall)), abs=1e-12)


@given(groupings)
def test_the_adjusted_rand_index_follows_from_the_four_kinds_of_pairs(both: tuple[list[int], list[int]]) -> None:
    found, true = map(together, both)
    every = set(combinations(range(len(both[0])), 2))
    a, b, c, d = len(found & true), len(found - true), len(true - found), len(every - found - true)
    parts = (a + b) * (b + d) + (a + c) * (c + d)
    assert adjusted_rand_index(*both) == pytest.approx(2 * (a * d - b * c) / parts if parts else 1.0, abs=1e-12)


@given(groupings)
def test_equal_groupings_have_full_marks_whatever_the_labels(both: tuple[list[int], list[int]]) -> None:
    one, renamed = both[0], [f"group {label}" for label in both[0]]
    for measure in (pairwise, exact_clusters, bcubed):
        assert measure(one, renamed) == Score(1.0, 1.0)
    assert adjusted_rand_index(one, renamed) == 1.0


@given(edges)
def test_union_find_connects_what_a_search_reaches(pairs: list[tuple[str, str]]) -> None:
    assert set(map(frozenset, components(pairs))) == offline.components(pairs)


def test_documents_of_no_group_have_a_label_of_their_own() -> None:
    assert labels_of("abcde", [{"d", "b"}, {"e"}]) == ["a", "b", "c", "b", "e"]


def test_f1_is_the_harmonic_mean_and_0_where_nothing_is_right() -> None:
    assert Score(1.0, 0.5).f1 == pytest.approx(2 / 3)
    assert Score(0.0, 0.0).f1 == 0.0


def test_bcubed_of_the_example_of_bagga_and_baldwin() -> None:
    """Chains 1-5, 6-7, 8-C; the first answer joins the last two, the second joins the first and the last."""
    true = "aaaaabbccccc"
    first, second = bcubed("aaaaabbbbbbb", true), bcubed("aaaaabbaaaaa", true)
    assert (round(first.precision, 2), first.recall) == (0.76, 1.0)
    assert (round(second.precision, 2), second.recall) == (0.58, 1.0)


def test_the_adjusted_rand_index_of_the_example_of_yeung_and_ruzzo() -> None:
    """Details of the adjusted Rand index, 2001: classes 1 1 0, 1 2 1 and 0 0 4 against clusters."""
    assert round(adjusted_rand_index("0101122222", "aabbbbcccc"), 3) == 0.313


def test_figures_of_scikit_learn() -> None:
    """scikit-learn 1.9.1: adjusted_rand_score, pair_confusion_matrix."""
    found, true = [n * n % 7 for n in range(40)], [n % 5 * (n % 3 > 0) for n in range(40)]
    assert adjusted_rand_index(found, true) == pytest.approx(-0.05904285203534399, abs=1e-12)
    assert pairwise(found, true) == Score(0.23036649214659685, 0.2037037037037037)


def test_groupings_of_different_documents_are_refused() -> None:
    with pytest.raises(ValueError, match="longer"):
        pairwise([1, 2], [1, 2, 3])
