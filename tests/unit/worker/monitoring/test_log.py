"""The log of a worker: our words as they are, repetitions of the libraries counted."""

import logging
from typing import Any

import pytest
from aiokafka.errors import (  # type: ignore[import-untyped]
    GroupCoordinatorNotAvailableError,
    NotLeaderForPartitionError,
)

from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.worker.monitoring.log import WITHIN_SECONDS, OperatorErrors, Repeats, StartingRetries, client_log


def record(name: str, line: int, message: str, *arguments: Any) -> logging.LogRecord:
    return logging.LogRecord(name, logging.WARNING, "client.py", line, message, arguments, None)


def test_repeated_messages_of_a_library_are_counted_and_summarised_later() -> None:
    now = [0.0]
    repeats = Repeats(lambda: now[0])
    shown = [repeats.filter(record("aiokafka.conn", 7, "broker %d is away", number)) for number in range(50)]
    assert shown == [True] * 3 + [False] * 47
    assert repeats.filter(record("aiokafka.conn", 8, "something else"))
    now[0] = 11.0
    again = record("aiokafka.conn", 7, "broker %d is away", 9)
    assert repeats.filter(again)
    assert again.getMessage() == "broker 9 is away (and 47 more like this)"


def test_messages_of_the_package_are_never_dropped() -> None:
    repeats = Repeats(lambda: 0.0)
    assert all(repeats.filter(record("stream_lsh.worker.maintenance", 7, "ready")) for _ in range(50))


def test_messages_of_the_engine_about_its_services_are_shown_only_if_they_are_warnings() -> None:
    repeats = Repeats(lambda: 0.0)
    service = record("stream_lsh.worker.state.engine_tables", 7, "[^--StateTable: news]: Starting...")
    assert repeats.filter(service)
    service.levelno = logging.INFO
    assert not repeats.filter(service)


@pytest.mark.parametrize(
    ("message", "before"), [("request failed: %s", ()), ("Failed fetch offsets from %s: %s", (1,))]
)
@pytest.mark.parametrize("kind", [GroupCoordinatorNotAvailableError, NotLeaderForPartitionError])
def test_retries_while_a_coordinator_or_a_leader_starts_are_shown_only_if_they_go_on(
    kind: type[Exception], message: str, before: tuple[int, ...]
) -> None:
    now = [100.0]
    retries = StartingRetries(lambda: now[0])

    def shown(error: Exception) -> bool:
        return retries.filter(logging.LogRecord("aiokafka", logging.ERROR, "x.py", 7, message, (*before, error), None))

    assert [shown(kind()), shown(OSError("other"))] == [False, True]
    now[0] += WITHIN_SECONDS + 1
    assert shown(kind())


def test_tracebacks_of_the_stop_after_an_operator_error_are_dropped() -> None:
    errors = OperatorErrors()

    def shown(error: Exception | None) -> bool:
        exc_info = None if error is None else (type(error), error, None)
        return errors.filter(logging.LogRecord("mode", logging.ERROR, "x.py", 7, "stopping", (), exc_info))

    assert shown(RuntimeError("before"))
    assert not shown(ConfigError("a right is missing"))
    assert [shown(RuntimeError("the loop is closed")), shown(None), shown(InvariantError("a bug"))] == [
        False,
        True,
        True,
    ]


def test_a_command_shows_a_warning_of_its_client_once(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("aiokafka.conn")
    with client_log():
        for number in range(50):
            log.error("Unable connect to node with id %s", number)
        log.info("connected")
    assert capsys.readouterr().err == "aiokafka: Unable connect to node with id 0\n"
    assert logging.getLogger("aiokafka").handlers == []
