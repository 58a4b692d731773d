"""Workers for tests that stop or kill a process: `python -m tests.kafka.workers KIND ADDRESS NAME`.

Copies `NAME-in` to `NAME-out`, 20 ms a record.
"""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from stream_lsh.worker.engine import ContiguityGuard, OrderedAcker, RecordList
from tests.kafka.harness import RAW, engine_app, stock_app, topic_specs

SESSION_SECONDS = 5.0
QUICK = {"broker_session_timeout": SESSION_SECONDS, "broker_heartbeat_interval": 0.3}

REFUSED: dict[str, Any] = {"broker_session_timeout": 0.4, "broker_heartbeat_interval": 0.1}
"""A session timeout below what any broker allows."""


def stock(address: str, name: str, **more: Any) -> Any:
    app = stock_app(address, name, **{**QUICK, **more})

    @app.agent(app.topic(f"{name}-in", **RAW))  # type: ignore[untyped-decorator]  # the app is of either kind
    async def agent(stream: Any) -> None:
        async for event in stream.events():
            await asyncio.sleep(0.02)
            await app.producer.send(f"{name}-out", None, event.value, event.message.partition, None, None)

    return app


def engine(address: str, name: str, **more: Any) -> Any:
    source, out = f"{name}-in", f"{name}-out"
    app = engine_app(address, name, required_topics=topic_specs(source, out), chunks={source: 4}, **{**QUICK, **more})

    @app.agent(app.topic(source, schema=RecordList()))  # type: ignore[untyped-decorator]  # the app is of either kind
    async def agent(stream: Any) -> None:
        acker, guard = OrderedAcker(app), ContiguityGuard(app.committed_offset)
        async for event in stream.noack().events():
            guard.check(event)
            deliveries = []
            for record in event.value:
                await asyncio.sleep(0.02)
                deliveries.append(await app.produce(out, None, record.value, record.partition))
            await acker.add(event, deliveries)

    return app


@contextmanager
def process(kind: str, address: str, name: str, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Such a worker as a process, killed at the end; its log is appended."""
    with log.open("ab") as output:
        worker = subprocess.Popen(  # noqa: S603 - this module
            [sys.executable, "-m", "tests.kafka.workers", kind, address, name], stdout=output, stderr=output
        )
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


if __name__ == "__main__":
    kind, *arguments = sys.argv[1:]
    kinds: dict[str, Callable[..., Any]] = {
        "stock": stock,
        "engine": engine,
        "stock-refused": partial(stock, **REFUSED),
        "engine-refused": partial(engine, **REFUSED, join_seconds=6.0),
    }
    worker = kinds[kind](*arguments)
    sys.argv = ["worker", "worker", "-l", "info", "--without-web"]
    worker.main()
