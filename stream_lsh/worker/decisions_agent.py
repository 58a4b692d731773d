"""The agent of decisions on Kafka (`pipeline.agents.decide`)."""

from functools import partial
from typing import Any

from stream_lsh.kinds.record.decisions import parse_decision
from stream_lsh.ledger.decisions import Decision
from stream_lsh.model import make_ref
from stream_lsh.pipeline.agents.decide import decide_agent
from stream_lsh.worker.driver import Driver, Received
from stream_lsh.worker.engine import ContiguityGuard, EngineApp, OrderedAcker
from stream_lsh.worker.state import PipelineState


class DecisionsAgent:
    """The agent of one pipeline of records on this worker.

    Args:
        app: the engine.
        state: of the pipeline.
    """

    def __init__(self, app: EngineApp, state: PipelineState) -> None:
        self._app = app
        self._config = state.config
        self._driver = Driver(app, state, {})

    async def decide(self, stream: Any) -> None:
        """Decisions in, the same for settle out."""
        topic = self._config.decisions_topic
        acker, guard = OrderedAcker(self._app), ContiguityGuard(self._app.committed_offset, (topic,))
        async for batch in self._app.current(stream, guard):
            records = [*map(Received, batch.records)]
            agent = decide_agent(records, batch.offset + 1, partial(_decision, batch.partition))
            await self._driver.run(agent, batch, acker)


def _decision(partition: int, received: Received) -> Decision:
    record = received.record
    return parse_decision(record.key, record.value, make_ref(partition, record.offset))
