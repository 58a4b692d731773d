"""The search: the stored documents that are similar to a pasted value, which is not stored."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.pages.compared_fields import is_in_bits
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.texts import numbers, signed

LIMIT, MOST = 20, 200
_AS_COMMAND = 4_000
"""Characters of a value that the page repeats in a command."""


class Form(NamedTuple):
    """The form for one kind of data.

    Attributes:
        member: of the request that has the value.
        noun: of a stored document.
        label: of the field.
        example: of a value.
        read: the value of the request; raises ValueError.
    """

    member: str
    noun: str
    label: str
    example: str
    read: Callable[[str], Any]


def _record(text: str) -> Any:
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise ValueError("got another value, expected an object")
    return {"fields": fields}


FORMS: Mapping[str, Form] = {
    "text": Form("text", "document", "A text", "", str),
    "record": Form("record", "record", "A record, as JSON", '{"name": "Ann Lee", "city": "York"}', _record),
    "set": Form("items", "set", "A set, as JSON", '["milk", "bread", 17]', json.loads),
    "vector": Form("vector", "vector", "A vector, as JSON", "[0.5, 1.0, -0.25]", json.loads),
}
"""The forms by kind of data."""


class Match(NamedTuple):
    """A row of the result.

    Attributes:
        id: of the stored document.
        share: similarity or probability.
        details: measures behind it.
        review: whether the pair is one to review.
        weights: the bits of each comparison of records, the largest first.
    """

    id: str
    share: float
    details: str
    review: bool
    weights: tuple[tuple[str, float], ...]


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask | None:
    """The request for the value of the form; None if there is no value, or it cannot be read."""
    value, problem = _value(pipeline, query)
    if problem or value is None:
        return None
    body = {FORMS[pipeline.kind].member: value, "limit": _limit(query)}
    return Ask(("pipelines", pipeline.name, "similar"), body=body)


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer | None) -> Page:
    """The form, and below it the matches of the value or the reason that there are none."""
    form = FORMS.get(pipeline.kind)
    _, problem = _value(pipeline, query)
    if answer is not None and not answer.ok:
        problem = _reason(answer)
    found = answer.value if answer is not None and answer.ok else None
    shown = ask(pipeline, query) if len(query.get("value", "")) <= _AS_COMMAND else None
    return Page(
        "search",
        "Search",
        {
            "form": form,
            "value": query.get("value", ""),
            "limit": _limit(query),
            "limits": (5, LIMIT, 50, MOST),
            "problem": problem,
            "summary": _summary(found, FORMS[pipeline.kind].noun) if found else "",
            "matches": [_match(one) for one in found["matches"]] if found else [],
            "notes": [*_notes(found)] if found else [],
        },
        shown,
        status=200 if answer is None or answer.ok else answer.status,
        section="search",
    )


def _value(pipeline: PipelineName, query: Mapping[str, str]) -> tuple[Any, str]:
    """The value of the form and the problem with it; None without one."""
    form, text = FORMS.get(pipeline.kind), query.get("value", "").replace("\r\n", "\n")
    if form is None or not text.strip():
        return None, ""
    try:
        return form.read(text), ""
    except (ValueError, RecursionError) as error:
        return None, f"{form.label}: {error}"


def _limit(query: Mapping[str, str]) -> int:
    text = query.get("limit", "")
    return min(max(int(text), 1), MOST) if text.isascii() and text.isdecimal() and len(text) < 6 else LIMIT


def _reason(answer: Answer) -> str:
    value = answer.value
    return f"{value.get('title', 'The request failed')}: {value.get('detail', '')}"


def _summary(found: Mapping[str, Any], noun: str) -> str:
    compared = f"{counted(found['compared'], f'{noun} was', f'{noun}s were')} compared"
    if found["matches"]:
        return f"{counted(len(found['matches']), 'match', 'matches')}; {compared}"
    return f"No matches; {compared}"


def _notes(found: Mapping[str, Any]) -> Iterator[str]:
    if not found["complete"]:
        parts = ", ".join(f"{table} {numbers(partitions)}" for table, partitions in found["missing"].items())
        yield f"The list is incomplete: {parts} unavailable."
    if found["capped"]:
        yield "A cap of the pipeline omitted candidates. The cluster of a match contains the other copies."
    if found["lag"]:
        yield f"{counted(found['lag'], 'message is', 'messages are')} not included yet."


def _match(one: Mapping[str, Any]) -> Match:
    evidence = one.get("evidence", {})
    details = [
        *([f"{one['shared']:,} of {one['union']:,} in common"] if "shared" in one else []),
        *([f"distance {one['distance']:g}"] if "distance" in one else []),
        *([f"{signed(evidence['score'])} bits"] if is_in_bits(evidence) else []),
        *([f"found by {', '.join(evidence['rules'])}"] if evidence.get("rules") else []),
    ]
    weights = sorted(evidence.get("weights", {}).items(), key=lambda pair: (-abs(pair[1]), pair[0]))
    share = one["similarity"] if "similarity" in one else one["probability"]
    return Match(one["id"], share, ", ".join(details), bool(one.get("review", False)), tuple(weights))
