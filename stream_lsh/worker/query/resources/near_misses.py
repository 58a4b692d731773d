"""Near misses of a cluster: stored documents outside it whose similarity to a member is just below the threshold.

The ledger does not store such pairs, so they are computed when they are asked for, by the steps of `similar` with a
lower threshold, for a few members.  Documents that share no band with these members are not found.

    contents        the owners of the documents return the texts of the members
    probe           as in `similar`
    compare-below   the same comparison with the lower threshold
    clusters-of     the owner of the ledger returns the clusters of what was found
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from stream_lsh.model import in_full
from stream_lsh.pipeline.similar import merged, signed
from stream_lsh.wire.frames import decode_edges
from stream_lsh.wire.hits import decode_hits
from stream_lsh.worker.query.distributed.peers import Asked, Body, Peers
from stream_lsh.worker.query.distributed.standing import table_partitions
from stream_lsh.worker.query.distributed.steps import Part
from stream_lsh.worker.query.http.server import Request
from stream_lsh.worker.query.resources.pairs import contents_of
from stream_lsh.worker.query.resources.similar import NEAR_SHARE, comparison_of, probe_of
from stream_lsh.worker.state.pipeline_state import PipelineState

MOST_COMPARED = 3
"""Members whose near misses are computed: the representative, the newest and the oldest one."""


class NearMisses:
    """The search for near misses.

    Args:
        peers: the processes of the application.
        state: of the pipeline.
        request: of the client.
    """

    def __init__(self, peers: Peers, state: PipelineState, request: Request) -> None:
        self._peers, self._state, self._request = peers, state, request
        self._stale = request.found.query["stale"] == "allow"

    async def of(self, cluster: Mapping[str, Any], limit: int) -> dict[str, Any]:
        """The near misses of a cluster with its members, most similar first.

        Cost: that of `MOST_COMPARED` queries for similar documents.
        """
        members = [member["id"] for member in cluster["members"]]
        chosen = [*dict.fromkeys([cluster["representative"], *members[-1:], *members[:1]])][:MOST_COMPARED]
        found = dict[str, dict[str, Any]]()
        texts = await self._texts(chosen)
        for member, text in texts.items():
            for other, similarity, about in await self._below(text):
                if other not in found or found[other]["similarity"] < similarity:
                    metadata = self._state.results.metadata(about)
                    found[other] = {"id": other, "similarity": similarity, "partner": member, **metadata}
        clusters = await self._clusters([*found])
        near = [one | {"cluster": clusters[id]} for id, one in found.items() if clusters[id] != cluster["cluster"]]
        near.sort(key=lambda one: (-one["similarity"], one["id"]))
        threshold = self._state.criteria.threshold
        return {"from": NEAR_SHARE * threshold, "below": threshold, "compared": [*texts], "documents": near[:limit]}

    async def _texts(self, ids: Sequence[str]) -> dict[str, str]:
        """The texts of the members that are stored."""
        found = contents_of(await self._gathered("contents", "documents", msgspec.json.encode(ids)))
        return {id: text for id in ids if id in found and (text := found[id][0]) is not None}

    async def _below(self, text: str) -> list[tuple[str, float, Any]]:
        """Id, similarity and description of the documents whose similarity to a text is just below the threshold."""
        state, query = self._state, signed(self._state.scheme, text)
        if query is None:
            return []
        places, body = probe_of(state, query)
        answers = await self._run("probe", places.tolist(), body)
        hits = merged([decode_hits(answer, state.fingerprint) for answer in answers], state.limits.cap_candidates)
        if not len(hits):
            return []
        places, body = comparison_of(state, query, hits)
        found = list[tuple[str, float, Any]]()
        for answer in await self._run("compare-below", places.tolist(), body):
            edges = decode_edges(answer, state.fingerprint).edges
            if edges is not None:
                abouts = in_full(edges.right.abouts, len(edges.right.ids))
                found += zip(edges.right.ids, edges.similarity.tolist(), abouts, strict=True)
        return [one for one in found if one[1] < state.criteria.threshold]

    async def _clusters(self, ids: Sequence[str]) -> dict[str, str | None]:
        (answer,) = await self._gathered("clusters-of", "ledger", msgspec.json.encode(ids))
        return msgspec.json.decode(answer, type=dict[str, str | None])

    async def _gathered(self, step: str, table: str, body: bytes) -> list[bytes]:
        return await self._run(step, table_partitions(self._state, table), lambda _: body)

    async def _run(self, step: str, partitions: Sequence[int], body: Body) -> list[bytes]:
        asked = Asked(self._state, step, partitions, body, self._request, stale=self._stale)
        return [answer for _, answer in (await self._peers.gather(asked)).answers]


async def clusters_of(part: Part) -> bytes:
    """The published cluster of each id, null without one."""
    ledger = part.ledger()
    found = {id: ledger.published_cluster_of(id) for id in msgspec.json.decode(part.body, type=list[str])}
    return msgspec.json.encode(found)
