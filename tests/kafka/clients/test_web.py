"""The HTTP pages of a worker process: readiness, counts, and lag."""

import asyncio
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.brokers.maven import free_port
from stream_lsh.worker.state.counts import STEPS
from tests.kafka.pipelines import articles, configured, send, written
from tests.kafka.processes import logs, processes
from tests.kafka.truth import settled
from tests.patience import PATIENCE

PARTITIONS = 2
Values = dict[tuple[str, ...], float]


def got(port: int, page: str) -> tuple[int, str]:
    """The status and the text of a page; 0 without an answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
    except OSError:
        return 0, ""


def metrics(port: int) -> Values:
    """Each value by the name of its metric and its labels, in the order of their names."""
    status, text = got(port, "metrics")
    assert status == 200
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value for sample in samples}


def wait_ready(port: int) -> set[tuple[int, str]]:
    """Wait until a worker reports that it is ready; returns all answers."""
    answers, end = set[tuple[int, str]](), time.monotonic() + PATIENCE
    while (200, "ready\n") not in answers and time.monotonic() < end:
        answers.add(got(port, "ready"))
        time.sleep(0.02)
    return answers


def test_a_worker_reports_its_readiness_and_its_counts(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path
) -> None:
    config, port = configured(broker, name, PARTITIONS), free_port()
    documents, source = articles(data_dir, 300), config.pipelines[0].source
    with processes(written(config, tmp_path, web=f"127.0.0.1:{port}"), 1):
        answers = wait_ready(port)
        assert (200, "ready\n") in answers
        assert {status for status, _ in answers} <= {0, 200, 503}
        assert got(port, "health") == (200, "ok\n")
        asyncio.run(send(broker.address, source, documents))
        assert asyncio.run(settled(config, documents)) == []
        values = metrics(port)
    pipeline = config.pipelines[0].name
    assert values["stream_lsh_ready",] == 1
    assert values["stream_lsh_documents_total", pipeline] == len(documents)
    assert values["stream_lsh_versions_total", "added", pipeline] == len(documents)
    assert values["stream_lsh_held_documents", pipeline] == len(documents)
    assert values["stream_lsh_held_members", pipeline] >= 2 * values["stream_lsh_held_clusters", pipeline] > 0
    assert values["stream_lsh_matches_total", pipeline] > 0
    lag = {key[1:]: value for key, value in values.items() if key[0] == "stream_lsh_lag_messages"}
    read = [source, *config.pipelines[0].step_topics]
    assert {topic for _, topic in lag} == set(read)
    assert [lag[str(partition), source] for partition in range(PARTITIONS)] == [0, 0]
    assert [values["stream_lsh_lag_seconds", str(partition), source] for partition in range(PARTITIONS)] == [0, 0]
    for step in STEPS:
        assert values["stream_lsh_step_latency_seconds_count", pipeline, step] > 0
        assert values["stream_lsh_step_latency_seconds_bucket", "60.0", pipeline, step] > 0


def test_the_lag_of_a_source_without_acknowledgements_is_reported(
    broker: Broker, name: str, data_dir: Path, tmp_path: Path
) -> None:
    config, port = configured(broker, name, 1), free_port()
    documents, source = articles(data_dir, 200), config.pipelines[0].source
    file = written(config, tmp_path, web=f"127.0.0.1:{port}", commit_interval="60s")
    with processes(file, 1):
        assert (200, "ready\n") in wait_ready(port)
        asyncio.run(send(broker.address, source, documents))
        end = time.monotonic() + PATIENCE
        while metrics(port)["stream_lsh_documents_total", config.pipelines[0].name] < 200 and time.monotonic() < end:
            time.sleep(0.2)
        assert metrics(port)["stream_lsh_lag_messages", "0", source] == 200
        while metrics(port)["stream_lsh_lag_seconds", "0", source] < 0.5 and time.monotonic() < end:
            time.sleep(0.2)
        assert 0.5 <= metrics(port)["stream_lsh_lag_seconds", "0", source] < 60


def test_an_address_in_use_is_reported_and_the_worker_continues(broker: Broker, name: str, tmp_path: Path) -> None:
    config = configured(broker, name, 1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with processes(written(config, tmp_path, web=f"127.0.0.1:{port}"), 1) as workers:
            end = time.monotonic() + PATIENCE
            while " ready: " not in (log := logs(tmp_path, 0)) and time.monotonic() < end:
                time.sleep(0.1)
            assert workers[0].poll() is None
    assert " ready: " in log
    assert f"worker.web: 127.0.0.1:{port} cannot be used" in log
