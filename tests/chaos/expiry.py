"""Checks a pipeline with a retention, after event time has passed many retentions."""

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.config import Config
from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.model import Document
from stream_lsh.retention import BEGINNING_MS, Horizon
from stream_lsh.worker.clients.topic_reader import records
from tests.chaos.checker import Checker
from tests.chaos.stories import first_of_repeats
from tests.kafka.truth import Pairs, components_of

_UNSEEN_MS = 15_000
"""A partition counts as read to its end while no connection shows that it goes on."""


class ExpiryChecker(Checker):
    """The checks of texts, as far as the horizon that is settled in the end allows.

    Documents are sent in order of time, so each pair of newest versions within the retention is published, and stays
    published when an end expires.  Only where brokers have stored a document so late that its partner had expired is
    the pair none.  Every version of every document may have held a cluster together.
    """

    _stored_ms: Mapping[str, int] = {}
    _reached: Sequence[tuple[int, int]] = ()
    """Times of storing, and the greatest event time stored until then; both ascending."""

    def __init__(self, config: Config, pipeline: PipelineConfig, stream: Sequence[Document]) -> None:
        super().__init__(config, pipeline, stream)
        self._live = first_of_repeats(stream, pipeline.limits().segment_span_ms)

    async def _read_source(self) -> None:
        """When brokers stored the newest version of each document, and how far event time had come."""
        stored, events = dict[str, int](), list[tuple[int, int]]()
        begins, ends = await self._bounds(self._pipeline.sources[0])
        async for chunk in records(self._config.kafka, begins, ends):
            for record in chunk:
                document = self._pipeline.document(record.value, record.key, record.timestamp)
                stored[document.id] = record.timestamp
                if document.text is not None:
                    events.append((record.timestamp, document.time_ms))
        events.sort()
        times = accumulate((time_ms for _, time_ms in events), max)
        self._stored_ms, self._reached = stored, [(at, most) for (at, _), most in zip(events, times, strict=True)]

    def _partner_had_expired(self, pair: tuple[str, str]) -> bool:
        """Whether one end of a pair may have expired before the other one was stored."""
        if not self._reached:
            return False
        earlier, later = sorted(pair, key=self._stored_ms.__getitem__)
        at = bisect_left(self._reached, (self._stored_ms[later] + _UNSEEN_MS,)) - 1
        keep_ms = self._pipeline.live_ms or 0
        return self._live[earlier].time_ms < self._reached[at][1] - keep_ms

    def _set_horizon(self, horizon: Horizon) -> None:
        """Compute the live and the expired documents at this horizon."""
        self._horizon = horizon
        self._expired = {id for id, one in self._live.items() if one.time_ms < horizon.time_ms}
        self._versions = [one for one in self._stream if one.text is not None]
        self._verdict.documents = len(self._live) - len(self._expired)

    async def _check(self) -> None:
        await self._read_source()
        state = self._state()
        state.ledger.own(0)
        await self._recover(state, "ledger", 0)
        self._set_horizon(state.ledger[0].settler.ledger.horizon)
        if self._horizon.time_ms == BEGINNING_MS:
            self._say("horizon has not moved", [self._horizon])
        pairs, members = await self._matches(), await self._members()
        await self._clusters(members)
        await self._tables()
        await self._published_as_settled(pairs, members)

    async def _matches(self) -> Pairs:
        pairs = await self._published_pairs()
        documents = list(self._live.values())
        wanted = self._true_pairs(documents)
        for pair in sorted(self._candidates(wanted, documents) - pairs.keys()):
            if self._partner_had_expired(pair):
                continue
            self._verdict.missing.append(f"{pair} {wanted[pair]}{' expired' if self._expired & {*pair} else ''}")
            self._verdict.at_fault.append(pair)
        once = self._true_pairs(self._versions)
        for pair in sorted(pairs.keys() - wanted.keys()):
            if self._ended_before_it_changed(pair) and pair in once:
                continue
            (self._verdict.stale if pair in once else self._verdict.wrong).append(f"{pair} {pairs[pair]}")
            self._verdict.at_fault.append(pair)
        for pair in sorted(pairs.keys() & wanted.keys()):
            if pairs[pair] != wanted[pair] and not self._expired & {*pair}:
                self._verdict.stale.append(f"{pair} {pairs[pair]}, not {wanted[pair]}")
                self._verdict.at_fault.append(pair)
        self._once = once
        self._verdict.pairs = len(pairs)
        return pairs

    def _ended_before_it_changed(self, pair: tuple[str, str]) -> bool:
        """Whether a version of one end has expired: then no later change of the other end withdraws the pair."""
        return any(one.id in pair and one.time_ms < self._horizon.time_ms for one in self._versions)

    def _true_pairs(self, documents: Sequence[Document]) -> Pairs:
        """All pairs within the retention that reach the threshold, whether or not they share a bucket."""
        limit, threshold = self._pipeline.retention_ms or 0, self._pipeline.kind.least
        scheme, pairs = as_kind(self._pipeline.kind, TextKind).scheme(), Pairs()
        sets = scheme.shingle_sets([one.text or "" for one in documents])
        for one, other, shared in _sharing(sets, [one.time_ms for one in documents], limit):
            left, right = documents[one], documents[other]
            if left.id == right.id:
                continue
            similarity = shared / (sets[one].size + sets[other].size - shared)
            if similarity >= threshold:
                pair = (min(left.id, right.id), max(left.id, right.id))
                pairs[pair] = max(similarity, pairs.get(pair, 0.0))
        return pairs

    def _candidates(self, pairs: Iterable[tuple[str, str]], documents: Sequence[Document]) -> set[tuple[str, str]]:
        """The pairs that share a bucket, which are those that the index finds."""
        scheme, row = self._pipeline.kind.scheme(), {one.id: number for number, one in enumerate(documents)}
        buckets = scheme.buckets(scheme.sign([one.text or "" for one in documents]))
        return {pair for pair in pairs if (buckets[row[pair[0]]] == buckets[row[pair[1]]]).any()}

    async def _members(self) -> dict[str, str]:
        found = await self._compacted(self._pipeline.members_topic)
        members = {key.decode(): value["cluster"] for key, value in found.items()}
        self._say("members are not live", sorted(members.keys() - (self._live.keys() - self._expired)))
        live = [one for one in self._live.values() if one.id not in self._expired]
        for pair in sorted(self._candidates(self._true_pairs(live), live)):
            if members.get(pair[0]) is None or members.get(pair[0]) != members.get(pair[1]):
                self._say("live pairs share no cluster", [pair])
        component = {id: number for number, group in enumerate(components_of(self._once)) for id in group}
        by_cluster = defaultdict[str, set[int]](set)
        for id, cluster in members.items():
            by_cluster[cluster].add(component.get(id, -1))
        self._say("clusters join what never was connected", [one for one, of in by_cluster.items() if len(of) > 1])
        self._verdict.members = len(members)
        return members

    async def _tables(self) -> None:
        """The live documents are in the changelogs, with their newest texts."""
        state, stored = self._state(), dict[str, str | None]()
        for partition in range(self._pipeline.partitions):
            state.documents.own(partition)
            await self._recover(state, "documents", partition)
            table = state.documents[partition].table
            table.expire(self._horizon)
            rows = table.snapshot(bands=1)
            stored |= {rows.ids[row]: rows.texts[row] for row in np.flatnonzero(rows.live).tolist()}
        wanted = {id: one.text for id, one in self._live.items() if id not in self._expired}
        differing = [
            f"{id}: {stored.get(id, 'nothing')!a:.40}, expected {wanted.get(id, 'nothing')!a:.40}"
            for id in _differing(wanted, stored)
        ]
        self._say("live documents differ in their changelog", differing)

    async def _published_as_settled(self, pairs: Pairs, members: Mapping[str, str]) -> None:
        state = self._state()
        state.ledger.own(0)
        await self._recover(state, "ledger", 0)
        snapshot = state.ledger[0].settler.ledger.snapshot()
        lost = [
            (pair.left, pair.right) for pair in snapshot.pairs if pairs.get((pair.left, pair.right)) != pair.similarity
        ]
        self._say("pairs of the ledger are not published as they are", lost)
        clusters = {node.id: node.cluster for node in snapshot.nodes}
        self._say("members differ between the ledger and what is published", _differing(clusters, members))


def _sharing(sets: Sequence[U64], times: Sequence[int], limit: int) -> Iterator[tuple[int, int, int]]:
    """All pairs of sets that have something in common and are not further apart in time, and how much."""
    holders = defaultdict[int, deque[int]](deque)
    for number in sorted(range(len(sets)), key=times.__getitem__):
        common, oldest = Counter[int](), times[number] - limit
        for shingle in sets[number].tolist():
            held = holders[shingle]
            while held and times[held[0]] < oldest:
                held.popleft()
            common.update(held)
            held.append(number)
        for other, shared in common.items():
            yield other, number, shared


def _differing(wanted: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    return sorted(key for key in wanted.keys() | found.keys() if wanted.get(key) != found.get(key))
