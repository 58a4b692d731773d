"""Warnings about topics that cannot be trimmed."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from aiokafka.errors import (  # type: ignore[import-untyped]
    NotLeaderForPartitionError,
    TopicAuthorizationFailedError,
)
from faust.types import TP

from stream_lsh.worker.checks.trim_warnings import TrimWarnings
from stream_lsh.worker.engine import Trimmer


class Clock:
    """Seconds that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_missing_right_is_reported_at_once_and_then_hourly(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    warnings = TrimWarnings(clock)
    denied = {"b": TopicAuthorizationFailedError(), "a": TopicAuthorizationFailedError()}
    with caplog.at_level(logging.WARNING):
        for _ in range(100):
            warnings.report(denied)
            clock.now += 10.0
        (message,) = caplog.messages
        assert message.startswith("a, b: obsolete records are not deleted, and these topics grow without limit")
        assert "the right Delete" in message
        clock.now = 3_600.0
        warnings.report(denied)
    assert len(caplog.messages) == 2


def test_another_error_is_reported_when_it_lasts(caplog: pytest.LogCaptureFixture) -> None:
    warnings = TrimWarnings(Clock())
    moving = {"a": NotLeaderForPartitionError()}
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            warnings.report(moving)
        warnings.report({})
        for _ in range(5):
            warnings.report(moving)
        assert not caplog.messages
        warnings.report(moving)
    (message,) = caplog.messages
    assert message.startswith("a: obsolete records could not be deleted 6 times in a row")
    assert "NotLeaderForPartitionError" in message


class Admin:
    """An admin client of a broker that refuses some topics."""

    def __init__(self, refused: set[str]) -> None:
        self.refused = refused

    async def delete_records(self, records: Mapping[Any, Any]) -> dict[Any, int]:
        if self.refused & {tp.topic for tp in records}:
            raise TopicAuthorizationFailedError
        return {tp: one.before_offset for tp, one in records.items()}


def test_a_refused_topic_is_counted_and_does_not_keep_the_others_from_being_trimmed() -> None:
    admin = Admin({"b"})
    trimmer = Trimmer(admin, ["a", "b", "c"], step=1)

    async def run() -> None:
        assert await trimmer.trim({TP("b", 0): 5, TP("a", 0): 7, TP("c", 1): 9}) == {TP("a", 0): 7, TP("c", 1): 9}
        assert (trimmer.failed, [*trimmer.errors]) == ({"b": 1}, ["b"])
        admin.refused.clear()
        assert await trimmer.trim({TP("b", 0): 6}) == {TP("b", 0): 6}
        assert (trimmer.failed, trimmer.errors) == ({"b": 1}, {})

    asyncio.run(run())


def test_a_topic_that_needs_no_trim_any_more_has_no_error() -> None:
    trimmer = Trimmer(Admin({"a", "b"}), ["a", "b"], step=10)

    async def run() -> None:
        await trimmer.trim({TP("a", 0): 10, TP("b", 0): 10})
        assert [*trimmer.errors] == ["a", "b"]
        await trimmer.trim({TP("b", 0): 11})  # the partition of `a` has moved to another worker
        assert [*trimmer.errors] == ["b"]
        await trimmer.trim({TP("a", 0): 9})
        assert (trimmer.errors, trimmer.failed) == ({}, {"a": 1, "b": 2})

    asyncio.run(run())
