"""Human decisions on two ids: the ids are the same, they are different, or an earlier decision is revoked.

A decision applies to ids, not to versions, and never expires: it counts whenever both documents are live.  The newest
decision on two ids counts.  A revoked decision stays stored, because otherwise a replay of an older one would count.
"""

from typing import NamedTuple

SAME, DIFFERENT = "same", "different"
"""The verdicts of a decision."""


class Decision(NamedTuple):
    """A decision on two ids, `left` < `right`: `same`, `different`, or (None) revoked.

    `ref` is the coordinate of the message: of two decisions on the same ids, that with the greater ref is newer.
    """

    left: str
    right: str
    verdict: str | None
    ref: int


class Decisions:
    """The newest decision on each pair of ids.

    Attributes:
        of: decisions by both ids, the smaller one first.
        apart: for each id, the ids that a decision separates from it.
        newest_ref: the highest ref of any decision; -1 if there is none.
    """

    def __init__(self) -> None:
        self.of: dict[tuple[str, str], Decision] = {}
        self.apart: dict[str, set[str]] = {}
        self.newest_ref = -1

    def put(self, decision: Decision) -> bool:
        """Store a decision unless a newer one is stored; returns whether it was stored.

        Example:
            >>> decisions = Decisions()
            >>> decisions.put(Decision("a", "b", DIFFERENT, 7)), decisions.put(Decision("a", "b", SAME, 6))
            (True, False)
            >>> decisions.verdict("a", "b"), decisions.apart
            (False, {'a': {'b'}, 'b': {'a'}})
        """
        key = decision.left, decision.right
        current = self.of.get(key)
        if current is not None and decision.ref <= current.ref:
            return False
        self.of[key] = decision
        self.newest_ref = max(self.newest_ref, decision.ref)
        for left, right in (key, key[::-1]):
            if decision.verdict == DIFFERENT:
                self.apart.setdefault(left, set()).add(right)
            elif right in self.apart.get(left, ()):
                self.apart[left].discard(right)
                if not self.apart[left]:
                    del self.apart[left]
        return True

    def verdict(self, left: str, right: str) -> bool | None:
        """Whether two ids, the smaller one first, are the same; None without a decision."""
        decision = self.of.get((left, right)) if self.of else None
        return None if decision is None or decision.verdict is None else decision.verdict == SAME

    def rows(self) -> list[Decision]:
        """All decisions, in ascending order of ids."""
        return [self.of[key] for key in sorted(self.of)]
