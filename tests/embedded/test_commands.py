"""Commands beside a worker with a broker inside: they feed it, check it and explain its results."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh.config.load import parse
from stream_lsh.worker.clients.topic_reader import bounds, partitions_of
from stream_lsh.worker.embedded import ADDRESS_VARIABLE, Embedded, embedded
from stream_lsh.worker.in_process import live_worker
from tests.patience import PATIENCE
from tests.unit.cli.runs import EDITED, OTHER, STORY, lines_of, ran

SETTINGS = "[worker]\nweb = ''\n[[pipeline]]\nsource = 'docs'\nname = 'news'\nthreshold = 0.5\n"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("embedded") / "my news.toml"
    path.write_text(SETTINGS)
    return path


@pytest.fixture(scope="module")
def broker(config: Path) -> Iterator[Embedded]:
    """A broker to which three documents were fed, and one that is too large; a worker has read them and is gone."""
    documents = [{"id": "a", "text": STORY}, {"id": "huge", "text": "w " * 500_000}, {"id": "b", "text": EDITED}]
    with embedded(parse(SETTINGS, "x", {})) as broker, pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS_VARIABLE, broker.address)
        fed = ran(
            "feed", "--config", config, "-", stdin=lines_of([*documents, {"id": "c", "text": OTHER}, {"id": "d"}])
        )
        assert fed.returncode == 0
        printed = fed.stderr.decode().splitlines()
        assert printed[0].startswith("-:5: rejected (text): ")
        assert printed[1].startswith("huge: rejected (size): got a value of 10000")
        assert printed[2].startswith("3 documents to docs, 2 rejected, ")
        asyncio.run(worked(broker))
        yield broker


async def worked(broker: Embedded) -> None:
    async with AIOKafkaProducer(bootstrap_servers=broker.address) as producer:
        await producer.send_and_wait("docs", b"no JSON", key=b"bad")
    async with live_worker(broker) as worker:
        while worker.counts.documents < 3 or not worker.counts.dead_letters:
            await asyncio.sleep(0.05)
        await worker.settled()


def test_check_reports_skipped_checks_and_runs_the_others(broker: Embedded, config: Path) -> None:
    done = ran("check", "--config", config)
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert "note  settings of topics: not checked: the broker does not describe them, as an embedded one" in lines
    assert any(line.startswith("note  group ") for line in lines)
    assert "ok    source docs: 4 partitions, 1 copy" in lines
    assert "ok    lag of docs: 0 messages" in lines
    assert any(line.startswith("ok    steps of ") and line.endswith(": idle") for line in lines)
    assert sum("lag of" in line for line in lines) == 1
    assert not any(line.startswith("wrong") for line in lines)


def test_the_audit_works(broker: Embedded, config: Path) -> None:
    done = ran("check", "--config", config, "--audit")
    assert done.returncode == 0
    assert any("1 pair and 2 members of 3 documents are true" in line for line in done.stdout.decode().splitlines()), (
        done.stdout
    )


def test_explain_works(broker: Embedded, config: Path) -> None:
    done = ran("explain", "a", "b", "--config", config, "--json")
    assert done.returncode == 0, done.stderr
    explained = json.loads(done.stdout)
    assert [one["id"] for one in explained["documents"]] == ["a", "b"]
    assert explained["together"]


def test_the_command_that_shows_dead_letters_can_be_pasted(broker: Embedded, config: Path) -> None:
    done = ran("check", "--config", config)
    (line,) = (line for line in done.stdout.decode().splitlines() if "dead letters" in line)
    assert line.startswith("note  dead letters of news: 1: `stream-lsh tail dead-letters --config '")
    command = shlex.split(line.split("`")[1])
    shown = ran(*command[1:], "--no-follow")
    assert shown.returncode == 0, shown.stderr
    assert b"bad" in shown.stdout


def ends(broker: Embedded) -> int:
    """Messages of the source so far."""
    partitions = partitions_of("docs", broker.partitions["news"])
    return sum(asyncio.run(bounds(broker.config.kafka, partitions))[1].values())


def test_the_error_for_a_line_that_is_too_long_names_the_remedy(broker: Embedded, config: Path) -> None:
    line = lines_of([{"id": "long", "text": "w" * (17 << 20)}])
    done = ran("feed", "--config", config, "-", stdin=line)
    printed = done.stderr.decode().splitlines()[0]
    assert printed.endswith(": raise `max_document_bytes` of the pipeline news to take it")
    assert printed.startswith(f"-:1: rejected (size): got {len(line) - 1} bytes, expected at most 16777216")


def test_a_quiet_feed_that_only_rejects_reports_the_rejects(broker: Embedded, config: Path) -> None:
    done = ran("feed", "--config", config, "--quiet", "-", stdin=b"nonsense\n")
    assert (done.returncode, done.stderr) == (1, b"stream-lsh: 1 rejected: json 1\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_feed_reports_the_number_of_sent_documents(
    broker: Embedded, config: Path, number: int, tmp_path: Path
) -> None:
    path = tmp_path / "many.jsonl"
    path.write_bytes(lines_of([{"id": str(one), "text": STORY} for one in range(500)]))
    command = [sys.executable, "-m", "stream_lsh", "feed", "--config", str(config), "--rate", "20", str(path)]
    environment = os.environ | {ADDRESS_VARIABLE: broker.address}
    before = ends(broker)
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as process:  # noqa: S603 - our own command
        while ends(broker) < before + 5:
            assert process.poll() is None, process.communicate()
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    summary, end = err.decode().splitlines()[-2:]
    assert "Task was destroyed" not in err.decode()
    assert len(err.splitlines()) == 2
    sent = int(summary.split()[0])
    assert 0 < sent < 500
    assert summary.startswith(f"{sent} documents to docs, ")
    assert (process.returncode, end) == (
        (130, "stream-lsh: interrupted") if number == signal.SIGINT else (143, "stream-lsh: terminated")
    )
