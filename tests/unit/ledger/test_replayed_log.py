"""A log of `edges` with repeated messages ends as one in which each message occurs once.

Sign and verify write to `edges`, for each partition.  A worker that crashed restarts from its committed position and
sends all later messages again, in their order, while the others continue: so a message may occur several times, at
other offsets, and behind later ones.  Here each occurs one to five times, in logs of documents that are created,
updated, deleted and expired.

    the same order      repeats lie anywhere between the first occurrences, whose order stays: nothing is published for
                        a repeat, and in the end every value and every id is the same.  No edge overtakes the retirement
                        of the previous version: otherwise a repeated pair may be published until the retirement arrives
                        (see the last test)
    another order       the producers alternate differently as well: documents, pairs, groups and summaries of clusters
                        are the same, ids may differ.  Event time advances only when no message is in flight: for a
                        document that expires with an answer in flight, or arrives late, the order decides what was
                        published before

No source is idle here.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from stream_lsh.ledger import ledger as ledger_module
from stream_lsh.ledger.changes import ClusterChange, MatchChange, MemberChange, Settled
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import NO_ABOUT, About, Retirement, make_ref, ref_partition
from stream_lsh.pipeline.batches import Candidates, EdgesFrame, Mark, Watermarks
from stream_lsh.pipeline.settle import Settler
from tests.evaluation.edges import edges_of
from tests.unit.ledger.test_guards import CHOICES

CASES = 60
MOST = 5
PARTITIONS = 2
THRESHOLD = 0.8
LATENESS_MS = 20

Name = tuple[str, int]
"""An agent and its partition."""


@dataclass
class Producer:
    """The messages of one agent to `edges`, its position, and the number of times that it has sent each message."""

    messages: list[EdgesFrame] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    position: int = 0

    def add(self, frame: EdgesFrame) -> None:
        self.messages.append(frame)
        self.counts.append(0)

    def send(self) -> EdgesFrame:
        """The next message."""
        self.counts[self.position] += 1
        self.position += 1
        return self.messages[self.position - 1]

    def fall_back(self, rng: random.Random) -> None:
        """Some of what was sent last will be sent again."""
        while self.position and self.counts[self.position - 1] < MOST and rng.random() < 0.7:
            self.position -= 1


@dataclass
class Published:
    """The last value of each key of the public topics, without what happened to a cluster."""

    matches: dict[tuple[str, str], MatchChange] = field(default_factory=dict)
    members: dict[str, MemberChange] = field(default_factory=dict)
    clusters: dict[str, ClusterChange] = field(default_factory=dict)
    reviews: dict[tuple[str, str], MatchChange] = field(default_factory=dict)
    merged: int = 0
    split: int = 0
    expired: int = 0

    def read(self, settled: Settled) -> None:
        for topic, changes in ((self.matches, settled.matches), (self.reviews, settled.reviews)):
            for match in changes:
                topic.pop(match[:2], None)
                if match.similarity is not None:
                    topic[match[:2]] = match
        for member in settled.members:
            self.members.pop(member.id, None)
            self.expired += member.reason == "expired"
            if member.cluster is not None:
                self.members[member.id] = member
        for cluster in settled.clusters:
            self.clusters.pop(cluster.id, None)
            self.merged += cluster.merged_into is not None
            self.split += cluster.split_from is not None
            if cluster.event is not None:
                self.clusters[cluster.id] = cluster._replace(event=None, merged_from=(), split_from=None)


class Case(NamedTuple):
    """The settings of a log; all its messages follow from them."""

    number: int
    guards: Guards
    stories: bool
    retention_ms: int | None
    link_from: float

    def settler(self) -> Settler:
        kept = self.retention_ms, LATENESS_MS, self.guards
        return Settler(THRESHOLD, PARTITIONS, *kept, stories=self.stories, link_from=self.link_from)


def cases(seed: int) -> Iterator[tuple[Case, random.Random]]:
    for number in range(seed, seed + CASES):
        print(f"case {number}")
        rng = random.Random(number)
        guards = rng.choice((NO_GUARDS, NO_GUARDS, *CHOICES))
        yield Case(number, guards, rng.random() < 0.5, rng.choice((60, 200, None)), 0.85 * (number % 4 == 0)), rng


class World:
    """Documents, what sign and verify make of them, and settle.

    Args:
        case: what is written.
        order: the order in which it arrives.
        again: whether producers fall back.
        overtakes: whether an edge may come before the retirement of the version before.
        rests: whether event time advances only when no message is in flight.
    """

    def __init__(self, case: Case, order: random.Random, *, again: bool, overtakes: bool, rests: bool) -> None:
        self.case, self.order, self.again, self.overtakes, self.rests = case, order, again, overtakes, rests
        self.producers = {(agent, p): Producer() for agent in ("sign", "verify") for p in range(PARTITIONS)}
        self.log: list[tuple[Name, EdgesFrame]] = []
        self.settler, self.published = case.settler(), Published()
        self._script = random.Random(f"{case.number} script")
        self._documents: dict[str, End] = {}
        self._by_ref: dict[int, End] = {}
        self._keep: dict[str, int] = {}
        self._unretired = set[int]()
        self._now_ms = 1_000
        self._offsets, self._newest_ms, self._reported_ms = ([0] * PARTITIONS for _ in range(3))
        self._ids, self._contents = self._script.choice((4, 8, 14)), self._script.choice((3, 8, 30))
        self._most = self._script.choice((0, 0, 12)) if case.retention_ms else 0

    # -- what is written

    def write(self) -> None:
        """A new document, an update, a delete, or a document that comes back."""
        rng, number = self._script, self._script.randrange(self._ids)
        id, partition = f"d{number}", number % PARTITIONS
        self._offsets[partition] += 1
        ref = make_ref(partition, self._offsets[partition])
        self._now_ms += rng.choice((0, 1, 5, 40))
        old = self._documents.pop(id, None)
        if old is not None:
            self._keep[id] = max(self._keep.get(id, old.time_ms), old.time_ms)
        new = End(id, ref, self._now_ms - rng.randint(0, 30), rng.randint(1, self._contents), self._about(ref))
        if old is not None and rng.random() < 0.3:
            new = new._replace(time_ms=old.time_ms, digest=old.digest)
        deleted = old is not None and rng.random() < 0.25
        if id in self._keep:
            rest = (0, True, self._keep[id]) if deleted else (new.digest, False, self._keep[id], new.about)
            self.producers["sign", partition].add(EdgesFrame((Retirement(id, ref, new.time_ms, *rest),)))
            self._unretired.add(ref)
        if not deleted:
            self._newest_ms[partition] = max(self._newest_ms[partition], new.time_ms)
            found = [self._edge(new, other) for other in self._documents.values()]
            self._answer([edge for edge in found if edge.similarity >= THRESHOLD])
            self._documents[id] = self._by_ref[ref] = new

    def _about(self, ref: int) -> About:
        rng = random.Random(ref)
        about = About(f"title {ref}", rng.choice(("", "wire", "post")), rng.randint(0, 4))
        return about if self.case.stories else NO_ABOUT

    def _edge(self, new: End, old: End) -> Edge:
        """How alike two versions are: as their digests, which stand for their texts."""
        texts = sorted((new.digest, old.digest))
        similarity = random.Random(f"{self.case.number} {texts}").choice((0.3, 0.5, 0.7, 0.8, 0.85, 0.9))
        if texts[0] == texts[1]:
            similarity = 1.0
        if self.case.retention_ms is not None and abs(new.time_ms - old.time_ms) > self.case.retention_ms:
            similarity = 0.0
        return Edge(new, old, similarity, round(similarity * 100), 100)

    def _answer(self, edges: Sequence[Edge]) -> None:
        """Verify sends edges from the partition of the old one of both, some to a message."""
        for partition in range(PARTITIONS):
            mine = [edge for edge in edges if ref_partition(edge.right.ref) == partition]
            while mine:
                cut = self.order.randint(1, len(mine))
                self.producers["verify", partition].add(EdgesFrame(edges=edges_of(mine[:cut])))
                mine = mine[cut:]

    def tick(self) -> None:
        """Report the event time of the delivered documents, behind all edges so far."""
        for partition in range(PARTITIONS):
            if all(ref_partition(ref) != partition for ref in self._unretired):
                self._reported_ms[partition] = self._newest_ms[partition]
        min_offsets = [max(0, offset - self._most) if self._most else 0 for offset in self._offsets]
        marks = tuple(Mark(p, self._reported_ms[p], False, min_offsets[p]) for p in range(PARTITIONS))
        for partition in range(PARTITIONS):
            self.producers["verify", partition].add(EdgesFrame(watermarks=Watermarks(partition, marks)))

    # -- what arrives

    def deliver(self) -> bool:
        """One message of one of the producers, and the rechecks that it leads to; False if there is none."""
        waiting = [name for name, producer in self.producers.items() if self._may_send(producer)]
        if not waiting:
            return False
        name = self.order.choice(waiting)
        frame = self.producers[name].send()
        self.log.append((name, frame))
        self._unretired.difference_update(retired.ref for retired in frame.retirements)
        settlement = self.settler.settle(frame, len(self.log))
        assert settlement is not None
        self.published.read(settlement.settled)
        if settlement.rechecks is not None:
            self._recheck(settlement.rechecks)
        if self.again and self.order.random() < 0.3:
            self.producers[name].fall_back(self.order)
        return True

    def _may_send(self, producer: Producer) -> bool:
        if producer.position == len(producer.messages):
            return False
        edges = producer.messages[producer.position].edges
        if self.overtakes or edges is None:
            return True
        return self._unretired.isdisjoint([*edges.left.refs.tolist(), *edges.right.refs.tolist()])

    def _recheck(self, asked: Candidates) -> None:
        refs = zip(asked.new.tolist(), asked.old.tolist(), strict=True)
        pairs = [(self._by_ref[new], self._by_ref[old]) for new, old in refs]
        self._answer([self._edge(new, old) for new, old in pairs if self._documents.get(old.id) == old])

    def drain(self) -> None:
        while self.deliver():
            pass

    def run(self) -> "World":
        """All of it."""
        for _ in range(self._script.randint(2, 9)):
            for _ in range(self._script.randint(3, 12)):
                self.write()
                for _ in range(self.order.choice((0, 1, 2, 5))):
                    self.deliver()
                if not self.rests and self.order.random() < 0.2:
                    self.tick()
            if self.rests:
                self.drain()
            self.tick()
            if self.rests:
                self.drain()
        self.drain()
        return self


def replayed(log: Sequence[tuple[Name, EdgesFrame]], rng: random.Random) -> Iterator[tuple[int | None, EdgesFrame]]:
    """The messages of a log in their order, each with its number; between them repeats, without a number."""
    producers = {name: Producer() for name, _ in log}
    for name, frame in log:
        producers[name].add(frame)
    come = dict.fromkeys(producers, 0)
    for number, (name, _) in enumerate(log):
        while producers[name].position < come[name]:
            yield None, producers[name].send()
        yield number, producers[name].send()
        come[name] += 1
        for other, producer in producers.items():
            if producer.position < come[other] and rng.random() < 0.5:
                yield None, producer.send()
            if rng.random() < 0.1:
                producer.fall_back(rng)
    for name, producer in producers.items():
        while producer.position < come[name]:
            yield None, producer.send()
    assert all(1 <= count <= MOST for producer in producers.values() for count in producer.counts)


def named(id: str | None, numbers: dict[int, int]) -> str:
    """The id of a cluster, with the number of a message for its offset."""
    return re.sub(r"~(\d+)", lambda offset: f"~{numbers[int(offset[1])]}", str(id))


@pytest.mark.parametrize("least_rows", [1, 6])
def test_repeated_messages_between_others_change_no_value_and_no_id(
    least_rows: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "LEAST_ROWS", least_rows)
    again = merged = split = expired = numbered = 0
    for case, rng in cases(seed):
        once = World(case, rng, again=False, overtakes=False, rests=False).run()
        settler, published, numbers = case.settler(), Published(), dict[int, int]()
        for offset, (number, frame) in enumerate(replayed(once.log, rng)):
            settlement = settler.settle(frame, offset)
            assert settlement is not None
            if number is None:
                settled = settlement.settled
                assert [*settled.matches, *settled.reviews, *settled.members, *settled.clusters] == []
                again += 1
            else:
                published.read(settlement.settled)
                numbers[offset] = number + 1
        assert (published.matches, published.reviews) == (once.published.matches, once.published.reviews)
        members = {id: one._replace(cluster=named(one.cluster, numbers)) for id, one in published.members.items()}
        assert members == once.published.members
        clusters = [one._replace(id=named(id, numbers)) for id, one in published.clusters.items()]
        assert {one.id: one for one in clusters} == once.published.clusters
        merged, split = merged + published.merged, split + published.split
        expired += published.expired
        numbered += sum("~" in id for id in published.clusters)
    assert min(again, merged, split, expired, numbered) > 10


def groups(published: Published) -> dict[frozenset[str], ClusterChange]:
    """The published clusters, by their members."""
    members: dict[str, set[str]] = {}
    for member in published.members.values():
        members.setdefault(str(member.cluster), set()).add(member.id)
    return {frozenset(members[id]): cluster._replace(id="") for id, cluster in published.clusters.items()}


def live(world: World) -> dict[tuple[str, str], MatchChange]:
    """Matches of live documents; others stay as they were last."""
    topics, link_from = world.published, world.case.link_from
    return {
        pair[:2]: (topics.matches if pair.similarity >= link_from else topics.reviews)[pair[:2]]
        for pair in world.settler.ledger.snapshot().pairs
    }


@pytest.mark.slow
def test_repeated_messages_in_another_order_change_only_ids(seed: int) -> None:
    repeated = merged = split = expired = otherwise = 0
    for case, rng in cases(seed):
        once, other = (World(case, rng, again=again, overtakes=True, rests=True).run() for again in (False, True))
        assert live(other) == live(once)
        assert groups(other.published) == groups(once.published)
        assert {id: one._replace(cluster="") for id, one in other.published.members.items()} == {
            id: one._replace(cluster="") for id, one in once.published.members.items()
        }
        repeated += len(other.log) - len(once.log)
        merged, split = merged + other.published.merged, split + other.published.split
        expired += other.published.expired
        otherwise += other.published.members != once.published.members
    assert min(repeated, merged, split, expired, otherwise) > 10


def test_a_pair_that_repeats_before_the_retirement_is_withdrawn_with_it() -> None:
    older, newer, other, third = End("a", 1, 10, 11), End("a", 5, 20, 12), End("b", 2, 10, 13), End("c", 3, 10, 14)
    ledger, published = Ledger(THRESHOLD), Published()

    def settle(
        offset: int, edges: Sequence[Edge] = (), retirements: Sequence[Retirement] = ()
    ) -> list[tuple[int, int]]:
        settled = ledger.settle(offset, edges=edges, retirements=retirements)
        published.read(settled)
        return settled.rechecks

    stale = Edge(older, other, 0.9, 9, 10)
    settle(0, [Edge(newer, third, 0.9, 9, 10)])  # overtakes the retirement
    settle(1, [stale])
    assert published.matches.keys() == {("a", "c")}
    settle(2, retirements=[Retirement("c", 6, 30, 0, True, 10)])
    assert published.matches.keys() == set(), "and nothing is known of the document any more"
    settle(3, [stale])
    assert published.matches.keys() == {("a", "b")}
    assert settle(4, retirements=[Retirement("a", 5, 20, 12, False, 10)]) == [(5, 2)]
    settle(5, [Edge(newer, other, 0.3, 3, 10)])
    assert (published.matches, published.members, published.clusters) == ({}, {}, {})
