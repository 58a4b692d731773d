"""Workers that follow a changelog, and workers with a copy of it on disk.

A follower reads a changelog from its beginning at some moment, and also reads what is trimmed or rewritten later.  A
worker with a copy on disk continues behind the copy, and reads its last record again.  Both must end with the state
that a recovery from the present changelog gives.
"""

import copy
from collections.abc import Iterator
from typing import Any

from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRecovery
from stream_lsh.pipeline.changelog.rewrite import BucketsRecovery
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.wire.ledger_parts import LedgerAssembler
from tests.simulation.drivers.tables import as_recovered, order_in_buckets, postings_of, rows_of
from tests.simulation.log.broker import Broker, Message
from tests.simulation.log.codec import FINGERPRINT, decoded
from tests.simulation.log.watch import Span
from tests.simulation.oracles.view import View


def followers_and_copies_equal_a_recovery(view: View) -> Iterator[str]:
    """A follower and a copy of a changelog, both from a random moment on, equal a recovery."""
    checks = {"documents-changelog": _documents, "buckets-changelog": _buckets, "ledger-changelog": _ledger}
    for moment in view.run.watch.moments:
        for (topic, partition), span in moment.items():
            for found in checks[topic](view, _Log(view.run.broker, topic, partition, span)):
                yield f"{topic} {partition}, {found}"


class _Log:
    """A changelog at a moment and now."""

    def __init__(self, broker: Broker, topic: str, partition: int, then: Span) -> None:
        self._broker, self.topic, self.partition = broker, topic, partition
        self.then, self.now = then, Span(broker.start(topic, partition), broker.end(topic, partition))

    def __str__(self) -> str:
        return f"{self.then} at the moment, {self.now} now"

    @property
    def fits_a_copy(self) -> bool:
        """Whether a copy on disk of that moment is used: nothing behind it was trimmed."""
        return self.then.start < self.then.end and self.now.start <= self.then.end

    def present(self) -> list[Message]:
        """The messages of a recovery."""
        return self._messages(*self.now)

    def followed(self) -> list[Message]:
        """The messages of a follower, before the moment and since."""
        return self._messages(self.then.start, self.now.end)

    def copied(self) -> list[Message]:
        """The messages in a copy of the moment."""
        return self._messages(*self.then)

    def since(self) -> list[Message]:
        """The messages behind the moment."""
        return self._messages(self.then.end, self.now.end)

    def behind(self) -> list[Message]:
        """The messages that are read behind a copy of the moment: also its last record, if that is still there."""
        return self._messages(max(self.then.end - 1, self.now.start), self.now.end)

    def _messages(self, start: int, end: int) -> list[Message]:
        return [self._broker.at(self.topic, self.partition, offset) for offset in range(start, end)]


def _documents(view: View, log: _Log) -> Iterator[str]:
    def of(messages: list[Message], table: DocumentTable) -> DocumentTable:
        for message in messages:
            record = decoded(log.topic, message.value)
            table.apply(record)
            table.expire(record.horizon)
        return table

    def rows(table: DocumentTable) -> list[tuple[Any, ...]]:
        table.expire(view.settler.ledger.horizon)
        return rows_of(table)

    setup = view.setup
    recovered = rows(of(log.present(), setup.new_documents()))
    tables = {"followed": of(log.followed(), setup.new_documents())}
    if log.fits_a_copy:
        tables["copied"] = of(log.behind(), copy.deepcopy(of(log.copied(), setup.new_documents())))
    for kind, table in tables.items():
        if rows(table) != recovered:
            yield f"{log}: {kind} {rows(table)}, recovered {recovered}"


def _buckets(view: View, log: _Log) -> Iterator[str]:
    def of(messages: list[Message], recovery: BucketsRecovery) -> BucketsRecovery:
        for message in messages:
            recovery.take(message.offset, decoded(log.topic, message.value))
        return recovery

    def new() -> BucketsRecovery:
        return BucketsRecovery(view.setup.new_table())

    refs = {version.ref for version in view.truth.live.values()}
    followed = of(log.copied(), new())
    followed.catch_up()  # a new follower has read the log to its end
    followed = of(log.since(), followed)
    recoveries = {"recovered": of(log.present(), new()), "followed": followed}
    copied = of(log.copied(), new())
    if log.fits_a_copy and copied.is_complete:
        recoveries["copied"] = of(log.behind(), BucketsRecovery(copied.table, is_copy=True))
    defers = [kind for kind in ("followed", "copied") if kind in recoveries and not recoveries[kind].is_complete]
    if defers:
        yield f"{log}: {defers} wait for the end of a pass"
    tables = {kind: recovery.table for kind, recovery in recoveries.items()}
    found = {kind: (postings_of(table, refs), order_in_buckets(table, refs)) for kind, table in tables.items()}
    for kind, postings in found.items():
        if postings != found["recovered"]:
            yield f"{log}: {kind} {postings}, recovered {found['recovered']}"


def _ledger(view: View, log: _Log) -> Iterator[str]:
    def of(messages: list[Message], recovery: LedgerRecovery, assembler: LedgerAssembler) -> LedgerRecovery:
        for message in messages:
            found = assembler.take(message.value, message.offset)
            if found is not None:
                recovery.take(found)
        return recovery

    def new() -> tuple[LedgerRecovery, LedgerAssembler]:
        return LedgerRecovery(view.setup.new_settler()), LedgerAssembler(FINGERPRINT)

    recoveries = {"recovered": of(log.present(), *new()), "followed": of(log.followed(), *new())}
    recovery, assembler = new()
    copied = of(log.copied(), recovery, assembler)
    if log.fits_a_copy and copied.is_complete and not assembler.waits:
        again = LedgerAssembler(FINGERPRINT)
        again.begun = True
        recoveries["copied"] = of(log.behind(), LedgerRecovery(copied.settler), again)
    true = as_recovered(recoveries["recovered"].settler)
    for kind, one in recoveries.items():
        if not one.is_complete:
            yield f"{log}: {kind} waits for the end of a copy"
        elif as_recovered(one.settler) != true:
            yield f"{log}: {kind} {as_recovered(one.settler)}, recovered {true}"
