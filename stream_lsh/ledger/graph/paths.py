"""Explains a connection of two documents: the path of links between them with the strongest weakest link."""

from collections.abc import Iterable
from typing import NamedTuple

from stream_lsh.ledger.clusters.guards.links import root


class Link(NamedTuple):
    """Two connected documents, and their similarity."""

    left: str
    right: str
    similarity: float


def widest_path(start: str, goal: str, links: Iterable[Link]) -> list[Link] | None:
    """The path from `start` to `goal`, another document, with the greatest least similarity; None if there is none.

    Of several such paths the shortest; of several shortest paths the one with the smallest sequence of ids.

    Returns:
        its links in order, each in the direction of the path.
    Cost:
        O(links * log(links)).
    Source:
        M. Pollack, The maximum capacity through a network, Operations Research 8(5), 1960: the least similarity of the
        path is the one at which, with links added from the most similar one on, both ends become connected.

    Example:
        >>> links = [Link("a", "b", 0.9), Link("b", "c", 0.8), Link("a", "c", 0.7)]
        >>> widest_path("c", "a", links)
        [Link(left='c', right='b', similarity=0.8), Link(left='b', right='a', similarity=0.9)]
        >>> widest_path("c", "x", links)
    """
    near = _strong_enough(start, goal, sorted(links, key=lambda link: -link.similarity))
    if near is None:
        return None
    left_to_go = _distances(goal, near)
    path, at = list[Link](), start
    while at != goal:
        then = min(other for other in near[at] if left_to_go.get(other) == left_to_go[at] - 1)
        path.append(Link(at, then, near[at][then]))
        at = then
    return path


def _strong_enough(start: str, goal: str, links: list[Link]) -> dict[str, dict[str, float]] | None:
    """For each document its neighbours by links that are at least as similar as the weakest link of the path."""
    number = {start: 0, goal: 1}
    above, near = [0, 1], dict[str, dict[str, float]]()
    least = -1.0
    for left, right, similarity in links:
        if similarity < least:
            break
        for end in (left, right):
            if end not in number:
                number[end] = len(above)
                above.append(len(above))
        near.setdefault(left, {}).setdefault(right, similarity)
        near.setdefault(right, {}).setdefault(left, similarity)
        left_root, right_root = root(above, number[left]), root(above, number[right])
        above[max(left_root, right_root)] = min(left_root, right_root)
        if least < 0 and root(above, 1) == 0:
            least = similarity
    return None if least < 0 else near


def _distances(goal: str, near: dict[str, dict[str, float]]) -> dict[str, int]:
    """The least number of links from each document to the goal."""
    steps, edge = {goal: 0}, [goal]
    while edge:
        distances = list[str]()
        for at in edge:
            for other in near[at]:
                if other not in steps:
                    steps[other] = steps[at] + 1
                    distances.append(other)
        edge = distances
    return steps
