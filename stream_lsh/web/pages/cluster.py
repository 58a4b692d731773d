"""A cluster: its members, oldest first, and a timeline that connects each with the most similar other one."""

from collections.abc import Mapping
from typing import Any

from stream_lsh.controls import one_line
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.drawings.matrix import pairs_of
from stream_lsh.web.drawings.timeline import timeline
from stream_lsh.web.links import link
from stream_lsh.web.pages.history import events_of
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.texts import counted

_PAGE = 200


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask | None:
    """The request for a page of the members."""
    id, start = query.get("id", ""), query.get("start", "")
    further = {"start": int(start)} if start.isascii() and start.isdecimal() and len(start) < 10 else {}
    return Ask(("pipelines", pipeline.name, "clusters", id), {"limit": _PAGE, **further}) if id else None


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Page:
    """The cluster."""
    found: Mapping[str, Any] = answer.value
    members = found["members"]
    heading = found.get("headline") or found["representative"]
    facts = [counted(found["size"], "document")]
    if "source_count" in found:
        facts.append(counted(found["source_count"], "outlet"))
    following = link("cluster", pipeline.name, id=found["cluster"], start=found["next"])
    return Page(
        "cluster",
        one_line(heading, 80),
        {
            "found": found,
            "heading": heading,
            "facts": facts,
            "members": members,
            **pairs_of(found),
            "events": events_of(found["history"], "document"),
            "timeline": timeline(members),
            "with_titles": any("title" in one for one in members),
            "with_sources": any("source" in one for one in members),
            "next": following if found["next"] is not None else "",
            "first": link("cluster", pipeline.name, id=found["cluster"]) if "start" in query else "",
        },
        ask(pipeline, query),
        section="clusters",
        refresh_s=2,
        changes=("clusters",),
        changed_key=found["cluster"],
    )
