"""The client for threads."""

import http.client
import socket
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from stream_lsh.client import answers, calls, exchange
from stream_lsh.client.event_stream import Event, EventReader
from stream_lsh.errors import NotAvailable

T = TypeVar("T")
_CLOSED = (http.client.BadStatusLine, ConnectionResetError, BrokenPipeError)
"""The errors of a connection that the other side closed while it was idle."""


class Client:
    """Asks the workers of a running stream.  It keeps its connection open; use one client per thread.

    All methods raise ConfigError for a rejected request, UnusableDocument for a value that cannot be compared,
    UnknownId for an id that does not exist, and NotAvailable.  If the service cannot answer now, the client tries
    again, at most twice.

    Args:
        url: of any worker with `ask`, of `stream-lsh serve`, or of a proxy in front of several.
        pipeline: its name.
        token: one of `ask_token`; "" for none.
        timeout: the seconds that a call may take, including its retries.
    """

    def __init__(self, url: str, pipeline: str, token: str = "", timeout: float = exchange.TIMEOUT_SECONDS) -> None:
        self._service, self._pipeline, self._timeout = exchange.service_at(url, token), pipeline, timeout
        self._connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def service(self) -> answers.ServiceDescription:
        """A description of the worker that answers, and whether its application is complete."""
        return self._answer(calls.service())

    def similar(self, text: str | None = None, **options: Unpack[calls.SimilarOptions]) -> answers.Similar:
        """The stored documents that are similar to a text, or to another value among the options; stores nothing."""
        return self._answer(calls.similar(self._pipeline, text, **options))

    def document(self, id: str, **page: Unpack[calls.Page]) -> answers.StoredDocument:
        """A document, its cluster or entity, and a page of its matches."""
        return self._answer(calls.document(self._pipeline, id, **page))

    def cluster(self, id: str, **page: Unpack[calls.MemberPage]) -> answers.ClusterPage:
        """A cluster, and a page of its members, oldest first."""
        return self._answer(calls.cluster(self._pipeline, id, **page))

    def clusters(self, **chosen: Unpack[calls.ClusterList]) -> answers.Clusters:
        """A page of clusters."""
        return self._answer(calls.clusters(self._pipeline, **chosen))

    def entity(self, id: str, **page: Unpack[calls.MemberPage]) -> answers.EntityPage:
        """An entity with its golden record, and a page of its records."""
        return self._answer(calls.entity(self._pipeline, id, **page))

    def entities(self, **chosen: Unpack[calls.ClusterList]) -> answers.Entities:
        """A page of entities."""
        return self._answer(calls.entities(self._pipeline, **chosen))

    def reviews(self, **chosen: Unpack[calls.ReviewList]) -> answers.Reviews:
        """A page of pairs of records for review."""
        return self._answer(calls.reviews(self._pipeline, **chosen))

    def mirrors(self, **chosen: Unpack[calls.MirrorList]) -> answers.Mirrors:
        """A page of sites that mirror each other."""
        return self._answer(calls.mirrors(self._pipeline, **chosen))

    def dead_letters(self, **chosen: Unpack[calls.DeadLetterList]) -> answers.DeadLetters:
        """A page of messages that could not be used, the newest first."""
        return self._answer(calls.dead_letters(self._pipeline, **chosen))

    def pair(self, left: str, right: str, **options: Unpack[calls.LookUp]) -> answers.PairExplanation:
        """The reason why two documents are, or are not, in the same cluster or entity."""
        return self._answer(calls.pair(self._pipeline, left, right, **options))

    def decide(
        self, left: str, right: str, decision: str | None, **notes: Unpack[calls.DecisionNotes]
    ) -> answers.Decided:
        """Decide that two records are `same` or `different`; None withdraws an earlier decision."""
        return self._answer(calls.decide(self._pipeline, left, right, decision, **notes))

    def events(self, types: Sequence[str] = (), after: str = "") -> Iterator[Event]:
        """The changes of results, without end.  After a lost connection, the client reconnects; some events may repeat.

        Args:
            types: of the events, such as `matches`; all by default.
            after: the id of an event; the stream begins after it, by default now.

        Raises:
            NotAvailable: the service cannot be reached.
        """
        reader = EventReader(after)
        while True:
            connection = self._connected(exchange.EVENTS_SILENCE_SECONDS)
            try:
                yield from self._stream(connection, reader, types)
            except (OSError, http.client.HTTPException, NotAvailable) as error:
                if not reader.begun:
                    raise exchange.unreachable(self._service, error) from error
            finally:
                connection.close()
            time.sleep(exchange.RECONNECT_SECONDS)

    def _stream(
        self, connection: http.client.HTTPConnection, reader: EventReader, types: Sequence[str]
    ) -> Iterator[Event]:
        call = calls.events(self._pipeline, types, reader.last_id)
        response = self._sent(connection, call)
        if response.status != 200:
            raise exchange.error_of(call, _read(response))
        reader.restart()
        for line in response:
            event = reader.line(line.rstrip(b"\r\n"))
            if event is not None:
                yield event

    def _answer(self, call: exchange.Call[T]) -> T:
        deadline = time.monotonic() + self._timeout
        for left in reversed(range(exchange.RETRIES + 1)):
            response = self._response(call, deadline)
            wait = exchange.wait_seconds(response)
            if not left or wait is None or time.monotonic() + wait >= deadline:
                break
            time.sleep(wait)
        return exchange.answer_of(call, response)

    def _response(self, call: exchange.Call[T], deadline: float) -> exchange.Response:
        """The response of the service; the request is sent again if the service had closed an idle connection."""
        while True:
            seconds, kept = deadline - time.monotonic(), self._connection is not None
            if seconds <= 0:
                raise NotAvailable(f"{self._service.url}: got no answer within {self._timeout:g} s")
            connection = self._connection = self._connection or self._connected(seconds)
            if connection.sock is not None:
                connection.sock.settimeout(seconds)
            try:
                response = self._sent(connection, call)
                found = _read(response)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if not (kept and isinstance(error, _CLOSED)):
                    raise exchange.unreachable(self._service, error) from error
                continue
            except BaseException:
                self.close()
                raise
            if response.will_close:
                self.close()
            return found

    def _connected(self, seconds: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._service.secure else http.client.HTTPConnection
        return kind(self._service.host, self._service.port, timeout=seconds)

    def _sent(self, connection: http.client.HTTPConnection, call: exchange.Call[Any]) -> http.client.HTTPResponse:
        if connection.sock is None:
            _open(connection)
        connection.request(call.method, self._service.base + call.path, call.body, self._service.headers(call))
        return connection.getresponse()


def _open(connection: http.client.HTTPConnection) -> None:
    connection.connect()
    # Head and body are two packets: without this, the second waits until the first is acknowledged.
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _read(response: http.client.HTTPResponse) -> exchange.Response:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return exchange.Response(response.status, headers, response.read())
