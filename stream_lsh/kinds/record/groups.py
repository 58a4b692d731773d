"""Rows of pairs or of groups, as the commands write them and as a truth has them.

a pair      `left` and `right`, or a table of exactly two columns; a similarity and an answer if there are any
a group     `cluster` or `entity`, and `members`: ids, or objects with an id
a row       an id, and a column of its cluster or entity
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stream_lsh.errors import ConfigError, MalformedMessage
from stream_lsh.kinds.record.labels import answer_of
from stream_lsh.kinds.record.rows import word

SIDES = (("left", "right"), ("id_l", "id_r"), ("unique_id_l", "unique_id_r"))
"""The columns of the two ids of a pair: of the commands, and of other tools."""
SIMILARITIES = ("similarity", "probability", "match_probability")
"""The columns of a similarity; the first one that a row has counts."""
GROUPS = ("cluster", "entity")
_ANSWER = "match"


class Pair(NamedTuple):
    """A pair of ids; its similarity and its answer, None if the file has none."""

    left: str
    right: str
    similarity: float | None
    match: bool | None


class Group(NamedTuple):
    """Some members of a group; a whole group has no other rows."""

    id: str
    members: tuple[str, ...]
    whole: bool


class GroupMaker:
    """Constructs the pairs and groups of one file.

    Args:
        id_column: of rows with a cluster.
        cluster_column: of the cluster of rows; without it in a row, `cluster` or `entity`.
        last: whether the last one of several such columns counts: `--assign` adds its own after those of the input.

    Attributes:
        has_cluster_column: whether a row or a header had that column.
        header: the two columns of a table of ids without other names; None for any other file.

    Example:
        >>> make = GroupMaker("id", None)
        >>> make.record({"left": "a", "right": 7, "similarity": 0.5})
        Pair(left='a', right='7', similarity=0.5, match=None)
        >>> make.record({"entity": "a", "size": 2, "members": [{"id": "a", "source": ""}, {"id": "b", "source": ""}]})
        Group(id='a', members=('a', 'b'), whole=True)
        >>> make.record({"id": "b", "text": "...", "cluster": "a"})
        Group(id='a', members=('b',), whole=False)
    """

    def __init__(self, id_column: str, cluster_column: str | None, *, last: bool = False) -> None:
        self._id, self._cluster, self._last = id_column, cluster_column, last
        self._groups = GROUPS if cluster_column is None else (cluster_column, *GROUPS)
        self.has_cluster_column = False
        self._sides: tuple[tuple[str, str], ...] = SIDES
        self.header: tuple[str, str] | None = None

    def require(self, path: str, columns: Sequence[str]) -> None:
        """Check that a table has pairs, or ids and clusters.

        Raises:
            ConfigError: it has neither -> name the columns.
        """
        self.has_cluster_column |= self._cluster in columns
        group = self._group_column(columns)
        if self._sides_of(columns) or (self._id in columns and group):
            return
        if len(columns) != 2 or group:  # two columns, one of them a cluster, are no pairs
            shown = ", ".join(map(repr, columns[:20]))
            raise ConfigError(
                f"{path}: got the columns {shown or 'none'}, expected left and right, or {self._id} and "
                f"{' or '.join(self._groups)}, or two columns of ids: --id-column and --cluster-column name others"
            )
        self.header = columns[0], columns[1]
        self._sides = (self.header,)

    def record(self, columns: Mapping[str, object]) -> Pair | Group:
        """The pair or the group in a row or an object.

        Raises:
            MalformedMessage: it is neither, or has no usable ids.
        """
        self.has_cluster_column |= self._cluster in columns
        sides = self._sides_of(columns)
        if sides:
            left, right = (_id(columns, side) for side in sides)
            return Pair(left, right, _similarity(columns), _answer(columns))
        group = self._group_column(columns)
        if group is None:
            raise MalformedMessage("pair", "got neither left and right nor a cluster, expected a pair or a cluster")
        members = columns.get("members")
        if isinstance(members, list):
            ids = [_id(one if isinstance(one, dict) else {"id": one}, "id") for one in members]
            return Group(_id(columns, group), tuple(ids), True)
        return Group(_id(columns, group), (_id(columns, self._id),), False)

    def _sides_of(self, columns: Sequence[str] | Mapping[str, object]) -> tuple[str, str] | None:
        return next((sides for sides in self._sides if all(side in columns for side in sides)), None)

    def _group_column(self, columns: Sequence[str] | Mapping[str, object]) -> str | None:
        names = [name for name in self._groups if name in columns]
        if len(names) > 1 and self._last:
            return max(names, key=[*columns].index)
        return names[0] if names else None


def _id(columns: Mapping[str, object], name: str) -> str:
    id = word(columns.get(name))
    if not id:
        raise MalformedMessage("id", f"got no `{name}`, expected a text or a whole number")
    return id


def _similarity(columns: Mapping[str, object]) -> float | None:
    name = next((name for name in SIMILARITIES if columns.get(name) not in (None, "")), None)
    if name is None:
        return None
    try:
        value = float(columns[name])  # type: ignore[arg-type]  # whatever the column holds
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise MalformedMessage("similarity", f"got {columns[name]!r:.40} as `{name}`, expected a number")
    return value


def _answer(columns: Mapping[str, object]) -> bool | None:
    if _ANSWER not in columns:
        return None
    value = columns[_ANSWER]
    answer = answer_of(word(int(value) if isinstance(value, bool) else value))
    if answer is None:
        raise MalformedMessage("match", f"got {value!r:.40} as `{_ANSWER}`, expected 1 or 0")
    return answer
