"""Twenty thousand odd messages over all kinds, in memory, and some through a worker; a million is `make soak`."""

import asyncio

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.worker.brokers import EmbeddedBroker
from tests.fuzz.__main__ import decisions_of, run_on_broker
from tests.fuzz.kinds import KINDS, config_of
from tests.fuzz.memory import process
from tests.fuzz.messages import NOW_MS, Message, messages
from tests.fuzz.workers import send
from tests.kafka.harness import read

MESSAGES = 20_000


@pytest.mark.parametrize("kind", KINDS)
def test_no_message_is_a_bug(kind: str, seed: int) -> None:
    config, count = config_of(kind), MESSAGES // len(KINDS)
    pipeline = config.pipelines[0]
    found = process(config, messages(pipeline, seed, count), decisions_of(pipeline, seed, count))
    assert found["read"] > count // 5
    assert len(found) > 6, "what is odd has many reasons"


def test_equal_seeds_have_equal_messages() -> None:
    pipeline = config_of("people").pipelines[0]
    assert [*messages(pipeline, 7, 200)] == [*messages(pipeline, 7, 200)]
    assert [*messages(pipeline, 7, 200)] != [*messages(pipeline, 8, 200)]


def test_odd_times_reach_a_worker_as_they_are() -> None:
    times = [NOW_MS, -1, 0, -(2**63), 2**63 - 1, -62_135_596_800_001]

    async def arrived(address: str) -> list[int]:
        async with AIOKafkaProducer(bootstrap_servers=address) as producer:
            await send(producer, "odd", [Message(None, None, time_ms) for time_ms in times])
        return [record.timestamp for record in await read(address, "odd")]

    with EmbeddedBroker({"odd": 1}) as broker:
        assert asyncio.run(arrived(broker.address)) == times


@pytest.mark.parametrize("kinds", [["text", "people"]])
def test_a_worker_accounts_for_the_messages_of_several_kinds(kinds: list[str], seed: int) -> None:
    for name, found in run_on_broker(kinds, seed, 200, "embedded", "").items():
        assert found["documents"] > 40, name
