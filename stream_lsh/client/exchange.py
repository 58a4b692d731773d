"""Requests and responses as values, without input and output, for both clients.

After a response with `Retry-After`, a client repeats the request, at most `RETRIES` times and within the time of the
call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from stream_lsh.errors import (
    ConfigError,
    InvariantError,
    NotAvailable,
    StreamLSHError,
    UnknownId,
    UnusableDocument,
)

T = TypeVar("T")

RETRIES = 2
TIMEOUT_SECONDS = 10.0
EVENTS_SILENCE_SECONDS = 45.0
"""The time of three comments of a stream of events; after a longer silence, the connection counts as lost."""
RECONNECT_SECONDS = 1.0
VERSION_PATH = "/v1"
_PREFIX = "urn:stream-lsh:problem:"
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request, and the type of its answer.

    Attributes:
        method: of HTTP.
        path: below the URL of the service, percent-encoded, with its query.
        answer: the type of the value.
        body: JSON; None for none.
        headers: in addition to those of every request.
    """

    method: str
    path: str
    answer: type[T]
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Response(NamedTuple):
    """A response: status, headers by their names in lower case, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Service:
    """The address of a worker, or of a proxy in front of several.

    Attributes:
        url: without a slash at its end, and without the path of the version.
        secure: the scheme is https.
        host, port: to connect to.
        base: the path of the URL.
        token: a bearer token; "" for none.
    """

    url: str
    secure: bool
    host: str
    port: int
    base: str
    token: str = field(default="", repr=False)

    def headers(self, call: Call[Any]) -> dict[str, str]:
        """The headers of a request."""
        found = {"Accept": "application/json", "User-Agent": "stream-lsh", **call.headers}
        if self.token:
            found["Authorization"] = f"Bearer {self.token}"
        if call.body is not None:
            found["Content-Type"] = "application/json"
        return found


def service_at(url: str, token: str = "") -> Service:
    """The service at a URL.

    Raises:
        ConfigError: the URL or the token is malformed.

    Example:
        >>> service_at("http://10.0.0.1:6067/v1/").url, service_at("https://queries.example/news").base
        ('http://10.0.0.1:6067', '/news')
    """
    parts = urlsplit("")
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        port = 0
    valid = parts.scheme in ("http", "https") and parts.hostname and port and "@" not in parts.netloc
    if not valid or parts.query or parts.fragment or not url.isascii() or not url.isprintable():
        raise ConfigError(f"url: got {url!a:.80}, expected the address of a worker, such as http://127.0.0.1:6067")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError("token: got characters that no token contains (not shown), expected the worker's token")
    base = parts.path.rstrip("/").removesuffix(VERSION_PATH)
    return Service(
        f"{parts.scheme}://{parts.netloc}{base}", parts.scheme == "https", str(parts.hostname), port, base, token
    )


def path_of(*segments: str, **query: Any) -> str:
    """A path with its query; the segments may contain slashes, parameters that are None are left out.

    Example:
        >>> path_of("pipelines", "news", "documents", "a/b", limit=5, after=None)
        '/v1/pipelines/news/documents/a%2Fb?limit=5'
    """
    path = "/".join([VERSION_PATH, *(quote(segment, safe="", errors="surrogatepass") for segment in segments)])
    chosen = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(chosen)}" if chosen else path


def wait_seconds(response: Response) -> float | None:
    """The time after which the service accepts a retry; None if the response does not invite one."""
    after = response.headers.get("retry-after", "")
    if response.status not in (429, 503) or not (after.isascii() and after.isdecimal() and len(after) < 6):
        return None
    return float(after)


def answer_of(call: Call[T], response: Response) -> T:
    """The value of a response.

    Raises:
        ConfigError: the service rejects the request -> correct the URL, the token, the pipeline or an argument.
        UnusableDocument: the value cannot be compared -> skip it.
        UnknownId: there is no such document, cluster or entity.
        NotAvailable: no answer for now -> try again later.
        InvariantError: the worker failed, or its answer is malformed.
    """
    if not 200 <= response.status < 300:
        raise error_of(call, response)
    try:
        return msgspec.json.decode(response.body, type=call.answer)
    except msgspec.MsgspecError as error:
        raise InvariantError(
            f"{call.method} {call.path}: got a malformed answer ({error}), expected the form in docs/openapi.yaml: is "
            "this the address of a query API of this version?"
        ) from None


class _Problem(msgspec.Struct, frozen=True):
    type: str
    detail: str
    reason: str = ""
    into: str | None = None
    missing: dict[str, Sequence[int]] = {}


_REFUSED = {
    "malformed": "is the argument valid for this pipeline?",
    "unauthorised": "is the token in `ask_token` of the worker?",
    "unknown-path": "does the URL lead to a query API of this version?",
    "unknown-pipeline": "does the configuration of the worker have this `[[pipeline]]`?",
    "wrong-method": "does a proxy change requests?",
    "wrong-kind": "does this pipeline have a different kind of data?",
    "wrong-type": "does a proxy change requests?",
}
"""The problems of a wrong request, each with its likely cause."""
_LATER = {
    "busy": "`ask_concurrency` limits the queries at a time",
    "not-now": "workers are down or recovering",
    "too-late": "the worker is slow; `ask_timeout` limits its time",
}


def error_of(call: Call[Any], response: Response) -> StreamLSHError:
    """The error for a response that is not an answer."""
    try:
        problem = msgspec.json.decode(response.body, type=_Problem)
    except msgspec.MsgspecError:
        return _foreign(call, response)
    where, name = f"{call.method} {call.path}", problem.type.removeprefix(_PREFIX)
    if name in _REFUSED:
        return ConfigError(f"{where}: {problem.detail}: {_REFUSED[name]}")
    if name in _LATER:
        return NotAvailable(f"{where}: {problem.detail}: {_LATER[name]}; try again later", problem.missing)
    if name in ("unknown-id", "closed"):
        return UnknownId(f"{where}: {problem.detail}", problem.into or "")
    if name in ("unusable", "too-large"):
        return UnusableDocument(problem.reason or "size", f"{where}: {problem.detail}")
    return InvariantError(f"{where}: {problem.detail}")


def _foreign(call: Call[Any], response: Response) -> StreamLSHError:
    """The error for a response that is not from a worker."""
    text = response.body[:_SHOWN].decode("utf-8", "replace")
    message = (
        f"{call.method} {call.path}: got status {response.status} with {text!a:.{_SHOWN}}, expected an answer from a "
        "worker: does a proxy answer instead?"
    )
    return NotAvailable(message) if response.status >= 500 or response.status == 429 else ConfigError(message)


def unreachable(service: Service, error: BaseException) -> NotAvailable:
    """The error for a connection that fails."""
    reason = str(error) or type(error).__name__
    return NotAvailable(
        f"{service.url}: got no answer ({reason}), expected one: is the worker running, with this address as `ask`?"
    )
