"""A list of pairs for review: several are decided together, and such decisions are withdrawn together."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.links import link
from stream_lsh.web.pages.page import Page, PipelineName
from stream_lsh.web.pages.review import DECISIONS, SORTS, decision
from stream_lsh.web.texts import field_text

_PAGE = 20
"""Pairs: each needs two requests for its records."""
_MOST_FIELDS = 12
_KEPT = ("sort", "after", "by")

Pair = tuple[str, str]


class Outcome(NamedTuple):
    """The decisions of a form.

    Attributes:
        decision: same, different or undo.
        pairs: those whose decision the brokers have stored.
        failed: the number of others.
        problem: the reason of the first failure.
        in_effect: whether the ledger has all stored ones.
    """

    decision: str
    pairs: Sequence[Pair]
    failed: int
    problem: str
    in_effect: bool


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask:
    """The request for a page of the list."""
    sort, after = query.get("sort", ""), query.get("after", "")
    given = {"sort": sort} if sort in SORTS else {}
    return Ask(
        ("pipelines", pipeline.name, "reviews"), {**given, **({"after": after} if after else {}), "limit": _PAGE}
    )


def further(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Sequence[Ask]:
    """The requests for the records of all pairs."""
    ids = dict.fromkeys(pair[side] for pair in answer.value["reviews"] for side in ("left", "right"))
    return [Ask(("pipelines", pipeline.name, "documents", id), {"limit": 1}) for id in ids]


def page(
    pipeline: PipelineName,
    query: Mapping[str, str],
    answer: Answer,
    *details: Answer,
    outcome: Outcome | None = None,
) -> Page:
    """The list, after the decisions of a form if there was one."""
    found: Mapping[str, Any] = answer.value
    kept = {name: query.get(name, "") for name in _KEPT}
    fields = {one.value["id"]: one.value.get("fields", {}) for one in details if one.ok}
    decided = set(outcome.pairs) if outcome is not None and outcome.decision != "undo" else set[Pair]()
    pairs = [pair for pair in found["reviews"] if (pair["left"], pair["right"]) not in decided]
    return Page(
        "reviews",
        "Review several pairs",
        {
            "summary": f"{counted(found['total'], 'pair')} to review",
            "total": found["total"],
            "lag": found["lag"],
            "rows": [(pair, _value(pair), _sides(pair, fields)) for pair in pairs],
            "checked": query.get("all") == "1" and outcome is None,
            "all": link("reviews", pipeline.name, **kept, all=1),
            "next": link("reviews", pipeline.name, **{**kept, "after": found["next"]}) if found["next"] else "",
            "first": link("reviews", pipeline.name, **{**kept, "after": ""}) if kept["after"] else "",
            "one": link("review", pipeline.name, sort=kept["sort"], by=kept["by"]),
            "kept": kept,
            "sorts": SORTS,
            "outcome": outcome,
            "sent": [(f"pair{number}", json.dumps(pair)) for number, pair in enumerate(outcome.pairs)]
            if outcome
            else [],
        },
        ask(pipeline, query),
        section="review",
    )


def decisions(pipeline: PipelineName, form: Mapping[str, str]) -> Sequence[tuple[Pair, Ask]]:
    """The chosen pairs of a form, each with the request that sends its decision; the last one waits for the effect."""
    chosen = [pair for name, text in form.items() if name.startswith("pair") and (pair := _pair(text)) is not None]
    found = list[tuple[Pair, Ask]]()
    for number, (left, right) in enumerate(chosen, 1):
        one = decision(pipeline, {**form, "left": left, "right": right})
        if one is not None:
            found.append(((left, right), one if number == len(chosen) else Ask(one.segments, body=one.body)))
    return found


def outcome_of(form: Mapping[str, str], sent: Sequence[tuple[Pair, Answer]]) -> Outcome:
    """The outcome of the requests of a form."""
    stored = [pair for pair, answer in sent if answer.ok]
    problems = [str(answer.value.get("detail", "")) for _, answer in sent if not answer.ok]
    in_effect = not problems and bool(sent) and bool(sent[-1][1].value["in_effect"])
    name = form.get("decision", "")
    return Outcome(name if name in DECISIONS else "", stored, len(problems), problems[0] if problems else "", in_effect)


def place(pipeline: PipelineName, form: Mapping[str, str]) -> str:
    """The address of the list that a form is on."""
    return link("reviews", pipeline.name, **{name: form.get(name, "") for name in _KEPT})


def _pair(text: str) -> Pair | None:
    """The pair in a field of a form."""
    try:
        left, right = json.loads(text)
    except (ValueError, TypeError):
        return None
    return (left, right) if isinstance(left, str) and isinstance(right, str) else None


def _value(pair: Mapping[str, Any]) -> str:
    return json.dumps((pair["left"], pair["right"]))


def _sides(
    pair: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """The id and the values of both records; the flag marks those that differ."""
    both = [fields.get(pair[side], {}) for side in ("left", "right")]
    weights = pair.get("weights", {})
    names = sorted(dict.fromkeys(name for one in both for name in one), key=lambda name: name not in weights)
    texts = [{name: field_text(one.get(name)) for name in names} for one in both]
    differ = {name for name in names if texts[0][name] != texts[1][name]}
    return [
        (pair[side], [(name, text, name in differ) for name, text in one.items() if text][:_MOST_FIELDS])
        for side, one in zip(("left", "right"), texts, strict=True)
    ]
