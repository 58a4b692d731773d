"""`POST /v1/pipelines/{pipeline}/similar`: the stored documents that are similar to one that is not stored.

    probe     the owners of its buckets return candidates
    compare   the owners of the candidates return the exact similarities

Queries have their own comparer, so they do not displace the sets that the agents need.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from stream_lsh.arrays import I64, Bools
from stream_lsh.ledger.edges import Edges, concatenated
from stream_lsh.model import MAX_OFFSET, make_ref, ref_partitions
from stream_lsh.pipeline.batches import BandsFrame, EdgesFrame, Verifications, VerificationsFrame
from stream_lsh.pipeline.compare import Comparer, Criteria
from stream_lsh.pipeline.similar import Found, Query, merged, probe
from stream_lsh.pipeline.verify import verify_in_steps
from stream_lsh.wire.frames import decode_bands, decode_edges, decode_verifications, encode
from stream_lsh.wire.hits import decode_hits, encode_hits
from stream_lsh.wire.route import bucket_partitions, verifications_by_partition
from stream_lsh.worker.query.distributed.peers import Asked, Body, Gathered
from stream_lsh.worker.query.distributed.steps import Part, Step, Steps
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.http.server import Answer, Handler, Request
from stream_lsh.worker.query.resources.asked_document import Wanted, signed_query, wanted
from stream_lsh.worker.query.resources.resource import Context, Resource
from stream_lsh.worker.state.pipeline_state import PipelineState

NEAR_SHARE = 0.75
"""The least similarity of a near miss, as a share of the threshold."""
_PAIRS = 32
"""Pairs that are compared in one turn of the loop."""
_MOST_SETS = 4_096
"""Documents that a comparer remembers between queries."""
_FIRST_REF = make_ref(0xFFFF, 0)
"""Refs of queries while they are compared; no partition of a source has this number."""


class SimilarDocuments(Resource):
    """Finds similar documents."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._comparers: dict[str, Comparer] = {}
        self._numbers = count()

    def handlers(self) -> Mapping[str, Handler]:
        """The only one."""
        return {"similar": self.similar}

    def steps(self) -> Steps:
        """Probe, and compare with or without the retention, or with a lower threshold."""
        return {
            "probe": Step("buckets", self._probe),
            "compare": Step("documents", self._compare),
            "compare-any-time": Step("documents", self._compare_any_time),
            "compare-below": Step("documents", self._compare_below),
        }

    # -- the process that is asked

    async def similar(self, request: Request) -> Answer:
        """The matches of a document, best first."""
        state = self.context.pipeline(request)
        query = wanted(request.body, state)
        signed = signed_query(query, state)
        candidates, found = Gathered(), Gathered()
        compared, capped, edges = 0, False, list[Edges]()
        if signed is not None:
            candidates, hits = await self._candidates(state, request, query, signed)
            capped = hits.capped
            if len(hits):
                found, edges = await self._compared(state, request, query, signed, hits)
                sources = ref_partitions(hits.old)
                compared = len(hits) - int(_among(sources, found.missing, state.partitions).sum())
        missing = {"buckets": candidates.missing, "documents": found.missing}
        missing = {table: absent for table, absent in missing.items() if absent}
        return Answer(
            {
                "matches": _matches(state, query, edges),
                "compared": compared,
                "capped": capped,
                "complete": not missing,
                "missing": missing,
                "lag": candidates.lag + found.lag,
            }
        )

    async def _candidates(
        self, state: PipelineState, request: Request, query: Wanted, signed: Query
    ) -> tuple[Gathered, Found]:
        places, body = probe_of(state, signed)
        asked = Asked(state, "probe", places.tolist(), body, request, query.partial, query.stale)
        gathered = await self.context.peers.gather(asked)
        parts = [decode_hits(answer, state.fingerprint) for _, answer in gathered.answers]
        return gathered, merged(parts, state.limits.cap_candidates)

    async def _compared(
        self, state: PipelineState, request: Request, query: Wanted, signed: Query, hits: Found
    ) -> tuple[Gathered, list[Edges]]:
        places, body = comparison_of(state, signed, hits)
        step = "compare-any-time" if signed.time_ms is None else "compare"
        asked = Asked(state, step, places.tolist(), body, request, query.partial, query.stale)
        gathered = await self.context.peers.gather(asked)
        frames = [decode_edges(answer, state.fingerprint) for _, answer in gathered.answers]
        return gathered, [frame.edges for frame in frames if frame.edges is not None]

    # -- the processes that have the states

    async def _probe(self, part: Part) -> bytes:
        """The candidates in the buckets of these partitions."""
        fingerprint = part.state.fingerprint
        postings = decode_bands(part.body, fingerprint).postings
        if postings is None:
            raise Problem("malformed", "got no buckets")
        places, states = bucket_partitions(postings.buckets, part.state.partitions), part.states()
        found = [probe(state.table, postings.buckets[places == partition]) for partition, state in states.items()]
        return encode_hits(merged(found, part.state.limits.cap_candidates), fingerprint)

    async def _compare(self, part: Part) -> bytes:
        """The pairs that are similar, within the retention."""
        return await self._edges(part, part.state.criteria)

    async def _compare_any_time(self, part: Part) -> bytes:
        """The pairs that are similar, whatever their times."""
        return await self._edges(part, replace(part.state.criteria, retention_ms=None))

    async def _compare_below(self, part: Part) -> bytes:
        """The pairs that are similar or nearly so, whatever their times, with the metadata of the stored documents."""
        criteria = part.state.scheme.criteria(NEAR_SHARE * part.state.criteria.threshold, None)
        return await self._edges(part, criteria, described=True)

    async def _edges(self, part: Part, criteria: Criteria, *, described: bool = False) -> bytes:
        state = part.state
        asked = decode_verifications(part.body, state.fingerprint, state.max_message_bytes).verifications
        if asked is None or asked.refs.size != 1:
            raise Problem("malformed", "got something else, expected one document to compare")
        # Several queries take turns in one comparer, which remembers sets by refs.
        ref = _FIRST_REF + next(self._numbers) % MAX_OFFSET
        asked, comparer = replace(asked, refs=np.array([ref], np.uint64)), self._comparer(state)
        try:
            found = [edges async for edges in _compared(part, asked, comparer, criteria)]
        finally:
            comparer.forget(ref)
        if not described:
            found = [_bare(edges) for edges in found]
        return encode(EdgesFrame(edges=concatenated(found) if found else None), state.fingerprint)

    def _comparer(self, state: PipelineState) -> Comparer:
        """The comparer of the queries of a pipeline; a new one if it remembers many documents."""
        comparer = self._comparers.get(state.config.name)
        if comparer is None or len(comparer) > _MOST_SETS:
            comparer = self._comparers[state.config.name] = state.scheme.comparer()
        return comparer


