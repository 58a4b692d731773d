"""`GET /v1/pipelines/{pipeline}/pairs/{left}/{right}`: why two documents are, or are not, in the same cluster.

    evidence   the owner of the ledger returns the clusters of the two, and the matches that connect them
    contents   the owners of the documents return both texts

The explanation is that of `stream-lsh explain`, from the states instead of the topics.  Scores of records depend on
the other records as well, so a pair of records has its published evidence instead of a comparison.
"""

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from stream_lsh.kinds.comparison import PairwiseScheme
from stream_lsh.kinds.explain import Evidence, Settings, explain, explanation_value
from stream_lsh.kinds.results import public_values
from stream_lsh.ledger import views
from stream_lsh.ledger.changes import LedgerChanges, MatchChange, Settled
from stream_lsh.ledger.graph.pairs import MATCH, REVIEW
from stream_lsh.ledger.graph.paths import Link
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Document
from stream_lsh.wire.public import as_json
from stream_lsh.worker.query.distributed.peers import Asked, Gathered
from stream_lsh.worker.query.distributed.standing import table_partitions
from stream_lsh.worker.query.distributed.steps import Part, Step, Steps
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.http.server import Answer, Handler, Request
from stream_lsh.worker.query.resources.resource import Context, Resource
from stream_lsh.worker.state.pipeline_state import PipelineState

_MOST_LINKS = 20_000
"""The most matches of two clusters for which the strongest path is computed; beyond it, a shortest one is shown."""
_SLICE = 2_000

Content = tuple[str | None, int]
"""Text and event time of a version; no text if the version is deleted or has expired."""


