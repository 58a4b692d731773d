"""A component, the input of a guard."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Links:
    """Vertices, which no guard divides, and the pairs between them.

    Attributes:
        sizes: documents in each *vertex*: one, or several that are identical or share a past.  Vertices are numbered
            by the age of their oldest document, so 0 contains the representative of the component.
        pairs: (left, right, similarity) of each live pair of two vertices, left < right; two vertices can have several.
        sources: the known sources of the documents in each vertex; empty if no guard needs them.
        apart: pairs of vertices that a human decision calls different.
    """

    sizes: Sequence[int]
    pairs: Sequence[tuple[int, int, float]]
    sources: Sequence[tuple[str, ...]] = ()
    apart: Sequence[tuple[int, int]] = ()

    def __len__(self) -> int:
        return len(self.sizes)

    def neighbours(self) -> list[list[int]]:
        """The neighbours of each vertex, ascending, each once."""
        neighbours: list[set[int]] = [set() for _ in self.sizes]
        for left, right, _ in self.pairs:
            neighbours[left].add(right)
            neighbours[right].add(left)
        return [sorted(of) for of in neighbours]

    def within(self, part: Sequence[int]) -> "Links":
        """The subgraph of the vertices of a part, ascending, which get the numbers 0, 1, … in that order."""
        number = {vertex: at for at, vertex in enumerate(part)}
        pairs = [
            (number[left], number[right], value)
            for left, right, value in self.pairs
            if left in number and right in number
        ]
        sources = [self.sources[vertex] for vertex in part] if self.sources else ()
        apart = [(number[left], number[right]) for left, right in self.apart if left in number and right in number]
        return Links([self.sizes[vertex] for vertex in part], pairs, sources, apart)


def components(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The connected components of vertices 0 to `count` - 1, each ascending, in the order of their first vertices.

    Source: disjoint sets with path halving, R. E. Tarjan and J. van Leeuwen, Worst-case analysis of set union
    algorithms, J. ACM 31(2), 1984.

    Example:
        >>> components(4, [(0, 2), (3, 2)])
        [[0, 2, 3], [1]]
    """
    above = [*range(count)]
    for left, right in pairs:
        first, second = root(above, left), root(above, right)
        above[max(first, second)] = min(first, second)
    parts: dict[int, list[int]] = {}
    for vertex in range(count):
        parts.setdefault(root(above, vertex), []).append(vertex)
    return [*parts.values()]


def root(above: list[int], vertex: int) -> int:
    """The root of the set of a vertex; the search halves the path in `above`."""
    while above[vertex] != vertex:
        above[vertex] = vertex = above[above[vertex]]
    return vertex
