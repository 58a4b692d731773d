"""Stars: each member of a cluster has a pair with the representative, of a minimum similarity.

The oldest document is the first representative and takes its partners; the oldest of the rest is the next
representative, and so on.

Source: J. A. Aslam, E. Pelekhov and D. Rus, The star clustering algorithm for static and dynamic information
organization, Journal of Graph Algorithms and Applications 8(1), 2004; there, the centre has the most partners.
"""

from stream_lsh.ledger.clusters.guards.links import Links


def stars(links: Links, least: float) -> list[list[int]]:
    """Each representative with the partners of a similarity of at least `least`.  Cost: O(vertices + pairs).

    Example:
        A chain, in which each document is similar to the one before it:

        >>> stars(Links([1] * 5, [(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9), (3, 4, 0.9)]), 0.8)
        [[0, 1], [2, 3], [4]]
    """
    near: list[list[int]] = [[] for _ in links.sizes]
    for left, right, similarity in links.pairs:
        if similarity >= least:
            near[left].append(right)
            near[right].append(left)
    taken, parts = [False] * len(links), list[list[int]]()
    for vertex in range(len(links)):
        if not taken[vertex]:
            star = {vertex, *(right for right in near[vertex] if not taken[right])}
            for member in star:
                taken[member] = True
            parts.append(sorted(star))
    return parts
