"""Which broker this machine has."""

import os
from collections.abc import Mapping
from pathlib import Path

from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers.base import Broker
from stream_lsh.worker.brokers.container import DockerBroker, docker_answers
from stream_lsh.worker.brokers.external import GivenBroker
from stream_lsh.worker.brokers.maven import MavenBroker, missing_for_maven

ADDRESS_VARIABLE = "STREAM_LSH_TEST_BROKERS"
"""The environment variable that names a running broker, `host:port[,host:port]`."""


def choose_broker(folder: Path, environment: Mapping[str, str] | None = None) -> Broker:
    """The first that is there: the given address, a container, Kafka from its jars.  It is not started yet.

    Args:
        folder: where a broker of ours keeps data and logs.
        environment: the environment variables; None takes those of the process.

    Raises:
        ConfigError: there is none -> the message says what to install.
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
