"""Changelog records that were fetched while the flow was stopped are read again."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from faust.types import TP

from stream_lsh.worker.engine.reading.polling import SteadyConsumer

CHANGELOG, SOURCE = TP("changelog", 0), TP("source", 0)


@pytest.mark.parametrize(
    ("position", "sought"), [(8, [(CHANGELOG, 5)]), (3, []), (11, [])], ids=["unmoved", "moved back", "moved on"]
)
def test_a_changelog_is_read_again_unless_its_position_has_moved(position: int, sought: list[tuple[TP, int]]) -> None:
    seeks = list[tuple[TP, int]]()
    state = SimpleNamespace(has_valid_position=True, position=position)
    assignment = SimpleNamespace(state_value=lambda tp: state)
    client = SimpleNamespace(
        assignment=lambda: {CHANGELOG, SOURCE},
        seek=lambda tp, offset: seeks.append((tp, offset)),
        _subscription=SimpleNamespace(subscription=SimpleNamespace(assignment=assignment)),
    )

    async def call(function: Callable[[], Awaitable[None]]) -> None:
        await function()

    consumer: Any = object.__new__(SteadyConsumer)
    consumer._thread = SimpleNamespace(_ensure_consumer=lambda: client, call_thread=call)
    consumer._is_changelog_tp = lambda tp: tp == CHANGELOG
    fetched = [SimpleNamespace(offset=offset) for offset in (5, 7)]
    asyncio.run(consumer._put_back({CHANGELOG: fetched, SOURCE: fetched}))
    assert seeks == sought
