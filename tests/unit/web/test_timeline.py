"""The timeline: lanes by source, positions by time, one line for each pair."""

from typing import Any

from stream_lsh.web.drawings.timeline import WIDTH, timeline
from stream_lsh.web.texts import short_moment


def member(id: str, time: int, partner: str | None = None, source: str = "") -> dict[str, Any]:
    named = {"source": source} if source else {}
    return {"id": id, "time": time, "partner": partner, "similarity": None if partner is None else 0.8, **named}


def test_a_single_member_has_no_timeline() -> None:
    assert timeline([member("a", 5)]) is None


def test_members_are_at_their_time_in_the_lane_of_their_source() -> None:
    found = timeline([member("a", 0, "b", "wire"), member("b", 50, "a", "post"), member("c", 100, "a", "wire")])
    assert found is not None
    assert [name for _, name in found.lanes] == ["wire", "post"]
    a, b, c = found.dots
    assert a.y == c.y < b.y < found.height
    assert 0 < a.x < b.x < c.x < WIDTH
    assert b.x - a.x == c.x - b.x
    assert [strength for _, strength in found.lines] == [5, 5]
    assert len({short_moment(at, found.step_ms) for _, at in found.ticks}) == len(found.ticks) == 5


def test_members_of_one_time_are_in_the_middle_and_further_sources_share_a_lane() -> None:
    found = timeline([member(str(number), 7, "elsewhere", f"outlet {number}") for number in range(40)])
    assert found is not None
    assert len({dot.x for dot in found.dots}) == 1
    assert len(found.lanes) == 14
    assert found.lanes[-1][1] == "other sources"
    assert found.lines == []
