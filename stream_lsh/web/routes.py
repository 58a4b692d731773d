"""The pages by path, each with the request that it makes to the query API."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.pages import (
    activity,
    cluster,
    clusters,
    dead_letters,
    document,
    entities,
    entity,
    health,
    mirrors,
    overview,
    pair,
    review,
    reviews,
    search,
)
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.pages.problem import problem_page
from stream_lsh.web.source import Source

_PIPELINES_KEPT_S = 10.0

Query = Mapping[str, str]


class PipelinePage(NamedTuple):
    """A page of a pipeline.

    Attributes:
        ask: the request for a pipeline and the parameters; None if there is nothing to ask for yet.
        page: the contents for the pipeline, the parameters and the answer to the request.
        shows_problems: whether the page itself shows a problem instead of the answer, and works without a request.
        further: more requests, which depend on the answer; the page is given their answers as well.
    """

    ask: Callable[[PipelineName, Query], Ask | None]
    page: Callable[..., Page]
    shows_problems: bool = False
    further: Callable[[PipelineName, Query, Answer], Sequence[Ask]] | None = None


PIPELINE_PAGES: Mapping[str, PipelinePage] = {
    "search": PipelinePage(search.ask, search.page, shows_problems=True),
    "clusters": PipelinePage(clusters.ask, clusters.page),
    "cluster": PipelinePage(cluster.ask, cluster.page),
    "entities": PipelinePage(entities.ask, entities.page),
    "entity": PipelinePage(entity.ask, entity.page),
    "mirrors": PipelinePage(mirrors.ask, mirrors.page),
    "review": PipelinePage(review.ask, review.page, further=review.further),
    "reviews": PipelinePage(reviews.ask, reviews.page, further=reviews.further),
    "document": PipelinePage(document.ask, document.page),
    "pair": PipelinePage(pair.ask, pair.page, further=pair.further),
    "dead-letters": PipelinePage(dead_letters.ask, dead_letters.page),
}
"""The pages of a pipeline by name, which is the end of their path."""


_UNKNOWN = Answer(404, {"type": "urn:stream-lsh:problem:unknown-pipeline", "detail": "the menu lists all pipelines"})
_NOTHING_ASKED = Answer(
    400, {"type": "urn:stream-lsh:problem:malformed", "detail": "got neither an id nor a value that can be read"}
)


class Found(NamedTuple):
    """The page of a path and its pipeline, which is "" for pages of the whole application."""

    name: str
    pipeline: str


def find(path: str) -> Found | None:
    """The page of a path; None if there is none.

    Example:
        >>> find("/p/news/search"), find("/nowhere")
        (Found(name='search', pipeline='news'), None)
    """
    parts = path.strip("/").split("/")
    if path in ("/", "/index"):
        return Found("overview", "")
    if path == "/health":
        return Found("health", "")
    if len(parts) == 3 and parts[0] == "p" and parts[2] in PIPELINE_PAGES:
        return Found(parts[2], unquote(parts[1]))
    return None


def changes_of(path: str) -> str | None:
    """The pipeline of the path of a stream of changes; None for other paths.

    Example:
        >>> changes_of("/p/news/changes"), changes_of("/p/news/search")
        ('news', None)
    """
    parts = path.strip("/").split("/")
    return unquote(parts[1]) if len(parts) == 3 and parts[0] == "p" and parts[2] == "changes" else None


class Reader:
    """Pages and answers of a source.

    Args:
        source: the query API.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: tuple[PipelineName, ...] = ()
        self._known_until = 0.0

    async def page(self, found: Found, query: Query) -> Page:
        """The page, or the page of the problem in its place."""
        if not found.pipeline:
            answers = await self._source.ask_each(overview.ASK)
            if found.name == "health":
                return health.health(self._source.urls, answers)
            known = [activity.activity(pipeline, answer) for pipeline, answer in await self._activities()]
            return overview.overview(self._source.urls, answers, known)
        pipeline = await self._pipeline(found)
        if isinstance(pipeline, Answer):
            return problem_page(pipeline, section=found.name)
        contents = PIPELINE_PAGES[found.name]
        ask = contents.ask(pipeline, query)
        answer = None if ask is None else await self._source.ask(ask)
        if contents.shows_problems or (answer is not None and answer.ok):
            further = contents.further(pipeline, query, answer) if contents.further and answer is not None else ()
            return contents.page(pipeline, query, answer, *[await self._source.ask(one) for one in further])
        return problem_page(_NOTHING_ASKED if answer is None else answer, ask, found.name)

    async def decide(self, found: Found, form: Query) -> str | Page:
        """Send the decision of a form; the address to continue at, or the page of the problem."""
        pipeline = await self._pipeline(found)
        if isinstance(pipeline, Answer):
            return problem_page(pipeline, section=found.name)
        ask = review.decision(pipeline, form)
        answer = _NOTHING_ASKED if ask is None else await self._source.ask(ask)
        if not answer.ok:
            return problem_page(answer, section=found.name, back=review.place(pipeline, form))
        return review.decided(pipeline, form, answer)

    async def decide_several(self, found: Found, form: Query) -> Page:
        """Send the decisions of a form, one after the other; the list with their outcome."""
        pipeline = await self._pipeline(found)
        if isinstance(pipeline, Answer):
            return problem_page(pipeline, section="review")
        sent = [(pair, await self._source.ask(ask)) for pair, ask in reviews.decisions(pipeline, form)]
        outcome = reviews.outcome_of(form, sent)
        ask = reviews.ask(pipeline, form)
        answer = await self._source.ask(ask)
        if not answer.ok:
            return problem_page(answer, section="review", back=reviews.place(pipeline, form))
        further = [await self._source.ask(one) for one in reviews.further(pipeline, form, answer)]
        return reviews.page(pipeline, form, answer, *further, outcome=outcome)

    async def answer(self, found: Found, query: Query) -> Answer:
        """The answer that a page shows."""
        if not found.pipeline:
            answers = await self._source.ask_each(overview.ASK)
            value = {"workers": dict(zip(self._source.urls, (one.value for one in answers), strict=True))}
            if found.name == "overview":
                value["activity"] = {pipeline.name: one.value for pipeline, one in await self._activities()}
            return Answer(200, value)
        pipeline = await self._pipeline(found)
        if isinstance(pipeline, Answer):
            return pipeline
        ask = PIPELINE_PAGES[found.name].ask(pipeline, query)
        return _NOTHING_ASKED if ask is None else await self._source.ask(ask)

    async def _activities(self) -> list[tuple[PipelineName, Answer]]:
        """The activity of each pipeline; none while no worker responds."""
        known = await self.pipelines() if self._source.silent_since is None else ()
        return [(pipeline, await self._source.ask(activity.ask(pipeline))) for pipeline in known]

    async def _pipeline(self, found: Found) -> PipelineName | Answer:
        """The pipeline of a page, or the problem in its place."""
        known = await self.pipelines()
        answer = _UNKNOWN if known else await self._source.ask(overview.ASK)
        return next((one for one in known if one.name == found.pipeline), _UNKNOWN if answer.ok else answer)

    async def pipelines(self) -> tuple[PipelineName, ...]:
        """The pipelines of the application, as far as a worker has described them."""
        if time.monotonic() >= self._known_until:
            answer = await self._source.ask(overview.ASK)
            if answer.ok:
                self._known = tuple(
                    PipelineName(one["name"], one["kind"], frozenset(one["types"])) for one in answer.value["pipelines"]
                )
                self._known_until = time.monotonic() + _PIPELINES_KEPT_S
        return self._known
