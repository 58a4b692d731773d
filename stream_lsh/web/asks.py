"""Requests to the query API, and their answers."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

NO_CONNECTION = "no-connection"
"""The name of the problem if no worker answered."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to the query API.

    Attributes:
        segments: of the path below `/v1`, not encoded.
        query: the parameters of the URL.
        body: becomes JSON; None for a GET request.
        wait_s: the seconds that the worker may wait until a decision is in effect.
    """

    segments: tuple[str, ...] = ()
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    wait_s: int = 0

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the request."""
        return {"Prefer": f"wait={self.wait_s}"} if self.wait_s else {}

    @property
    def path(self) -> str:
        """The path and the query below `/v1`, percent-encoded.

        An id may be `..` or contain a slash: neither may change the path.

        Example:
            >>> Ask(("pipelines", "news", "documents", "a/..")).path, Ask(("pairs", "..")).path
            ('/pipelines/news/documents/a%2F%2E%2E', '/pairs/%2E%2E')
        """
        path = "".join(f"/{_encoded(segment)}" for segment in self.segments)
        return f"{path}?{urlencode(self.query)}" if self.query else path

    def command(self, url: str, *, needs_token: bool = False) -> str:
        """The request as a shell command.

        Args:
            url: of the query API, with the version.
            needs_token: whether the query API has one; the command reads it from the variable `TOKEN`.
        """
        parts = ["curl", shlex.quote(url + self.path)]
        if needs_token:
            parts += ["--header", '"Authorization: Bearer $TOKEN"']
        if self.body is not None:
            import json  # noqa: PLC0415 - few pages need it

            parts += ["--json", shlex.quote(json.dumps(self.body))]
        return " ".join(parts)


def _encoded(segment: str) -> str:
    return quote(segment, safe="", errors="replace").replace(".", "%2E")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the query API.

    Attributes:
        status: of HTTP; 503 if no worker answered.
        value: the decoded JSON.
        url: of the worker that answered, with the version; "" if none did.
    """

    status: int
    value: Any
    url: str = ""

    @property
    def ok(self) -> bool:
        """Whether the value is an answer, not a problem."""
        return self.status < 400

    @property
    def problem(self) -> str:
        """The name of the problem; "" without one.

        Example:
            >>> Answer(404, {"type": "urn:stream-lsh:problem:unknown-id"}).problem
            'unknown-id'
        """
        return "" if self.ok else str(self.value.get("type", "")).rpartition(":")[2]


def unanswered(detail: str) -> Answer:
    """The answer if no worker answered."""
    title = "No worker is responding"
    return Answer(
        503, {"type": f"urn:stream-lsh:problem:{NO_CONNECTION}", "title": title, "status": 503, "detail": detail}
    )
