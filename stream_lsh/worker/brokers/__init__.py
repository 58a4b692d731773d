"""Brokers that can be started and stopped: for tests, benchmarks and experiments.  Production has its own brokers.

MavenBroker      Apache Kafka from its published jars: Java 17 and Maven, one process
EmbeddedBroker   runs in this process, keeps no data, and lacks functions that a worker needs (see `cannot`)
"""

from stream_lsh.worker.brokers.base import Broker
from stream_lsh.worker.brokers.embedded import EmbeddedBroker
from stream_lsh.worker.brokers.maven import MavenBroker

__all__ = ["Broker", "EmbeddedBroker", "MavenBroker"]