def probe_of(state: PipelineState, query: Query) -> tuple[I64, Body]:
    """The partition of each bucket of a query, and the body of `probe` for some partitions."""
    places = bucket_partitions(query.buckets, state.partitions)

    def body(partitions: Sequence[int]) -> bytes:
        buckets = query.buckets[_among(places, partitions, state.partitions)]
        return encode(BandsFrame(postings=replace(query, buckets=buckets).postings), state.fingerprint)

    return places, body


def comparison_of(state: PipelineState, query: Query, hits: Found) -> tuple[I64, Body]:
    """The partition of each candidate of a query, and the body of the comparisons for some partitions."""
    places = ref_partitions(hits.old)

    def body(partitions: Sequence[int]) -> bytes:
        verifications = query.against(hits.old[_among(places, partitions, state.partitions)])
        return encode(VerificationsFrame(verifications), state.fingerprint)

    return places, body


async def _compared(part: Part, asked: Verifications, comparer: Comparer, criteria: Criteria) -> AsyncIterator[Edges]:
    """The edges of pairs, with other work of the loop between two steps."""
    for partition, some in enumerate(verifications_by_partition(asked, part.state.partitions)):
        if some is None:
            continue
        table = part.states()[partition].table
        for edges in verify_in_steps(some, table, criteria, comparer, _PAIRS):
            if edges is not None:
                yield edges
            await asyncio.sleep(0)
            if part.states()[partition].table is not table:
                raise Problem("not-now", "the partition has been assigned again")


def _among(places: I64, partitions: Sequence[int], count: int) -> Bools:
    """Which places are one of the partitions, of `count` in all: bool[n]."""
    among = np.zeros(count, np.bool_)
    among[list(partitions)] = True
    return among[places]


def _bare(edges: Edges) -> Edges:
    """The edges without the metadata of documents, which an answer does not have."""
    return replace(edges, left=replace(edges.left, abouts=()), right=replace(edges.right, abouts=()))


def _matches(state: PipelineState, query: Wanted, edges: Sequence[Edges]) -> list[dict[str, Any]]:
    """The best matches at or above the threshold."""
    if not edges:
        return []
    found = concatenated(edges)
    if query.threshold > state.config.kind.least:
        found = found.only(found.similarity >= query.threshold)
    return state.config.kind.queries(state.config.fields).matches(found)[: query.limit]
