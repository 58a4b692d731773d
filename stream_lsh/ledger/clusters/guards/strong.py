"""Strong links only: a single pair does not connect two groups of documents.

A pair is a *bridge* if removing it disconnects the component.  A bridge is weak if it has two documents or more on
either side and is less similar than `least`; a document that a single pair connects to its story stays.

Source: R. E. Tarjan, A note on finding the bridges of a graph, Information Processing Letters 2(6), 1974.
"""

from math import inf

from stream_lsh.ledger.clusters.guards.links import Links, components


def strong_parts(links: Links, least: float = inf) -> list[list[int]]:
    """The components without weak pairs.  Cost: O(vertices + pairs).

    Args:
        links: a component.
        least: the least similarity of a strong bridge; by default, every bridge is weak.

    Example:
        Two triangles that one pair chains together, and one more document:

        >>> triangles = [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (3, 4, 1.0), (3, 5, 1.0), (4, 5, 1.0)]
        >>> strong_parts(Links([1] * 7, [*triangles, (2, 3, 1.0), (5, 6, 1.0)]))
        [[0, 1, 2], [3, 4, 5, 6]]
        >>> strong_parts(Links([1] * 4, [(0, 1, 0.9), (1, 2, 0.8), (2, 3, 0.9)]), 0.8)
        [[0, 1, 2, 3]]
    """
    weak = {number for number in _weak(links) if links.pairs[number][2] < least}
    kept = (pair[:2] for number, pair in enumerate(links.pairs) if number not in weak)
    return components(len(links), kept)


def _weak(links: Links) -> set[int]:
    """The numbers of the bridges between two or more documents on either side."""
    ends: list[list[tuple[int, int]]] = [[] for _ in links.sizes]
    for number, (start, end, _) in enumerate(links.pairs):
        ends[start].append((end, number))
        ends[end].append((start, number))
    total = sum(links.sizes)
    seen, lowest, below = [-1] * len(links), [0] * len(links), [*links.sizes]
    seen[0], visited, weak = 0, 1, set[int]()
    path = [(0, -1, iter(ends[0]))]
    while path:
        vertex, parent_edge, left = path[-1]
        for end, number in left:
            if number == parent_edge:
                continue
            if seen[end] < 0:
                seen[end] = lowest[end] = visited
                visited += 1
                path.append((end, number, iter(ends[end])))
                break
            lowest[vertex] = min(lowest[vertex], seen[end])
        else:
            path.pop()
            if path:
                above = path[-1][0]
                lowest[above] = min(lowest[above], lowest[vertex])
                below[above] += below[vertex]
                if lowest[vertex] > seen[above] and 1 < below[vertex] < total - 1:
                    weak.add(parent_edge)
    return weak
