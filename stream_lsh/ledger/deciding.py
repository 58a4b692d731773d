"""What people say of two ids, put into the ledger."""

from stream_lsh.errors import InvariantError
from stream_lsh.ledger.clusters.guarded import Groups
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.frame_notes import DECIDED


class Deciding(Groups):
    """The state of a ledger whose pairs can be decided about.

    `same` links a pair whatever its similarity.  `different` withdraws it, and parts the two whoever else connects
    them.  Both count until the next word about the same ids, whatever becomes of their documents; where no pair is
    stored, `same` counts as soon as there is one.
    """

    def __init__(self, threshold: float, retention_ms: int | None, guards: Guards, link_from: float) -> None:
        super().__init__(retention_ms, guards, link_from)
        self._threshold = threshold

    def _decide(self, said: Decision) -> None:
        if not self.guarded:
            raise InvariantError(
                f"got a decision about {said.left!r} and {said.right!r}, expected none in a ledger whose clusters are "
                "the components of its pairs: give it `link_from`, or guards"
            )
        if not self.decisions.put(said):
            return
        frame, pairs, slots = self._frame, self.graph.pairs, self.graph.nodes.slots
        frame.decisions[said.left, said.right] = said
        if said.left not in slots or said.right not in slots:
            return
        key = one, other = slots[said.left], slots[said.right]
        pair, verdict = pairs.find(one, other), self.decisions.verdict(said.left, said.right)
        if pair >= 0:
            frame.touch_node(one)
            frame.touch_node(other)
            frame.touch_pair(key, pairs.state(pair), pairs.place(pair))
            if pairs.similarity[pair] < self._threshold and not verdict:
                self._withdraw(pair, DECIDED)  # it was there because they were the same
            else:
                frame.put[key] = pair
                pairs.decide(pair, verdict)
        self._repair({one, other}, DECIDED)

    def _withdraw(self, pair: int, reason: str) -> set[int]:
        """Take a pair out; returns both ends, whose connection is to be looked at."""
        frame, pairs = self._frame, self.graph.pairs
        key = left, right = pairs.ends[2 * pair], pairs.ends[2 * pair + 1]
        frame.touch_node(left)
        frame.touch_node(right)
        frame.touch_pair(key, pairs.state(pair), pairs.place(pair))
        frame.put.pop(key, None)
        frame.pair_reasons[key] = reason
        pairs.drop(pair)
        return {left, right}
