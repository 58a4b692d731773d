"""Elements that pairs of sets share and few other sets have, compared with a count by hand."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import U64
from stream_lsh.measure import uncommon
from stream_lsh.measure.uncommon import sharing

collections = st.lists(st.sets(st.integers(0, 12), max_size=8), max_size=9)


def arrays(sets: list[set[int]]) -> list[U64]:
    return [np.array(sorted(one), np.uint64) for one in sets]


def by_hand(sets: list[set[int]], most: int) -> tuple[dict[tuple[int, int], int], list[int], list[int]]:
    holders = Counter(element for one in sets for element in one)
    left = [{element for element in one if holders[element] <= most} for one in sets]
    pairs = {(i, j): len(left[i] & left[j]) for i, j in combinations(range(len(sets)), 2)}
    common = sorted(element for element, count in holders.items() if count > most)
    return {pair: count for pair, count in pairs.items() if count}, [len(one) for one in left], common


def answers(sets: list[set[int]], most: int) -> tuple[dict[tuple[int, int], int], list[int], list[int]]:
    found = sharing(arrays(sets), most)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    return dict(zip(pairs, found.shared.tolist(), strict=True)), found.sizes.tolist(), found.common.tolist()


@given(collections, st.integers(2, 9))
def test_pairs_counts_sizes_and_common_elements_are_those_counted_by_hand(sets: list[set[int]], most: int) -> None:
    assert answers(sets, most) == by_hand(sets, most)


def test_it_makes_no_difference_in_how_many_pieces_pairs_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [set(range(start, start + 6)) for start in range(12)]
    whole = answers(sets, 6)
    monkeypatch.setattr(uncommon, "_PAIRS_AT_ONCE", 4)
    assert answers(sets, 6) == whole == by_hand(sets, 6)
