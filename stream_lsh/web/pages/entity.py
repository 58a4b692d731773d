"""An entity: its golden record, and its records with the values that differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from stream_lsh.controls import one_line
from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.drawings.matrix import pairs_of
from stream_lsh.web.links import link
from stream_lsh.web.pages.entities import label
from stream_lsh.web.pages.history import events_of
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.texts import field_text

_PAGE = 100
_MOST_FIELDS = 100


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask | None:
    """The request for a page of the records."""
    id, start = query.get("id", ""), query.get("start", "")
    further = {"start": int(start)} if start.isascii() and start.isdecimal() and len(start) < 10 else {}
    return Ask(("pipelines", pipeline.name, "entities", id), {"limit": _PAGE, **further}) if id else None


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Page:
    """The entity."""
    found: Mapping[str, Any] = answer.value
    golden, members = found["golden"], found["members"]
    names = list(dict.fromkeys([*golden, *(name for one in members for name in one.get("fields", {}))]))
    id, following = found["entity"], found["next"]
    sources = Counter(str(one["source"]) for one in members if "source" in one)
    return Page(
        "entity",
        one_line(label(found), 80),
        {
            "found": found,
            "heading": label(found),
            "size": counted(found["size"], "record"),
            "sources": sources.most_common(10) if len(members) == found["size"] else [],
            "fields": [_field(name, golden, found["origins"], members) for name in names[:_MOST_FIELDS]],
            "omitted": max(0, len(names) - _MOST_FIELDS),
            "members": members,
            **pairs_of(found),
            "events": events_of(found["history"], "record"),
            "next": link("entity", pipeline.name, id=id, start=following) if following is not None else "",
            "first": link("entity", pipeline.name, id=id) if "start" in query else "",
        },
        ask(pipeline, query),
        section="entities",
        refresh_s=2,
        changes=("entities",),
        changed_key=id,
    )


def _field(
    name: str, golden: Mapping[str, Any], origins: Mapping[str, str], members: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """A field: the value of the golden record, its origin, the number of records that have it, and the other values."""
    value = field_text(golden.get(name))
    counts = Counter(text for one in members if (text := field_text(one.get("fields", {}).get(name))))
    others = [(text, times) for text, times in counts.most_common() if text != value]
    return {
        "name": name,
        "value": value,
        "origin": origins.get(name),
        "of": counts[value],
        "others": others[:10],
        "more": max(0, len(others) - 10),
    }
