"""The matrix of a cluster: the similarity of each pair of its members, as a table."""

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, NamedTuple

_LEAST = 3
"""Members: of two, the list shows everything."""
_BOUNDS = (0.6, 0.75, 0.9)


class Cell(NamedTuple):
    """A pair: its similarity with two digits, rounded down, one of four shades, and the id of the column."""

    text: str
    shade: int
    partner: str


class Matrix(NamedTuple):
    """A matrix below its diagonal.

    Attributes:
        columns: the numbers of members, from 1 on, and their ids.
        rows: the number and the id of each member but the first, and a cell for each column, None without a match.
    """

    columns: Sequence[tuple[int, str]]
    rows: Sequence[tuple[int, str, Sequence[Cell | None]]]


def matrix(members: Sequence[Mapping[str, Any]], inside: Sequence[Sequence[float]]) -> Matrix | None:
    """The matrix of all members of a cluster; None for fewer than three.

    Args:
        members: in the order of time.
        inside: two places and the similarity of each pair, as in the query API.

    Example:
        >>> matrix([{"id": "a"}, {"id": "b"}, {"id": "c"}], [[0, 2, 0.819]]).rows[1]
        (3, 'c', [Cell(text='0.81', shade=3, partner='a'), None])
    """
    if len(members) < _LEAST:
        return None
    ids = [str(one["id"]) for one in members]
    known = {(int(left), int(right)): similarity for left, right, similarity in inside}
    rows = [
        (
            place + 1,
            id,
            [
                _cell(known.get((column, place)), ids[column]) if column < place else None
                for column in range(len(ids) - 1)
            ],
        )
        for place, id in enumerate(ids)
    ]
    return Matrix([*enumerate(ids[:-1], 1)], rows[1:])


def pairs_of(group: Mapping[str, Any]) -> Mapping[str, Any]:
    """The matrix of a cluster or entity, and the pairs with others; neither if the answer lacks members or pairs."""
    links, members = group.get("links"), group["members"]
    if links is None or len(members) < group["size"]:
        return {"matrix": None, "outside": []}
    return {"matrix": matrix(members, links["inside"]), "outside": links["outside"]}


def _cell(similarity: float | None, partner: str) -> Cell | None:
    if similarity is None:
        return None
    shade = 1 + sum(similarity >= bound for bound in _BOUNDS)
    return Cell("1" if similarity >= 1 else f"{floor(100 * similarity) / 100:.2f}", shade, partner)
