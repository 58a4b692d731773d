"""Clusters as a table that stays on the screen and follows what happens: the latest on top.

A row has what the cluster is about (its headline, or the document that stands for it), how many documents it has, which
came last, and how similar that one is to the document that it resembles most.
"""

import json
from collections import OrderedDict
from typing import Any, NamedTuple

from stream_lsh.cli.output.terminal import clipped, padded, plain

_MOST_ROWS = 500
"""More than any screen shows; what has not changed for so long is forgotten."""
_MOST_SIMILARITIES = 10_000
_SIZE, _SIMILARITY = 9, 10
_HEADER = f"{'documents':>{_SIZE}}  {'similarity':>{_SIMILARITY}}  event    "


class Row(NamedTuple):
    """A cluster as it was told last."""

    size: int
    newest: str
    about: str
    event: str


class Board:
    """The rows, fed with messages of the topics `clusters` and `members`.

    Memory stays flat: only the clusters and the documents that changed last are remembered.

    Example:
        >>> board = Board("news")
        >>> board.cluster("a", b'{"event":"created","size":2,"members":["b","a"],"representative":"a"}')
        >>> board.member("b", b'{"cluster":"a","similarity":0.75,"time":5}')
        >>> for line in board.lines(60, 5):
        ...     print(line)
        news: 1 cluster, 2 documents
        <BLANKLINE>
        documents  similarity  event    newest        cluster
                2      0.7500  created  b             a
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._rows = OrderedDict[str, Row]()
        self._similarities = OrderedDict[str, float | None]()

    def cluster(self, id: str, value: bytes | None) -> None:
        """A message of `clusters`."""
        self._rows.pop(id, None)
        if value is not None:
            said: dict[str, Any] = json.loads(value)
            about = said.get("headline") or said["representative"]
            self._rows[id] = Row(said["size"], said["members"][0], about, said["event"])
            if len(self._rows) > _MOST_ROWS:
                self._rows.popitem(last=False)

    def member(self, id: str, value: bytes | None) -> None:
        """A message of `members`."""
        self._similarities.pop(id, None)
        if value is not None:
            self._similarities[id] = json.loads(value).get("similarity")
            if len(self._similarities) > _MOST_SIMILARITIES:
                self._similarities.popitem(last=False)

    def lines(self, width: int, height: int) -> list[str]:
        """What fits on a screen of so many columns and lines."""
        head = [clipped(self._title(), width), "", self._row_line(_HEADER, "newest", "cluster", width)]
        rows = list(reversed(self._rows.values()))[: max(0, height - len(head))]
        return head + [self._line(row, width) for row in rows]

    def _title(self) -> str:
        clusters, documents = len(self._rows), sum(row.size for row in self._rows.values())
        latest = "the latest " if clusters == _MOST_ROWS else ""
        return (
            f"{self._name}: {latest}{clusters:,} cluster{'s' * (clusters != 1)}, "
            f"{documents:,} document{'s' * (documents != 1)}"
        )

    def _line(self, row: Row, width: int) -> str:
        similarity = self._similarities.get(row.newest)
        told = "" if similarity is None else f"{similarity:.4f}"
        return self._row_line(
            f"{row.size:>{_SIZE},}  {told:>{_SIMILARITY}}  {row.event:<7}  ", plain(row.newest), plain(row.about), width
        )

    @staticmethod
    def _row_line(numbers: str, newest: str, about: str, width: int) -> str:
        left = max(0, width - len(numbers) - 2)
        return clipped(numbers + padded(newest, min(32, left * 2 // 5 + 2)) + "  " + about, width)
