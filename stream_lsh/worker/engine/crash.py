"""An exception in an agent ends the process, instead of one event.

Fault (faust-streaming 0.15.3): the default supervisor restarts an agent that raised and goes on with the next event;
the commit passes over the one that raised.  Measured: one exception, one event lost for good; inside `take(50)`, 243.

`CrashingSupervisor` lets the exception end the worker with exit status 1.  A supervisor restarts the process, and all
unacked messages are read again.  Do not retry in an agent and carry on.

A stop in order can hang: streams that never get empty, a rebalance under way, a broker that does not answer.  So a
worker process that has crashed gets some seconds, one that received a signal some more, and then it ends as it is.  A
zombie gets none: a stop in order would send the rest of its buffer.

Delete when: an agent can say that an event was not processed and the engine reads it again.
"""

import asyncio
import logging
import os
import threading
from typing import NoReturn, Protocol

from mode import CrashingSupervisor

from stream_lsh.errors import ConfigError, DoubtError

__all__ = ["GRACE_SECONDS", "STOP_SECONDS", "Crashes", "CrashingSupervisor", "end_process", "halt"]

GRACE_SECONDS = 10.0
"""The time from a crash to the end of the process, even if the stop hangs."""
STOP_SECONDS = 20.0
"""The time from a signal to the end of the process: a stop in order waits for the broker for ever."""

_log = logging.getLogger(__name__)


class Crashes(Protocol):
    """An app that can be crashed."""

    async def crash(self, reason: BaseException) -> None:
        """End it with this reason."""


def end_process(reason: BaseException, after: float = 0.0) -> None:
    """End this process without cleanup, now or after some seconds: with exit status 1, 2 for a ConfigError.

    Only for a process that is a worker: any other program with an app in its process must not end with it.
    """
    if after > 0:
        timer = threading.Timer(after, end_process, [reason])
        timer.daemon = True  # a stop in order that ends sooner is welcome
        timer.start()
        return
    _log.critical("ending the process: %s: %s", type(reason).__name__, reason)
    logging.shutdown()
    os._exit(2 if isinstance(reason, ConfigError) else 1)


async def halt(app: Crashes, reason: DoubtError) -> NoReturn:
    """End the worker and never return, so that the caller cannot continue; the engine cancels it.

    For code outside agents, and inside them where the reason has to come first in the log.
    """
    await app.crash(reason)
    while True:
        await asyncio.sleep(3600)
