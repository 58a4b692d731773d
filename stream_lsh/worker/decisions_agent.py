"""The agent that passes decisions on: from the topic that people write to, to the one that settle reads.

A decision has its place in that topic, and the ledger keeps the newest one of two records, so that passing one on
twice, after a crash, does no harm.
"""

from typing import Any

from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.model import make_ref
from stream_lsh.pipeline.batches import EdgesFrame
from stream_lsh.wire.frames import encode
from stream_lsh.wire.split import cut_decisions
from stream_lsh.worker.dead_letters import dead_letter
from stream_lsh.worker.engine import ContiguityGuard, EngineApp, OrderedAcker
from stream_lsh.worker.state import PipelineState


class Deciding:
    """The agent of one pipeline of records on this worker.

    Args:
        app: the engine.
        state: of the pipeline.
    """

    def __init__(self, app: EngineApp, state: PipelineState) -> None:
        self._app = app
        self._state = state
        self._config = state.config

    async def decide(self, stream: Any) -> None:
        """Decisions in, the same for settle out."""
        topic = self._config.decisions_topic
        acker, guard = OrderedAcker(self._app), ContiguityGuard(self._app.committed_offset, (topic,))
        edges = self._config.internal_topic("edges")
        async for batch in self._app.current(stream, guard):
            deliveries, decisions = [], []
            for record in batch.records:
                try:
                    decisions.append(parse_decision(record.key, record.value, make_ref(batch.partition, record.offset)))
                except Exception as error:
                    deliveries.append(await dead_letter(self._app, self._state, record, error))
            for part in cut_decisions(decisions):
                value = encode(EdgesFrame(decisions=part), self._state.fingerprint)
                deliveries.append(await self._app.produce(edges, None, value, 0))
            await acker.add_batch(batch, deliveries)
