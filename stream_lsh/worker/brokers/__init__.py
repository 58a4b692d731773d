"""Brokers to start and to stop: for tests, benchmarks and trying things out.  Production brings its own.

MavenBroker      Apache Kafka from its published jars: Java 17 and Maven, one process
EmbeddedBroker   lives in this process, forgets everything, and cannot do half of what a worker needs (see `cannot`)
"""

from stream_lsh.worker.brokers.base import Broker
from stream_lsh.worker.brokers.embedded import EmbeddedBroker
from stream_lsh.worker.brokers.maven import MavenBroker

__all__ = ["Broker", "EmbeddedBroker", "MavenBroker"]
