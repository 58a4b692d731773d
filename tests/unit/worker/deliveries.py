"""Deliveries of a producer, without one."""

from types import SimpleNamespace
from typing import Any


class Delivered:
    """A delivery that is confirmed at an offset."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def cancelled(self) -> bool:
        return False

    def exception(self) -> None:
        return None

    def result(self) -> Any:
        return SimpleNamespace(offset=self._offset)
