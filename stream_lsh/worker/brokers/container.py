"""Apache Kafka in a container.  testcontainers is imported only here, and only when such a broker is wanted."""

import contextlib
import shutil
import subprocess
from typing import Any, ClassVar

from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers.base import Broker

IMAGE = "apache/kafka:4.2.0"


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
    """One Kafka node in a container of its own, on a port that Docker chooses.

    Args:
        image: an image that starts as `apache/kafka` does.
    """

    kind: ClassVar[str] = "Apache Kafka in a container"
    cannot = ("keep its port and its data when it is started anew",)

    def __init__(self, image: str = IMAGE) -> None:
        self._image = image
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
            container = KafkaContainer(image=self._image).with_kraft()
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
