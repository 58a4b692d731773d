import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.measure.bags import bag
from stream_lsh.measure.jaccard import jaccard, sorted_unique
from tests.evaluation import oracles

bags = st.lists(st.integers(0, 6) | st.integers(0, oracles.MASK64), max_size=40)


@given(bags, bags)
def test_the_jaccard_of_bags_is_the_sum_of_minima_over_the_sum_of_maxima(left: list[int], right: list[int]) -> None:
    a, b = np.array(left, np.uint64), np.array(right, np.uint64)
    assert jaccard(bag(a), bag(b)) == oracles.bag_jaccard(left, right)


@given(bags)
def test_a_bag_is_a_set_of_as_many_elements_in_any_order(values: list[int]) -> None:
    array = np.array(values, np.uint64)
    elements = bag(array)
    assert elements.size == len(values)
    assert np.array_equal(elements, sorted_unique(elements))
    assert np.array_equal(elements, bag(array[::-1]))
    assert array.tolist() == values, "the argument is left alone"


@given(st.sets(st.integers(0, oracles.MASK64)))
def test_a_document_without_repetitions_is_its_own_bag(values: set[int]) -> None:
    assert bag(np.array(list(values), np.uint64)).tolist() == sorted(values)


def test_the_bags_of_the_textbook_are_three_sevenths_alike() -> None:
    left, right = (bag(np.array([ord(c) for c in text], np.uint64)) for text in ("abcc", "aacccc"))
    assert jaccard(left, right) == 3 / 7
