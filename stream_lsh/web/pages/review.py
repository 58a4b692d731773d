"""The review: one pair of records at a time, side by side with the evidence, and the decision on it.

Everything is in the address: the place in the list, the latest decision, and the name of the reviewer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from stream_lsh.controls import one_line
from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.links import link
from stream_lsh.web.pages.compared_fields import compared_fields, is_in_bits
from stream_lsh.web.pages.page import Page, PipelineName

SORTS = {"closest": "most similar first", "newest": "newest record first"}
DECISIONS: Mapping[str, str | None] = {"same": "same", "different": "different", "undo": None}
"""The buttons, with the decision that each sends."""
_KEPT = ("sort", "by")
"""The parameters that stay the same from pair to pair."""
_WAIT_S = 1


def ask(pipeline: PipelineName, query: Mapping[str, str]) -> Ask:
    """The request for the pair at the place in the list."""
    given = {name: query[name] for name, known in (("sort", SORTS), ("after", None)) if _usable(query, name, known)}
    return Ask(("pipelines", pipeline.name, "reviews"), {**given, "limit": 1})


def further(pipeline: PipelineName, query: Mapping[str, str], answer: Answer) -> Sequence[Ask]:
    """The requests for the latest decision's pair, if there is one, and for both records of the pair."""
    latest = _latest(query)
    asks = [Ask(("pipelines", pipeline.name, "pairs", *latest[1:]))] if latest else []
    for pair in answer.value["reviews"]:
        asks += [Ask(("pipelines", pipeline.name, "documents", pair[side]), {"limit": 1}) for side in ("left", "right")]
    return asks


def page(pipeline: PipelineName, query: Mapping[str, str], answer: Answer, *details: Answer) -> Page:
    """The pair, or the end of the list."""
    found: Mapping[str, Any] = answer.value
    latest, kept = _latest(query), {name: query.get(name, "") for name in _KEPT}
    pair = found["reviews"][0] if found["reviews"] else None
    records = [one.value if one.ok else {} for one in details[1 if latest else 0 :]]
    return Page(
        "review",
        "Review",
        {
            "total": found["total"],
            "summary": f"{counted(found['total'], 'pair')} to review",
            "lag": found["lag"],
            "pair": pair,
            "bits": pair is not None and is_in_bits(pair),
            "rows": compared_fields(pair["weights"], records) if pair else [],
            "consequence": _consequence(*(one.get("cluster") for one in records)) if pair else "",
            "next": found["next"] or "",
            "skip": link("review", pipeline.name, **kept, after=found["next"]) if found["next"] else "",
            "first": link("review", pipeline.name, **kept) if query.get("after") else "",
            "after": query.get("after", ""),
            "kept": kept,
            "sorts": SORTS,
            "latest": latest,
            "is_in_effect": latest is not None and _is_in_effect(query, latest[0], details[0]),
            "back": query.get("back", ""),
        },
        ask(pipeline, query),
        section="review",
        refresh_s=0 if pair else 2,
        changes=("reviews",),
    )


def decision(pipeline: PipelineName, form: Mapping[str, str]) -> Ask | None:
    """The request that sends the decision of a form; None for a form that has none."""
    if form.get("decision") not in DECISIONS or not (form.get("left") and form.get("right")):
        return None
    notes = {name: text[:4_096] for name in ("by", "note") if (text := form.get(name, "").strip())}
    body = {"left": form["left"], "right": form["right"], "decision": DECISIONS[form["decision"]], **notes}
    return Ask(("pipelines", pipeline.name, "decisions"), body=body, wait_s=_WAIT_S)


def decided(pipeline: PipelineName, form: Mapping[str, str], answer: Answer) -> str:
    """The address of the next pair, or after `undo` of the same one."""
    undone = form["decision"] == "undo"
    return link(
        "review",
        pipeline.name,
        **{name: form.get(name, "") for name in _KEPT},
        after=form.get("back" if undone else "next") or ("" if undone else form.get("after", "")),
        last=form["decision"],
        last_left=form["left"],
        last_right=form["right"],
        effect="1" if answer.value["in_effect"] else "",
        back="" if undone else form.get("after", ""),
    )


def place(pipeline: PipelineName, form: Mapping[str, str]) -> str:
    """The address of the pair that a form is on."""
    return link("review", pipeline.name, **{name: form.get(name, "") for name in (*_KEPT, "after")})


def _usable(query: Mapping[str, str], name: str, known: Mapping[str, str] | None) -> bool:
    return bool(query.get(name)) and (known is None or query[name] in known)


def _latest(query: Mapping[str, str]) -> tuple[str, str, str] | None:
    """The latest decision and its two ids."""
    names = ("last", "last_left", "last_right")
    given = tuple(query.get(name, "") for name in names)
    return (given[0], given[1], given[2]) if all(given) and given[0] in DECISIONS else None


def _is_in_effect(query: Mapping[str, str], verdict: str, answer: Answer) -> bool:
    """Whether the ledger had the decision when it was sent, or the pair has left, or returned to, the list since."""
    if query.get("effect") == "1":
        return True
    waits = bool(answer.ok and answer.value["pair"] and answer.value["pair"]["review"])
    return answer.ok and waits == (verdict == "undo")


def _consequence(left: str | None = None, right: str | None = None) -> str:
    if left and left == right:
        return f"Both are already in the entity {one_line(left)}."
    if left and right:
        return f"“Same” can merge the entities {one_line(left)} and {one_line(right)}."
    if left or right:
        return f"“Same” can add a record to the entity {one_line(left or right)}."
    return "“Same” can create an entity."
