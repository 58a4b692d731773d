"""Look-ups: a document, a cluster, an entity, and pages of clusters, entities, reviews and mirrors.

The owner of the ledger answers, and for a document also the owners of the documents: the partition of an id is known to
its producer only, so all of them are asked.
"""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from stream_lsh.kinds.results import public_values
from stream_lsh.ledger import views
from stream_lsh.ledger.changes import ClusterChange, LedgerChanges, MatchChange, MirrorChange, Settled
from stream_lsh.ledger.cluster_history import ClusterHistory
from stream_lsh.ledger.clusters.ids import Cluster
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.ledger.views import ClusterFilter, ClusterOrder, Page, Selection, SortKey
from stream_lsh.model import in_full
from stream_lsh.wire.public import as_json
from stream_lsh.worker.query.distributed.peers import Asked, Gathered
from stream_lsh.worker.query.distributed.standing import table_partitions
from stream_lsh.worker.query.distributed.steps import Part, Step, Steps
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.http.server import Answer, Handler, Request
from stream_lsh.worker.query.resources.event_stream import topics_of
from stream_lsh.worker.query.resources.near_misses import NearMisses, clusters_of
from stream_lsh.worker.query.resources.resource import Resource
from stream_lsh.worker.state.pipeline_state import PipelineState

GROWTH_MS = 3_600_000
"""The span of event time, up to that of the newest document, in which `grew` counts new members."""

_DESCRIBED = 20
"""Clusters or members that are described in one turn of the loop."""
_LINKED, _OUTSIDE = 40, 10
"""The members of a cluster whose pairs are listed, and the number of pairs with other clusters."""

Find = Callable[[Part, dict[str, Any]], Awaitable[dict[str, Any]]]
"""A look-up in the ledger of a part, with its argument."""


class Lookups(Resource):
    """Look-ups of ids, and lists."""

    async def start(self) -> None:
        """Let the ledgers keep the latest events of their clusters from now on."""
        for state in self.context.pipelines.values():
            state.keeps_history = True

    def handlers(self) -> Mapping[str, Handler]:
        """One for each route."""
        return {
            "document": self.document,
            "clusters": self.clusters,
            "cluster": self.cluster,
            "entities": self.clusters,
            "entity": self.cluster,
            "reviews": self.reviews,
            "mirrors": self.mirrors,
        }

    def steps(self) -> Steps:
        """The look-ups in the ledger and in the documents."""
        of_ledger: Mapping[str, Find] = {
            "pairs-of": _pairs_of,
            "list-clusters": _list_clusters,
            "describe-cluster": _describe_cluster,
            "list-reviews": _list_reviews,
            "list-mirrors": _list_mirrors,
        }
        steps = {name: Step("ledger", _in_json(find)) for name, find in of_ledger.items()}
        of_documents = {"version": Step("documents", _in_json(_version))}
        return steps | of_documents | {"clusters-of": Step("ledger", clusters_of)}

    # -- the process that is asked

    async def document(self, request: Request) -> Answer:
        """A document: whether it is live, its cluster, and a page of its matches."""
        state, query = self.context.pipeline(request), request.found.query
        id = request.found.path["id"]
        argument = {"id": id, "limit": query["limit"], "after": _key_of(query["after"])}
        known, ledger = await asyncio.gather(
            self._ask(state, "documents", "version", request, {"id": id}),
            self._ask(state, "ledger", "pairs-of", request, argument),
        )
        versions = [found for found in _values(known) if found]
        (found,) = _values(ledger)
        version = max(versions, key=lambda one: (one["live"], one["time"]), default=None)
        if version is None and found["cluster"] is None:
            raise Problem("unknown-id", f"got {id!a:.60}, which no document of this pipeline has")
        about = version or {"live": False, "time": None}
        return _answer({"id": id, **about, **found}, known, ledger)

    async def clusters(self, request: Request) -> Answer:
        """A page of clusters, stories or entities."""
        state, query = self._clustered(request), dict(request.found.query)
        query["after"] = _key_of(query["after"])
        return await self._of_ledger(state, "list-clusters", request, query)

    async def cluster(self, request: Request) -> Answer:
        """A cluster, story or entity, and a page of its members."""
        state, query = self._clustered(request), request.found.query
        id = request.found.path["id"]
        answer = await self._of_ledger(state, "describe-cluster", request, {"id": id, **query})
        if "closed" in answer.value:
            into = answer.value["into"]
            raise Problem("closed", f"the {_group(state)} {id!a:.60} is closed", into=into)
        if query.get("near"):
            near = NearMisses(self.context.peers, state, request)
            answer.value["near_misses"] = await near.of(answer.value, query["near"])
        return answer

    async def reviews(self, request: Request) -> Answer:
        """A page of pairs for review."""
        state, query = self._with_topic(request, "reviews"), dict(request.found.query)
        query["after"] = _key_of(query["after"])
        return await self._of_ledger(state, "list-reviews", request, query)

    async def mirrors(self, request: Request) -> Answer:
        """A page of pairs of sites that mirror each other."""
        state = self._with_topic(request, "mirror_sites")
        return await self._of_ledger(state, "list-mirrors", request, dict(request.found.query))

    def _with_topic(self, request: Request, key: str) -> PipelineState:
        """The pipeline of a request; raises Problem if it publishes no results of this kind."""
        state = self.context.pipeline(request)
        if key not in state.config.public_topics:
            wanted, types = key.replace("_", "-"), ", ".join(topics_of(state))
            raise Problem("wrong-kind", f"got a pipeline that publishes {types}, expected one that publishes {wanted}")
        return state

    def _clustered(self, request: Request) -> PipelineState:
        """The pipeline of a request for clusters or entities; raises Problem if its groups have the other name."""
        state, path = self.context.pipeline(request), request.found.route.template
        if f"/{state.config.kind.clusters}" not in path:
            kind, groups = state.config.kind.name, state.config.kind.clusters
            raise Problem("wrong-kind", f"got a pipeline of kind {kind}, which has {groups}: use /{groups}")
        return state

    async def _of_ledger(self, state: PipelineState, step: str, request: Request, argument: dict[str, Any]) -> Answer:
        gathered = await self._ask(state, "ledger", step, request, argument)
        (found,) = _values(gathered)
        return _answer(found, gathered)

    async def _ask(
        self, state: PipelineState, table: str, step: str, request: Request, argument: dict[str, Any]
    ) -> Gathered:
        body = msgspec.json.encode(argument)
        stale = request.found.query["stale"] == "allow"
        asked = Asked(state, step, table_partitions(state, table), lambda _: body, request, stale=stale)
        return await self.context.peers.gather(asked)


