"""Cannot-link constraints: two documents of one source, and two documents that a human decision calls different.

Pairs unite their ends in descending order of similarity, unless that would violate a constraint.

Source: K. Wagstaff et al., Constrained k-means clustering with background knowledge, ICML 2001, for cannot-link
constraints; S. Lerm, A. Saeedi and E. Rahm, Extended affinity propagation clustering for multi-source entity
resolution, BTW 2021, for sources without duplicates; the order of the pairs is that of `size`.
"""

from stream_lsh.ledger.clusters.guards.links import Links, components, root


def constrained(links: Links, *, one_per_source: bool) -> list[list[int]]:
    """Parts without a pair of `apart` and, with `one_per_source`, without a repeated source, except within a vertex.

    Cost: that of sorting the pairs; a union costs the number of sources and constraints of the smaller part.

    Example:
        >>> links = Links([1] * 3, [(0, 1, 0.9), (1, 2, 0.8)], [("crm",), (), ("crm",)])
        >>> constrained(links, one_per_source=True)
        [[0, 1], [2]]
        >>> constrained(Links([1] * 3, links.pairs, apart=[(0, 1)]), one_per_source=True)
        [[0], [1, 2]]
    """
    above, kept = [*range(len(links))], list[tuple[int, int]]()
    sources = [{*of} for of in links.sources] if one_per_source and links.sources else [set[str]() for _ in above]
    forbidden: list[set[int]] = [set() for _ in above]
    for left, right in links.apart:
        forbidden[left].add(right)
        forbidden[right].add(left)
    for left, right, _ in sorted(links.pairs, key=lambda pair: (-pair[2], pair[0], pair[1])):
        stays, absorbed = root(above, left), root(above, right)
        if stays == absorbed or absorbed in forbidden[stays] or not sources[stays].isdisjoint(sources[absorbed]):
            continue
        if len(sources[stays]) + len(forbidden[stays]) < len(sources[absorbed]) + len(forbidden[absorbed]):
            stays, absorbed = absorbed, stays
        above[absorbed] = stays
        sources[stays] |= sources[absorbed]
        for excluded in forbidden[absorbed]:
            forbidden[excluded].discard(absorbed)
            forbidden[excluded].add(stays)
        forbidden[stays] |= forbidden[absorbed]
        kept.append((left, right))
    return components(len(links), kept)
