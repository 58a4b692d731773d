"""The process of a command: Ctrl-C, SIGTERM and SIGHUP, and the search for reference cycles.

Signals are exceptions where they can be handled, and are held back where they would do harm.

An exception that is raised in the middle of an import can get lost, and one between the start of a process and the
note that it must be ended leaves that process behind.  So both are held while things are set up and cleared away.
"""

import gc
import signal
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
_COLLECT_AFTER = 100_000
"""Objects between two searches for reference cycles; with Python's 700 these take a twentieth of the time."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Terminated(BaseException):
    """SIGTERM, or a terminal that was closed, as an exception, so that it cleans up as Ctrl-C does."""


@contextmanager
def as_exceptions() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt, SIGTERM and SIGHUP raise Terminated; as before afterwards."""
    before: dict[int, Any] = {}
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        _raise(number, frame)

    try:
        for number in _caught():
            before[number] = signal.signal(number, interrupt)
    except ValueError:  # not in the main thread: signals do not come here
        pass
    try:
        yield
    except Exception:
        if came:  # extension modules report an interrupted import as an ImportError
            _raise(came[0], None)
        raise
    finally:
        for caught, handler in before.items():
            signal.signal(caught, handler)
        release()


def run_client(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that uses Kafka, as `run_cancellable` does, with the log of its client."""
    with closing(work):  # otherwise Python warns that it never ran, after an error or a signal that came before
        from stream_lsh.worker.monitoring.log import client_log  # noqa: PLC0415

        with client_log():
            return run_cancellable(work)


def run_cancellable(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own.

    A signal cancels it, so that it clears up, and is raised afterwards.
    """
    import asyncio  # noqa: PLC0415 - takes longer to load than `--help` to answer

    async def cancellable() -> T:
        with as_cancellation(asyncio.get_running_loop(), asyncio.current_task()):
            return await work

    return asyncio.run(cancellable())


@contextmanager
def as_cancellation(loop: Any, task: Any) -> Iterator[None]:
    """Cancel an asyncio task on a signal, and raise the matching exception when the task has cleaned up.

    An exception that is raised in the middle of a loop ends whatever happens to run.  A second signal does that.
    """
    came: list[int] = []

    def cancel(number: int, frame: FrameType | None) -> None:
        came.append(number)
        restore()
        loop.call_soon_threadsafe(task.cancel)

    def restore() -> None:
        for caught, handler in before.items():
            signal.signal(caught, handler)

    before = {number: signal.signal(number, cancel) for number in _caught()}
    try:
        yield
    except BaseException:
        if came:
            _raise(came[0], None)
        raise
    finally:
        restore()


def _caught() -> list[signal.Signals]:
    """The signals that end a command; under nohup it outlives its terminal."""
    return [number for number in _SIGNALS if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN]


def _raise(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated


def hold() -> None:
    """Hold signals until `release`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)


def release() -> None:
    """Deliver the signals that were held."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def ignore() -> None:
    """Ignore the signals in a child process: a terminal sends them to both, and the parent ends the child."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Collect reference cycles rarely: documents and pairs have none, and scanning them all is slow."""
    before = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
