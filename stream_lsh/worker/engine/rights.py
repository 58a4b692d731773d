"""Refusals by the authorizer of a broker, as errors that name the resource and the missing right.

Fault (aiokafka 0.14.0): the errors of the protocol name no right, and some of them no resource.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka.errors import (  # type: ignore[import-untyped]
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
)

from stream_lsh.errors import ConfigError

RIGHTS = "see `Rights` in docs/operations/topics-and-rights.md"


_fetcher_log = logging.getLogger("aiokafka.consumer.fetcher")
_cluster_log = logging.getLogger("aiokafka.cluster")


def group_refused(group: str, right: str = "Read") -> ConfigError:
    """The error of a worker that may not join its consumer group, or of a client that may not describe it."""
    return ConfigError(
        f"the broker refuses the consumer group {group}: this user lacks the right {right} on it: {RIGHTS}"
    )


def drop_line_of_refusal() -> None:
    """Drop the client's own line about a topic that is refused to a producer; the error names the right."""
    _cluster_log.addFilter(_is_no_refused_topic)  # adds it once


def write_refused(topic: str) -> ConfigError:
    """The error of a producer that may not write to a topic."""
    return ConfigError(f"{topic}: the broker refuses to write to it: this user lacks the right Write on it: {RIGHTS}")


def as_refusal(error: BaseException, group: str = "") -> ConfigError | None:
    """The error that names the missing right Read; None for an error of another kind.

    Args:
        error: of a consumer.
        group: of this consumer.
    """
    if isinstance(error, GroupAuthorizationFailedError):
        return group_refused(group or _resources(error))
    if isinstance(error, TopicAuthorizationFailedError):
        topics = _resources(error) or "a topic"
        return ConfigError(f"{topics}: the broker refuses to read it: this user lacks the right Read on it: {RIGHTS}")
    return None


@contextmanager
def naming_rights(group: str = "") -> Iterator[None]:
    """Name the missing right where the broker refuses to let a consumer read; the client's own line is dropped.

    Raises:
        ConfigError: the user lacks a right -> grant it.
    """
    _fetcher_log.addFilter(_is_no_refusal)  # adds it once
    try:
        yield
    except (GroupAuthorizationFailedError, TopicAuthorizationFailedError) as error:
        raise as_refusal(error, group) or error from error


def _is_no_refusal(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Not authorized to read")


def _is_no_refused_topic(record: logging.LogRecord) -> bool:
    return "is not authorized for this client" not in str(record.msg)


def _resources(error: BaseException) -> str:
    """The names in an error: none, one, or a collection of them."""
    names = error.args[0] if error.args else ()
    return ", ".join([names] if isinstance(names, str) else sorted(map(str, names)))
