"""A worker that takes longer than its session to get its tables ready: does it stay in its group?"""

import asyncio
from typing import Any

import pytest

from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import RAW, engine_app, is_ready, make_topics, running, stock_app
from tests.patience import PATIENCE

SESSION_SECONDS, LOADING_SECONDS = 4.0, 8.0


async def ready_after_loading(kind: str, address: str, name: str) -> bool:
    """Whether a worker that loads for longer than its session is ready, in the group as it first joined it."""
    await make_topics(address, f"{name}-in", f"{name}-state-changelog")
    make = engine_app if kind == "engine" else stock_app
    app: Any = make(address, name, broker_session_timeout=SESSION_SECONDS, broker_heartbeat_interval=0.3)
    app.Table("state", key_type=bytes, value_type=bytes, partitions=4)

    @app.agent(app.topic(f"{name}-in", **RAW))  # type: ignore[untyped-decorator]  # the app is of either kind
    async def agent(stream: Any) -> None:
        async for _ in stream.events():
            pass

    as_it_is, loads = app.tables.on_rebalance, 0

    async def on_rebalance(*args: Any) -> None:
        nonlocal loads
        loads += 1
        await asyncio.sleep(LOADING_SECONDS)
        await as_it_is(*args)

    app.tables.on_rebalance = on_rebalance
    try:
        async with running(app, PATIENCE if kind == "engine" else 2.5 * LOADING_SECONDS):
            await asyncio.sleep(2 * SESSION_SECONDS)  # a worker that was removed learns it from the next heartbeat
            return is_ready(app) and loads == 1
    except TimeoutError:
        return False


@pytest.mark.parametrize("kind", ["stock", "engine"])
def test_a_worker_that_loads_for_longer_than_its_session_stays_in_its_group(
    broker: Broker, name: str, kind: str
) -> None:
    assert asyncio.run(ready_after_loading(kind, broker.address, name)) == (kind == "engine")