def _values(gathered: Gathered) -> list[dict[str, Any]]:
    return [json.loads(body) for _, body in gathered.answers]


def _answer(value: dict[str, Any], *gathered: Gathered) -> Answer:
    """An answer with the number of messages that it does not include yet."""
    return Answer({**value, "lag": sum(one.lag for one in gathered)})


def _key_of(token: str) -> SortKey | None:
    """The sort key in the token of a page; raises Problem for another text."""
    if not token:
        return None
    try:
        key: SortKey = msgspec.json.decode(base64.urlsafe_b64decode(token.encode()), type=SortKey)
    except (ValueError, msgspec.MsgspecError):
        raise Problem("malformed", f"after: got {token!a:.60}, expected `next` of the previous page") from None
    return key


def _token(page: Page) -> str | None:
    """The token of the next page."""
    return None if page.next is None else base64.urlsafe_b64encode(msgspec.json.encode(page.next)).decode()


# -- the processes that have the states


def _in_json(find: Find) -> Callable[[Part], Awaitable[bytes]]:
    async def run(part: Part) -> bytes:
        return as_json(await find(part, msgspec.json.decode(part.body, type=dict[str, Any])))

    return run


async def _version(part: Part, argument: dict[str, Any]) -> dict[str, Any]:
    """The newest version of an id in these partitions; empty if there is none."""
    known = [
        (version, state.table)
        for state in part.states().values()
        if (version := state.table.version(argument["id"])) is not None
    ]
    if not known:
        return {}
    version, table = max(known, key=lambda one: (one[0].live, one[0].time_ms))
    found = {"live": bool(version.live), "time": int(version.time_ms)}
    if not version.live:
        return found
    (about,) = in_full(table.abouts(np.array([version.row], np.int64)), 1)
    return found | part.state.results.metadata(about)


async def _pairs_of(part: Part, argument: dict[str, Any]) -> dict[str, Any]:
    """The cluster of an id, and a page of its matches."""
    ledger, id, after = part.ledger(), argument["id"], argument["after"]
    matches, page = views.matches_of(ledger, id, argument["limit"], None if after is None else tuple(after))
    return {
        "cluster": ledger.published_cluster_of(id),
        "matches": _public(part.state, matches=matches),
        "total": page.total,
        "next": _token(page),
    }


async def _describe_cluster(part: Part, argument: dict[str, Any]) -> dict[str, Any]:
    """A cluster, and a page of its members; for a closed one, its successor, if any."""
    ledger, id = part.ledger(), argument["id"]
    cluster = _published_cluster(ledger, id)
    if cluster is None:
        if id in ledger.ids.closed:
            return {"closed": True, "into": views.successor(ledger, id)}
        raise Problem("unknown-id", f"got {id!a:.60}, which no {_group(part.state)} of this pipeline has")
    start, limit, now_ms = argument["start"], argument["limit"], views.newest_time(ledger)
    members = list[views.Member]()
    for first in range(start, min(start + limit, len(cluster)), _DESCRIBED):
        members += views.members_of(ledger, cluster, min(_DESCRIBED, start + limit - first), first)
        await _other_work(part)
    if _published_cluster(ledger, id) is not cluster:  # it was merged or split meanwhile
        return await _describe_cluster(part, argument)
    return {
        **_described(part.state, ledger, cluster, now_ms),
        "members": [
            {
                "id": member.id,
                "time": member.time_ms,
                **part.state.results.metadata(member.about),
                "similarity": member.similarity,
                "partner": member.partner,
            }
            for member in members
        ],
        "next": start + limit if start + limit < len(cluster) else None,
        "history": _history(part, id),
        **({"origins": origins} if (origins := views.origins_of(ledger, cluster)) is not None else {}),
        **({"links": _links(ledger, cluster)} if len(cluster) <= _LINKED else {}),
    }


