"""Finds missing, wrong and stale results once the pipeline is at rest.

The public topics and every changelog are compared with the in-memory pipeline on the remaining documents.
"""

import asyncio
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from faust.types import TP

from stream_lsh.config import Config
from stream_lsh.config.model import PipelineConfig
from stream_lsh.errors import StreamLSHError
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.model import Document, make_ref
from stream_lsh.pipeline.local import BATCH, LocalPipeline
from stream_lsh.wire.route import bucket_partitions
from stream_lsh.worker.clients.audit import messages_under_way
from stream_lsh.worker.clients.health import read_topics
from stream_lsh.worker.clients.topic_reader import admin_of, bounds, committed_offsets, newest, partitions_of, records
from stream_lsh.worker.engine.topics.required import find_topics
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.kafka.truth import Pairs, Truth, components_of
from tests.patience import PATIENCE
from tests.simulation.drivers.tables import postings_of

_STILL_TWICE_SECONDS = 2.0


@dataclass(slots=True)
class Verdict:
    """The findings of the checker.

    Attributes:
        missing: pairs that are true and not published.
        wrong: pairs that never were true.
        stale: pairs that are true no more.
        others: everything else that is not as it must be.
        at_fault: the pairs of the first three.
    """

    pairs: int = 0
    members: int = 0
    documents: int = 0
    missing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    at_fault: list[tuple[str, str]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """The lines of the report."""
        yield (
            f"{self.documents} documents are live, {self.pairs} pairs and {self.members} members are published: "
            f"{len(self.missing)} pairs missing, {len(self.wrong)} wrong, {len(self.stale)} stale, "
            f"{len(self.others)} other faults"
        )
        for name in ("missing", "wrong", "stale", "others"):
            for finding in getattr(self, name)[:10]:
                yield f"{name}: {finding}"

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not (self.missing or self.wrong or self.stale or self.others)


async def still(config: Config, seconds: float) -> int:
    """Wait until nothing is under way any more, or so long without progress; how many messages still are."""
    end, quiet = time.monotonic() + seconds, 0
    waiting, fewest = -1, math.inf
    while quiet < 2 and time.monotonic() < end:
        await asyncio.sleep(_STILL_TWICE_SECONDS)
        try:
            async with asyncio.timeout(PATIENCE), admin_of(config.kafka) as admin:
                found, _ = await find_topics(admin, [name for one in config.pipelines for name in read_topics(one)])
                offsets = await committed_offsets(admin, config.worker.app_id)
            under_way = [await messages_under_way(config, one, found, offsets or {}) for one in config.pipelines]
            waiting = sum(under_way)
            if waiting < fewest:
                end, fewest = time.monotonic() + seconds, waiting
        except (StreamLSHError, TimeoutError):
            waiting = -1
        quiet = quiet + 1 if waiting == 0 else 0
    return waiting


class Checker:
    """Compares what there is with what there has to be.

    Args:
        config: with addresses of the brokers themselves.
        pipeline: whose results they are.
        stream: everything that was fed, in its order.
    """

    def __init__(self, config: Config, pipeline: PipelineConfig, stream: Sequence[Document]) -> None:
        self._config, self._pipeline, self._stream = config, pipeline, stream
        self._times = defaultdict[str, int](int)
        self._live: dict[str, Document] = {}
        for document in stream:
            self._times[document.id] += 1
            self._live.pop(document.id, None)
            if document.text is not None:
                self._live[document.id] = document
        self._verdict = Verdict(documents=len(self._live))

    async def check(self) -> Verdict:
        """Read everything and compare it; nothing may move any more."""
        await self._check()
        return self._verdict

    async def _check(self) -> None:
        refs = await self._source()
        pairs, members = await self._matches(), await self._members()
        await self._clusters(members)
        await self._documents_and_buckets(refs)
        await self._ledger(pairs, members)

    def _say(self, what: str, cases: Sequence[object]) -> None:
        if cases:
            self._verdict.others.append(f"{len(cases)} {what}: {', '.join(map(str, list(cases)[:3]))}")

    # -- what was fed

    async def _source(self) -> dict[str, set[int]]:
        """The refs of each live document under which its text was sent, once the sources hold what was fed.

        The intake topic, which gives the refs of a pipeline that is rekeyed, has been trimmed: there are none then.
        """
        rekey, stored = self._pipeline.rekey, dict[str, str]()
        sent: dict[str, set[int]] = defaultdict(set)
        for topic in self._pipeline.sources:
            begins, ends = await self._bounds(topic)
            async for chunk in records(self._config.kafka, begins, ends):
                for record in chunk:
                    document = self._pipeline.document(record.value, record.key, record.timestamp, keyed=not rekey)
                    stored.pop(document.id, None)
                    if document.text is not None:
                        stored[document.id] = document.text
                    if document.id in self._live and document.text == self._live[document.id].text:
                        sent[document.id].add(make_ref(record.partition, record.offset))
        wanted = {one.id: one.text for one in self._live.values()}
        self._say("documents differ in the source: the feed or the cluster is at fault", _differing(wanted, stored))
        return {} if rekey else sent

    # -- what is published

    async def _matches(self) -> Pairs:
        pairs = await self._published_pairs()
        documents = list(self._live.values())
        wanted = await asyncio.to_thread(self._wanted, documents)
        truth = Truth(wanted, documents, as_kind(self._pipeline.kind, TextKind).scheme(), self._pipeline.kind.least)
        for pair in sorted(wanted.keys() - pairs.keys()):
            self._verdict.missing.append(f"{pair} {wanted[pair]}")
            self._verdict.at_fault.append(pair)
        for pair, similarity in sorted(pairs.items()):
            exact = truth.similarity(*pair)
            if similarity != exact or exact < self._pipeline.kind.least:
                changed = any(self._times[one] > 1 for one in pair)
                found = self._verdict.stale if changed else self._verdict.wrong
                found.append(f"{pair} {similarity}, not {exact}")
                self._verdict.at_fault.append(pair)
        self._verdict.pairs = len(pairs)
        return pairs

    async def _published_pairs(self) -> Pairs:
        found = await self._compacted(self._pipeline.matches_topic)
        return {(value["left"], value["right"]): value["similarity"] for value in found.values()}

    def _wanted(self, documents: Sequence[Document]) -> Pairs:
        chain = LocalPipeline(self._pipeline.kind.scheme(), self._pipeline.kind.least, self._pipeline.limits())
        for start in range(0, len(documents), BATCH):
            chain.process(documents[start : start + BATCH])
        return {(pair.left, pair.right): pair.similarity for pair in chain.settler.ledger.snapshot().pairs}

    async def _members(self) -> dict[str, str]:
        found = await self._compacted(self._pipeline.members_topic)
        members = {key.decode(): value["cluster"] for key, value in found.items()}
        published = await self._compacted(self._pipeline.matches_topic)
        components = components_of([tuple(json.loads(key)) for key in published])
        groups = _groups(members)
        self._say("groups are missing", sorted(map(sorted, components - groups)))
        self._say("groups are wrong", sorted(map(sorted, groups - components)))
        self._verdict.members = len(members)
        return members

    async def _clusters(self, members: dict[str, str]) -> None:
        found = await self._compacted(self._pipeline.clusters_topic)
        published = {key.decode(): (value["size"], set(value["members"])) for key, value in found.items()}
        by_cluster: dict[str, set[str]] = defaultdict(set)
        for one, cluster in members.items():
            by_cluster[cluster].add(one)
        self._say("clusters have no members", sorted(published.keys() - by_cluster.keys()))
        self._say("clusters are missing", sorted(by_cluster.keys() - published.keys()))
        wrong = [
            cluster
            for cluster in published.keys() & by_cluster.keys()
            if published[cluster][0] != len(by_cluster[cluster]) or not published[cluster][1] <= by_cluster[cluster]
        ]
        self._say("clusters name others than their members", sorted(wrong))

    # -- what a recovery would read

    async def _documents_and_buckets(self, sent: dict[str, set[int]]) -> None:
        state, stored = self._state(), dict[str, str]()
        refs, texts = list[int](), list[str]()
        for partition in range(self._pipeline.partitions):
            state.documents.own(partition)
            state.buckets.own(partition)
            await self._recover(state, "documents", partition)
            await self._recover(state, "buckets", partition)
            rows = state.documents[partition].table.snapshot(bands=1)
            for row in np.flatnonzero(rows.live).tolist():
                one, ref = rows.ids[row], int(rows.refs[row])
                stored[one] = rows.texts[row]
                refs.append(ref)
                texts.append(rows.texts[row])
                if sent and ref not in sent[one]:
                    self._verdict.others.append(f"documents: {one} is stored as {ref:x}, sent as {sent[one]}")
        wanted = {one.id: one.text for one in self._live.values()}
        self._say("documents differ in their changelog", _differing(wanted, stored))
        await asyncio.to_thread(self._compare_buckets, state, refs, texts)

    def _compare_buckets(self, state: PipelineState, refs: Sequence[int], texts: Sequence[str]) -> None:
        scheme, wanted = self._pipeline.kind.scheme(), list[tuple[int, int]]()
        for start in range(0, len(refs), BATCH):
            buckets = scheme.buckets(scheme.sign(texts[start : start + BATCH]))
            for ref, of_ref in zip(refs[start : start + BATCH], buckets.tolist(), strict=True):
                wanted += [(bucket, ref) for bucket in of_ref if any(of_ref)]
        places = bucket_partitions(np.array([bucket for bucket, _ in wanted], np.uint64), self._pipeline.partitions)
        for partition in range(self._pipeline.partitions):
            here = {one for one, place in zip(wanted, places.tolist(), strict=True) if place == partition}
            found = postings_of(state.buckets[partition].table, set(refs))
            self._say(f"postings lack in the changelog of buckets {partition}", sorted(here - set(found)))
            self._say(f"postings are too many in the changelog of buckets {partition}", sorted(set(found) - here))
            self._say(f"postings are twice in buckets {partition}", [1] * (len(found) - len(set(found))))

    async def _ledger(self, pairs: Pairs, members: dict[str, str]) -> None:
        state = self._state()
        state.ledger.own(0)
        await self._recover(state, "ledger", 0)
        snapshot = state.ledger[0].settler.ledger.snapshot()
        found = {(pair.left, pair.right): pair.similarity for pair in snapshot.pairs}
        self._say("pairs differ between the ledger's changelog and what is published", _differing(found, pairs))
        clusters = {node.id: node.cluster for node in snapshot.nodes}
        self._say("members differ between the ledger's changelog and what is published", _differing(clusters, members))

    def _state(self) -> PipelineState:
        return PipelineState(self._pipeline, self._pipeline.partitions)

    async def _recover(self, state: PipelineState, table: str, partition: int) -> None:
        states, topic = getattr(state, table), self._pipeline.changelog_topic(table)
        begins, ends = await self._bounds(topic)
        chosen = {tp for tp in ends if tp.partition == partition}
        async for chunk in records(
            self._config.kafka, {tp: begins[tp] for tp in chosen}, {tp: ends[tp] for tp in chosen}
        ):
            for record in chunk:
                states.recover(partition, record.value, record.offset)
        if states.failure is not None:
            self._verdict.others.append(f"{topic}: {states.failure}")
            states.failure = None

    # -- reading

    async def _bounds(self, topic: str) -> tuple[dict[TP, int], dict[TP, int]]:
        async with admin_of(self._config.kafka) as admin:
            found, _ = await find_topics(admin, [topic])
        return await bounds(self._config.kafka, partitions_of(topic, found[topic].partitions))

    async def _compacted(self, topic: str) -> dict[bytes, dict[str, Any]]:
        begins, ends = await self._bounds(topic)
        found = await newest(self._config.kafka, begins, ends)
        return {key: json.loads(record.value) for key, record in found.items() if record.value is not None}


def _differing(wanted: Mapping[Any, Any], found: Mapping[Any, Any]) -> list[Any]:
    return [key for key in wanted.keys() | found.keys() if wanted.get(key) != found.get(key)]


def _groups(members: dict[str, str]) -> set[frozenset[str]]:
    groups: dict[str, set[str]] = defaultdict(set)
    for one, cluster in members.items():
        groups[cluster].add(one)
    return {frozenset(group) for group in groups.values()}
