"""The guards of a pipeline."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from typing import ClassVar

from stream_lsh.ledger.clusters.guards.constrained import constrained
from stream_lsh.ledger.clusters.guards.diameter import balls
from stream_lsh.ledger.clusters.guards.links import Links
from stream_lsh.ledger.clusters.guards.mean import united
from stream_lsh.ledger.clusters.guards.representative import stars
from stream_lsh.ledger.clusters.guards.size import capped
from stream_lsh.ledger.clusters.guards.strong import strong_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """Conditions on a cluster besides its pairs; without any, clusters are the connected components.

    Attributes:
        strong_links: a single pair does not connect two groups of two or more.
        bridge_similarity: the least similarity at which a single pair connects two such groups; 0: any.
        representative_similarity: the least similarity of each member to the representative; 0: any.
        max_diameter: the most pairs on the shortest path between two members, 2 or more; 0: any number.
        max_size: the most documents in a cluster; 0: any number.
        one_per_source: no cluster has two documents of one source; documents without a source do not count.

    Guarantees:
        the clusters of a component are a function of its pairs and the ages of its documents, not of their order.
    """

    strong_links: bool = False
    bridge_similarity: float = 0.0
    representative_similarity: float = 0.0
    max_diameter: int = 0
    max_size: int = 0
    one_per_source: bool = False

    mean_evidence: ClassVar[bool] = False
    """Whether two groups are one cluster only if their pairs are evidence for it on average."""

    @property
    def chosen_matches(self) -> bool:
        """Whether only pairs within a cluster are matches; the other pairs from the threshold on are reviews."""
        return False

    def strength(self, similarity: float, evidence: str) -> float:
        """The order in which pairs unite documents that must not all share a cluster: the greatest first.

        Args:
            similarity: of the pair.
            evidence: of the pair, as it is stored.
        """
        return similarity

    def __bool__(self) -> bool:
        return self.one_per_source or self.refine

    @property
    def refine(self) -> bool:
        """Whether there are other guards than `one_per_source`."""
        by_pairs = self.strong_links or self.bridge_similarity or self.representative_similarity
        return bool(by_pairs or self.max_diameter or self.max_size or self.mean_evidence)

    def settings(self) -> dict[str, bool | int | float]:
        """The guards that are set, by name."""
        return {name: value for name, value in asdict(self).items() if value}

    def problems(self, threshold: float) -> list[tuple[str, str]]:
        """Settings that are invalid, or without effect for pairs of at least `threshold`: each a name and a problem."""
        issues = list[tuple[str, str]]()
        for name in ("bridge_similarity", "representative_similarity"):
            least = getattr(self, name)
            if not 0 <= least < 1:
                issues.append((name, f"got {least}, expected a number from 0 to below 1"))
            elif 0 < least < threshold:
                issues.append((name, f"got {least}, expected at least the threshold, {threshold}: no pair is below it"))
        if self.strong_links and self.bridge_similarity:
            issues.append(("bridge_similarity", "got one, expected none beside `strong_links`: no single pair will do"))
        for name in ("max_diameter", "max_size"):
            if getattr(self, name) < 0 or getattr(self, name) == 1:
                issues.append((name, f"got {getattr(self, name)}, expected 2 or more, or 0 for no bound"))
        return issues

    def parts(self, links: Links) -> list[list[int]]:
        """The clusters of a connected component: numbers of vertices, each ascending; one guard after the other.

        Documents that must not share a cluster are separated first.
        """
        parts = [[*range(len(links))]]
        for guard in self._chosen(links):
            refined = list[list[int]]()
            for part in parts:
                inner = links if len(part) == len(links) else links.within(part)
                refined += [[part[at] for at in subset] for subset in guard(inner)]
            parts = refined
        return parts

    def _chosen(self, links: Links) -> list[Callable[[Links], list[list[int]]]]:
        guards = list[Callable[[Links], list[list[int]]]]()
        if links.apart or (self.one_per_source and links.sources):
            guards.append(partial(constrained, one_per_source=self.one_per_source))
        if self.mean_evidence:
            guards.append(united)
        if self.strong_links or self.bridge_similarity:
            guards.append(partial(strong_parts, least=inf if self.strong_links else self.bridge_similarity))
        if self.representative_similarity:
            guards.append(partial(stars, least=self.representative_similarity))
        if self.max_diameter:
            guards.append(partial(balls, diameter=self.max_diameter))
        if self.max_size:
            guards.append(partial(capped, most=self.max_size))
        return guards


class EntityGuards(Guards):
    """The guards of a pipeline of records, where the similarity of a pair is the probability of a match.

    Example:
        >>> EntityGuards(one_per_source=True).settings()
        {'one_per_source': True, 'chosen_matches': True}
    """

    mean_evidence: ClassVar[bool] = True

    @property
    def chosen_matches(self) -> bool:
        """True if an entity has at most one record of each source: a record has at most one match in each."""
        return self.one_per_source

    def settings(self) -> dict[str, bool | int | float]:
        """The guards that are set, by name, and `chosen_matches`, which decides about the topic of a pair."""
        chosen = {"chosen_matches": True} if self.chosen_matches else {}
        return {**super().settings(), **chosen}


NO_GUARDS = Guards()
"""Clusters are the connected components."""
