"""Elements that pairs of sets share and few other sets have, compared with a count by hand."""

from collections import Counter
from itertools import combinations
from typing import Any

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


def test_the_cost_does_not_grow_with_a_bound_that_no_element_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    tables, of_length = list[int](), np.triu_indices

    def counted(length: int, k: int) -> Any:
        tables.append(length)
        return of_length(length, k)

    monkeypatch.setattr(np, "triu_indices", counted)
    sets = [{1, 2, 3}, {2, 3}, {3, 4}]
    assert answers(sets, 1000) == by_hand(sets, 1000)
    assert tables == [2, 3]


def by_hand_with_sources(
    sets: list[set[int]], most: int, sources: list[bool]
) -> tuple[dict[tuple[int, int], int], list[int], list[int]]:
    """The pairs of a source and another set; sizes, and common elements for these pairs."""
    holders = Counter(element for one in sets for element in one)
    of_sources = Counter(element for one, source in zip(sets, sources, strict=True) if source for element in one)
    common = {one for one, count in holders.items() if count > most and not 0 < of_sources[one] <= most}
    pairs = {
        (i, j): len((sets[i] & sets[j]) - common)
        for i, j in combinations(range(len(sets)), 2)
        if sources[i] != sources[j]
    }
    return {pair: count for pair, count in pairs.items() if count}, [len(one - common) for one in sets], sorted(common)


@given(st.lists(st.tuples(st.sets(st.integers(0, 12), max_size=8), st.booleans()), max_size=9), st.integers(2, 5))
def test_only_sources_make_an_element_of_a_source_common(members: list[tuple[set[int], bool]], most: int) -> None:
    sets, sources = [one for one, _ in members], [source for _, source in members]
    found = sharing(arrays(sets), most, np.array(sources, np.bool_))
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    counted = dict(zip(pairs, found.shared.tolist(), strict=True))
    of_sources = {pair: count for pair, count in counted.items() if sources[pair[0]] != sources[pair[1]]}
    expected = by_hand_with_sources(sets, most, sources)
    assert (of_sources, found.source_sizes.tolist(), found.source_common.tolist()) == expected
    others = {pair: count for pair, count in counted.items() if pair not in of_sources}
    all_pairs, sizes, common = by_hand(sets, most)
    assert others == {(i, j): count for (i, j), count in all_pairs.items() if sources[i] == sources[j]}
    assert (found.sizes.tolist(), found.common.tolist()) == (sizes, common)


def test_pairs_of_sources_are_the_same_in_any_number_of_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [set(range(6)) for _ in range(12)]
    sources = np.arange(12) % 4 == 0
    whole = sharing(arrays(sets), 3, sources)
    monkeypatch.setattr(uncommon, "_PAIRS_AT_ONCE", 4)
    pieces = sharing(arrays(sets), 3, sources)
    assert whole.shared.tolist() == pieces.shared.tolist() == [6] * 27
    assert (whole.left.tolist(), whole.right.tolist()) == (pieces.left.tolist(), pieces.right.tolist())
