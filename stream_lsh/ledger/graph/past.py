"""Past nodes, which stand for expired documents, with their links to live documents (docs/internals/adr/0006)."""

from collections.abc import Callable, Iterable, Set


class Past:
    """Past nodes by number, and for each live document (by slot) the past nodes that it is linked to."""

    def __init__(self) -> None:
        self.links: dict[int, set[int]] = {}
        self.next = 0
        self._of: dict[int, tuple[int, ...]] = {}

    def of(self, slot: int) -> tuple[int, ...]:
        """The past nodes that a document is linked to, ascending."""
        return self._of.get(slot, ())

    def company(self, slot: int) -> set[int]:
        """The other live documents that share a past node with a document."""
        company: set[int] = set().union(*(self.links[past] for past in self.of(slot)))
        company.discard(slot)
        return company

    def link(self, slot: int, pasts: Iterable[int]) -> None:
        """Set the past nodes that a document is linked to."""
        now = tuple(sorted(pasts))
        for past in self._of.pop(slot, ()):
            if past not in now:
                links = self.links[past]
                links.discard(slot)
                if not links:
                    del self.links[past]
        for past in now:
            self.links.setdefault(past, set()).add(slot)
        if now:
            self._of[slot] = now

    def contract(self, slot: int, neighbours: Iterable[int], touch: Callable[[int], None]) -> None:
        """Contract a document into the past of its neighbours; `touch` is called for each before it changes.

        The largest past node of the document absorbs the others, so few links change.
        """
        pasts, links = self._of.pop(slot, ()), [*neighbours]
        past = max(pasts, key=lambda past: (len(self.links[past]), -past), default=self.next)
        for merged in pasts:
            self.links[merged].discard(slot)
        for merged in pasts:
            if merged != past:
                links += self.links[merged]
                self._drop(merged, touch)
        held = self.links.setdefault(past, set())
        new = set(links) - held - {slot}
        for other in new:
            touch(other)
            self._of[other] = tuple(sorted((*self.of(other), past)))
        held |= new
        if not held:
            del self.links[past]
        else:
            self.next = max(self.next, past + 1)
            self._prune(past, new, touch)

    def _prune(self, past: int, new: Set[int], touch: Callable[[int], None]) -> None:
        """Drop redundant past nodes: all links of one are also links of another one, and will always be.

        `past` has just gained the links `new`, and may have lost one.
        """
        held = self.links[past]
        for other in {other for slot in new for other in self.of(slot)} - {past}:
            if self.links[other] <= held:
                self._drop(other, touch)
        if any(held <= self.links[other] for other in self.of(next(iter(held))) if other != past):
            self._drop(past, touch)

    def _drop(self, past: int, touch: Callable[[int], None]) -> None:
        for slot in self.links.pop(past):
            touch(slot)
            left = tuple(other for other in self._of[slot] if other != past)
            if left:
                self._of[slot] = left
            else:
                del self._of[slot]
