"""The reasons that end a worker: damaged bytes, state of other settings, topics that the operator has to repair."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.config import Config
from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import committed, make_topics, running
from tests.kafka.messages import (
    Message,
    eventually,
    matched,
    pair,
    put,
    started,
    twins,
)
from tests.kafka.pipelines import configured, written
from tests.patience import PATIENCE


async def ended(config: Config, folder: Path, then: Callable[[], Awaitable[None]] | None = None) -> tuple[int, str]:
    """Run a worker as a process, do something, and wait for its end: the exit code and the output."""
    file = written(config, folder)
    command = [sys.executable, "-m", "stream_lsh", "worker", "--config", str(file)]
    pipe, both = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=both)
    try:
        if then is not None:
            await then()
        async with asyncio.timeout(PATIENCE):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return process.returncode, output.decode()


async def run_before(broker: Broker, config: Config) -> None:
    """A worker that finds a pair, and ends in order."""
    async with running(await started(config)):
        await put(broker, config.pipelines[0].source, twins(0))
        assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}


def test_damaged_bytes_between_the_agents_end_the_worker_with_their_place(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    config = configured(broker, name, 1)
    topic = config.pipelines[0].internal_topic("bands")

    async def run() -> tuple[list[tuple[int, str]], int, int | None]:
        bad: list[int] = []

        async def damage() -> None:
            bad.extend(await put(broker, topic, [Message(None, b"no frame of ours", None)]))
            await put(broker, config.pipelines[0].source, twins(1))

        await run_before(broker, config)
        ends = [await ended(config, tmp_path, damage), await ended(config, tmp_path)]
        return ends, bad[0], await committed(broker.address, name, topic)

    ends, bad, position = asyncio.run(run())
    for code, output in ends:  # it is read again, before anything behind it
        assert code == 1, output
        assert f"DamagedBytes: {topic}, partition 0, offset {bad}: " in output
    assert (position or 0) <= bad  # of what the first run did, a commit may have come too late


@pytest.mark.parametrize("table", ["documents", "buckets", "ledger"])
def test_a_damaged_changelog_ends_the_worker_before_anything_is_read(
    broker: Broker, name: str, tmp_path: Path, table: str
) -> None:
    config = configured(broker, name, 1)
    source = config.pipelines[0].source

    async def run() -> tuple[int, str, int, int | None]:
        await run_before(broker, config)
        bad = await put(broker, config.pipelines[0].changelog_topic(table), [Message(None, b"no record", None)])
        await put(broker, source, twins(1))
        code, output = await ended(config, tmp_path)
        return code, output, bad[0], await committed(broker.address, name, source)

    code, output, bad, position = asyncio.run(run())
    assert code == 1, output
    assert f"DamagedBytes: {config.pipelines[0].changelog_topic(table)}, partition 0, offset {bad}: " in output
    assert (
        position or 0
    ) <= 2  # what came before was acknowledged, if the first run had the time; nothing after it was


@pytest.mark.parametrize(
    ("settings", "difference"),
    [
        ({"shingles": "char:5"}, "shingles: ours 'char:5', theirs 'mixed:3'"),
        ({"guards.max_size": 9}, "guards.max_size: ours 9, theirs not set"),
        ({"stories": True}, "stories: ours True, theirs not set"),
    ],
)
def test_state_of_other_settings_is_refused(
    broker: Broker, name: str, tmp_path: Path, settings: dict[str, Any], difference: str
) -> None:
    config = configured(broker, name, 1)
    other = configured(broker, name, 1, **settings)

    async def run() -> tuple[int, str]:
        await run_before(broker, config)
        return await ended(other, tmp_path)

    code, printed = asyncio.run(run())
    assert code == 2, printed
    assert "Traceback" not in printed
    assert printed.count("its state was built under other settings (") == 1
    assert f"stream-lsh: ConfigError: {name}-p: its state was built under other settings (" in printed
    assert difference in printed
    assert asyncio.run(matched(config)) == {pair(0)}


def test_a_topic_that_the_operator_must_mend_ends_the_worker_with_its_own_code(
    broker: Broker, name: str, tmp_path: Path
) -> None:
    config = configured(broker, name, 1)
    topic = config.pipelines[0].dead_letters_topic

    async def run() -> tuple[int, str]:
        await make_topics(broker.address, topic, partitions=3)
        return await ended(config, tmp_path)

    code, printed = asyncio.run(run())
    assert code == 2, printed
    assert "Traceback" not in printed
    assert printed.splitlines()[-1] == f"stream-lsh: ConfigError: {topic}: has 3 partitions, not 1"
    assert printed.count("has 3 partitions, not 1") == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kafka.replication": 9}, "cannot have 9 copies on 1 broker(s)"),
        ({"worker.data_dir": "file"}, "worker.data_dir: "),
        ({"pipeline.rekey": True}, "the topic does not exist, and a worker does not create it"),
    ],
    ids=["replication", "data_dir", "source"],
)
def test_a_mistake_of_the_operator_is_one_message_without_a_traceback(
    broker: Broker, name: str, tmp_path: Path, settings: dict[str, Any], words: str
) -> None:
    (tmp_path / "file").write_text("no folder")
    tables: dict[str, dict[str, Any]] = {
        "kafka": {"brokers": broker.address},
        "worker": {"app_id": name, "web": "", "data_dir": ""},
        "pipeline": {"name": f"{name}-p", "source": f"{name}-source", "partitions": 1},
    }
    for key, value in settings.items():
        table, _, setting = key.partition(".")
        tables[table][setting] = str(tmp_path / value) if setting == "data_dir" else value
    file = tmp_path / "news.toml"
    lines = (
        f"[{table}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in of.items()) for table, of in tables.items()
    )
    file.write_text("".join(lines))
    command = [sys.executable, "-m", "stream_lsh", "worker", "--config", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603 - our own
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (printed,) = (line for line in done.stderr.splitlines() if line.startswith("stream-lsh: "))
    assert printed.startswith("stream-lsh: ConfigError: ")
    assert words in done.stderr[done.stderr.index(printed) :]
