"""The queue of a listener, and the text of events."""

from types import SimpleNamespace
from typing import Any

import pytest
from faust.types import TP

from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.resources import public_results
from stream_lsh.worker.query.resources.event_stream import event, place_text, read_place
from stream_lsh.worker.query.resources.public_results import Listener
from tests.unit.worker.query.client import in_loop

TOPICS = {"matches": "docs-matches"}


def record(value: bytes | None, key: bytes | None = b"k", headers: tuple[tuple[str, bytes], ...] = ()) -> Any:
    return SimpleNamespace(key=key, value=value, headers=headers)


@in_loop
async def test_a_listener_gets_its_topics_and_then_the_place() -> None:
    listener = Listener(TOPICS, 2, pytest.fail)
    ours, other = TP("docs-matches", 1), TP("docs-members", 0)
    listener.add({ours: b"lines", other: b"others"}, {ours: 7, other: 9})
    assert await listener.taken(1) == b"linesid: matches:0,7\n\n"
    listener.add({other: b"others"}, {other: 10})
    assert await listener.taken(0.01) == b""
    assert not listener.ended


@in_loop
async def test_a_listener_that_is_too_slow_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_results, "MOST_WAITING_BYTES", 100)
    cut = list[bool]()
    listener, tp = Listener(TOPICS, 1, lambda: cut.append(True)), TP("docs-matches", 0)
    for number in range(10):
        listener.add({tp: b"x" * 30}, {tp: number})
    assert cut
    assert listener.ended
    assert await listener.taken(1) == b""


def test_an_event_is_three_lines_whatever_its_bytes_are() -> None:
    letter = event("dead-letters", record(b"\xff\n\r\nid: x" * 1_000, b"\xff\n", (("reason", b"a\nb"),)))
    assert letter.count(b"\n") == 3
    assert len(letter) < 40_000
    assert event("matches", record(None, headers=(("reason", b"deleted"),))).endswith(
        b'data: {"key":"k","value":null,"headers":{"reason":"deleted"}}\n\n'
    )
    assert event("matches", record(b'{"a":1}')).endswith(b'"value":{"a":1},"headers":{}}\n\n')


def test_a_place_is_read_as_it_was_written() -> None:
    place = {"matches": [1, 2], "clusters": [0, 10**12]}
    assert read_place(place_text(place), ["clusters", "matches"], 2) == place
    for text in ("", "matches:1,2", "clusters:1,2;matches:1", "clusters:1,2;matches:1,x", "clusters:1,2;matches:1,²"):
        with pytest.raises(Problem):
            read_place(text, ["clusters", "matches"], 2)
