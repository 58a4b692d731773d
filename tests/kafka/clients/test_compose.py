"""docker-compose.yml without Docker: its broker, its two workers, its feeder and its tail, as processes.

The broker's settings go the way that they go in the image: the image's own program, which is among the jars, makes the
settings of Kafka out of the environment.  Only ports, host names and folders are other ones.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

from stream_lsh.worker.brokers import MavenBroker
from stream_lsh.worker.brokers.maven import free_port, jars_folder
from tests.deployment import ROOT, SERVICES, command
from tests.patience import PATIENCE

CLUSTER = "5L6g3nShT-eMCtK--X86sw"
"""The image has one of its own."""


def elsewhere(settings: Mapping[str, object], folder: Path) -> dict[str, str]:
    """The broker's environment, with ports that are free, on this host, and its data in a folder."""
    taken = sorted({port for value in settings.values() for port in re.findall(r":(\d+)(?=,|$)", str(value))})
    ports = {port: str(free_port()) for port in taken}
    assert len(ports) == 3

    def moved(value: str) -> str:
        value = re.sub(r":(\d+)(?=,|$)", lambda found: f":{ports[found[1]]}", value)
        return value.replace("//broker:", "//localhost:").replace("/var/lib/kafka/data", str(folder / "data"))

    return {name: moved(str(value)) for name, value in settings.items()}


def java(*arguments: str) -> list[str]:
    program = shutil.which("java")
    assert program is not None
    return [program, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars_folder()}/*", *arguments]


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The jars of Kafka are there."""
    if not list(jars_folder().glob("kafka_2.13-*.jar")):
        with MavenBroker(tmp_path_factory.mktemp("broker")):
            pass


@contextmanager
def process(words: list[str], log: IO[bytes], folder: Path, **environ: str) -> Iterator["subprocess.Popen[bytes]"]:
    started = subprocess.Popen(  # noqa: S603 - the project's own commands
        words, cwd=folder, env=os.environ | environ, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def listens(address: str) -> bool:
    host, port = address.split(":")
    with socket.socket() as tried:
        return tried.connect_ex((host, int(port))) == 0


def run(service: str, address: str, folder: Path, *more: str) -> str:
    """The output of one of our services with its standard error, until it ends without an error."""
    done = subprocess.run(  # noqa: S603 - the project's own commands
        [sys.executable, "-m", "stream_lsh", *command(service)[1:], *more],
        cwd=folder,
        env=os.environ | {"STREAM_LSH__KAFKA__BROKERS": address, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_broker_of_compose_is_given_settings_that_kafka_has(jars: None, tmp_path: Path) -> None:
    program = java("kafka.server.KafkaConfig")
    listed = subprocess.run(program, capture_output=True, text=True, check=True)  # noqa: S603 - Kafka's own list
    known = set(re.findall(r'<h4><a id="([a-z0-9.]+)"', listed.stdout))
    assert len(known) > 100
    given = set(settings_of(SERVICES["broker"]["environment"], tmp_path))
    assert len(given) > 10
    assert given <= known


def settings_of(settings: Mapping[str, object], folder: Path) -> dict[str, str]:
    """Kafka's settings, as the image makes them, in `folder`/final/server.properties; the data folder is formatted."""
    for name in ("defaults", "mounted", "final"):
        (folder / name).mkdir()
    options = [
        part
        for option, name in (("default", "defaults"), ("mounted", "mounted"), ("final", "final"))
        for part in (f"--{option}-configs-dir", str(folder / name))
    ]
    environ = os.environ | elsewhere(settings, folder) | {"CLUSTER_ID": CLUSTER}
    words = java("kafka.docker.KafkaDockerWrapper", "setup", *options)
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)  # noqa: S603 - Kafka's own
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (folder / "final" / "server.properties").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line)


def matches(output: str) -> set[tuple[str, str]]:
    """The valid pairs after the output of `tail matches`."""
    pairs: set[tuple[str, str]] = set()
    for line in output.splitlines():
        if line.startswith("gone   "):
            left, right = json.loads(line.removeprefix("gone   ").rpartition("  ")[0])
            pairs.discard((left, right))
        else:
            _, left, right = line.split("  ")
            pairs.add((left, right))
    return pairs


def test_the_services_of_compose_find_the_matches_of_their_documents(jars: None, tmp_path: Path) -> None:
    given = settings_of(SERVICES["broker"]["environment"], tmp_path)
    inside, host = (one.split("://")[1] for one in given["advertised.listeners"].split(","))
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with ExitStack() as stack:
        log = stack.enter_context((tmp_path / "log").open("ab"))
        server = java("kafka.Kafka", str(tmp_path / "final" / "server.properties"))
        stack.enter_context(process(server, log, tmp_path))
        until = time.monotonic() + PATIENCE
        while not listens(inside):  # all that the healthcheck asks for
            assert time.monotonic() < until, (tmp_path / "log").read_text()
            time.sleep(0.1)
        words = [sys.executable, "-m", "stream_lsh", *command("worker")[1:]]
        environ = {"STREAM_LSH__KAFKA__BROKERS": inside, "PYTHONPATH": str(ROOT)}
        workers = [stack.enter_context(process(words, log, tmp_path / name, **environ)) for name in ("one", "two")]
        # The feeder has to wait for its topic: compose starts it together with the workers.
        assert "11 documents to documents" in run("feeder", inside, tmp_path)
        wanted = {("agency/bridge", "tribune/bridge"), ("agency/library", "herald/library")}
        until = time.monotonic() + PATIENCE
        while matches(run("tail", inside, tmp_path, "--no-follow")) != wanted:
            assert time.monotonic() < until, (tmp_path / "log").read_text()
        # And so it looks from the host.
        assert matches(run("tail", host, tmp_path, "--no-follow")) == wanted
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        limit = int(SERVICES["worker"]["stop_grace_period"].removesuffix("s"))
        assert [worker.wait(limit) for worker in workers] == [0, 0]
