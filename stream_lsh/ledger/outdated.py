"""Selects the pairs with an outdated score: a source partition has twice the records that the score counts.

A score of records depends on the frequencies of their values among the records of a partition.  The pairs are compared
again each time these records have doubled, so a score counts at least half of them, and the number of comparisons of a
pair is logarithmic.  A score that counts fewer records never replaces one that counts more: answers may arrive
repeatedly and late.  A score that counts no records is of two versions that may not be compared, and remains so.
"""

from collections.abc import Iterable

import numpy as np

from stream_lsh.arrays import I64, Bools
from stream_lsh.ledger.edges import Edges
from stream_lsh.ledger.graph.graph import Graph
from stream_lsh.ledger.graph.nodes import view_u32
from stream_lsh.model import ref_partition

_GROWTH = 1 / 256
"""The growth of a partition after which the pairs are searched again."""
_FEW = 1_000
_SHARE = 1 / 100
"""The share of all pairs that one search selects at most, but at least `_FEW`: new records wait behind them."""


class OutdatedScores:
    """Searches a ledger for pairs with an outdated score.

    Attributes:
        records: the number of records in each source partition, as far as edges have reported it.

    Guarantees:
        a pair is selected again and again until an answer replaces its score.
    Cost:
        10 ns for each pair of the ledger each time that a partition has grown by 1/256.
    """

    def __init__(self) -> None:
        self.records: dict[int, int] = {}
        self._searched: dict[int, int] = {}

    def take(self, edges: Edges, graph: Graph) -> list[tuple[int, int]]:
        """The pairs to compare again, as the refs of both ends; the partition of the second one scores them.

        Args:
            edges: that the ledger has settled; the partitions of their right ends have scored them.
            graph: of the ledger.
        """
        for ref, records in zip(edges.right.refs.tolist(), edges.union.tolist(), strict=True):
            if records:
                self.records[ref_partition(ref)] = records
        grown, searched = False, self._searched
        for partition, records in self.records.items():
            searched[partition] = min(searched.get(partition, 0), records)
            grown |= records > (1 + _GROWTH) * searched[partition]
        most = max(self.records.values(), default=-1)
        if grown:
            self._searched = dict(self.records)
            return self._outdated(_search(most, graph), graph)
        return self._outdated(_arrived(most, edges, graph), graph)

    def _outdated(self, candidates: Iterable[int], graph: Graph) -> list[tuple[int, int]]:
        nodes, pairs, outdated = graph.nodes, graph.pairs, list[tuple[int, int]]()
        for pair in candidates:
            left, right = (nodes.refs[slot] for slot in pairs.ends[2 * pair : 2 * pair + 2])
            counted, records = pairs.union[pair], self.records.get(ref_partition(right), -1)
            if 0 < 2 * counted <= records and not pairs.in_doubt(pair):
                outdated.append((left, right))
        return outdated


def _search(records: int, graph: Graph) -> list[int]:
    """The pairs that are outdated in a partition of this size; those that count the fewest first."""
    numbers = graph.pairs.numbers()
    counted = view_u32(graph.pairs.union)[numbers].astype(np.int64)
    due = np.flatnonzero(_is_outdated(counted, records))
    most = max(_FEW, int(_SHARE * numbers.size))
    chosen: list[int] = numbers[due[counted[due].argsort(kind="stable")][:most]].tolist()
    return chosen


def _arrived(records: int, edges: Edges, graph: Graph) -> list[int]:
    """The same among the pairs of these edges: repeated edges, or those of a partition with fewer records."""
    slots, found = graph.nodes.slots, set[int]()
    for row in np.flatnonzero(_is_outdated(edges.union.astype(np.int64), records)).tolist():
        left, right = slots.get(edges.left.ids[row]), slots.get(edges.right.ids[row])
        if left is not None and right is not None:
            found.add(graph.pairs.find(left, right))
    return sorted(found - {-1})


def _is_outdated(counted: I64, records: int) -> Bools:
    """Whether each score counts too few of these records; one that counts none never is."""
    return (counted > 0) & (2 * counted <= records)
