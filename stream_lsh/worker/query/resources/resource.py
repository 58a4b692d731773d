"""The interface of a module that answers public requests: its handlers, and the steps that they run on other processes.

`QueryApi` makes one object of each class in `RESOURCES` (`api`), and `routes.ROUTES` has a line for each handler.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stream_lsh.config.model import Config
from stream_lsh.worker.query.distributed.peers import Peers
from stream_lsh.worker.query.distributed.standing import Standing
from stream_lsh.worker.query.distributed.steps import Steps
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.http.server import Handler, Request
from stream_lsh.worker.state.pipeline_state import PipelineState


@dataclass(frozen=True, slots=True)
class Context:
    """The process that resources answer in.

    Attributes:
        config: of the application.
        pipelines: by name.
        standing: of the process.
        peers: runs steps where the states are.
    """

    config: Config
    pipelines: Mapping[str, PipelineState]
    standing: Standing
    peers: Peers

    def pipeline(self, request: Request) -> PipelineState:
        """The pipeline of a request; raises Problem for an unknown one."""
        name = request.found.path["pipeline"]
        if name not in self.pipelines:
            raise Problem("unknown-pipeline", f"got {name!a:.60}, expected {' or '.join(self.pipelines)}")
        return self.pipelines[name]


class Resource:
    """A group of handlers and steps.

    Args:
        context: the process.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    def handlers(self) -> Mapping[str, Handler]:
        """The handlers, by the names of their routes."""
        return {}

    def steps(self) -> Steps:
        """The steps, by name."""
        return {}

    async def start(self) -> None:
        """Prepare to answer; called before the listener starts."""

    async def end_streams(self) -> None:
        """End the answers that would never end; called before the listener stops."""

    async def stop(self) -> None:
        """Release everything; called after the listener has stopped."""
