"""The offline algorithm over a whole collection: what the stream must find, whatever the order and the history.

Signatures of all texts; for each band a sort by bucket; two in one bucket are candidates; candidates are checked
on signatures, then on the sets; components of the graph.  Only the sketch and the bands are the package's: nothing here
knows its index, its steps or its ledger.
"""

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

from stream_lsh.kinds.shingled.scheme import TextScheme

Pair = tuple[str, str]


class Offline(NamedTuple):
    """Similarities of the pairs; the groups, as sets of ids; how many pairs shared a bucket."""

    pairs: dict[Pair, float]
    groups: set[frozenset[str]]
    candidates: int


def offline(
    texts: Mapping[str, str],
    scheme: TextScheme,
    threshold: float,
    windows: Callable[[str], Sequence[Hashable]],
) -> Offline:
    """The pairs and the components of a collection.

    Args:
        texts: by id.
        scheme: makes signatures and buckets.
        threshold: least similarity of a match.
        windows: the shingles of a text, by the scheme's name.
    """
    ids = sorted(texts)
    signatures = scheme.sign([texts[id] for id in ids])
    candidates = in_one_bucket(scheme.buckets(signatures).T.tolist())
    least = scheme.least_matching(threshold)
    near = [(a, b) for a, b in candidates if (signatures.values[a] == signatures.values[b]).sum() >= least]
    looked_at = {at for pair in near for at in pair}
    sets = {at: frozenset(windows(unicodedata.normalize("NFC", texts[ids[at]]))) for at in looked_at}
    shared = {(a, b): len(sets[a] & sets[b]) for a, b in near}
    compared = {(ids[a], ids[b]): n / max(1, len(sets[a]) + len(sets[b]) - n) for (a, b), n in shared.items()}
    pairs = {pair: similarity for pair, similarity in compared.items() if similarity >= threshold}
    return Offline(pairs, components(pairs), len(candidates))


def in_one_bucket(bands: Iterable[Sequence[int]]) -> set[tuple[int, int]]:
    """The rows, two at a time and the lesser first, that agree in a band: 0 is no bucket."""
    candidates: set[tuple[int, int]] = set()
    for buckets in bands:
        rows = sorted(range(len(buckets)), key=buckets.__getitem__)
        for bucket, sharing in groupby(rows, key=buckets.__getitem__):
            if bucket:
                candidates.update(combinations(sharing, 2))
    return candidates


def components(pairs: Iterable[Pair]) -> set[frozenset[str]]:
    """Everything that can be reached from a document, step by step."""
    neighbours: dict[str, set[str]] = {}
    for left, right in pairs:
        neighbours.setdefault(left, set()).add(right)
        neighbours.setdefault(right, set()).add(left)
    groups: set[frozenset[str]] = set()
    left_over = set(neighbours)
    while left_over:
        reached, ahead = set[str](), [left_over.pop()]
        while ahead:
            one = ahead.pop()
            if one not in reached:
                reached.add(one)
                ahead += neighbours[one]
        left_over -= reached
        groups.add(frozenset(reached))
    return groups
