"""The routes of the query API, and their parameters; `docs/openapi.yaml` describes the public ones.

The segments of a path are decoded one by one, so an id may contain an encoded slash.  Internal routes are used by other
workers only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from stream_lsh.worker.query.http.problems import Problem


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the query of a URL: a whole number between two limits, or a text.

    Attributes:
        default: the value if the URL has none.
        least, most: the limits of a number; None for a text.
        options: the texts that are allowed; empty for any text.
    """

    default: int | str | None = None
    least: int | None = None
    most: int | None = None
    options: tuple[str, ...] = ()

    def read(self, name: str, text: str) -> int | str:
        """The value; raises Problem for an invalid one."""
        if self.most is not None and self.least is not None:
            if not (
                text.isascii()
                and text.isdecimal()
                and len(text) <= len(str(self.most))
                and self.least <= int(text) <= self.most
            ):
                expected = f"a whole number from {self.least} to {self.most}"
                raise Problem("malformed", f"{name}: got {text!a:.60}, expected {expected}")
            return int(text)
        if self.options and text not in self.options:
            raise Problem("malformed", f"{name}: got {text!a:.60}, expected {' or '.join(self.options)}")
        return text


@dataclass(frozen=True, slots=True)
class Route:
    """A method of a resource.

    Attributes:
        name: of its handler.
        method: of HTTP.
        template: the path, with parameters in braces.
        parameters: of the URL's query, by name.
        internal: whether only workers use it.
        takes: the content type of the body; "" for none.
        endless: whether its answer is a stream, which has neither the gate nor the time limit of queries.
    """

    name: str
    method: str
    template: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    internal: bool = False
    takes: str = ""
    endless: bool = False

    def matched(self, segments: Sequence[str]) -> dict[str, str] | None:
        """The parameters of a path; None if the path is another one."""
        parts = self.template.strip("/").split("/")
        if len(parts) != len(segments):
            return None
        found: dict[str, str] = {}
        for part, segment in zip(parts, segments, strict=True):
            if part.startswith("{"):
                found[part.strip("{}")] = segment
            elif part != segment:
                return None
        return found


JSON = "application/json"
VERSION_PATH = "/v1"
INTERNAL = "/internal"
"""The path of the connections of other processes, below that of the version."""
_PIPELINE = f"{VERSION_PATH}/pipelines/{{pipeline}}"
_STALE = Parameter("reject", options=("reject", "allow"))

_AFTER, _LIMIT, _START = Parameter(""), Parameter(50, 1, 1_000), Parameter(0, 0, 1_000_000_000)
_CLUSTERS = {
    "sort": Parameter("newest", options=("newest", "oldest", "size", "growing")),
    "least_size": Parameter(1, 1, 1_000_000_000),
    "least_sources": Parameter(0, 0, 1_000_000_000),
    "since": Parameter(0, 0, 9_999_999_999_999),
    "text": Parameter(""),
    "limit": _LIMIT,
    "after": _AFTER,
    "stale": _STALE,
}
_MATCHES = {"limit": _LIMIT, "after": _AFTER, "stale": _STALE}
_MEMBERS = {"limit": _LIMIT, "start": _START, "stale": _STALE}
_CLUSTER = {**_MEMBERS, "near": Parameter(0, 0, 50)}
_REVIEWS = {"sort": Parameter("closest", options=("closest", "newest")), **_MATCHES}
_DEAD_LETTERS = {"reason": Parameter(""), "limit": Parameter(20, 1, 100), "after": _AFTER}

ROUTES: Sequence[Route] = (
    Route("service", "GET", VERSION_PATH),
    Route("activity", "GET", f"{_PIPELINE}/activity"),
    Route("similar", "POST", f"{_PIPELINE}/similar", takes=JSON),
    Route("events", "GET", f"{_PIPELINE}/events", {"types": Parameter()}, endless=True),
    Route("document", "GET", f"{_PIPELINE}/documents/{{id}}", _MATCHES),
    Route("clusters", "GET", f"{_PIPELINE}/clusters", _CLUSTERS),
    Route("cluster", "GET", f"{_PIPELINE}/clusters/{{id}}", _CLUSTER),
    Route("entities", "GET", f"{_PIPELINE}/entities", _CLUSTERS),
    Route("entity", "GET", f"{_PIPELINE}/entities/{{id}}", _MEMBERS),
    Route("pair", "GET", f"{_PIPELINE}/pairs/{{left}}/{{right}}", {"stale": _STALE}),
    Route("reviews", "GET", f"{_PIPELINE}/reviews", _REVIEWS),
    Route("decide", "POST", f"{_PIPELINE}/decisions", takes=JSON),
    Route("mirrors", "GET", f"{_PIPELINE}/mirrors", {"site": Parameter(""), **_MEMBERS}),
    Route("dead_letters", "GET", f"{_PIPELINE}/dead-letters", _DEAD_LETTERS),
    Route("steps", "GET", f"{VERSION_PATH}{INTERNAL}", internal=True, endless=True),
)
"""All routes."""


@dataclass(frozen=True, slots=True)
class Found:
    """The route of a request, with the values of its parameters."""

    route: Route
    path: Mapping[str, str]
    query: Mapping[str, Any]


def find(method: str, raw_path: str, raw_query: str) -> Found:
    """The route of a request.

    Args:
        method: of HTTP.
        raw_path: as in the request, percent-encoded.
        raw_query: the same.

    Raises:
        Problem: unknown-path, wrong-method, malformed.

    Example:
        >>> find("GET", "/v1", "").route.name
        'service'
    """
    segments = [_decoded(segment) for segment in raw_path.strip("/").split("/")]
    allowed = []
    for route in ROUTES:
        path = route.matched(segments)
        if path is None:
            continue
        if route.method == method:
            return Found(route, path, _parameters(route, raw_query))
        allowed.append(route.method)
    if allowed:
        raise Problem("wrong-method", f"got {method:.20}, expected {' or '.join(allowed)}", allow=allowed)
    raise Problem("unknown-path", "got a path that does not exist; docs/openapi.yaml lists all paths")


def _decoded(segment: str) -> str:
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise Problem("malformed", "got a path that is not percent-encoded UTF-8") from None


def _parameters(route: Route, raw_query: str) -> dict[str, Any]:
    try:
        pairs = parse_qsl(raw_query, keep_blank_values=True, strict_parsing=bool(raw_query), errors="strict")
    except ValueError:
        raise Problem(
            "malformed", "got a query that cannot be read, expected NAME=VALUE in percent-encoded UTF-8"
        ) from None
    values: dict[str, Any] = {name: one.default for name, one in route.parameters.items()}
    if len(dict(pairs)) < len(pairs):
        raise Problem("malformed", "got a parameter twice, expected it once")
    for name, text in pairs:
        if name not in route.parameters:
            names = ", ".join(route.parameters) or "no parameter"
            raise Problem("malformed", f"got the parameter {name!a:.60}, expected {names}")
        values[name] = route.parameters[name].read(name, text)
    return values
