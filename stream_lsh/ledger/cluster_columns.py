"""The clusters of a ledger in columns, so that a page of a sorted list does not read every cluster.

The columns exist from the first list on.  The ledger notes the clusters that change, and a list reads those again.

    ids         the id, "" for a free row
    newest      i64, event time of the newest member
    oldest      i64, event time of the oldest member
    sizes       i64, members
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from stream_lsh.ledger.clusters.ids import Cluster, ClusterIds
from stream_lsh.ledger.graph.nodes import Nodes

SLICE = 2_000
"""Clusters that are read at a time: some 2 ms."""
DESCRIBED_SLICE = 50
"""Clusters that are read at a time if the summary of each is needed."""

Heading = tuple[str, int]
"""The headline of a cluster in lower case, and the number of its outlets."""


class ClusterColumns:
    """The clusters in `ids`, one row each.

    Args:
        ids: the live clusters, by id.
        nodes: their members.

    Attributes:
        changed: the ids of clusters that have changed, opened or closed since their rows were read.
    """

    def __init__(self, ids: ClusterIds, nodes: Nodes) -> None:
        self.changed = set(ids.live)
        self.ids: list[str] = []
        self.newest = array("q")
        self.oldest = array("q")
        self.sizes = array("q")
        self._live, self._nodes = ids.live, nodes
        self._rows: dict[str, int] = {}
        self._headings: list[Heading | None] = []
        self._free: list[int] = []

    def update(self) -> Iterator[None]:
        """Read the changed clusters again, in slices.  At the end, the columns are those of the ledger."""
        while self.changed:
            for _ in range(min(SLICE, len(self.changed))):
                self._read(self.changed.pop())
            yield

    def describe(self, rows: Sequence[int], heading: Callable[[Cluster], Heading]) -> Iterator[None]:
        """Compute the headings of rows that have none, in slices."""
        missing = iter([row for row in rows if self._headings[row] is None])
        while some := [*islice(missing, DESCRIBED_SLICE)]:
            for row in some:
                cluster = self._live.get(self.ids[row])
                self._headings[row] = ("", 0) if cluster is None else heading(cluster)
            yield

    def heading(self, row: int) -> Heading:
        """The heading of a row, as last computed."""
        return self._headings[row] or ("", 0)

    def _read(self, id: str) -> None:
        cluster, row = self._live.get(id), self._rows.get(id)
        if not cluster:
            if row is not None:
                del self._rows[id]
                self.ids[row], self.sizes[row], self._headings[row] = "", 0, None
                self._free.append(row)
            return
        if row is None:
            row = self._rows[id] = self._new_row(id)
        times = self._nodes.times
        self.newest[row], self.oldest[row] = times[cluster[-1]], times[cluster[0]]
        self.sizes[row], self._headings[row] = len(cluster), None

    def _new_row(self, id: str) -> int:
        if self._free:
            row = self._free.pop()
            self.ids[row] = id
            return row
        self.ids.append(id)
        self._headings.append(None)
        for column in (self.newest, self.oldest, self.sizes):
            column.append(0)
        return len(self.ids) - 1
