"""Which pairs are compared again when a document is updated.

A document that is updated often meets other partners with each version, and would be compared with all of them each
time.  So the cap on candidates limits rechecks too: pairs beyond it are withdrawn instead of compared again.
"""

from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.deciding import Deciding
from stream_lsh.ledger.frame_notes import UPDATED


class Rechecking(Deciding):
    """The state of a ledger that has pairs in doubt compared again.

    Args:
        cap_rechecks: of a document, each time that a retirement comes for it; 0: all.
    """

    def __init__(
        self, threshold: float, retention_ms: int | None, guards: Guards, link_from: float, cap_rechecks: int
    ) -> None:
        super().__init__(threshold, retention_ms, guards, link_from)
        self._cap_rechecks = cap_rechecks

    def _cap_doubts(self) -> None:
        """Withdraw pairs in doubt beyond the cap: the least similar ones, and of equal ones those with older partners.

        Pairs that were decided to be the same stay.
        """
        if not self._cap_rechecks:
            return
        refs, pairs = self.graph.nodes.refs, self.graph.pairs
        for id in sorted(self._frame.asked):
            doubts = [(-pairs.similarity[pair], -refs[partner], pair) for pair, partner in self._doubts(id)]
            excess = [pair for *_, pair in sorted(doubts)[self._cap_rechecks :] if not pairs.verdicts.get(pair)]
            self._frame.capped_rechecks += len(excess)
            self._repair({end for pair in excess for end in self._withdraw(pair, UPDATED)}, UPDATED)

    def _rechecks(self) -> list[tuple[int, int]]:
        """One for each pair in doubt of a document that a retirement came for, in the newest versions of both ends."""
        nodes, rechecks = self.graph.nodes, dict[int, tuple[int, int]]()
        for id in sorted(self._frame.asked):
            for pair, partner in self._doubts(id):
                rechecks.setdefault(pair, (nodes.refs[nodes.slots[id]], nodes.refs[partner]))
        return sorted(rechecks.values())

    def _doubts(self, id: str) -> list[tuple[int, int]]:
        """The pairs in doubt of a document, each with the partner."""
        slot, pairs = self.graph.nodes.slots.get(id), self.graph.pairs
        if slot is None:
            return []
        return [(pair, partner) for partner, pair in pairs.partners(slot) if pairs.in_doubt(pair)]
