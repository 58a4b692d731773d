"""The pairs of sites that mirror each other, with the share of the pages of each that occur on the other."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.links import link
from stream_lsh.web.pages.page import Page, PipelineName

_PAGE = 50


class Side(NamedTuple):
    """One site of a pair: its pages, and those of them that occur on the other site."""

    site: str
    pages: int
    mirrored: int
    share: float
    reaches: bool


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask:
    """The request for one page of the list."""
    start = query.get("start", "")
    further = {"start": int(start)} if start.isascii() and start.isdecimal() and len(start) < 10 else {}
    return Ask(("pipelines", pipeline.name, "mirrors"), {**_filter(query), "limit": _PAGE, **further})


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Page:
    """The list."""
    site, found = _filter(query), answer.value
    return Page(
        "mirrors",
        "Mirrors",
        {
            "rows": [{"sides": _sides(one), "since": one["first_time"]} for one in found["mirrors"]],
            "site": site.get("site", ""),
            "summary": f"{counted(found['total'], 'pair')} of sites, by name",
            "next": link("mirrors", pipeline.name, **site, start=found["next"]) if found["next"] is not None else "",
            "first": link("mirrors", pipeline.name, **site) if "start" in query else "",
            "lag": found["lag"],
        },
        ask(pipeline, query),
        section="mirrors",
        refresh_s=2,
        changes=("mirror-sites",),
    )


def _sides(pair: Mapping[str, Any]) -> tuple[Side, Side]:
    """Both sites; the first is the one that occurs on the other, if only one does."""
    left, right = (
        Side(
            pair[side],
            pair[f"{side}_pages"],
            pair[f"{side}_mirrored"],
            pair[f"{side}_share"],
            pair["direction"] in ("both", direction),
        )
        for side, direction in (("left", "left_in_right"), ("right", "right_in_left"))
    )
    return (left, right) if left.reaches else (right, left)


def _filter(query: Mapping[str, str]) -> dict[str, str]:
    site = query.get("site", "").strip()[:300]
    return {"site": site} if site else {}
