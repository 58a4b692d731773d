"""Frames of one turn of the event loop for one step are joined, and cut by partition together.

A message costs each step some hundred microseconds, and a row of it little.  The partitions of a round of sign continue
together behind their barrier, and index, gather and verify take one partition after the other without a wait, except
between many pairs, before marks, and where a retirement needs a barrier.  So with four partitions, four messages become
one.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable
from typing import Any, NamedTuple

from stream_lsh.pipeline.agents.effects import Send, Step
from stream_lsh.pipeline.batches import Frame
from stream_lsh.pipeline.coalesce import coalesced_frames
from stream_lsh.wire.frames import encode
from stream_lsh.wire.outgoing import frames_of
from stream_lsh.worker.engine import EngineApp
from stream_lsh.worker.state.pipeline_state import PipelineState


class _Open(NamedTuple):
    """Frames that are not produced yet, and the task that will produce them."""

    frames: list[Frame]
    stored: asyncio.Task[None]


class Outbox:
    """Produces the frames of one pipeline; those of a step keep their order.

    Args:
        app: the engine.
        state: of the pipeline.
    """

    def __init__(self, app: EngineApp, state: PipelineState) -> None:
        self._app = app
        self._state = state
        self._open: dict[Step, _Open] = {}
        self._locks = defaultdict[Step, asyncio.Lock](asyncio.Lock)

    async def send(self, send: Send) -> Awaitable[None]:
        """Send a frame once earlier ones have joined a batch of the client; its delivery."""
        step = send.step
        if self._locks[step].locked():
            async with self._locks[step]:
                pass
        if step not in self._open:
            self._open[step] = _Open([], asyncio.ensure_future(self._store(step)))
        frames, stored = self._open[step]
        frames.append(send.frame)
        return asyncio.shield(stored)  # a cancelled agent must not cancel the frames of others

    async def _store(self, step: Step) -> None:
        """Produce the open frames of a step; ends when all are stored."""
        topic, deliveries = self._state.config.internal_topic(step), list[Awaitable[Any]]()
        async with self._locks[step]:
            for joined in coalesced_frames(self._open.pop(step).frames):
                for partition, frame in frames_of(Send(step, joined), self._state.partitions):
                    value = encode(frame, self._state.fingerprint)
                    deliveries.append(await self._app.produce(topic, None, value, partition))
        await asyncio.gather(*deliveries)
