"""The offsets that the group's coordinator has confirmed.

Fault (faust-streaming 0.15.3): `_committed_offset` takes the offsets of every commit, also of one that the coordinator
refused because the group was rebalanced meanwhile.  A worker that trusts it trims messages, and records messages as
acknowledged, that the next owner of the partition reads again.

Fault (the same): the last commit before a stop or a rebalance does nothing while another commit is under way, even if
that one began before the last acknowledgement.  The next owner reads messages again that were finished.

Delete when: `_commit_offsets` updates `_committed_offset` only where the commit succeeded, and the last commit takes
all that is acknowledged.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from faust.types import TP

if TYPE_CHECKING:
    from faust.transport.drivers.aiokafka import Consumer as _Base
else:
    _Base = object


class ConfirmingConsumer(_Base):
    """A consumer that knows the confirmed offset of each partition that is assigned to it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._confirmed: dict[TP, int] = {}

    def confirmed_offset(self, tp: TP) -> int | None:
        """The offset from which a partition is read after a crash; None before the first commit."""
        return self._confirmed.get(tp)

    async def perform_seek(self) -> None:
        """Seek all partitions to their committed position, and remember it."""
        await super().perform_seek()
        committed: Mapping[TP, int | None] = self._committed_offset
        self._confirmed = {tp: offset for tp, offset in committed.items() if offset is not None}

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Forget the offsets of these partitions: other workers commit them from now on."""
        for tp in revoked:
            self._confirmed.pop(tp, None)
        await super().on_partitions_revoked(revoked)

    async def commit_and_end_transactions(self) -> None:
        """Commit all that is acknowledged now, behind a commit that is under way."""
        await self.maybe_wait_for_commit_to_finish()
        await super().commit_and_end_transactions()

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        before = self.assignment()
        confirmed = await super()._commit(offsets)
        if confirmed:
            kept = before & self.assignment()  # the client omits partitions that were revoked
            self._confirmed.update({tp: offset for tp, offset in offsets.items() if tp in kept})
        return confirmed
