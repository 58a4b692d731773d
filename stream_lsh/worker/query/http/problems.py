"""The errors of the query API: problem details (RFC 9457), whose type is `urn:stream-lsh:problem:<name>`."""

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from stream_lsh.errors import DamagedBytes, DoubtError

PROBLEM_TYPE = "application/problem+json"
PREFIX = "urn:stream-lsh:problem:"
RETRY_SECONDS = 1

_log = logging.getLogger(__name__)


class ProblemKind(NamedTuple):
    """The status of an error and its title."""

    status: int
    title: str


PROBLEMS: Mapping[str, ProblemKind] = {
    "malformed": ProblemKind(400, "The request cannot be read"),
    "unauthorised": ProblemKind(401, "The request has no valid token"),
    "unknown-path": ProblemKind(404, "There is no such resource"),
    "unknown-pipeline": ProblemKind(404, "There is no such pipeline"),
    "unknown-id": ProblemKind(404, "There is no such id"),
    "wrong-method": ProblemKind(405, "The resource does not support this method"),
    "wrong-kind": ProblemKind(409, "The pipeline has a different kind of data"),
    "closed": ProblemKind(410, "The cluster or entity is closed"),
    "too-large": ProblemKind(413, "The request is too large"),
    "wrong-type": ProblemKind(415, "The content type is not accepted"),
    "unusable": ProblemKind(422, "The value cannot be compared"),
    "busy": ProblemKind(429, "The worker is running as many queries as it may"),
    "failed": ProblemKind(500, "The worker failed to answer"),
    "not-now": ProblemKind(503, "Some partitions are not available"),
    "too-late": ProblemKind(504, "The answer took too long"),
}
"""All errors by name."""


class Problem(Exception):
    """An error that a client receives.

    Args:
        name: one of `PROBLEMS`.
        detail: the reason in this case.
        members: further members of the problem, such as `missing`.
    """

    def __init__(self, name: str, detail: str, **members: Any) -> None:
        super().__init__(f"{name}: {detail}")
        self.name, self.detail, self.members = name, detail, members

    @property
    def status(self) -> int:
        """The HTTP status."""
        return PROBLEMS[self.name].status

    def body(self) -> dict[str, Any]:
        """The members of the problem."""
        status, title = PROBLEMS[self.name]
        return {"type": PREFIX + self.name, "title": title, "status": status, "detail": self.detail, **self.members}

    def response(self, headers: Mapping[str, str] | None = None) -> web.Response:
        """The answer with this problem."""
        chosen = dict(headers or {})
        if self.status in (429, 503):
            chosen["Retry-After"] = str(RETRY_SECONDS)
        if self.status == 401:
            chosen["WWW-Authenticate"] = "Bearer"
        if "allow" in self.members:
            chosen["Allow"] = ", ".join(self.members["allow"])
        body = msgspec.json.encode(self.body())
        return web.Response(body=body, status=self.status, headers={**chosen, "Content-Type": PROBLEM_TYPE})


def problem_of(error: Exception, what: str) -> Problem:
    """The problem for an exception while `what` was answered; anything but a Problem or a timeout is logged."""
    match error:
        case Problem():
            return error
        case TimeoutError():
            return Problem("too-late", "the time of the query is up")
        case OSError():  # such as too many open files, in an import at the first use
            _log.warning("the query API cannot answer %s: %s", what, error)
            return Problem("not-now", f"this worker has no access to a file: {error.strerror or type(error).__name__}")
        case DoubtError() | DamagedBytes():
            _log.warning("the query API cannot answer %s: %s", what, error)
            return Problem("not-now", "this worker cannot read its state; see its log")
        case _:
            _log.error("the query API failed: %s", what, exc_info=error)
            return Problem("failed", "got an unexpected exception; see the log of the worker")
