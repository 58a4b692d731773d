"""A table of clusters that fills the screen and follows the topics, the latest change on top.

A row shows the headline of a cluster (or its representative), its size, its newest document, and the similarity of that
document to the member that it resembles most.
"""

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from stream_lsh.cli.output.terminal import plain

if TYPE_CHECKING:
    from rich.console import Group

_MOST_ROWS = 500
"""More than any screen shows; older rows are dropped."""
_MOST_SIMILARITIES = 10_000


_FIELDS = {"size", "members", "representative", "event"}


class Row(NamedTuple):
    """The latest published state of a cluster."""

    size: int
    newest: str
    about: str
    event: str


class ClusterTable:
    """The rows, fed with messages of the topics `clusters` and `members`.

    Memory stays flat: only the clusters and the documents that changed last are remembered.

    Example:
        >>> cluster_table = ClusterTable("news")
        >>> cluster_table.cluster("a", b'{"event":"created","size":2,"members":["b","a"],"representative":"a"}')
        >>> cluster_table.member("b", b'{"cluster":"a","similarity":0.75,"time":5}')
        >>> from rich.console import Console
        >>> Console(width=60).print(cluster_table.view(5))  # doctest: +NORMALIZE_WHITESPACE
        news: 1 cluster, 2 documents
        <BLANKLINE>
        documents  similarity  event    newest  cluster
                2      0.7500  created  b       a
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._rows = OrderedDict[str, Row]()
        self._similarities = OrderedDict[str, float | None]()

    def cluster(self, id: str, value: bytes | None) -> None:
        """A message of `clusters`."""
        self._rows.pop(id, None)
        fields = _parsed(value)
        if fields.keys() >= _FIELDS:
            about = fields.get("headline") or fields["representative"]
            self._rows[id] = Row(fields["size"], fields["members"][0], about, fields["event"])
            if len(self._rows) > _MOST_ROWS:
                self._rows.popitem(last=False)

    def member(self, id: str, value: bytes | None) -> None:
        """A message of `members`."""
        self._similarities.pop(id, None)
        if value is not None:
            self._similarities[id] = _parsed(value).get("similarity")
            if len(self._similarities) > _MOST_SIMILARITIES:
                self._similarities.popitem(last=False)

    def view(self, height: int) -> "Group":
        """The rows that fit into `height` lines, as a renderable of `rich`."""
        from rich.console import Group  # noqa: PLC0415 - for terminals only
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table(box=None, expand=True, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
        for name in ("documents", "similarity"):
            table.add_column(name, justify="right", width=len(name))
        table.add_column("event", width=7)
        table.add_column("newest", no_wrap=True, max_width=32)
        table.add_column("cluster", no_wrap=True, ratio=1)
        for row in list(reversed(self._rows.values()))[: max(0, height - 3)]:
            similarity = self._similarities.get(row.newest)
            shown = "" if similarity is None else f"{similarity:.4f}"
            table.add_row(f"{row.size:,}", shown, row.event, Text(plain(row.newest)), Text(plain(row.about)))
        return Group(Text(self._title(), no_wrap=True, overflow="ellipsis"), "", table)

    def _title(self) -> str:
        clusters, documents = len(self._rows), sum(row.size for row in self._rows.values())
        latest = "the latest " if clusters == _MOST_ROWS else ""
        return (
            f"{self._name}: {latest}{clusters:,} cluster{'s' * (clusters != 1)}, "
            f"{documents:,} document{'s' * (documents != 1)}"
        )


def _parsed(value: bytes | None) -> dict[str, Any]:
    """The fields of a message; none if the key is gone, or if another program wrote it."""
    try:
        return dict(json.loads(value or b"{}"))
    except (TypeError, ValueError):
        return {}
