"""All errors of the package, in one tree.  The class determines the cause of the error and the reaction.

    StreamLSHError
    ├─ InputError           input data      the document becomes a dead letter, the stream continues
    │   ├─ MalformedMessage     bytes that cannot be read as a document
    │   └─ UnusableDocument     a readable document that must not be used
    ├─ ConfigError          configuration   refuse to start; all problems are listed at once
    ├─ StateError           stored bytes    halt; the message describes the remedy
    │   ├─ FingerprintMismatch  written under another scheme
    │   ├─ FutureFormat         written by a newer version
    │   └─ DamagedBytes         truncated, foreign or altered
    ├─ DoubtError           environment     halt; start the worker again, no data is lost
    ├─ QueryError           a query         the query has no answer; nothing was changed
    │   ├─ UnknownId            the document, cluster or entity does not exist, or no longer exists
    │   └─ NotAvailable         no worker answers now; try again later
    └─ InvariantError       the package     halt; this is a bug, please report it

Messages contain the value got, the value expected and the likely cause.  Any other exception that leaves the core is
a bug: a message that was being parsed or signed becomes a dead letter with the reason `bug` (`on_bug`); elsewhere the
worker halts.
"""

from collections.abc import Mapping, Sequence


class StreamLSHError(Exception):
    """The root of the tree; only its subclasses are raised."""


class InputError(StreamLSHError):
    """Unusable input: reject the document with its `reason` and continue.

    Attributes:
        reason: one word for counters and headers, such as `json`, `key`, `text`, `time`, `size`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class MalformedMessage(InputError):
    """Bytes that cannot be read as a document: not UTF-8, not JSON, a field of the wrong type."""


class UnusableDocument(InputError):
    """A readable document that must not be used: no id, too large, from the far future."""


class ConfigError(StreamLSHError):
    """An invalid configuration: refuse to start.  `problems` lists all problems, not only the first one."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class StateError(StreamLSHError):
    """Unusable stored bytes: halt.  The message describes the remedy for the operator."""


class FingerprintMismatch(StateError):
    """State or frames of another scheme: start with the old settings, or re-index under a new application id."""


class FutureFormat(StateError):
    """Bytes of a newer format version: start the version that wrote them, or a later one."""


class DamagedBytes(StateError):
    """Bytes that are truncated, foreign or altered: restore them, or rebuild the state from the source."""


class DoubtError(StreamLSHError):
    """A fault of the environment: a worker can no longer confirm that its output is stored and its partitions its own.

    A delivery failed, offsets have a gap, the session with the broker expired, or the group does not readmit it.  Halt,
    and start the worker again; it reads unacknowledged messages again.
    """


class QueryError(StreamLSHError):
    """A query without an answer; a wrong request is a ConfigError, a value that cannot be compared an InputError."""


class UnknownId(QueryError):
    """No such document, cluster or entity.

    Attributes:
        into: for a closed cluster or entity, the one that now contains the document that gave it its id; "" if unknown.
    """

    def __init__(self, message: str, into: str = "") -> None:
        super().__init__(message)
        self.into = into


class NotAvailable(QueryError):
    """No answer for now: workers are down, recovering, busy or unreachable.  Try again later.

    Attributes:
        missing: the partitions that are not available, by table, as far as they are known.
    """

    def __init__(self, message: str, missing: Mapping[str, Sequence[int]] | None = None) -> None:
        super().__init__(message)
        self.missing = dict(missing or {})


class InvariantError(StreamLSHError):
    """A violated invariant, which is a bug of the package.  Halt, keep the state, report it."""
