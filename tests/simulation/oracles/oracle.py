"""The true results for the produced documents: all pairs compared, components by breadth-first search."""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import NamedTuple

from stream_lsh.ledger.decisions import Decision
from stream_lsh.measure.containment import Containment
from stream_lsh.model import About, Document, make_ref
from stream_lsh.retention import Horizon
from tests.simulation.log.broker import Broker
from tests.simulation.pipelines.intake import documents_of
from tests.simulation.pipelines.setup import Setup

Pair = tuple[str, str]
"""Two ids, the smaller one first."""


class Version(NamedTuple):
    """One version of a document."""

    id: str
    ref: int
    time_ms: int
    shingles: frozenset[int]
    about: About


class Truth:
    """The newest versions and their pairs, given the last horizon."""

    def __init__(self, broker: Broker, setup: Setup, horizon: Horizon) -> None:
        self.setup = setup
        self.horizon = horizon
        self.versions: dict[str, list[Version]] = defaultdict(list)
        self.deletes: dict[str, int] = defaultdict(int)
        self.newest: dict[str, Version] = {}
        self.ambiguous: set[str] = set()
        self.documents: dict[str, Document] = {}
        self.decisions = decisions_of(broker)
        for ref, document in documents_of(broker, setup):
            self._take(ref, document)
        self.live = {id: version for id, version in self.newest.items() if not self.expired(version)}

    def _take(self, ref: int, document: Document) -> None:
        if document.text is None:
            self.newest.pop(document.id, None)
            self.deletes[document.id] += 1
            return
        shingles = frozenset(map(int, document.text.partition("\x1e")[0].split()))
        version = Version(document.id, ref, document.time_ms, shingles, document.about)
        before = self.newest.get(document.id)
        if before is not None and before[2:] == version[2:]:
            if self.expired(before):
                # Whether the first had been forgotten when the second came depends on the schedule.
                self.ambiguous.add(document.id)
            return
        self.versions[document.id].append(version)
        self.newest[document.id] = version
        self.documents[document.id] = document

    def expired(self, version: Version) -> bool:
        """Whether a version has been forgotten in the end."""
        return self.horizon.passed(version.time_ms, version.ref)

    def similarity(self, one: Version, other: Version) -> Fraction:
        """By the measure; 0 if the two are too far apart or one has no shingles."""
        retention_ms = self.setup.retention_ms
        if retention_ms is not None and abs(one.time_ms - other.time_ms) > retention_ms:
            return Fraction(0)
        if not one.shingles or not other.shingles:
            return Fraction(0)
        shared, measure = len(one.shingles & other.shingles), self.setup.scheme.measure
        if not isinstance(measure, Containment):
            return Fraction(shared, len(one.shingles | other.shingles))
        small, large = sorted((len(one.shingles), len(other.shingles)))
        return Fraction(shared, small) if large <= measure.size_ratio * small else Fraction(0)

    def match(self, one: Version, other: Version) -> bool:
        """Whether two versions are a pair."""
        return one.id != other.id and self.similarity(one, other) >= self.setup.threshold

    def pairs(self) -> dict[tuple[str, str], tuple[Version, Version]]:
        """Pairs of live newest versions."""
        return {
            (left, right): (self.live[left], self.live[right])
            for left in self.live
            for right in self.live
            if left < right and self.match(self.live[left], self.live[right])
        }

    def remembered_components(self) -> dict[Hashable, int]:
        """Components of live versions and of all expired versions: only these may share a cluster."""
        gone = [version for versions in self.versions.values() for version in versions if self.expired(version)]
        everything = [*self.live.values(), *gone]
        names: dict[Version, Hashable] = {version: version for version in gone}
        names |= {version: id for id, version in self.live.items()}
        links = [(names[a], names[b]) for a in everything for b in everything if a is not b and self.match(a, b)]
        return components(names.values(), links)


def decisions_of(broker: Broker) -> dict[Pair, list[Decision]]:
    """The decisions about each pair, in order."""
    decisions: dict[Pair, list[Decision]] = defaultdict(list)
    for partition, offset in broker.decided:
        message = broker.at("decisions", partition, offset)
        left, right = sorted(json.loads(message.key))
        verdict = None if message.value is None else json.loads(message.value)["decision"]
        if verdict in ("same", "different", None):
            decisions[left, right].append(Decision(left, right, verdict, make_ref(partition, offset)))
    return decisions


def components(nodes: Iterable[Hashable], links: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, int]:
    """A number for each node, equal for connected ones."""
    neighbours: dict[Hashable, set[Hashable]] = {node: set() for node in nodes}
    for one, other in links:
        neighbours[one].add(other)
        neighbours[other].add(one)
    number: dict[Hashable, int] = {}
    for count, start in enumerate(neighbours):
        ring = [] if start in number else [start]
        while ring:
            node = ring.pop()
            if node not in number:
                number[node] = count
                ring.extend(neighbours[node])
    return number
