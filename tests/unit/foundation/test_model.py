"""Refs, and the values of the domain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.model import NO_REF, Cluster, Document, Match, make_ref, ref_offset, ref_partition

partitions, offsets = st.integers(0, (1 << 16) - 1), st.integers(0, (1 << 48) - 1)


@given(partitions, offsets)
def test_a_ref_gives_its_partition_and_its_offset_back(partition: int, offset: int) -> None:
    ref = make_ref(partition, offset)
    assert 0 <= ref <= NO_REF
    assert (ref_partition(ref), ref_offset(ref)) == (partition, offset)


@given(partitions, offsets, offsets)
def test_refs_of_a_partition_are_ordered_by_offset(partition: int, one: int, other: int) -> None:
    assert (make_ref(partition, one) < make_ref(partition, other)) == (one < other)


def test_no_ref_is_above_all_that_a_topic_reaches() -> None:
    assert make_ref((1 << 16) - 1, (1 << 48) - 2) < NO_REF


@given(st.text(), st.text())
def test_ids_compare_as_their_utf8_bytes(left: str, right: str) -> None:
    assert (left < right) == (left.encode() < right.encode())


def test_a_document_without_text_is_a_delete_and_an_empty_text_is_none() -> None:
    assert Document("a", None).text is None
    assert Document("a", "").text is not None
    assert Document("a", "x").time_ms == 0


@pytest.mark.parametrize(
    ("value", "name"), [(Match("a", "b", 0.5, 1, 2), "similarity"), (Cluster("a", ("a", "b")), "members")]
)
def test_values_cannot_be_changed_and_can_be_kept_in_sets(value: object, name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(value, name, None)
    assert len({value, value}) == 1
