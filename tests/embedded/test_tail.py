"""`tail` reads all messages while the answers of a broker are late."""

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest
from aiokafka.consumer.fetcher import Fetcher, OffsetResetStrategy  # type: ignore[import-untyped]

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.worker.brokers import EmbeddedBroker
from stream_lsh.worker.clients.tail import messages
from tests.kafka.harness import feed, numbers

LATE_SECONDS = 0.5


def delay_first_offsets(monkeypatch: pytest.MonkeyPatch, strategy: int) -> list[float]:
    """Delay the answers to the requests for offsets of a new assignment; returns the delays that took place."""
    resetting, delays = ContextVar("resetting", default=False), list[float]()
    update, request = Fetcher._update_fetch_positions, Fetcher._proc_offset_request

    async def _update_fetch_positions(fetcher: Any, *arguments: Any) -> Any:
        resetting.set(True)
        return await update(fetcher, *arguments)

    async def _proc_offset_request(fetcher: Any, node_id: int, topic_data: Any) -> Any:
        answer = await request(fetcher, node_id, topic_data)
        asked = {strategy for partitions in topic_data.values() for _, strategy in partitions}
        if resetting.get() and asked == {strategy} and not delays:
            delays.append(LATE_SECONDS)
            await asyncio.sleep(LATE_SECONDS)
        return answer

    monkeypatch.setattr(Fetcher, "_update_fetch_positions", _update_fetch_positions)
    monkeypatch.setattr(Fetcher, "_proc_offset_request", _proc_offset_request)
    return delays


@pytest.mark.parametrize("strategy", [OffsetResetStrategy.EARLIEST, OffsetResetStrategy.LATEST])
@pytest.mark.parametrize("from_beginning", [True, False])
def test_late_answers_do_not_move_the_first_offset(
    strategy: int, *, from_beginning: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    delay_first_offsets(monkeypatch, strategy)

    async def run(kafka: KafkaConfig) -> list[bytes]:
        await feed(kafka.brokers[0], "out", numbers(0, 20), 2)
        return [one.value async for one in messages(kafka, ["out"], from_beginning, follow=False)]

    with EmbeddedBroker({"out": 2}) as broker:
        found = asyncio.run(run(KafkaConfig(brokers=(broker.address,))))
    assert sorted(found) == (numbers(0, 20) if from_beginning else [])
