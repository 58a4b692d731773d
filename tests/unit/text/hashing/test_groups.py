from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text.hashing.groups import GROUP, groups


@given(st.lists(st.integers(0, 30)), st.integers(1, 40))
def test_groups_cover_all_texts_in_order_and_keep_the_limit(lengths: list[int], limit: int) -> None:
    texts = ["x" * length for length in lengths]
    slices = list(groups(texts, limit))
    assert [text for group in slices for text in texts[group]] == texts
    for group in slices:
        assert texts[group], "no group is empty"
        assert len(texts[group]) == 1 or sum(map(len, texts[group])) <= limit


def test_a_text_beyond_the_limit_goes_alone() -> None:
    texts = ["a", "x" * (GROUP + 1), "b"]
    assert [texts[group] for group in groups(texts)] == [["a"], ["x" * (GROUP + 1)], ["b"]]


def test_many_empty_texts_are_more_than_one_group() -> None:
    assert len(list(groups([""] * (GROUP + 1)))) == 2
