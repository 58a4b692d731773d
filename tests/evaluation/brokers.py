"""The broker that tests and benchmarks run on: a given one, one in a container, or Apache Kafka from its jars.

testcontainers is imported only where such a broker is wanted.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers import Broker, MavenBroker
from stream_lsh.worker.brokers.maven import missing_for_maven

IMAGE = "apache/kafka:4.2.0"
ADDRESS_VARIABLE = "STREAM_LSH_TEST_BROKERS"
"""The environment variable that names a running broker, `host:port[,host:port]`."""


class GivenBroker(Broker):
    """The broker at `address`: neither started nor stopped here.

    Args:
        address: bootstrap servers, `host:port[,host:port]`.
    """

    kind: ClassVar[str] = "a broker that was given"
    cannot = ("be started, stopped or killed from here",)

    def __init__(self, address: str) -> None:
        self._address = address

    @property
    def address(self) -> str:
        """As given."""
        return self._address

    def start(self) -> None:
        """Nothing: it runs."""

    def stop(self) -> None:
        """Nothing: it is not ours."""


def docker_answers() -> bool:
    """Whether a container engine answers and testcontainers is installed; a client without an engine does not count."""
    try:
        import testcontainers.kafka  # noqa: F401, PLC0415 - optional, for tests
    except ImportError:
        return False
    docker = shutil.which("docker")
    if docker is None:
        return False
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        answer = subprocess.run([docker, "info"], capture_output=True, timeout=10, check=False)  # noqa: S603
        return answer.returncode == 0
    return False


class DockerBroker(Broker):
    """One Kafka node in a container of its own, on a port that Docker chooses."""

    kind: ClassVar[str] = "Apache Kafka in a container"
    cannot = ("keep its port and its data when it is restarted",)

    def __init__(self) -> None:
        self._container: Any = None

    @property
    def address(self) -> str:
        """Where the container's port is published."""
        if self._container is None:
            raise ConfigError("the container does not run: start the broker first")
        return str(self._container.get_bootstrap_server())

    def start(self) -> None:
        """Start the container and wait until the broker listens."""
        if not docker_answers():
            raise ConfigError("no container engine answers, or testcontainers[kafka] is not installed")
        from testcontainers.kafka import KafkaContainer  # noqa: PLC0415 - optional, for tests

        if self._container is None:
            container = KafkaContainer(image=IMAGE).with_kraft()
            for name, value in {
                "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
                "KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS": "1000",
                "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
            }.items():
                container.with_env(name, value)
            container.start()
            self._container = container

    def stop(self) -> None:
        """Stop and remove the container."""
        if self._container is not None:
            self._container.stop()
            self._container = None


def choose_broker(folder: Path, environment: Mapping[str, str] | None = None) -> Broker:
    """The first that is there: the given address, a container, Kafka from its jars.  It is not started yet.

    Args:
        folder: where a broker of ours keeps data and logs.
        environment: the environment variables; None takes those of the process.

    Raises:
        ConfigError: there is none -> the message names the software to install.
    """
    address = (os.environ if environment is None else environment).get(ADDRESS_VARIABLE, "").strip()
    if address:
        return GivenBroker(address)
    if docker_answers():
        return DockerBroker()
    missing = missing_for_maven()
    if not missing:
        return MavenBroker(folder)
    raise ConfigError(
        f"there is no Kafka broker to test with: set {ADDRESS_VARIABLE}=host:port, or start Docker and install "
        f"testcontainers[kafka], or install Java 17 and Maven (missing: {', '.join(missing)})"
    )
