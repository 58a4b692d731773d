"""A request at the end of a recovery that no broker answers ends the worker."""

import asyncio
import contextlib
from typing import Any

import pytest

from stream_lsh.errors import DoubtError
from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import RAW, clear_up, engine_app, make_topics, stock_app, until
from tests.patience import PATIENCE

REQUEST_SECONDS = 4.0


async def end_of(kind: str, address: str, name: str) -> Any:
    """The error that ends a worker whose request for the committed offsets is not answered; None if it continues."""
    await make_topics(address, f"{name}-in", f"{name}-state-changelog")
    make = engine_app if kind == "engine" else stock_app
    app: Any = make(address, name, broker_session_timeout=3.0, broker_request_timeout=REQUEST_SECONDS)
    app.Table("state", key_type=bytes, value_type=bytes, partitions=4)

    @app.agent(app.topic(f"{name}-in", **RAW))  # type: ignore[untyped-decorator]  # the app is of either kind
    async def agent(stream: Any) -> None:
        async for _ in stream.events():
            pass

    async def unanswered() -> None:
        await asyncio.Event().wait()

    app.consumer.perform_seek = unanswered
    app.finalize()
    starting = asyncio.create_task(app.start())
    try:
        with contextlib.suppress(TimeoutError):
            await until(lambda: app.crash_reason, PATIENCE if kind == "engine" else 3 * REQUEST_SECONDS)
    finally:
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await clear_up(app)
    return app.crash_reason


@pytest.mark.parametrize("kind", ["stock", "engine"])
def test_a_worker_whose_question_is_not_answered_ends(broker: Broker, name: str, kind: str) -> None:
    reason = asyncio.run(end_of(kind, broker.address, name))
    if kind == "stock":
        assert reason is None
    else:
        assert isinstance(reason, DoubtError)
        assert "no broker has answered for 4 s" in str(reason)
