"""The handlers of the query API."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from stream_lsh.config.topics import TABLES
from stream_lsh.worker.changelogged_state import Changelogged
from stream_lsh.worker.query.problems import Problem
from stream_lsh.worker.query.server import Answer, Handler, QueryServer, Request
from stream_lsh.worker.query.standing import Standing
from stream_lsh.worker.state import PipelineState

_BODY_ROOM = 64 << 10
_INTERNAL_ROOM = 1 << 20


class QueryApi:
    """The query API of one worker.

    Args:
        app: the worker.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._pipelines: Mapping[str, PipelineState] = app.pipelines
        self.standing = Standing(app)
        self.server = QueryServer(app.config.worker, self.handlers(), self._body_limit)

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each route, by its name."""
        return {"service": self.service}

    async def start(self) -> None:
        """Listen, if the configuration has an address."""
        await self.server.start()

    async def stop(self) -> None:
        """Close the listener."""
        await self.server.stop()

    async def service(self, request: Request) -> Answer:
        """This worker, and what of its application can be queried; also while it recovers."""
        state = self.standing.state
        missing = {name: self.standing.all_missing(pipeline) for name, pipeline in self._pipelines.items()}
        return Answer(
            {
                "worker": self.standing.instance,
                "version": version("stream_lsh"),
                "state": state,
                "generation": self._app.consumer_generation_id,
                "complete": state == "ready" and not any(missing.values()),
                "pipelines": [self._described(pipeline, missing[name]) for name, pipeline in self._pipelines.items()],
            }
        )

    def _described(self, state: PipelineState, missing: Mapping[str, Any]) -> dict[str, Any]:
        tables: Mapping[str, Changelogged[Any]]
        tables = {"documents": state.documents, "buckets": state.buckets, "ledger": state.ledger}
        return {
            "name": state.config.name,
            "kind": state.config.kind.name,
            "partitions": state.partitions,
            "owned": {table: tables[table].partitions() for table in TABLES},
            "missing": missing,
        }

    def pipeline(self, request: Request) -> PipelineState:
        """The pipeline of a request; raises Problem for an unknown one."""
        name = request.found.path["pipeline"]
        if name not in self._pipelines:
            raise Problem("unknown-pipeline", f"got {name!a:.60}, expected {' or '.join(self._pipelines)}")
        return self._pipelines[name]

    def _body_limit(self, path: Mapping[str, str], internal: bool) -> int:
        state = self._pipelines.get(path.get("pipeline", ""))
        if state is None:
            return _BODY_ROOM
        return state.max_message_bytes + _INTERNAL_ROOM if internal else state.config.max_document_bytes + _BODY_ROOM
