"""The changelog of the ledger: when it is rewritten, how much at a time, and recovery from it."""

import random

import pytest

from stream_lsh.pipeline.batches import BEGINS
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRecovery, LedgerRewriter, LogSizes
from stream_lsh.pipeline.changelog.records import LedgerRecord, LedgerSlice
from stream_lsh.pipeline.settle import Settler
from stream_lsh.wire.ledger_parts import LedgerAssembler, encode_ledger
from tests.storage.test_ledger import settle, settler_of

FINGERPRINT = 1


class Owner:
    """The owner of a partition of settle, and its log: the messages, and where the log begins."""

    def __init__(self, settler: Settler, log: list[bytes], start: int = 0, limit: int = 200) -> None:
        self.settler, self.log, self.start, self._limit = settler, log, start, limit
        self.rewriter = LedgerRewriter(least=3_000, rows=3)
        self.undelivered: list[int] = []

    def _append(self, value: LedgerRecord | LedgerSlice) -> list[int]:
        parts = encode_ledger(value, FINGERPRINT, self._limit)
        self.log += parts
        return [*range(len(self.log) - len(parts), len(self.log))]

    def frame(self, offset: int, rng: random.Random) -> None:
        """Settle one more frame; slices behind its record, of which the deliveries are not confirmed yet."""
        written = sum(len(self.log[at]) for at in self._append(settle(self.settler, offset, rng)))
        self.rewriter.wrote(written)
        began = self.rewriter.completed_pass()
        if began is not None:
            self.start = began
        for copied in self.rewriter.slices(self.settler, written):
            offsets = self._append(copied)
            self.rewriter.sent(len(offsets), sum(len(self.log[at]) for at in offsets))
            self.undelivered += offsets

    def confirm(self) -> None:
        """Everything has been delivered."""
        for offset in self.undelivered:
            self.rewriter.delivered(offset)
        self.undelivered = []


def read(log: list[bytes], start: int, recovery: LedgerRecovery, assembler: LedgerAssembler) -> None:
    for offset in range(start, len(log)):
        found = assembler.take(log[offset], offset)
        if found is not None:
            recovery.take(found)


def recovered(log: list[bytes], start: int) -> Settler:
    recovery = LedgerRecovery(settler_of())
    read(log, start, recovery, LedgerAssembler(FINGERPRINT))
    assert recovery.is_complete
    return recovery.settler


@pytest.mark.parametrize("seed", range(8))
def test_a_successor_at_any_point_has_the_ledger_as_it_was(seed: int) -> None:
    rng, log, begun = random.Random(seed), list[bytes](), 0
    owner = Owner(settler_of(), log, limit=rng.choice((150, 300, 1 << 20)))
    for offset in range(150):
        owner.frame(offset, rng)
        if rng.random() < 0.8:
            owner.confirm()
        if rng.random() < 0.1:
            assert recovered(log, owner.start).snapshot() == owner.settler.snapshot()
        if rng.random() < 0.03:  # another one goes on: the pass that is under way has no end
            begun += owner.start > 0
            owner = Owner(recovered(log, owner.start), log, owner.start)
    assert owner.start > 0
    assert recovered(log, owner.start).snapshot() == owner.settler.snapshot() == recovered(log, 0).snapshot()


def test_a_ledger_with_all_earlier_records_skips_slices() -> None:
    rng, log = random.Random(1), list[bytes]()
    owner, recovery, assembler, at = Owner(settler_of(), log), LedgerRecovery(settler_of()), LedgerAssembler(1), 0
    for offset in range(150):
        owner.frame(offset, rng)
        owner.confirm()
        read(log, at, recovery, assembler)
        at = len(log)
        assert recovery.settler.snapshot() == owner.settler.snapshot(), "at any time"
    assert owner.start > 0
    assert (assembler.began, assembler.copied, assembler.waits) == (None, 0, False)
    on_disk = LedgerAssembler(1)
    on_disk.begun = True
    read(log, owner.start, recovery, on_disk)
    assert recovery.is_complete
    assert recovery.settler.snapshot() == owner.settler.snapshot()


def test_slices_that_come_twice_or_in_another_order_are_the_same() -> None:
    rng, log = random.Random(2), list[bytes]()
    owner = Owner(settler_of(), log, limit=1 << 20)
    for offset in range(120):
        owner.frame(offset, rng)
        owner.confirm()
    assert owner.start > 0
    rest = range(owner.start + 1, len(log))
    slices = [at for at in rest if LedgerAssembler(FINGERPRINT).take(log[at], at) is None]
    records = sorted({*rest}.difference(slices))
    for _ in range(5):
        recovery, assembler = LedgerRecovery(settler_of()), LedgerAssembler(FINGERPRINT)
        rng.shuffle(slices)
        for at in [owner.start, *slices[:-5], *records, *slices]:
            found = assembler.take(log[at], at)
            if found is not None:
                recovery.take(found)
        assert recovery.settler.snapshot() == owner.settler.snapshot()


def test_a_pass_is_due_when_the_log_is_long_and_over_when_all_of_it_is_there() -> None:
    settler, rewriter = settler_of(), LedgerRewriter(least=100, rows=1)
    settle(settler, 1, random.Random(0))
    rewriter.wrote(100)
    assert (rewriter.is_due, [*rewriter.slices(settler, 100)]) == (False, [])
    rewriter.wrote(1)
    (begins,) = rewriter.slices(settler, 1)
    assert begins.copied == BEGINS
    rewriter.sent(1, 10)
    rewriter.wrote(40)
    assert [*rewriter.slices(settler, 40)] == [], "where it begins is not known yet"
    rewriter.delivered(7)
    number = 0
    while rewriter.completed_pass() is None:
        assert rewriter.sizes == LogSizes(None, 141 + 20 * number, 0)
        rewriter.wrote(20)
        taken = 0
        for one in rewriter.slices(settler, 20):
            assert (one.copied.began, one.number) == (7, number + taken)
            rewriter.sent(1, 40)
            taken += 1
            last = one.copied.ended
        assert taken == 1, "twice as much as was written"
        assert rewriter.completed_pass() is None, "it is on its way"
        rewriter.delivered(8 + number)
        number += 1
    assert last
    assert rewriter.sizes == LogSizes(7, 40 + 20 * number, 10 + 40 * number), "later records are behind it"
    assert rewriter.completed_pass() is None, "reported once"
    rewriter.wrote(60 * number - 20)
    assert not rewriter.is_due
    rewriter.wrote(1)
    assert rewriter.is_due, "twice as long as the copy"
