"""The HTTP pages of a worker: `/metrics` for Prometheus, `/health` and `/ready` for a supervisor; pages for browsers.

/metrics    200 and the metrics
/health     200 as long as the process answers; a worker in doubt ends by itself, so no supervisor need kill it
/ready      200 if it is in its group and has its state, 503 while it joins, recovers or stops
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]
from faust.types import TP
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from stream_lsh.config.query_api import is_loopback
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.errors import ConfigError
from stream_lsh.web.listener import Listener
from stream_lsh.web.rendering import require
from stream_lsh.web.server import PageServer
from stream_lsh.web.source import HttpSource
from stream_lsh.worker.maintenance import Maintenance
from stream_lsh.worker.monitoring.metrics import LagTimes, WorkerCollector
from stream_lsh.worker.state.pipeline_state import PipelineState

_ANSWER_SECONDS = 5.0

_log = logging.getLogger(__name__)


class WorkerPages:
    """The pages for browsers, at the address `ui`; they use the query API of this worker.

    Args:
        config: address and tokens.

    Raises:
        ConfigError: Jinja is not installed -> install the extra `web`.
    """

    def __init__(self, config: WorkerConfig) -> None:
        if config.ui_address is not None:
            require()
        self._config = config
        self._source: HttpSource | None = None
        self._server: PageServer | None = None

    async def start(self) -> None:
        """Listen, if the configuration has an address; if that is not available, log a warning."""
        config, address, ask = self._config, self._config.ui_address, self._config.ask_address
        if address is None or ask is None:
            return
        tokens = config.ask_tokens
        self._source = HttpSource([f"http://{_reachable(*ask)}"], tokens[0] if tokens else None)
        server = PageServer(self._source, address, () if is_loopback(address[0]) else tokens)
        try:
            await server.start()
        except ConfigError as error:
            _log.warning("worker.ui: %s; this worker serves no web pages", error)
            return
        self._server = server
        _log.info("web pages: http://%s", config.ui)

    async def stop(self) -> None:
        """Close the listener and the connections to the query API."""
        if self._server is not None:
            await self._server.stop()
        if self._source is not None:
            await self._source.close()


def _reachable(host: str, port: int) -> str:
    """An address of this machine at which a listener is reached: one for all interfaces is none of a machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not opened here
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class WorkerWeb:
    """The pages of one worker.

    Args:
        app: the engine.
        pipelines: all that run on it, by name.
        maintenance: reports whether the worker is ready.
    """

    def __init__(self, app: Any, pipelines: Mapping[str, PipelineState], maintenance: Maintenance) -> None:
        self._app, self._pipelines, self._maintenance = app, pipelines, maintenance
        self._lag_times = LagTimes()

    async def serve(self, host: str, port: int) -> None:
        """Serve at this address until cancelled; if the address is not available, log a warning and return."""
        listener = Listener(self._answer, _reject)
        try:
            await listener.start(host, port)
            _log.info("metrics and health: http://%s:%d/metrics", f"[{host}]" if ":" in host else host, port)
            await asyncio.Event().wait()
        except OSError as error:
            _log.warning(
                "worker.web: %s:%d cannot be used (%s): this worker serves no metrics; set a separate address for each "
                'worker of a machine, or "" for none',
                *(host, port, error.strerror or error),
            )
        finally:
            await listener.stop()

    async def _answer(self, request: Any) -> web.Response:
        page = {"/metrics": self.metrics, "/health": self.health, "/ready": self.ready}.get(request.rel_url.raw_path)
        if page is None:
            return web.Response(text="There is no such page.\n", status=404)
        if request.method not in ("GET", "HEAD"):
            return web.Response(text="expected GET\n", status=405)
        return await page()

    async def metrics(self) -> web.Response:
        """All metrics, in the format of Prometheus."""
        ends = await self._ends()
        collector: Any = WorkerCollector(self._app, self._pipelines, self._maintenance, ends, self._lag_times)
        return web.Response(body=generate_latest(collector), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def health(self) -> web.Response:
        """Answer as long as the process runs."""
        return web.Response(text="ok\n")

    async def ready(self) -> web.Response:
        """Report whether the worker is ready."""
        if self._maintenance.is_ready:
            return web.Response(text="ready\n")
        return web.Response(text="recovering\n" if self._app.in_recovery else "not in the group\n", status=503)

    async def _ends(self) -> dict[TP, int]:
        """The ends of the partitions that this worker reads; a closed source is not fetched, so the broker is asked."""
        if not self._maintenance.is_ready:
            return {}
        configs = [state.config for state in self._pipelines.values()]
        read = {topic for config in configs for topic in (*config.sources, *config.step_topics)}
        tps = [tp for tp in self._app.consumer.assignment() if tp.topic in read]
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return dict(await self._app.consumer.highwaters(*tps))
        except (KafkaError, TimeoutError):
            return {}


def _reject(status: int, error: BaseException | None) -> web.Response:
    """The answer to a request that the parser rejects, or that failed."""
    if status >= 500:
        return web.Response(text="This page failed. The log of the worker has the reason.\n", status=500)
    return web.Response(text="got something else, expected an HTTP/1.1 request\n", status=status)
