"""The messages that could not be used, newest first: the reason, the place and the beginning of each."""

import base64
from collections.abc import Mapping
from typing import Any

from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.links import link
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.texts import hex_dump

REASONS: Mapping[str, str] = {
    "key": "The key is invalid, or differs from the id in the value.",
    "id": "The id is missing, empty or too long.",
    "utf8": "The value is not UTF-8.",
    "json": "The value is not a JSON object, or its `deleted` is neither true nor false.",
    "text": "The text is missing or not a string.",
    "time": "The time is missing, invalid, or too far ahead of the clock.",
    "size": "The document is too large.",
    "title": "The title is not a string.",
    "source": "The source is not a valid name.",
    "url": "The URL is not a string.",
    "field": "A column of the profile contains a value that cannot be compared.",
    "items": "The items are missing or invalid.",
    "vector": "The vector is missing or invalid.",
    "decision": "The decision is not same, different or null.",
    "bug": "The worker raised an unexpected exception. Its log has the traceback.",
}
"""The meaning of each reason, as in docs/operations/dead-letters.md."""
_PAGE = 20
_MOST_HEX = 1_024
"""The bytes that are shown in hexadecimal, which takes five times the space of text."""


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask:
    """The request for one page of the list; a filter that cannot be read is left out."""
    given = {name: query[name] for name in ("reason", "after") if query.get(name)}
    return Ask(("pipelines", pipeline.name, "dead-letters"), {"limit": _PAGE, **given})


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Page:
    """The list."""
    found: Mapping[str, Any] = answer.value
    as_hex = query.get("view") == "hex"
    filters = {"reason": query.get("reason", ""), "view": "hex" if as_hex else ""}
    return Page(
        "dead_letters",
        "Dead letters",
        {
            "rows": [{**one, "value": _hex(one) if as_hex else one["text"]} for one in found["dead_letters"]],
            "reasons": REASONS,
            "reason": filters["reason"],
            "as_hex": as_hex,
            "summary": f"{counted(found['total'], 'dead letter')}, newest first",
            "total": found["total"],
            "next": link("dead-letters", pipeline.name, **filters, after=found["next"]) if found["next"] else "",
            "first": link("dead-letters", pipeline.name, **filters) if "after" in query else "",
        },
        ask(pipeline, query),
        section="dead-letters",
        refresh_s=2,
        changes=("dead-letters",),
    )


def _hex(row: Mapping[str, Any]) -> str:
    return hex_dump(base64.b64decode(row["base64"])[:_MOST_HEX])
