"""What people say of two ids: that they are the same, that they are different, or that they take it back.

A word is about ids, not about versions, and never expires: it counts whenever the two are there.  The newest word about
two ids stands; one that was taken back is kept as such, or an older word that comes again would count.
"""

from typing import NamedTuple

SAME, DIFFERENT = "same", "different"
"""What can be said."""


class Decision(NamedTuple):
    """What was said of two ids, `left` < `right`: `same`, `different`, or (None) that it is taken back.

    `ref` is the coordinate of the message: of two about the same ids the greater one is newer.
    """

    left: str
    right: str
    verdict: str | None
    ref: int


class Decisions:
    """The newest word about any two ids.

    Attributes:
        of: by both ids, the smaller one first.
        apart: of each id those that it is different from.
        newest_ref: the highest ref of any word; -1 if there is none.
    """

    def __init__(self) -> None:
        self.of: dict[tuple[str, str], Decision] = {}
        self.apart: dict[str, set[str]] = {}
        self.newest_ref = -1

    def put(self, decision: Decision) -> bool:
        """Take a word in; returns whether it is newer than what is known.

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
        """Whether two ids, the smaller one first, are the same; None where nobody says."""
        decision = self.of.get((left, right)) if self.of else None
        return None if decision is None or decision.verdict is None else decision.verdict == SAME

    def rows(self) -> list[Decision]:
        """All of them, in ascending order of ids."""
        return [self.of[key] for key in sorted(self.of)]
