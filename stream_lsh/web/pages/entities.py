"""The list of entities: filters, the golden record of each, and pages."""

from collections.abc import Mapping
from typing import Any

from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.links import link
from stream_lsh.web.pages.clusters import SORTS, after, filters_of
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.texts import field_text

_PAGE = 50
_IN_LABEL = 3


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask:
    """The request for one page of the list; a filter that cannot be read is left out."""
    return Ask(("pipelines", pipeline.name, "entities"), {**_filters(query), "limit": _PAGE, **after(query)})


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Page:
    """The list."""
    filters = _filters(query)
    found: Mapping[str, Any] = answer.value
    sort = str(filters.get("sort", "newest"))
    return Page(
        "entities",
        "Entities",
        {
            "rows": [{**one, "label": label(one)} for one in found["entities"]],
            "summary": f"{counted(found['total'], 'entity', 'entities')}, {SORTS[sort]}",
            "filters": {name: str(filters.get(name, "")) for name in ("text", "least_size")},
            "sort": sort,
            "sorts": SORTS,
            "filtered": bool(filters.keys() - {"sort"}),
            "next": link("entities", pipeline.name, **filters, after=found["next"]) if found["next"] else "",
            "first": link("entities", pipeline.name, **filters) if "after" in query else "",
            "lag": found["lag"],
        },
        ask(pipeline, query),
        section="entities",
        refresh_s=2,
        changes=("entities",),
    )


def label(entity: Mapping[str, Any]) -> str:
    """The first values of the golden record; without any, the id.

    Example:
        >>> label({"entity": "crm-3", "golden": {"name": "Ann Lee", "phone": "", "city": "York"}})
        'Ann Lee, York'
    """
    values = [text for value in entity["golden"].values() if (text := field_text(value))]
    return ", ".join(values[:_IN_LABEL]) or str(entity["entity"])


def _filters(query: Mapping[str, str]) -> dict[str, str | int]:
    return {name: value for name, value in filters_of(query).items() if name != "least_sources"}
