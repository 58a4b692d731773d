"""A cap on size: pairs unite their ends in descending order of similarity, unless the result would exceed the cap.

Source: single linkage by ascending distance, J. C. Gower and G. J. S. Ross, Minimum spanning trees and single linkage
cluster analysis, Applied Statistics 18(1), 1969; the cap is ours.
"""

from stream_lsh.ledger.clusters.guards.links import Links, components, root


def capped(links: Links, most: int) -> list[list[int]]:
    """Parts of at most `most` documents, or of one larger vertex.  Cost: that of sorting the pairs.

    Example:
        >>> capped(Links([1] * 4, [(0, 1, 0.8), (1, 2, 0.9), (2, 3, 0.85)]), 3)
        [[0], [1, 2, 3]]
    """
    if sum(links.sizes) <= most:
        return [[*range(len(links))]]
    above, sizes, kept = [*range(len(links))], [*links.sizes], list[tuple[int, int]]()
    for left, right, _ in sorted(links.pairs, key=lambda pair: (-pair[2], pair[0], pair[1])):
        first, second = sorted((root(above, left), root(above, right)))
        if first != second and sizes[first] + sizes[second] <= most:
            above[second] = first
            sizes[first] += sizes[second]
            kept.append((left, right))
    return components(len(links), kept)
