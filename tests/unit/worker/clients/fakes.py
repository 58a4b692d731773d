"""Clients of Kafka without a broker."""

from typing import Any


class FakeClient:
    """A client that connects to nothing."""

    def __init__(self, **settings: Any) -> None:
        pass

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass
