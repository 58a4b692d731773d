"""The start of an admin client beside a cluster that admits no broker yet."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from stream_lsh.errors import DoubtError
from stream_lsh.worker.engine import admin
from stream_lsh.worker.engine.admin import start_admin


class Starting:
    """The admin client of a cluster that names its broker in the answer number `admitted_at`.

    The first answer is that of the client's own start.
    """

    def __init__(self, admitted_at: float) -> None:
        self.answers = 0
        self._client = SimpleNamespace(
            cluster=SimpleNamespace(brokers=lambda: ["one"] if self.answers >= admitted_at else []),
            force_metadata_update=self.start,
        )

    async def start(self) -> None:
        self.answers += 1


@pytest.mark.parametrize("admitted_at", [1, 4])
def test_a_start_waits_until_the_cluster_names_a_broker(admitted_at: int) -> None:
    starting = Starting(admitted_at)
    asyncio.run(start_admin(starting))
    assert starting.answers == admitted_at


def test_a_cluster_that_admits_no_broker_in_time_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "ANSWER_MS", 250)
    starting: Any = Starting(float("inf"))
    with pytest.raises(DoubtError, match=r"without a broker for 0\.25 s"):
        asyncio.run(start_admin(starting))
    assert starting.answers > 1
