"""The interface of all brokers: an address while they run, a way to start them and to stop them."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import ClassVar, Self

from stream_lsh.errors import ConfigError


class Broker(ABC):
    """A Kafka broker, or a small cluster, that a program can start and stop.

    A context manager, synchronous or asynchronous; the latter starts and stops in a thread, as either takes seconds.

    Attributes:
        kind: a description in a few words, for messages.
        cannot: the functions that a worker or a test must do without; empty for a real broker of our own.
    """

    kind: ClassVar[str]
    cannot: tuple[str, ...] = ()

    @property
    @abstractmethod
    def address(self) -> str:
        """The bootstrap servers, `host:port[,host:port]`."""

    @abstractmethod
    def start(self) -> None:
        """Start it and return when it answers.  After a stop or a kill: the same data, the same port.

        Raises:
            ConfigError: this machine lacks a requirement, or it did not start -> the message names the reason.
        """

    @abstractmethod
    def stop(self) -> None:
        """Stop it in order and wait; without effect if it does not run."""

    def kill(self) -> None:
        """Stop it as a power cut would.

        Raises:
            ConfigError: this kind cannot be killed -> choose another for tests of faults.
        """
        raise ConfigError(f"{self.kind} cannot be killed from here: take MavenBroker for tests of faults")

    def make_topics(self, topics: Mapping[str, int]) -> None:
        """Create topics by name and number of partitions, where the broker has no requests for that."""
        raise ConfigError(f"{self.kind} creates topics on request: use an admin client")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)
