"""The list of clusters: filters, the growth of each, and pages."""

from collections.abc import Mapping
from typing import Any

from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.links import link
from stream_lsh.web.pages.page import Page, PipelineName

SORTS = {
    "newest": "newest first",
    "growing": "fastest growing first",
    "size": "largest first",
    "oldest": "oldest first",
}
_NUMBERS = {"least_size": 1, "least_sources": 0}
"""The filters that are numbers, with the value that has no effect."""
_PAGE = 50


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask:
    """The request for one page of the list; a filter that cannot be read is left out."""
    return Ask(("pipelines", pipeline.name, "clusters"), {**filters_of(query), "limit": _PAGE, **after(query)})


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Page:
    """The list."""
    filters = filters_of(query)
    found: Mapping[str, Any] = answer.value
    rows = found["clusters"]
    following = {**filters, "after": found["next"]}
    sort = str(filters.get("sort", "newest"))
    return Page(
        "clusters",
        "Clusters",
        {
            "rows": rows,
            "summary": f"{counted(found['total'], 'cluster')}, {SORTS[sort]}",
            "filters": {name: str(filters.get(name, "")) for name in ("text", *_NUMBERS)},
            "sort": sort,
            "sorts": SORTS,
            "filtered": bool(filters.keys() - {"sort"}),
            "next": link("clusters", pipeline.name, **following) if found["next"] else "",
            "first": link("clusters", pipeline.name, **filters) if "after" in query else "",
            "lag": found["lag"],
        },
        ask(pipeline, query),
        section="clusters",
        refresh_s=2,
        changes=("clusters",),
    )


def filters_of(query: Mapping[str, str]) -> dict[str, str | int]:
    """The filters and the order in the parameters, without those that cannot be read or have no effect."""
    filters: dict[str, str | int] = {}
    if query.get("text", "").strip():
        filters["text"] = query["text"].strip()[:200]
    for name, without in _NUMBERS.items():
        text = query.get(name, "")
        if text.isascii() and text.isdecimal() and len(text) < 9 and int(text) > without:
            filters[name] = int(text)
    if query.get("sort") in SORTS:
        filters["sort"] = query["sort"]
    return filters


def after(query: Mapping[str, str]) -> dict[str, str]:
    """The token of the page in the parameters."""
    return {"after": query["after"]} if query.get("after") else {}
