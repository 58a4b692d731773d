"""The reports of sign on Kafka (`pipeline.agents.reports`): event time once a second, page counts less often."""

import itertools
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from faust.types import TP

from stream_lsh.pipeline.agents.effects import Effect
from stream_lsh.pipeline.agents.reports import SignedPartition, event_time_agent, pages_agent
from stream_lsh.worker.agents.driver import Driver
from stream_lsh.worker.state.pipeline_state import PipelineState

TICK_SECONDS = 1.0
"""The period at which sign reports the event time."""

PAGES_TICKS = 10
"""The ticks at which sign reports changed page counts: each changed count republishes all pairs of its site."""


def ticking(app: Any, state: PipelineState) -> Callable[[], Awaitable[None]]:
    """The function that reports, to be called every `TICK_SECONDS`, and at the start of a generation.

    Args:
        app: the engine.
        state: of the pipeline.
    """
    driver, ticks = Driver(app, state, {}), itertools.count(1)

    async def tick() -> None:
        is_due = next(ticks) % PAGES_TICKS == 0
        if not (app.rebalancing or app.in_recovery):
            await driver.report(_reports(app, state, is_due))

    return tick


def _reports(app: Any, state: PipelineState, is_due: bool) -> Iterator[Effect]:
    """The reports of all partitions whose source this worker reads."""
    config, generation, sources = state.config, app.generation, list[SignedPartition]()
    for partition, documents in state.documents.owned().items():
        source = TP(config.documents_topic, partition)
        if source in app.consumer.assignment():
            is_end = partial(app.consumer.at_end, source)
            sources.append(SignedPartition(partition, documents, app.committed_offset(source), is_end))
    yield from event_time_agent(sources, config.max_documents, generation)
    for one in sources:
        logged = state.documents.offset(one.partition)
        yield from pages_agent(one.partition, one.documents, logged, generation, is_due=is_due)
