"""Mean evidence: two groups become one cluster only if their pairs, on average, are evidence for a match.

Pairs unite their ends in descending order of similarity.  The similarity is a probability; its evidence in bits is
log2(p / (1 - p)), cut at 4 either way, so that no single pair outweighs many.  A pair of documents that is not a match
counts -0.5.

Source: average linkage, R. R. Sokal and C. D. Michener, A statistical method for evaluating systematic relationships,
University of Kansas Science Bulletin 38, 1958, over the pairs that were compared.
"""

from math import log2

from stream_lsh.ledger.clusters.guards.links import Links, components, root

_MOST = 4.0
_ABSENT = -0.5


def united(links: Links) -> list[list[int]]:
    """The parts of a component whose groups agree on average.

    Cost: O(pairs log pairs): a union costs the number of neighbours of the smaller group.

    Example:
        Two groups of four that one pair chains together:

        >>> groups = [(0, 1, 2, 3), (4, 5, 6, 7)]
        >>> pairs = [(a, b, 0.99) for group in groups for a in group for b in group if a < b]
        >>> united(Links([1] * 8, [*pairs, (3, 4, 0.9)]))
        [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    above, sizes, kept = [*range(len(links))], [*links.sizes], list[tuple[int, int]]()
    # Of each group, for each neighbour: the evidence of their pairs above that of absent ones.
    excess: list[dict[int, float]] = [{} for _ in above]
    for left, right, similarity in links.pairs:
        bits = evidence(similarity) - _ABSENT
        excess[left][right] = excess[right][left] = excess[left].get(right, 0.0) + bits
    for left, right, _ in sorted(links.pairs, key=lambda pair: (-pair[2], pair[0], pair[1])):
        stays, absorbed = root(above, left), root(above, right)
        if stays == absorbed or excess[stays][absorbed] + _ABSENT * sizes[stays] * sizes[absorbed] < 0:
            continue
        if len(excess[stays]) < len(excess[absorbed]):
            stays, absorbed = absorbed, stays
        above[absorbed] = stays
        sizes[stays] += sizes[absorbed]
        del excess[stays][absorbed], excess[absorbed][stays]
        for other, bits in excess[absorbed].items():
            between = excess[stays].get(other, 0.0) + bits
            excess[stays][other] = excess[other][stays] = between
            del excess[other][absorbed]
        excess[absorbed] = {}
        kept.append((left, right))
    return components(len(links), kept)


def evidence(probability: float) -> float:
    """The bits of a probability, cut at 4 either way.

    Example:
        >>> evidence(0.5), evidence(0.9999), evidence(1.0), evidence(0.0)
        (0.0, 4.0, 4.0, -4.0)
    """
    if not 0 < probability < 1:
        return _MOST if probability >= 1 else -_MOST
    return max(-_MOST, min(_MOST, log2(probability / (1 - probability))))
