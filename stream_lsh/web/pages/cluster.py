"""A cluster: its members, oldest first, and a timeline that connects each with the most similar other one."""

from collections.abc import Mapping
from typing import Any

from stream_lsh.controls import one_line
from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.drawings.matrix import pairs_of
from stream_lsh.web.drawings.timeline import timeline
from stream_lsh.web.links import link
from stream_lsh.web.pages.history import events_of
from stream_lsh.web.pages.page import Page, PipelineName

_PAGE = 200
_NEAR = 20
"""Near misses that are listed, if the reader asks for them."""


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask | None:
    """The request for a page of the members."""
    id, start = query.get("id", ""), query.get("start", "")
    further = {"start": int(start)} if start.isascii() and start.isdecimal() and len(start) < 10 else {}
    near = {"near": _NEAR} if query.get("near") else {}
    return Ask(("pipelines", pipeline.name, "clusters", id), {"limit": _PAGE, **further, **near}) if id else None


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Page:
    """The cluster."""
    found: Mapping[str, Any] = answer.value
    members, near = found["members"], found.get("near_misses")
    heading = found.get("headline") or found["representative"]
    facts = [counted(found["size"], "document")]
    if "source_count" in found:
        facts.append(counted(found["source_count"], "outlet"))
    first = found.get("first")
    following = link("cluster", pipeline.name, id=found["cluster"], start=found["next"])
    return Page(
        "cluster",
        one_line(heading, 80),
        {
            "found": found,
            "heading": heading,
            "first_source": first["source"] if first else "",
            "facts": facts,
            "members": members,
            **pairs_of(found),
            "events": events_of(found["history"], "document"),
            "timeline": timeline(members),
            "with_titles": any("title" in one for one in members),
            "with_sources": any("source" in one for one in members),
            "next": following if found["next"] is not None else "",
            "first": link("cluster", pipeline.name, id=found["cluster"]) if "start" in query else "",
            "near": near,
            "near_with_titles": near is not None and any("title" in one for one in near["documents"]),
            "near_link": link("cluster", pipeline.name, id=found["cluster"], start=query.get("start"), near=1),
            "plain_link": link("cluster", pipeline.name, id=found["cluster"], start=query.get("start")),
        },
        ask(pipeline, query),
        section="clusters",
        # Near misses cost as much as three searches, so a page with them does not update.
        refresh_s=2 if near is None else 0,
        changes=("clusters",) if near is None else (),
        changed_key=found["cluster"],
    )
