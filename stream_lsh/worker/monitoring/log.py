"""The log of a worker: its own messages at the configured level, those of the libraries from warnings on.

Fault (faust-streaming 0.15.3, aiokafka 0.14.0): some hundred lines at each start, tables among them, on standard
output; and while a broker is away, a hundred identical lines a second.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aiokafka.errors import (  # type: ignore[import-untyped]
    GroupCoordinatorNotAvailableError,
    NotLeaderForPartitionError,
)

from stream_lsh.errors import ConfigError, DamagedBytes, StateError, StreamLSHError

OWN = "stream_lsh"
SHOWN, WITHIN_SECONDS = 3, 10.0
"""The number of lines of a kind that are shown in a number of seconds; further lines are counted."""


class Repeats(logging.Filter):
    """Drops repeated lines, and reports how many it dropped.

    Two lines are of a kind if they come from one place in the code, whatever their arguments are.

    Args:
        clock: seconds that only grow.
        shown: the number of lines of a kind that are shown in `within_seconds`.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        shown: int = SHOWN,
        within_seconds: float = WITHIN_SECONDS,
    ) -> None:
        super().__init__()
        self._clock, self._shown, self._within_seconds = clock, shown, within_seconds
        self._since: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is shown."""
        if record.name.partition(".")[0] == OWN:
            # The engine logs its services under the names of our subclasses.
            return record.levelno > logging.INFO or not str(record.msg).startswith("[^")
        kind, now = (record.pathname, record.lineno), self._clock()
        since, count = self._since.get(kind, (now, 0))
        if now - since > self._within_seconds:
            dropped = count - self._shown
            since, count = now, 0
            if dropped > 0:
                record.msg, record.args = f"{record.getMessage()} (and {dropped} more like this)", ()
        self._since[kind] = since, count + 1
        return count < self._shown


class StartingRetries(logging.Filter):
    """Drops the retries while a group coordinator or the leader of a new topic starts; it shows those that take longer.

    Fault (aiokafka 0.14.0): the first start of an application logs errors that the client handles itself.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._first: float | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is shown."""
        starting = (GroupCoordinatorNotAvailableError, NotLeaderForPartitionError)
        if not isinstance(record.args, tuple) or not any(isinstance(each, starting) for each in record.args):
            return True
        self._first = self._clock() if self._first is None else self._first
        return self._clock() - self._first > WITHIN_SECONDS


class OperatorErrors(logging.Filter):
    """Drops the tracebacks of errors that an operator has to fix: the last line of the process reports the error.

    Fault (faust-streaming 0.15.3): each error that ends a worker is logged three times, twice with its traceback.  And
    what fails while the worker stops because of it, such as a client that is closed already, is logged with another.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ended = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is shown."""
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if isinstance(error, StreamLSHError):
            is_operators = isinstance(error, ConfigError | StateError) and not isinstance(error, DamagedBytes)
            self._ended |= is_operators
            return not is_operators
        return error is None or not self._ended


@contextmanager
def client_log() -> Iterator[None]:
    """Show each kind of warning of the Kafka client at most once a minute, while a command runs.

    Fault (aiokafka 0.14.0): while a broker is away, a client logs fifty lines a second.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("aiokafka: %(message)s"))
    handler.addFilter(Repeats(shown=1, within_seconds=60.0))
    logger = logging.getLogger("aiokafka")
    before, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


def log_to_stderr(level: str) -> None:
    """Set up the log of this process.

    Args:
        level: of the project's own messages; `debug` also shows all messages of the libraries.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    chosen = getattr(logging, level.upper())
    if chosen > logging.DEBUG:
        handler.addFilter(StartingRetries())
        handler.addFilter(Repeats())
        handler.addFilter(OperatorErrors())
        # The engine's timers yield to the loop for each partition, and warn whenever other tasks take a while.
        logging.getLogger("mode.timers").setLevel(logging.ERROR)
    logging.basicConfig(handlers=[handler], level=chosen if chosen in (logging.DEBUG, logging.ERROR) else "WARNING")
    logging.getLogger(OWN).setLevel(chosen)
