"""Every error of the package, in one tree.  The class says whose fault it is and what happens next.

    StreamLSHError
    ├─ InputError           their data      the document is dead-lettered, the stream goes on
    │   ├─ MalformedMessage     bytes that cannot be read as a document
    │   └─ UnusableDocument     a document that can be read and must not be used
    ├─ ConfigError          the operator    refuse to start; all problems are listed at once
    ├─ StateError           stored bytes    halt; the message says what to do
    │   ├─ FingerprintMismatch  written under another scheme
    │   ├─ FutureFormat         written by a newer version
    │   └─ DamagedBytes         truncated, foreign or altered
    ├─ DoubtError           surroundings    halt; start the worker again, nothing is lost
    └─ InvariantError       us              halt; this is a bug, please report it

Messages give the value got, the value expected and the likely cause.  Any other exception that leaves the core is
a bug: where one message was parsed or signed it is dead-lettered with the reason `bug` (`on_bug`), elsewhere halt.
"""

from collections.abc import Sequence


class StreamLSHError(Exception):
    """The root of the tree; never raised itself."""


class InputError(StreamLSHError):
    """Their data: put the document aside with its `reason` and go on.

    Attributes:
        reason: one word for counters and headers, such as `json`, `key`, `text`, `time`, `size`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class MalformedMessage(InputError):
    """Bytes that cannot be read as a document: not UTF-8, not JSON, a field of the wrong type."""


class UnusableDocument(InputError):
    """A document that can be read and must not be used: no id, too large, from the far future."""


class ConfigError(StreamLSHError):
    """The operator's: refuse to start.  `problems` lists everything that is wrong, not only the first thing."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class StateError(StreamLSHError):
    """Stored bytes that do not fit: halt.  The message says what the operator has to do."""


class FingerprintMismatch(StateError):
    """State or frames of another scheme: start with the old settings, or re-index under a new application id."""


class FutureFormat(StateError):
    """Bytes of a newer format version: start the version that wrote them, or a later one."""


class DamagedBytes(StateError):
    """Bytes that are truncated, foreign or altered: restore them, or rebuild the state from the source."""


class DoubtError(StreamLSHError):
    """The surroundings: a worker cannot know any more that its work is stored and its own.  Halt, and start it again.

    A delivery failed, offsets have a gap, the session with the broker ran out, the group takes it in no more.  What was
    not acknowledged is read again.
    """


class InvariantError(StreamLSHError):
    """Ours: something that cannot happen did.  Halt, keep the state, report it."""
