"""A broker that somebody else runs."""

from typing import ClassVar

from stream_lsh.worker.brokers.base import Broker


class GivenBroker(Broker):
    """The broker at `address`: neither started nor stopped here.

    Args:
        address: bootstrap servers, `host:port[,host:port]`.
    """

    kind: ClassVar[str] = "a broker that was given"
    cannot = ("be started, stopped or killed from here",)

    def __init__(self, address: str) -> None:
        self._address = address

    @property
    def address(self) -> str:
        """As given."""
        return self._address

    def start(self) -> None:
        """Nothing: it runs."""

    def stop(self) -> None:
        """Nothing: it is not ours."""
