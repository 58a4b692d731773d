"""The query API of one process: its listener, its resources, and the other processes."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial

from stream_lsh.config.model import Config
from stream_lsh.worker.query.distributed.owners import peer_of, worker_url
from stream_lsh.worker.query.distributed.peers import Peers, answer_call
from stream_lsh.worker.query.distributed.standing import Standing
from stream_lsh.worker.query.distributed.step_channel import StepService
from stream_lsh.worker.query.distributed.steps import Step, Steps
from stream_lsh.worker.query.http.server import Handler, QueryServer
from stream_lsh.worker.query.resources.activity import Activity
from stream_lsh.worker.query.resources.dead_letters import DeadLetters
from stream_lsh.worker.query.resources.decisions import DecisionRequests
from stream_lsh.worker.query.resources.events import Events
from stream_lsh.worker.query.resources.lookups import Lookups
from stream_lsh.worker.query.resources.pairs import Pairs
from stream_lsh.worker.query.resources.resource import Context, Resource
from stream_lsh.worker.query.resources.service import Service
from stream_lsh.worker.query.resources.similar import SimilarDocuments
from stream_lsh.worker.state.pipeline_state import PipelineState

_BODY_ROOM = 64 << 10
_CALL_ROOM = 1 << 20
_LOOK_SECONDS = 0.25

_log = logging.getLogger(__name__)

RESOURCES: Sequence[type[Resource]] = (
    *(Service, Activity, SimilarDocuments, Lookups, Pairs),
    *(DecisionRequests, DeadLetters, Events),
)
"""The modules that answer public requests."""


class QueryApi:
    """The query API of one process.

    Args:
        config: of the application.
        pipelines: by name; may grow until the process starts.
        standing: of the process.
    """

    def __init__(self, config: Config, pipelines: Mapping[str, PipelineState], standing: Standing) -> None:
        self._pipelines = pipelines
        self._steps: dict[str, Step] = {}
        token = next(iter(config.worker.ask_tokens), "")
        self._peers = Peers(standing, self._steps, token)
        self._context = Context(config, pipelines, standing, self._peers)
        self._resources = [resource(self._context) for resource in RESOURCES]
        for resource in self._resources:
            self._steps.update(resource.steps())
        self.standing = standing
        answer = partial(answer_call, standing, self._steps, pipelines)
        self._service = StepService(lambda: standing.instance, self._most_call_bytes, answer)
        self.server = QueryServer(config.worker, self.handlers(), self._body_limit)

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each route, by its name."""
        handlers: dict[str, Handler] = {"steps": self._service.connect}
        for resource in self._resources:
            handlers.update(resource.handlers())
        return handlers

    @property
    def steps(self) -> Steps:
        """The steps of all resources, by name."""
        return self._steps

    async def start(self) -> None:
        """Listen, if the configuration has an address."""
        if self._context.config.worker.ask_address is None:
            return
        for resource in self._resources:
            await resource.start()
        await self.server.start()

    async def stop(self) -> None:
        """Close the listener and the connections to other processes."""
        for resource in self._resources:
            await resource.end_streams()
        await self._service.stop()
        await self.server.stop()
        for resource in self._resources:
            await resource.stop()
        await self._peers.stop()

    async def check_address(self) -> None:
        """Once this process is ready, log an error if its URL does not lead to it."""
        peer = peer_of(worker_url(self._context.config.worker, self.standing.instance))
        if peer is None:
            return
        while self.standing.state != "ready":
            await asyncio.sleep(_LOOK_SECONDS)
        found = await self._peers.instance_at(peer.url)
        if found != peer.instance:
            _log.error(
                "query API: the other workers expect this worker, %s, at %s, where this worker found %s: they cannot "
                "query its partitions; is `ask_advertised` correct, and does no other worker use it?",
                *(peer.instance, peer.url, found),
            )

    def _most_call_bytes(self) -> int:
        return max(state.max_message_bytes for state in self._pipelines.values()) + _CALL_ROOM

    def _body_limit(self, path: Mapping[str, str]) -> int:
        state = self._pipelines.get(path.get("pipeline", ""))
        return _BODY_ROOM if state is None else state.config.max_document_bytes + _BODY_ROOM
