"""An exception in an agent ends the process, instead of one event.

Fault (faust-streaming 0.15.3): the default supervisor restarts an agent that raised and goes on with the next event;
the commit passes over the one that raised.  Measured: one exception, one event lost for good; inside `take(50)`, 243.

`CrashingSupervisor` lets the exception end the worker with exit status 1.  Whoever supervises the process starts it
again, and what was not acked is read again.  Do not retry in an agent and carry on.

Delete when: an agent can say that an event was not processed and the engine reads it again.
"""

import asyncio
from typing import NoReturn, Protocol

from mode import CrashingSupervisor

from stream_lsh.errors import DoubtError

__all__ = ["Crashes", "CrashingSupervisor", "halt"]


class Crashes(Protocol):
    """What can be made to crash: an app."""

    async def crash(self, reason: BaseException) -> None:
        """End it with this reason."""


async def halt(app: Crashes, reason: DoubtError) -> NoReturn:
    """End the worker and never return, so that the caller cannot do anything more; the engine cancels it.

    For code outside agents, and inside them where the reason has to come first in the log.
    """
    await app.crash(reason)
    while True:
        await asyncio.sleep(3600)
