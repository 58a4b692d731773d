"""Which guards a pipeline has."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

from stream_lsh.ledger.guards.diameter import balls
from stream_lsh.ledger.guards.links import Links
from stream_lsh.ledger.guards.representative import stars
from stream_lsh.ledger.guards.size import capped
from stream_lsh.ledger.guards.strong import strong_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """What holds a cluster together besides its pairs; without any, clusters are the connected components.

    Attributes:
        strong_links: a single pair does not hold two groups of two or more together.
        representative_similarity: how similar each member is to the representative at least; 0: any.
        max_diameter: how many pairs it is at most from one member to another; 0: any number, else 2 or more.
        max_size: how many documents a cluster has at most; 0: any number.

    Guarantees:
        what comes of a component is a function of its pairs, and of the ages of its documents; not of their order.
    """

    strong_links: bool = False
    representative_similarity: float = 0.0
    max_diameter: int = 0
    max_size: int = 0

    def __bool__(self) -> bool:
        return bool(self.strong_links or self.representative_similarity or self.max_diameter or self.max_size)

    def settings(self) -> dict[str, bool | int | float]:
        """Those that are set, by name."""
        return {name: value for name, value in asdict(self).items() if value}

    def problems(self, threshold: float) -> list[tuple[str, str]]:
        """What cannot be, or says nothing, where pairs reach `threshold`: names, each with what is wrong."""
        found, least = list[tuple[str, str]](), self.representative_similarity
        if not 0 <= least < 1:
            found.append(("representative_similarity", f"got {least}, expected a number from 0 to below 1"))
        elif 0 < least < threshold:
            expected = f"expected at least the threshold, {threshold}: no pair is below it"
            found.append(("representative_similarity", f"got {least}, {expected}"))
        for name in ("max_diameter", "max_size"):
            if getattr(self, name) < 0 or getattr(self, name) == 1:
                found.append((name, f"got {getattr(self, name)}, expected 2 or more, or 0 for no bound"))
        return found

    def parts(self, links: Links) -> list[list[int]]:
        """The clusters of a connected component: numbers of vertices, each ascending; one guard after the other."""
        parts = [[*range(len(links))]]
        for guard in self._chosen():
            refined = list[list[int]]()
            for part in parts:
                inner = links if len(part) == len(links) else links.within(part)
                refined += [[part[at] for at in found] for found in guard(inner)]
            parts = refined
        return parts

    def _chosen(self) -> list[Callable[[Links], list[list[int]]]]:
        guards = list[Callable[[Links], list[list[int]]]]()
        if self.strong_links:
            guards.append(strong_parts)
        if self.representative_similarity:
            guards.append(partial(stars, least=self.representative_similarity))
        if self.max_diameter:
            guards.append(partial(balls, diameter=self.max_diameter))
        if self.max_size:
            guards.append(partial(capped, most=self.max_size))
        return guards


NO_GUARDS = Guards()
"""Clusters are the connected components."""
