"""The body of `similar`: a document as in the source, and the options of the query."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stream_lsh.errors import InputError
from stream_lsh.model import Document
from stream_lsh.pipeline.similar import Query, signed
from stream_lsh.wire.message import encoded, object_of
from stream_lsh.worker.agents.dead_letters import is_rejected
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.state.pipeline_state import PipelineState

MOST_MATCHES, MATCHES = 1_000, 20
_KEY = b"query"
_OPTIONS = ("time", "limit", "threshold", "partial", "stale")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query for similar documents.

    Attributes:
        value: to compare, as in a message of the source.
        time: of the document, as in a message; None to ignore the retention.
        limit: the maximum number of matches.
        threshold: the least similarity; at least that of the pipeline.
        partial: partitions may be missing.
        stale: standbys may answer.
    """

    value: Any
    time: Any
    limit: int
    threshold: float
    partial: bool
    stale: bool


def wanted(body: bytes, state: PipelineState) -> Wanted:
    """The query in a body; raises Problem for an invalid one."""
    member = state.config.kind.queries(state.config.fields).member
    try:
        found = object_of(body, "a query", f"a JSON object with `{member}`")
    except InputError as error:
        raise Problem("malformed", str(error)) from None
    if other := [name for name in found if name != member and name not in _OPTIONS]:
        others = ", ".join(_OPTIONS)
        name = "wrong-kind" if other[0] in _MEMBERS else "malformed"
        raise Problem(name, f"got the member {other[0]!a:.60}, expected `{member}` and optionally {others}")
    if member not in found:
        raise Problem("malformed", f"got no `{member}`, expected one")
    return Wanted(
        found[member],
        found.get("time"),
        _limit(found.get("limit", MATCHES)),
        _threshold(found.get("threshold"), state.config.kind.least),
        _allowed(found, "partial"),
        _allowed(found, "stale"),
    )


_MEMBERS = ("text", "record", "items", "vector")
"""The members for all kinds of data, for a message about the wrong one."""


def _limit(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_MATCHES:
        raise Problem("malformed", f"limit: got {value!a:.60}, expected a whole number from 1 to {MOST_MATCHES}")
    return value


def _threshold(value: Any, least: float) -> float:
    if value is None:
        return least
    if type(value) not in (int, float) or not math.isfinite(value) or not least <= value <= 1:
        raise Problem(
            "malformed", f"threshold: got {value!a:.60}, expected a number from {least:g} (the pipeline's) to 1"
        )
    return float(value)


def _allowed(found: Mapping[str, Any], name: str) -> bool:
    value = found.get(name, "reject")
    if value not in ("allow", "reject"):
        raise Problem("malformed", f"{name}: got {value!a:.60}, expected allow or reject")
    return bool(value == "allow")


def signed_query(query: Wanted, state: PipelineState) -> Query | None:
    """The signed document; None if it cannot match any.

    Raises:
        Problem: unusable, with the reason that a dead letter would have.
    """
    try:
        document = _document(query, state)
        time_ms = None if query.time is None else document.time_ms
        return signed(state.scheme, document.text or "", time_ms, document.about)
    except Exception as error:
        if not is_rejected(error, state):
            raise
        reason = error.reason if isinstance(error, InputError) else "bug"
        detail = str(error) if isinstance(error, InputError) else "got an unexpected exception; this is a bug"
        raise Problem("unusable", detail, reason=reason) from error


def _document(query: Wanted, state: PipelineState) -> Document:
    config, now_ms = state.config, int(time.time() * 1_000)
    message = config.kind.queries(config.fields).message(query.value)
    if query.time is not None:
        message[config.fields.time] = query.time
    return config.document(encoded(message), _KEY, now_ms, now_ms=now_ms, keyed=False)
