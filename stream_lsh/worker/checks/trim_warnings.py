"""Warnings about internal topics that cannot be trimmed, and so grow without limit."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from aiokafka.errors import TopicAuthorizationFailedError  # type: ignore[import-untyped]

from stream_lsh.worker.engine.rights import RIGHTS

_FAILURES = 6
"""Failures in a row, of any other cause, from which a topic is reported: a leader moves within seconds."""
_AGAIN_SECONDS = 3_600.0

_log = logging.getLogger(__name__)


class TrimWarnings:
    """Logs which topics cannot be trimmed: a topic at most once an hour.

    A missing right is reported at once, another error when it lasts.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._in_a_row: Counter[str] = Counter()
        self._reported: dict[str, float] = {}

    def report(self, errors: Mapping[str, Exception]) -> None:
        """Log the topics that are due.

        Args:
            errors: the error of each topic whose last request failed.
        """
        self._in_a_row = Counter({topic: self._in_a_row[topic] + 1 for topic in errors})
        denied = self._due(topic for topic, error in errors.items() if isinstance(error, TopicAuthorizationFailedError))
        if denied:
            _log.warning(
                "%s: obsolete records are not deleted, and these topics grow without limit: this user lacks the right "
                "Delete on them: %s",
                *(", ".join(denied), RIGHTS),
            )
        for topic in self._due(topic for topic, count in self._in_a_row.items() if count >= _FAILURES):
            _log.warning(
                "%s: obsolete records could not be deleted %d times in a row, and the topic grows: %r",
                *(topic, self._in_a_row[topic], errors[topic]),
            )

    def _due(self, topics: Iterable[str]) -> list[str]:
        """Those of some topics that were not reported within the last hour, sorted; they count as reported now."""
        now = self._clock()
        due = sorted(topic for topic in topics if now - self._reported.get(topic, -_AGAIN_SECONDS) >= _AGAIN_SECONDS)
        self._reported |= dict.fromkeys(due, now)
        return due
