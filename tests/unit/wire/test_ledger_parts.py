"""The record of the ledger: parts, and their assembly in any order."""

import dataclasses
import struct
from itertools import chain
from zlib import crc32

import hypothesis.strategies as st
import pytest
from hypothesis import given

from stream_lsh.errors import DamagedBytes, FingerprintMismatch
from stream_lsh.ledger.changes import LedgerChanges
from stream_lsh.pipeline.changelog.records import LedgerRecord
from stream_lsh.wire.layout import Message, Section, Writer, seal
from stream_lsh.wire.ledger_parts import LedgerAssembler, encode_ledger
from tests.unit.wire.strategies import FINGERPRINT, ledger_records


def record(offset: int, size: int = 40, name: str = "gone") -> LedgerRecord:
    return LedgerRecord(offset, LedgerChanges(nodes_gone=[f"{name}-{number}" for number in range(size)]), ())


def parts(offset: int, size: int = 40, name: str = "gone", limit: int = 256) -> list[bytes]:
    messages = encode_ledger(record(offset, size, name), FINGERPRINT, limit)
    assert len(messages) >= 3
    return messages


def assembled(messages: list[bytes]) -> list[LedgerRecord]:
    assembler = LedgerAssembler(FINGERPRINT)
    return [found for message in messages if (found := assembler.add(message)) is not None]


@given(ledger_records, st.integers(0, 500))
def test_a_record_comes_back_from_its_parts(value: LedgerRecord, limit: int) -> None:
    messages = encode_ledger(value, FINGERPRINT, limit)
    assert all(len(message) <= max(limit, 135) for message in messages)
    assembler = LedgerAssembler(FINGERPRINT)
    assert [assembler.add(message) for message in messages] == [None] * (len(messages) - 1) + [value]


@given(ledger_records)
def test_a_small_record_is_one_message_and_equal_ones_have_equal_bytes(value: LedgerRecord) -> None:
    messages = encode_ledger(value, FINGERPRINT)
    assert len(messages) == 1
    assert messages == encode_ledger(dataclasses.replace(value), FINGERPRINT)


@given(st.data())
def test_parts_in_any_order_and_repeated_give_the_record_once(data: st.DataObject) -> None:
    messages = parts(5)
    extra = data.draw(st.lists(st.sampled_from(messages), max_size=5))
    order = data.draw(st.permutations(messages + extra))
    assert assembled(order) == [record(5)]


def test_an_incomplete_set_yields_nothing_whatever_follows() -> None:
    assert assembled(parts(5)[:-1] + parts(6) + parts(7)) == [record(6), record(7)]
    assert assembled(parts(5)[:-1]) == []
    assert assembled(parts(5)[1:] + parts(6)) == [record(6)], "trimmed in the middle of a set"


def test_the_rest_of_an_incomplete_set_comes_too_late() -> None:
    torn = parts(5)
    assert assembled(torn[:-1] + parts(6) + torn[-1:]) == [record(6)]


def test_a_late_part_of_a_zombie_does_not_tear_the_record_it_falls_into() -> None:
    mine = parts(6)
    for late in (parts(5)[1], parts(7)[0]):
        assert assembled([mine[0], late, *mine[1:]]) == [record(6)]


def test_a_set_that_a_crash_left_behind_is_completed_by_the_successor() -> None:
    assert assembled(parts(5)[:2] + parts(5)) == [record(5)]


def test_two_writers_of_one_offset_do_not_mix() -> None:
    ours, theirs = parts(5, size=40), parts(5, size=60)
    assert len(ours) != len(theirs)
    mixed = [part for pair in zip(ours, theirs, strict=False) for part in pair] + theirs[len(ours) :]
    assert sorted(len(found.changes.nodes_gone) for found in assembled(mixed)) == [40, 60]
    assert assembled(theirs[:-1] + ours) == [record(5, 40)]
    # Not even where both have equally many parts: the checksum of the whole distinguishes them.
    other = parts(5, name="lost")
    assert len(other) == len(ours)
    assert assembled([*ours[:2], *other[2:]]) == []


