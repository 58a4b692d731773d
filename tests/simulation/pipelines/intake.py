"""Schedules with `rekey`: a source that is not keyed by id, and the intake that copies it to a keyed topic.

Ids keep to one partition of the source in most runs.  Then the last message of an id is its newest version, in any
order of copying; in the other runs its newest version may be the last message of any partition.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from stream_lsh.model import Document, make_ref
from stream_lsh.wire.origin import CopyGenerations, Origin
from tests.simulation.log.broker import Broker
from tests.simulation.pipelines.setup import Setup

REKEY_FROM = 4_000_000
"""Seeds from here on have an intake."""

RULE = "copies of an older generation are skipped"


class Copied(NamedTuple):
    """A message of the intake topic."""

    origin: Origin
    document: Document


class Placing:
    """Which partition of the source the next document of an id is written to."""

    def __init__(self, seed: int, partitions: int) -> None:
        self._rng, self._partitions = random.Random(f"{seed} intake"), partitions
        self._roams = self._rng.random() < 0.3

    def partition(self, id: str) -> int:
        """Any in some runs, the same one for all documents of an id in the others."""
        return self._rng.randrange(self._partitions) if self._roams else crc32(id.encode()) % self._partitions


def learned_generations(broker: Broker, partition: int, committed: int) -> CopyGenerations:
    """The generations of the copies before the committed offset, as a new owner knows them."""
    generations = CopyGenerations()
    for offset in range(broker.start("intake", partition), min(committed, broker.end("intake", partition))):
        generations.is_late(broker.at("intake", partition, offset).value.origin)
    return generations


def is_behind_a_newer_one(broker: Broker, partition: int, copy: Copied, offset: int) -> bool:
    """Whether a copy of a newer generation from the same partition of the source came before this one."""
    return any(
        one.offset < offset and _place(one.value) == _place(copy) and one.value[0].generation > copy.origin.generation
        for one in broker.read("intake", partition)
    )


def _place(copy: Copied) -> tuple[str, int]:
    return copy.origin.topic, copy.origin.partition


def documents_of(broker: Broker, setup: Setup) -> Iterator[tuple[int, Document]]:
    """Every document that counts, with its ref, in the order of its partition: late copies do not."""
    for partition in broker.partitions(setup.documents_topic):
        generations = CopyGenerations()
        for message in broker.read(setup.documents_topic, partition):
            if not setup.rekey:
                yield make_ref(partition, message.offset), message.value
                continue
            is_late = generations.is_late(message.value.origin)
            if not is_late or (partition, message.offset) in broker.late_copies:
                yield make_ref(partition, message.offset), message.value.document