class Pairs(Resource):
    """Explains pairs of documents."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._one_at_a_time = asyncio.Lock()
        self._schemes: dict[str, PairwiseScheme | None] = {}

    def handlers(self) -> Mapping[str, Handler]:
        """The only one."""
        return {"pair": self.pair}

    def steps(self) -> Steps:
        """Evidence of the ledger, contents of the documents."""
        return {"evidence": Step("ledger", _evidence), "contents": Step("documents", _contents)}

    async def pair(self, request: Request) -> Answer:
        """The explanation of a pair."""
        state, path = self.context.pipeline(request), request.found.path
        ids = (path["left"], path["right"])
        if ids[0] == ids[1]:
            raise Problem("malformed", "got the same id twice, expected two ids")
        body = msgspec.json.encode(ids)
        known, ledger = await asyncio.gather(
            self._ask(state, "documents", "contents", request, body),
            self._ask(state, "ledger", "evidence", request, body),
        )
        (found,) = _values(ledger)
        found_texts = contents_of(body for _, body in known.answers)
        documents = {id: Document(id, *content) for id, content in found_texts.items()}
        if unknown := [id for id in ids if id not in documents and id not in found["clusters"]]:
            raise Problem("unknown-id", f"got {unknown[0]!a:.60}, which no document of this pipeline has")
        lag = known.lag + ledger.lag
        value = await self._explained(state, ids, documents, found, lag)
        return Answer({**value, "pair": found["pair"], "lag": lag})

    async def _explained(
        self, state: PipelineState, ids: tuple[str, str], documents: dict[str, Document], found: Any, lag: int
    ) -> dict[str, Any]:
        name, kind = state.config.name, state.config.kind
        if name not in self._schemes:
            self._schemes[name] = kind.pairwise()
        scheme, clusters = self._schemes[name], found["clusters"]
        if scheme is None:
            together = clusters.get(ids[0]) is not None and clusters.get(ids[0]) == clusters.get(ids[1])
            sides = [_bare_side(id, documents.get(id), clusters.get(id)) for id in ids]
            return {"together": together, "threshold": kind.least, "documents": sides}
        evidence = Evidence(
            documents=documents,
            clusters=clusters,
            pairs=[Link(*link) for link in found["links"]],
            digests={id: (digest, time_ms) for id, digest, time_ms in found["digests"]},
            waiting=lag,
        )
        settings = Settings(scheme, kind.least, state.limits)
        # Long texts take seconds to trace, and the loop has other work.
        async with self._one_at_a_time:
            explanation = await asyncio.to_thread(explain, *ids, evidence, settings)
        return explanation_value(explanation)

    async def _ask(self, state: PipelineState, table: str, step: str, request: Request, body: bytes) -> Gathered:
        stale = request.found.query["stale"] == "allow"
        asked = Asked(state, step, table_partitions(state, table), lambda _: body, request, stale=stale)
        return await self.context.peers.gather(asked)


def _values(gathered: Gathered) -> list[Any]:
    return [json.loads(body) for _, body in gathered.answers]


def contents_of(answers: Iterable[bytes]) -> dict[str, Content]:
    """The contents by id, from the answers of all processes."""
    return _newest(map(json.loads, answers))  # msgspec rejects the lone surrogates of a text


def _newest(found: Iterable[Mapping[str, Content]]) -> dict[str, Content]:
    """The newest version of each id; a live one takes precedence."""
    newest = dict[str, Content]()
    for versions in found:
        for id, version in versions.items():
            if id not in newest or _rank(version) > _rank(newest[id]):
                newest[id] = version
    return newest


def _rank(version: Content) -> tuple[bool, int]:
    text, time_ms = version
    return text is not None, time_ms


def _bare_side(id: str, document: Document | None, cluster: str | None) -> dict[str, Any]:
    return {"id": id, "time": None if document is None else document.time_ms, "cluster": cluster}


# -- the processes that have the states


async def _contents(part: Part) -> bytes:
    """The contents of some ids in these partitions, as JSON: an object from id to text and event time."""
    ids = msgspec.json.decode(part.body, type=list[str])
    return as_json(_newest(_stored(part, id) for id in ids))


def _stored(part: Part, id: str) -> dict[str, Content]:
    tables = [state.table for state in part.states().values()]
    found = ((table, table.version(id)) for table in tables)
    return _newest(
        {id: (table.content(version.row)[0] if version.live else None, int(version.time_ms))}
        for table, version in found
        if version is not None
    )


async def _evidence(part: Part) -> bytes:
    """The clusters of two ids, the matches that may connect them, and the pair itself."""
    left, right = msgspec.json.decode(part.body, type=tuple[str, str])
    ledger = part.ledger()
    graph, nodes = ledger.graph, ledger.graph.nodes
    slots = [nodes.slots[id] for id in (left, right) if id in nodes.slots]
    pair = views.pair_of(ledger, left, right)
    number = -1 if pair is None else graph.pairs.find(nodes.slots[left], nodes.slots[right])
    published = None if pair is None else _published(part.state, pair, graph.pairs.topic(number))
    members = {slot for near in slots for slot in nodes.clusters[near]}
    links = await _all_links(part, ledger, members)
    if links is None:
        links = await _shortest_path(part, ledger, slots)
        members = {*slots, *(nodes.slots[id] for link in links for id in link[:2] if id in nodes.slots)}
    live = [slot for slot in members if len(nodes.clusters[slot]) >= ledger.least_published]
    return as_json(
        {
            "clusters": {nodes.ids[slot]: nodes.clusters[slot].id for slot in live},
            "links": links,
            "digests": [(nodes.ids[slot], nodes.digests[slot], nodes.times[slot]) for slot in live],
            "pair": published,
        }
    )


async def _all_links(part: Part, ledger: Ledger, members: Iterable[int]) -> list[tuple[str, str, float]] | None:
    """All matches of some documents; None if there are too many."""
    pairs, ids = ledger.graph.pairs, ledger.graph.nodes.ids
    links = dict[int, tuple[str, str, float]]()
    for count, slot in enumerate(members, 1):
        for partner, number in pairs.partners(slot):
            if number not in links and pairs.topic(number) == MATCH:
                links[number] = (ids[slot], ids[partner], pairs.similarity[number])
        if len(links) > _MOST_LINKS:
            return None
        if count % _SLICE == 0:
            await asyncio.sleep(0)
            part.states()
    return [*links.values()]


async def _shortest_path(part: Part, ledger: Ledger, slots: list[int]) -> list[tuple[str, str, float]]:
    """The matches of a shortest path between two documents of one cluster; empty without one."""
    graph, nodes = ledger.graph, ledger.graph.nodes
    start, goal = slots[0], slots[-1]
    came, waiting, steps = {start: start}, deque([start]), 0
    while waiting and goal not in came:
        slot = waiting.popleft()
        for partner, _ in graph.pairs.linked(slot):
            if partner not in came and nodes.clusters[partner] is nodes.clusters[start]:
                came[partner] = slot
                waiting.append(partner)
        steps += 1
        if steps % _SLICE == 0:
            await asyncio.sleep(0)
            part.states()
    path, slot = list[tuple[str, str, float]](), goal
    while slot in came and slot != start:
        before = came[slot]
        pair = graph.pairs.find(before, slot)
        if pair < 0:  # settle removed it between two slices of the search
            return []
        path.append((nodes.ids[before], nodes.ids[slot], graph.pairs.similarity[pair]))
        slot = before
    return path[::-1]


def _published(state: PipelineState, pair: MatchChange, place: int) -> dict[str, Any]:
    """A pair as on its topic, and whether it is for review."""
    rows: dict[str, Any] = {"matches": [], "reviews": []}
    rows["reviews" if place == REVIEW else "matches"].append(pair)
    settled = Settled(members=[], clusters=[], rechecks=[], changes=LedgerChanges(), **rows)
    (value,) = [value for values in public_values(state.results, settled).values() for value in values]
    return {**value, "review": place == REVIEW}
