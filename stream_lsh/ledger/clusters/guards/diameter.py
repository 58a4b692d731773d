"""A maximum diameter: a bound on the number of pairs on the shortest path between two members of a cluster.

A wider component is divided into balls.  A ball is the vertex with the most partners (the older one of equals) and all
vertices within half the diameter of it; the components of the rest are divided in the same way.

Source: P. Crescenzi et al., On computing the diameter of real-world undirected graphs, Theoretical Computer Science
514, 2013, for the vertices that the search skips.
"""

from collections.abc import Container, Sequence

from stream_lsh.ledger.clusters.guards.links import Links, components


def balls(links: Links, diameter: int) -> list[list[int]]:
    """Parts of at most this diameter, 2 or more.

    Cost: O(vertices + pairs) for each part, and again for each vertex further from the middle of a component than half
    the diameter, until two vertices are too far apart.

    Example:
        >>> balls(Links([1] * 5, [(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9), (3, 4, 0.9)]), 2)
        [[0, 1, 2], [3, 4]]
    """
    near = links.neighbours()
    waiting, parts = [[*range(len(links))]], list[list[int]]()
    while waiting:
        part = waiting.pop()
        inside = set(part)
        middle = min(part, key=lambda vertex: (-len(inside.intersection(near[vertex])), vertex))
        levels = _levels(near, inside, middle)
        if not _wider(near, inside, levels, diameter):
            parts.append(part)
            continue
        ball = {vertex for level in levels[: diameter // 2 + 1] for vertex in level}
        parts.append(sorted(ball))
        rest = [vertex for vertex in part if vertex not in ball]
        waiting += _connected(near, rest)
    return sorted(parts)


def _levels(near: Sequence[Sequence[int]], inside: Container[int], start: int) -> list[list[int]]:
    """The vertices at distance 0, 1, … from a vertex."""
    seen, levels = {start}, [[start]]
    while levels[-1]:
        level = list[int]()
        for vertex in levels[-1]:
            for other in near[vertex]:
                if other in inside and other not in seen:
                    seen.add(other)
                    level.append(other)
        levels.append(level)
    return levels[:-1]


def _wider(near: Sequence[Sequence[int]], inside: Container[int], levels: list[list[int]], diameter: int) -> bool:
    """Whether two vertices are further apart than `diameter`; two in the levels up to half of it never are."""
    return len(levels) - 1 > diameter or any(
        len(_levels(near, inside, vertex)) - 1 > diameter
        for level in reversed(levels[diameter // 2 + 1 :])
        for vertex in level
    )


def _connected(near: Sequence[Sequence[int]], part: list[int]) -> list[list[int]]:
    number = {vertex: at for at, vertex in enumerate(part)}
    pairs = ((at, number[other]) for at, vertex in enumerate(part) for other in near[vertex] if other in number)
    return [[part[at] for at in component] for component in components(len(part), pairs)]
