"""Brokers to start and to stop: for tests, benchmarks and trying things out.  Production brings its own.

`choose_broker()` takes the first of these that this machine has:

    GivenBroker      the address in $STREAM_LSH_TEST_BROKERS; somebody else runs it
    DockerBroker     Apache Kafka in a container, through testcontainers
    MavenBroker      Apache Kafka from its published jars: Java 17 and Maven, one process

`EmbeddedBroker` has to be asked for: it lives in this process, forgets everything, and cannot do half of what a worker
needs (see its `cannot`).
"""

from stream_lsh.worker.brokers.base import Broker
from stream_lsh.worker.brokers.choice import ADDRESS_VARIABLE, choose_broker
from stream_lsh.worker.brokers.container import DockerBroker
from stream_lsh.worker.brokers.embedded import EmbeddedBroker
from stream_lsh.worker.brokers.external import GivenBroker
from stream_lsh.worker.brokers.maven import MavenBroker

__all__ = [
    "ADDRESS_VARIABLE",
    "Broker",
    "DockerBroker",
    "EmbeddedBroker",
    "GivenBroker",
    "MavenBroker",
    "choose_broker",
]
