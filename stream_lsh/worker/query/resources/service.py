"""The description of a worker: `GET /v1`."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from stream_lsh.config.topics import TABLES
from stream_lsh.worker.query.distributed.standing import Standing, missing, states_of
from stream_lsh.worker.query.http.server import Answer, Handler, Request
from stream_lsh.worker.query.resources.event_stream import topics_of
from stream_lsh.worker.query.resources.resource import Resource
from stream_lsh.worker.state.pipeline_state import PipelineState


class Service(Resource):
    """Describes this process, and the partitions of its application that can be queried."""

    def handlers(self) -> Mapping[str, Handler]:
        """The only one."""
        return {"service": self.service}

    async def service(self, request: Request) -> Answer:
        """The description, even while the worker recovers."""
        standing, pipelines = self.context.standing, self.context.pipelines
        state, absent = standing.state, {name: missing(standing, one) for name, one in pipelines.items()}
        return Answer(
            {
                "worker": standing.instance,
                "version": version("stream_lsh"),
                "state": state,
                "generation": standing.generation >> 32,
                "complete": state == "ready" and not any(absent.values()),
                "pipelines": [_described(standing, pipeline, absent[name]) for name, pipeline in pipelines.items()],
            }
        )


def _described(standing: Standing, state: PipelineState, absent: Mapping[str, Any]) -> dict[str, Any]:
    owned = {table: states_of(state, table).partitions() for table in TABLES}
    known = owned if standing.state == "ready" else {}
    return {
        "name": state.config.name,
        "kind": state.config.kind.name,
        "types": [*topics_of(state)],
        "partitions": state.partitions,
        "owned": owned,
        "lag": {table: standing.lags(state, table, partitions) for table, partitions in known.items()},
        "missing": absent,
    }
