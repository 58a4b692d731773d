"""A request for records that is under way during a rebalance: does the recovery end?"""

import asyncio
import contextlib
import threading
from typing import Any

import pytest

from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import RAW, either_app, feed, is_ready, make_topics, numbers, running, until
from tests.patience import PATIENCE

REBALANCES = 4


class BusyThread:
    """Makes the consumer's thread so busy that a request made before a rebalance is served after the recovery's seek.

    And the app's loop so busy that it takes 0.3 s from that seek to the resume.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._caught, self._go_on = threading.Event(), threading.Event()
        self._armed = False
        fetcher, recovery = app.consumer._thread._consumer._fetcher, app.tables.recovery
        fetched, seek = fetcher.fetched_records, recovery._seek_offsets

        async def fetched_records(*args: Any, **kwargs: Any) -> Any:
            if self._armed:
                self._armed = False
                self._caught.set()
                while not self._go_on.is_set():
                    await asyncio.sleep(0.005)
            return await fetched(*args, **kwargs)

        async def seek_offsets(*args: Any) -> None:
            await seek(*args)
            self._go_on.set()
            await asyncio.sleep(0.3)

        fetcher.fetched_records, recovery._seek_offsets = fetched_records, seek_offsets

    async def rebalance(self) -> None:
        """Let the group be rebalanced, as if the changelogs had been with another worker meanwhile."""
        self._caught.clear()
        self._go_on.clear()
        self._armed = True
        await until(self._caught.is_set)
        generation = self._app.consumer_generation_id
        self._app.tables.recovery.active_offsets.clear()
        thread = self._app.consumer._thread

        async def in_thread() -> None:
            thread._consumer._coordinator.request_rejoin()

        await thread.call_thread(in_thread)
        await until(lambda: self._app.consumer_generation_id > generation)


async def rebalances_until_one_hangs(repaired: bool, address: str, name: str) -> int | None:
    """The number of the first rebalance after which the worker does not get ready; None if there is none."""
    source, changelog = f"{name}-in", f"{name}-state-changelog"
    await make_topics(address, source, changelog)
    await feed(address, changelog, numbers(0, 400))
    app: Any = either_app(repaired, address, name)
    app.Table("state", key_type=bytes, value_type=bytes, partitions=4)

    @app.agent(app.topic(source, **RAW))  # type: ignore[untyped-decorator]  # the app is of either kind
    async def agent(stream: Any) -> None:
        async for _ in stream.events():
            pass

    async with running(app):
        busy = BusyThread(app)
        for number in range(1, REBALANCES + 1):
            await busy.rebalance()
            with contextlib.suppress(TimeoutError):
                await until(lambda: is_ready(app), PATIENCE if repaired else 6.0)
                continue
            return number
    return None


@pytest.mark.parametrize("repaired", [False, True])
def test_a_recovery_waits_for_ever_in_the_stock_engine_only(broker: Broker, name: str, repaired: bool) -> None:
    hung = asyncio.run(rebalances_until_one_hangs(repaired, broker.address, name))
    print(f"repaired={repaired}: rebalance {hung} of {REBALANCES} hung")
    assert (hung is None) == repaired
