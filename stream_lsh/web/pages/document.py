"""A document or record: its cluster and its matches."""

from collections.abc import Mapping
from typing import Any

from stream_lsh.controls import one_line
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.links import link
from stream_lsh.web.pages.compared_fields import is_in_bits
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.sections import has_clusters
from stream_lsh.web.texts import signed

_PAGE = 50


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask | None:
    """The request for a page of the matches."""
    id, after = query.get("id", ""), query.get("after", "")
    further = {"after": after} if after else {}
    return Ask(("pipelines", pipeline.name, "documents", id), {"limit": _PAGE, **further}) if id else None


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Page:
    """The document."""
    found: Mapping[str, Any] = answer.value
    following = link("document", pipeline.name, id=found["id"], after=found["next"])
    return Page(
        "document",
        one_line(found["id"], 80),
        {
            "found": found,
            "group": "cluster" if has_clusters(pipeline) else "entity",
            "matches": [_match(found["id"], one) for one in found["matches"]],
            "next": following if found["next"] else "",
            "first": link("document", pipeline.name, id=found["id"]) if "after" in query else "",
        },
        ask(pipeline, query),
        refresh_s=2,
        changes=("matches", "members"),
    )


def _match(id: str, pair: Mapping[str, Any]) -> dict[str, Any]:
    """The other document of a pair, with the measures."""
    right = pair["left"] == id
    details = [
        *([f"{pair['shared']:,} of {pair['union']:,} in common"] if "shared" in pair else []),
        *([f"distance {pair['distance']:g}"] if "distance" in pair else []),
        *([f"{signed(pair['score'])} bits"] if "score" in pair and is_in_bits(pair) else []),
        *([f"found by {', '.join(pair['rules'])}"] if pair.get("rules") else []),
    ]
    return {
        "id": pair["right"] if right else pair["left"],
        "time": pair["right_time"] if right else pair["left_time"],
        "similarity": pair["similarity"],
        "details": ", ".join(details),
        "weights": sorted(pair.get("weights", {}).items(), key=lambda one: (-abs(one[1]), one[0])),
    }