def _group(state: PipelineState) -> str:
    """The name of a cluster of the pipeline, for messages."""
    return "entity" if state.config.kind.clusters == "entities" else "cluster"


def _published_cluster(ledger: Ledger, id: str) -> Cluster | None:
    """The live cluster with an id, if it is large enough to be published."""
    cluster = ledger.ids.live.get(id)
    return None if cluster is None or len(cluster) < ledger.least_published else cluster


def _links(ledger: Ledger, cluster: Cluster) -> dict[str, Any]:
    """The pairs of the members of a small cluster."""
    links, names = views.links_of(ledger, cluster, _OUTSIDE), ("id", "partner", "cluster", "similarity")
    outside = [dict(zip(names, link, strict=True)) for link in links.outside]
    return {"inside": links.inside, "outside": outside}


def _history(part: Part, id: str) -> dict[str, Any]:
    """The latest events of a cluster: none where the ledger is only followed."""
    (state,) = part.states().values()
    history: ClusterHistory = state.history
    events = [
        {"time": event.time_ms, "event": event.event, "size": event.size, "changes": event.changes}
        | ({"merged_from": event.merged_from} if event.merged_from else {})
        | ({"split_from": event.split_from} if event.split_from else {})
        for event in history.of(id)
    ]
    return {"since": history.since_ms, "events": events}


async def _list_clusters(part: Part, argument: dict[str, Any]) -> dict[str, Any]:
    """A page of clusters."""
    ledger = part.ledger()
    now_ms = views.newest_time(ledger)
    order = ClusterOrder(argument["sort"], now_ms - GROWTH_MS)
    filter = ClusterFilter(
        argument["least_size"], argument["least_sources"], argument["since"] or None, argument["text"]
    )
    after = argument["after"] and tuple(argument["after"])
    page = await _selected(part, views.select_clusters(ledger, order, filter, argument["limit"], after))
    described = list[dict[str, Any]]()
    for number, (_, id, _) in enumerate(page.keys, 1):
        if id in ledger.ids.live:
            described.append(_described(part.state, ledger, ledger.ids.live[id], now_ms))
        if number % _DESCRIBED == 0:
            await _other_work(part)
    return {
        part.state.config.kind.clusters: described,
        "total": page.total,
        "next": _token(page),
    }


async def _list_reviews(part: Part, argument: dict[str, Any]) -> dict[str, Any]:
    """A page of pairs for review."""
    ledger, after = part.ledger(), argument["after"] and tuple(argument["after"])
    newest_first = argument["sort"] == "newest"
    page = await _selected(part, views.select_reviews(ledger, argument["limit"], after, newest_first=newest_first))
    pairs = [views.pair_of(ledger, left, right) for _, left, right in page.keys]
    return {
        "reviews": _public(part.state, reviews=[pair for pair in pairs if pair is not None]),
        "total": page.total,
        "next": _token(page),
    }


async def _list_mirrors(part: Part, argument: dict[str, Any]) -> dict[str, Any]:
    """A page of pairs of sites."""
    found = views.mirrors(part.ledger(), argument["site"])
    start, limit = argument["start"], argument["limit"]
    return {
        "mirrors": _public(part.state, mirror_sites=found[start : start + limit]),
        "total": len(found),
        "next": start + limit if start + limit < len(found) else None,
    }


async def _selected(part: Part, selection: Selection) -> Page:
    """The page of a selection; the loop does other work between the slices."""
    while True:
        try:
            next(selection)
        except StopIteration as end:
            page: Page = end.value
            return page
        await _other_work(part)


async def _other_work(part: Part) -> None:
    """Let other work of the loop run."""
    await asyncio.sleep(0)
    part.states()  # a rebalance may have dropped the ledger


def _described(state: PipelineState, ledger: Ledger, cluster: Cluster, now_ms: int) -> dict[str, Any]:
    """A cluster as on its topic, without its members and with its growth."""
    (value,) = _public(state, clusters=[views.cluster_view(ledger, cluster)])
    value.pop("members")
    return value | {"grew": views.grown(ledger, cluster, now_ms - GROWTH_MS)}


def _public(
    state: PipelineState,
    *,
    matches: list[MatchChange] | None = None,
    reviews: list[MatchChange] | None = None,
    clusters: list[ClusterChange] | None = None,
    mirror_sites: list[MirrorChange] | None = None,
) -> list[dict[str, Any]]:
    """Rows of one kind as the values of their topic."""
    settled = Settled(
        matches=matches or [],
        members=[],
        clusters=clusters or [],
        rechecks=[],
        changes=LedgerChanges(),
        mirrors=mirror_sites or [],
        reviews=reviews or [],
    )
    return [value for values in public_values(state.results, settled).values() for value in values]
