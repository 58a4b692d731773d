"""The timeline of a cluster: a lane for each source, a dot for each member, a line to its most similar member."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, LANE = 1040, 34
_LEFT, _RIGHT, _TOP = 170, 24, 34
_MOST_LANES = 14
_TICKS = 5
_OTHERS = "other sources"


@dataclass(frozen=True, slots=True)
class Dot:
    """A member: its position, its id and its title."""

    x: float
    y: float
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """A timeline.

    Attributes:
        height: of the drawing; its width is `WIDTH`.
        lanes: positions and names; a cluster without sources has one unnamed lane.
        ticks: positions and times in milliseconds since 1970.
        lines: paths, each with one of five strengths of similarity.
        dots: the members.
        step_ms: the time between two ticks; a second if there is one tick only.
    """

    height: float
    lanes: Sequence[tuple[float, str]]
    ticks: Sequence[tuple[float, float]]
    lines: Sequence[tuple[str, int]]
    dots: Sequence[Dot]
    step_ms: float


def timeline(members: Sequence[Mapping[str, Any]]) -> Timeline | None:
    """The timeline of members in the order of time; None for fewer than two."""
    if len(members) < 2:
        return None
    names = list(dict.fromkeys(str(one.get("source", "")) for one in members))
    if len(names) > _MOST_LANES:
        names = [*names[: _MOST_LANES - 1], _OTHERS]
    lane_of = {name: _TOP + LANE * (number + 0.5) for number, name in enumerate(names)}
    start, end = members[0]["time"], members[-1]["time"]
    dots = {
        one["id"]: Dot(
            _at(one["time"], start, end),
            lane_of.get(str(one.get("source", "")), lane_of[names[-1]]),
            one["id"],
            str(one.get("title", "")),
        )
        for one in members
    }
    ticks = [start + (end - start) * step / (_TICKS - 1) for step in range(_TICKS)] if end > start else [start]
    height = _TOP + LANE * len(names) + 28
    return Timeline(
        height,
        [(y, name) for name, y in lane_of.items()],
        [(_at(at, start, end), at) for at in ticks],
        [*_lines(members, dots)],
        list(dots.values()),
        (end - start) / (_TICKS - 1) or 1_000.0,
    )


def _at(time: float, start: float, end: float) -> float:
    share = (time - start) / (end - start) if end > start else 0.5
    return round(_LEFT + (WIDTH - _LEFT - _RIGHT) * min(max(share, 0.0), 1.0), 1)


def _lines(members: Sequence[Mapping[str, Any]], dots: Mapping[str, Dot]) -> Iterator[tuple[str, int]]:
    """One line for each pair; within a lane, it is an arc above it."""
    drawn = set[frozenset[str]]()
    for one in members:
        pair = frozenset((one["id"], str(one["partner"])))
        if one["partner"] not in dots or len(pair) < 2 or pair in drawn:
            continue
        drawn.add(pair)
        left, right = dots[one["id"]], dots[one["partner"]]
        rise = min(26.0, 6 + abs(left.x - right.x) / 12) if left.y == right.y else 0.0
        middle_x, middle_y = (left.x + right.x) / 2, (left.y + right.y) / 2 - 1.6 * rise
        strength = min(5, 1 + int(5 * (one["similarity"] or 0.0)))
        yield f"M{left.x:g} {left.y:g}Q{middle_x:g} {middle_y:g} {right.x:g} {right.y:g}", strength
