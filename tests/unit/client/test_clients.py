"""Both clients against prepared answers: requests, repetitions, lost connections, errors."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from stream_lsh.client.event_stream import Event
from stream_lsh.errors import (
    ConfigError,
    InvariantError,
    NotAvailable,
    StreamLSHError,
    UnknownId,
    UnusableDocument,
)
from stream_lsh.worker.brokers.maven import free_port
from tests.unit.client.scripted import CLOSE, Call, answer, by_loop, by_threads, problem, scripted

SIMILAR = {
    "matches": [{"id": "a", "similarity": 0.75, "shared": 6, "union": 8}],
    "compared": 1,
    "capped": False,
    "complete": True,
    "missing": {},
    "lag": 0,
}
SIMILAR_CALL = Call("similar", ("a text",))
Asked = Callable[..., list[Any]]
both = pytest.mark.parametrize("asked", [by_threads, by_loop])


@both
def test_a_query_is_sent_as_described(asked: Asked) -> None:
    with scripted(answer(200, SIMILAR)) as service:
        call = Call("similar", ("a text",), {"limit": 5, "threshold": 0.9, "partial": True, "time": 7})
        (found,) = asked(service.address + "/behind/v1", call, token="a" * 16)
    (request,) = service.requests
    assert request.line == "POST /behind/v1/pipelines/news/similar HTTP/1.1"
    assert request.headers["authorization"] == "Bearer " + "a" * 16
    assert request.headers["content-type"] == "application/json"
    expected = {"text": "a text", "limit": 5, "threshold": 0.9, "partial": "allow", "time": 7}
    assert json.loads(request.body) == expected
    assert [match.id for match in found.matches] == ["a"]
    assert (found.matches[0].similarity, found.matches[0].distance, found.complete) == (0.75, None, True)


@both
def test_values_of_all_kinds_can_be_asked_for(asked: Asked) -> None:
    values: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"record": {"name": "Ann"}, "source": "crm"}, {"record": {"fields": {"name": "Ann"}, "source": "crm"}}),
        ({"items": ["milk", 7]}, {"items": ["milk", 7]}),
        ({"vector": [0.5, 1.0]}, {"vector": [0.5, 1.0]}),
    ]
    with scripted(*[answer(200, SIMILAR)] * 3) as service:
        asked(service.address, *[Call("similar", (), value) for value, _ in values])
    assert [json.loads(request.body) for request in service.requests] == [body | {"limit": 20} for _, body in values]


@both
def test_connections_are_kept(asked: Asked) -> None:
    with scripted(*[answer(200, SIMILAR)] * 3) as service:
        asked(service.address, *[SIMILAR_CALL] * 3)
    assert [request.connection for request in service.requests] == [1, 1, 1]


@both
def test_a_connection_that_was_closed_meanwhile_is_replaced(asked: Asked) -> None:
    with scripted(answer(200, SIMILAR), CLOSE, answer(200, SIMILAR)) as service:
        found = asked(service.address, *[SIMILAR_CALL] * 2)
    assert len(found) == 2
    assert [request.connection for request in service.requests] == [1, 1, 2]


@both
def test_an_answer_that_the_end_of_a_connection_cuts_is_an_error_and_not_requested_again(asked: Asked) -> None:
    cut = answer(200, SIMILAR, headers="Connection: close\r\n")[:-5]
    with scripted(answer(200, SIMILAR), cut, answer(200, SIMILAR)) as service, pytest.raises(NotAvailable):
        asked(service.address, *[SIMILAR_CALL] * 2)
    assert len(service.requests) == 2


@both
def test_a_service_that_recovers_is_asked_again(asked: Asked) -> None:
    later = problem(503, "not-now", "Retry-After: 0\r\n")
    with scripted(later, problem(429, "busy", "Retry-After: 0\r\n"), answer(200, SIMILAR)) as service:
        asked(service.address, SIMILAR_CALL)
    assert len(service.requests) == 3


@both
def test_the_third_refusal_is_an_error_with_the_missing_partitions(asked: Asked) -> None:
    later = problem(503, "not-now", "Retry-After: 0\r\n", missing={"documents": [3]})
    with scripted(*[later] * 3) as service, pytest.raises(NotAvailable, match="a reason") as caught:
        asked(service.address, SIMILAR_CALL)
    assert caught.value.missing == {"documents": [3]}
    assert service.answers == []


@both
def test_a_wait_beyond_the_time_of_the_call_is_not_waited_for(asked: Asked) -> None:
    with scripted(problem(503, "not-now", "Retry-After: 3600\r\n")) as service, pytest.raises(NotAvailable):
        asked(service.address, SIMILAR_CALL)
    assert len(service.requests) == 1


@both
def test_a_decision_waits_for_whole_seconds(asked: Asked) -> None:
    value = {"left": "a", "right": "b", "decision": "same", "offset": 7, "in_effect": True}
    with scripted(answer(200, value)) as service:
        asked(service.address, Call("decide", ("a", "b", "same"), {"wait": 0.5}))
    assert service.requests[0].headers["prefer"] == "wait=1"  # a worker ignores a fraction


@both
@pytest.mark.parametrize(
    ("response", "error", "message"),
    [
        (problem(400, "malformed"), ConfigError, "a reason"),
        (problem(401, "unauthorised"), ConfigError, "ask_token"),
        (problem(404, "unknown-pipeline"), ConfigError, "a reason"),
        (problem(409, "wrong-kind"), ConfigError, "a different kind"),
        (problem(404, "unknown-id"), UnknownId, "a reason"),
        (problem(413, "too-large"), UnusableDocument, "a reason"),
        (problem(422, "unusable", reason="text"), UnusableDocument, "a reason"),
        (problem(504, "too-late"), NotAvailable, "try again"),
        (problem(500, "failed"), InvariantError, "a reason"),
        (answer(502, b"<html>", "text/html"), NotAvailable, "proxy"),
        (answer(404, b"<html>", "text/html"), ConfigError, "proxy"),
        (answer(301, b"", "text/html", "Location: http://elsewhere.example/\r\n"), ConfigError, "proxy"),
        (answer(200, b"<html>", "text/html"), InvariantError, "malformed answer"),
        (answer(200, {"matches": 1}), InvariantError, "malformed answer"),
        (b"HTTP/2 what\r\n\r\n", NotAvailable, "is the worker running"),
        (CLOSE, NotAvailable, "is the worker running"),
    ],
)
def test_every_other_answer_is_an_error(
    asked: Asked, response: bytes, error: type[StreamLSHError], message: str
) -> None:
    # The client for asyncio does not see whether a connection is new, and sends once more.
    with scripted(response, CLOSE) as service, pytest.raises(error, match=message):
        asked(service.address, SIMILAR_CALL)


@both
def test_the_reason_and_the_follower_of_a_cluster_are_attributes(asked: Asked) -> None:
    with scripted(problem(422, "unusable", reason="time")) as service, pytest.raises(UnusableDocument) as caught:
        asked(service.address, SIMILAR_CALL)
    assert caught.value.reason == "time"
    with scripted(problem(410, "closed", into="b")) as service, pytest.raises(UnknownId) as gone:
        asked(service.address, SIMILAR_CALL)
    assert gone.value.into == "b"


@both
def test_no_service_is_an_error(asked: Asked) -> None:
    with pytest.raises(NotAvailable, match="is the worker running"):
        asked(f"http://127.0.0.1:{free_port()}", SIMILAR_CALL)


@both
@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("127.0.0.1:6067", ""),
        ("ftp://a.example", ""),
        ("http://", ""),
        ("http://a.example:99999", ""),
        ("http://[::1", ""),
        ("http://me:secret@a.example", ""),
        ("http://a.example/?x=1", ""),
        ("http://a.example/\r\nX: y", ""),
        ("http://a.example", "secret\r\nX: y"),
    ],
)
def test_a_wrong_address_or_token_is_refused_and_not_shown(asked: Asked, url: str, token: str) -> None:
    with pytest.raises(ConfigError) as caught:
        asked(url, SIMILAR_CALL, token=token)
    assert "secret\r\n" not in str(caught.value)


@both
@pytest.mark.parametrize("options", [{}, {"text": "a", "items": ["b"]}, {"vector": [float]}])
def test_one_value_is_asked_for(asked: Asked, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        asked("http://127.0.0.1:1", Call("similar", (), options))


@both
@pytest.mark.parametrize("call", [Call("document", ("",)), Call("cluster", ("",)), Call("pair", ("a", ""))])
def test_an_empty_id_is_unknown_and_not_sent(asked: Asked, call: Call) -> None:
    with pytest.raises(UnknownId, match="got an empty id"):
        asked("http://127.0.0.1:1", call)


@both
@pytest.mark.parametrize("call", [Call("document", (5,)), Call("cluster", (None,)), Call("pair", ("a", b"b"))])
def test_an_id_that_is_no_string_is_a_wrong_request(asked: Asked, call: Call) -> None:
    with pytest.raises(ConfigError, match=r"^(documents|clusters|pairs): got the id (5|None|b'b'), expected a string$"):
        asked("http://127.0.0.1:1", call)


def stream(*lines: str) -> bytes:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    return (head + "".join(f"{line}\n" for line in lines)).encode()


@both
def test_events_continue_behind_the_last_id_after_a_lost_connection(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stream_lsh.client.exchange.RECONNECT_SECONDS", 0)
    data = 'data: {"key":"k","value":{"n":%d},"headers":{}}'
    first = stream("id: matches:1", "", ": still here", "event: matches", data % 1, "", "id: matches:2", "")
    second = stream("event: matches", data % 2, "id: matches:3", "")
    with scripted(first, CLOSE, problem(503, "not-now"), second) as service:
        found = asked(service.address, Call("events", (["matches"],)), count=2)
    assert found == [
        Event("matches", "k", {"n": 1}, {}, "matches:1"),
        Event("matches", "k", {"n": 2}, {}, "matches:3"),
    ]
    assert service.requests[0].line == "GET /v1/pipelines/news/events?types=matches HTTP/1.1"
    assert [request.headers.get("last-event-id") for request in service.requests] == [None, *["matches:2"] * 3]


@both
def test_an_id_that_the_end_of_a_connection_cuts_is_not_used(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stream_lsh.client.exchange.RECONNECT_SECONDS", 0)
    lines = ("event: matches", 'data: {"key":"k","value":null,"headers":{}}', "")
    cut = stream("id: matches:12", "", *lines, "id: matches:13").removesuffix(b"3\n")
    with scripted(cut, stream(*lines)) as service:
        asked(service.address, Call("events", (["matches"],)), count=2)
    assert [request.headers.get("last-event-id") for request in service.requests] == [None, "matches:12"]


@both
def test_an_event_that_the_end_of_a_connection_cuts_is_dropped(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stream_lsh.client.exchange.RECONNECT_SECONDS", 0)
    data = 'data: {"key":"k","value":%d,"headers":{}}'
    cut = stream("id: matches:1", "", "event: matches", data % 1)
    with scripted(cut, stream("event: matches", "id: matches:2", data % 2, "")) as service:
        found = asked(service.address, Call("events", (["matches"],)), count=1)
    assert found == [Event("matches", "k", 2, {}, "matches:2")]


@both
def test_events_of_no_service_are_an_error(asked: Asked) -> None:
    with pytest.raises(NotAvailable):
        asked(f"http://127.0.0.1:{free_port()}", Call("events"), count=1)
    with scripted(problem(404, "unknown-pipeline")) as service, pytest.raises(ConfigError):
        asked(service.address, Call("events"), count=1)
