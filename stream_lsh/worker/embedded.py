"""Pipelines on a broker in this process: for the demo, and for experiments without Kafka.

The agents are those of any worker.  The differences are handled before they start, because the broker lacks functions:

    it creates no topics on request          all topics are made here
    it does not report settings of topics    `ensure_topics` has nothing to check
    it deletes no records                    nothing is trimmed (`WorkerApp.embedded`)
    it forgets everything at the end         so does the worker, which has no `data_dir`
"""

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import Config
from stream_lsh.worker.brokers import EmbeddedBroker
from stream_lsh.worker.topology import topics

ADDRESS_VARIABLE = "STREAM_LSH__KAFKA__BROKERS"
"""The environment variable that points other commands at the broker; it overrides the configuration."""


class Embedded(NamedTuple):
    """A running broker, and the configuration of a worker on it.

    Attributes:
        config: with the broker's address, and no folder.
        partitions: of each pipeline's source, by the pipeline's name.
    """

    config: Config
    partitions: Mapping[str, int]

    @property
    def address(self) -> str:
        """The address of the broker, for `feed` and `tail`."""
        return self.config.kafka.brokers[0]


@contextmanager
def embedded(config: Config) -> Iterator[Embedded]:
    """A broker with all topics that a configuration needs; its `kafka` and `data_dir` are overridden.

    Raises:
        ConfigError: the extra `embedded` is not installed -> install it.
    """
    partitions = {pipeline.name: pipeline.partitions for pipeline in config.pipelines}
    with EmbeddedBroker() as broker:
        kafka = KafkaConfig(brokers=(broker.address,))
        worker = dataclasses.replace(config.worker, data_dir=None)
        config = dataclasses.replace(config, kafka=kafka, worker=worker)
        for pipeline in config.pipelines:
            specs = topics(config, pipeline, partitions[pipeline.name])
            broker.make_topics({spec.name: spec.partitions or partitions[pipeline.name] for spec in specs})
        yield Embedded(config, partitions)
