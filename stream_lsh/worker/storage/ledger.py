"""The ledger on disk: `snapshot`, an `archive` that holds it in the form of its changelog.

It is written at an orderly end.  Its head holds the identity of the state, the offset of the changelog's last record in
it, and the sizes of the changelog; the records are the parts of one snapshot (`wire.ledger_parts`).  Later records are
read from the changelog, unless it has been trimmed beyond the snapshot.
"""

from pathlib import Path

from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.pipeline.changelog.ledger_rewrite import LogSizes
from stream_lsh.pipeline.changelog.records import LedgerRecord
from stream_lsh.retention import Horizon
from stream_lsh.wire.archive import read_archive, write_archive
from stream_lsh.wire.ledger_parts import LedgerAssembler, encode_ledger
from stream_lsh.worker.storage.folder import Identity, writing
from stream_lsh.worker.storage.partition import PartitionStore

_SNAPSHOT = "snapshot"


class LedgerStore(PartitionStore):
    """The copy of the ledger on disk.

    Args:
        place, identity: see `PartitionStore`.
        fingerprint: of the scheme.

    Attributes:
        record: the snapshot as read at the start; None for none.
        sizes: of the changelog up to there.
    """

    record: LedgerRecord | None
    sizes: LogSizes

    def __init__(self, place: Path, identity: Identity, fingerprint: int) -> None:
        self._fingerprint = fingerprint
        super().__init__(place, identity)

    def _open(self) -> None:
        self.offset, self.head, self.horizon = None, LogHead(), Horizon()
        self.record, self.sizes = None, LogSizes()
        path = self._place / _SNAPSHOT
        if not path.exists():
            return
        with path.open("rb") as file:
            archive = read_archive(file, path)
            self._identity.check(archive.head["identity"], self._place)
            assembler = LedgerAssembler(self._fingerprint)
            for part in archive.records:
                self.record = assembler.add(part) or self.record
        self.offset, self.sizes = archive.head["offset"], LogSizes(*archive.head["log"])

    def save(self, record: LedgerRecord, offset: int, sizes: LogSizes) -> None:
        """Write a snapshot.

        Args:
            record: the whole ledger; no part of it may be ahead of the changelog.
            offset: of the last record of the changelog that is in it.
            sizes: of the changelog.

        Raises:
            DoubtError: the disk is full, or does not work.
        """
        head = {"identity": self._identity.as_json(), "offset": offset, "log": sizes}
        with writing(self._place):
            write_archive(self._place / _SNAPSHOT, head, encode_ledger(record, self._fingerprint))
        self.offset = offset

    def _let_go(self) -> None:
        """Nothing is open."""

    def close(self) -> None:
        """Release the file."""
