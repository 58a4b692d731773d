"""Sets as texts: one text for each set, one shingle for each item, and bags by their lines."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.kinds.set.content import ItemShingler, items_of, items_text
from tests.evaluation.oracles import bag_jaccard, jaccard

ITEMS = st.lists(st.one_of(st.text("ab\\\n2n", max_size=4), st.text(max_size=3), st.integers(-9, 9)), max_size=9)


def named(items: list[str | int]) -> list[str]:
    return sorted(map(str, items))


@given(ITEMS)
def test_the_items_come_back_out_of_the_text_of_a_set(items: list[str | int]) -> None:
    assert sorted(items_of(items_text(items))) == sorted(set(named(items)))


@given(ITEMS)
def test_the_items_come_back_out_of_the_text_of_a_bag_as_often_as_they_are_there(items: list[str | int]) -> None:
    assert sorted(items_of(items_text(items, bag=True))) == named(items)


@given(ITEMS, ITEMS)
def test_texts_are_equal_exactly_for_equal_sets_and_equal_bags(one: list[str | int], other: list[str | int]) -> None:
    assert (items_text(one) == items_text(other)) == (set(named(one)) == set(named(other)))
    assert (items_text(one, bag=True) == items_text(other, bag=True)) == (named(one) == named(other))


@given(ITEMS, ITEMS)
def test_the_shingles_have_the_similarity_of_the_sets_and_of_the_bags(
    one: list[str | int], other: list[str | int]
) -> None:
    shingler = ItemShingler()
    sets = [shingler([items_text(items)]).hashes.tolist() for items in (one, other)]
    assert jaccard(*sets) == jaccard(named(one), named(other))
    bags = [shingler([items_text(items, bag=True)]).hashes.tolist() for items in (one, other)]
    assert jaccard(*bags) == bag_jaccard(Counter(named(one)).elements(), Counter(named(other)).elements())


def test_the_bags_of_the_book_have_the_similarity_of_the_book() -> None:
    one, other = (items_text(items, bag=True) for items in ("abcc", "aacccc"))
    shingles = ItemShingler()([one, other])
    assert jaccard(shingles.document(0).tolist(), shingles.document(1).tolist()) == 3 / 7


def test_bit_columns_as_sets_have_the_similarity_of_the_book() -> None:
    one, other = ({row for row, bit in enumerate(column) if bit == "1"} for column in ("10111", "10011"))
    shingles = ItemShingler()([items_text(one), items_text(other)])
    assert jaccard(shingles.document(0).tolist(), shingles.document(1).tolist()) == 3 / 4


def test_hashes_depend_on_the_item_and_the_seed_alone() -> None:
    texts = [items_text(["a", "b"]), "", items_text(["b", "c"])]
    together = ItemShingler(5)(texts)
    for row, text in enumerate(texts):
        assert together.document(row).tolist() == ItemShingler(5)([text]).hashes.tolist()
    assert not set(together.hashes.tolist()) & set(ItemShingler(6)(texts).hashes.tolist())


@given(ITEMS)
def test_units_are_the_lines(items: list[str | int]) -> None:
    text = items_text(items)
    starts, ends, firsts = ItemShingler().units(text)
    assert [text[start:end] for start, end in zip(starts, ends, strict=True)] == text.split("\n")[:-1]
    assert np.array_equal(firsts, np.arange(len(starts)))
