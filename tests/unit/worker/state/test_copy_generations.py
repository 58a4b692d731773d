"""Where a copy comes from, and which copies are passed over."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import DamagedBytes, UnusableDocument
from stream_lsh.wire.ids import key_of
from stream_lsh.wire.origin import CopyGenerations, Origin, origin_header, origin_of

ORIGINS = st.builds(
    Origin,
    topic=st.text("abcXYZ019._-", min_size=1, max_size=249),
    partition=st.integers(0, 2**31 - 1),
    offset=st.integers(0, 2**63 - 1),
    timestamp_ms=st.integers(-(2**63), 2**63 - 1),
    generation=st.integers(0, 2**31 - 1),
    copied_ms=st.integers(0, 2**53),
)


@given(ORIGINS)
def test_an_origin_comes_back_from_its_header(origin: Origin) -> None:
    assert origin_of([("other", b"header"), *origin_header(origin).items()]) == origin


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"a/1/2/3",
        b"a/1/2/3/4/5",
        b"a/1/-2/3/4",
        b"/1/2/3/4",
        b"a b/1/2/3/4",
        b"a/1/2/3/4\n",
        b"\xff",
        b"a/1/%s/3/4" % (b"9" * 5_000),
    ],
)
def test_an_invalid_header_is_damage(header: bytes) -> None:
    with pytest.raises(DamagedBytes, match="as the header `origin`, expected topic/partition"):
        origin_of([("origin", header)])


def test_a_message_without_the_header_is_damage() -> None:
    with pytest.raises(DamagedBytes, match="got None as the header"):
        origin_of(())


def test_an_id_is_its_key_unless_no_key_can_hold_it() -> None:
    assert key_of("ü\0") == b"\xc3\xbc\0"
    with pytest.raises(UnusableDocument, match=r"got the id '\\ud800', expected UTF-8") as raised:
        key_of("\ud800")
    assert raised.value.reason == "id"


def late(copies: list[tuple[str, int, int, int]]) -> list[int]:
    """Which of the copies (topic, partition, offset, generation) are passed over, by their number."""
    generations = CopyGenerations()
    return [
        number
        for number, (topic, partition, offset, generation) in enumerate(copies)
        if generations.is_late(Origin(topic, partition, offset, 0, generation))
    ]


def test_copies_of_a_zombie_are_skipped_behind_those_of_its_successor() -> None:
    assert late([("s", 0, 5, 1), ("s", 0, 6, 1), ("s", 0, 5, 2), ("s", 0, 6, 1), ("s", 0, 6, 2)]) == [3]


def test_a_copy_without_a_time_is_read_as_an_earlier_version_wrote_it() -> None:
    assert origin_of([("origin", b"s/1/2/3/4")]) == Origin("s", 1, 2, 3, 4, 0)
    with pytest.raises(DamagedBytes, match="as the header"):
        origin_of([("origin", b"s/1/2/3/4"), ("copied", b"soon")])


@pytest.mark.parametrize("generation", [1, 3, 57])
def test_no_copy_is_late_because_of_a_group_that_was_forgotten(generation: int) -> None:
    generations = CopyGenerations()
    for offset in (4_710, 4_711):
        assert not generations.is_late(Origin("s", 0, offset, 0, 57, 1_000 + offset))
    generations.begin(generation)
    copies = [(0, 1), (1, 1), (0, 2), (1, 2), (5_000, 3)]
    late = [generations.is_late(Origin("s", 0, offset, 0, of, 900_000 + n)) for n, (offset, of) in enumerate(copies)]
    assert late == [False] * 5
    assert generations.is_late(Origin("s", 0, 2, 0, 2, 900_003)), "of its own zombies as ever"


def test_copies_of_an_earlier_version_are_not_late_under_an_impossible_generation() -> None:
    generations = CopyGenerations()
    assert not generations.is_late(Origin("s", 0, 4_711, 0, 57))
    generations.begin(1)
    assert not generations.is_late(Origin("s", 0, 0, 0, 1))


def test_other_partitions_and_copies_that_come_again_are_not_late() -> None:
    assert late([("s", 0, 5, 2), ("s", 1, 5, 1), ("t", 0, 5, 1), ("s", 0, 5, 2), ("s", 0, 4, 2), ("s", 0, 1, 3)]) == []


@given(st.data(), st.integers(1, 12))
def test_nothing_that_is_passed_over_is_missing_in_the_end(data: Any, length: int) -> None:
    """One partition of a source, owners in turn; each begins at or before the last stored offset of its predecessor.

    An owner loses the partition with some of its copies still on the way; they arrive whenever they like.
    """
    committed, stored, drifting = 0, list[tuple[int, int]](), list[list[tuple[int, int]]]()
    for generation in range(1, data.draw(st.integers(1, 4)) + 1):
        last = data.draw(st.integers(committed, length))
        arrived = data.draw(st.integers(committed, last))
        for offset in range(committed, arrived):
            _drift_in(data, stored, drifting)
            stored.append((offset, generation))
        drifting.append([(offset, generation) for offset in range(arrived, last)])
        committed = data.draw(st.integers(committed, arrived))
    final = generation + 1
    for offset in range(committed, length):  # the last owner ends its work
        _drift_in(data, stored, drifting)
        stored.append((offset, final))
    for left in drifting:
        stored += left
    generations, taken = CopyGenerations(), []
    for offset, generation in stored:
        if not generations.is_late(Origin("s", 0, offset, 0, generation)):
            taken.append(offset)
    assert set(taken) == set(range(length))
    if committed < length:  # so the successor has copied something
        assert taken[-1] == length - 1  # and the newest is the last that counts


def _drift_in(data: Any, stored: list[tuple[int, int]], drifting: list[list[tuple[int, int]]]) -> None:
    for left in drifting:
        while left and data.draw(st.booleans()):
            stored.append(left.pop(0))