def test_a_snapshot_may_follow_the_change_of_its_offset() -> None:
    snapshot = LedgerRecord(5, LedgerChanges(complete=True), ())
    assert assembled(parts(5) + encode_ledger(snapshot, FINGERPRINT)) == [record(5), snapshot]


def test_a_whole_record_again_and_an_older_one_yield_nothing() -> None:
    assert assembled(parts(5) + parts(5)) == [record(5)]
    assert assembled(parts(6) + parts(5)) == [record(6)]
    assert assembled(parts(5) + parts(6) + parts(5) + parts(6)) == [record(5), record(6)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=40))
def test_offsets_never_fall_and_only_whole_records_come_from_any_parts(drawn: list[tuple[int, int]]) -> None:
    sets = [parts(offset) for offset in range(4)]
    got = assembled([sets[offset][index % len(sets[offset])] for offset, index in drawn])
    offsets = [found.offset for found in got]
    assert offsets == sorted(set(offsets))
    assert got == [record(offset) for offset in offsets]
    seen = {offset: {index % len(sets[offset]) for at, index in drawn if at == offset} for offset in offsets}
    assert all(len(seen[offset]) == len(sets[offset]) for offset in offsets)


def test_incomplete_sets_are_forgotten_once_a_later_record_is_whole() -> None:
    assembler = LedgerAssembler(FINGERPRINT)
    for message in chain(*(parts(offset)[:-1] for offset in range(9)), parts(9)):
        assembler.add(message)
    assert not assembler._open


# --- damage ---------------------------------------------------------------------------------------------------------


def part(offset: int, index: int, count: int, body: bytes, piece: bytes, *, checksum: int | None = None) -> bytes:
    writer = Writer()
    writer.begin(Section.LEDGER_PART)
    total = crc32(body) if checksum is None else checksum
    writer.raw(struct.pack("<qIIQII", offset, index, count, len(body), total, len(piece)))
    writer.raw(piece)
    return writer.message(Message.LEDGER, 0)


def test_every_prefix_of_a_part_is_rejected_and_a_foreign_scheme_is_named() -> None:
    message = parts(5)[1]
    for size in range(len(message)):
        with pytest.raises(DamagedBytes):
            LedgerAssembler(FINGERPRINT).add(message[:size])
    with pytest.raises(FingerprintMismatch):
        LedgerAssembler(1).add(message)


@pytest.mark.parametrize(
    ("message", "what"),
    [
        (seal(Message.LEDGER, 0, b""), "without a part"),
        (part(1, 2, 2, b"", b""), "part 2 of 2"),
        (part(1, 0, 1, b"body", b"bod"), "do not fit each other"),
        (part(1, 0, 1, b"body", b"body", checksum=3), "do not fit each other"),
        (part(1, 0, 1, b"", b""), "without offset or horizon"),
    ],
)
def test_invalid_parts_are_rejected(message: bytes, what: str) -> None:
    with pytest.raises(DamagedBytes, match=what):
        LedgerAssembler(0).add(message)


def test_a_part_that_holds_another_offset_is_rejected() -> None:
    message = encode_ledger(LedgerRecord(5, LedgerChanges(), ()), 0)[0]
    body = message[24 + 8 + 32 :]
    with pytest.raises(DamagedBytes, match="parts of offset 6 hold offset 5"):
        LedgerAssembler(0).add(part(6, 0, 1, body, body))


def test_past_nodes_that_do_not_add_up_are_rejected() -> None:
    body = Writer()
    body.begin(Section.LEDGER)
    body.raw(struct.pack("<qqII", 1, 0, 0, 0))
    body.begin(Section.HORIZON)
    body.raw(bytes(16))
    body.begin(Section.NODES)
    body.raw(struct.pack("<II", 0, 1))
    for _ in range(2):
        body.strings([], 0)
    body.raw(bytes(8))
    with pytest.raises(DamagedBytes, match="got 1 past nodes where 0"):
        LedgerAssembler(0).add(part(1, 0, 1, body.body(), body.body()))
