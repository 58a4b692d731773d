"""Pages in place of an answer that is a problem."""

from stream_lsh.web.asks import NO_CONNECTION, Answer, Ask
from stream_lsh.web.pages.page import Page

_HEADINGS = {
    "unknown-id": "This id does not exist",
    "unknown-pipeline": "Unknown pipeline",
    "unknown-path": "Unknown page",
    "wrong-kind": "This pipeline has no such page",
    "closed": "This {group} is closed",
    "malformed": "Invalid request",
    "too-large": "The value is too large",
    "unusable": "The value cannot be compared",
    "busy": "The workers are busy",
    "not-now": "Not available right now",
    "too-late": "The query timed out",
    "unauthorised": "The workers reject the token of these pages",
    NO_CONNECTION: "No worker is responding",
}
_AGAIN = frozenset({"busy", "not-now", "too-late", NO_CONNECTION})
"""The problems after which the same request may succeed."""
_UNCONFIRMED = frozenset({"too-late", "failed", NO_CONNECTION})
"""The problems after which a decision may be stored all the same."""


def problem_page(answer: Answer, ask: Ask | None = None, section: str = "", *, back: str = "") -> Page:
    """The page of a problem; it repeats the request if that may help.

    Args:
        answer: the problem.
        ask: the request.
        section: the entry of the navigation.
        back: the address of the form if the request was to change something.
    """
    value = answer.value if isinstance(answer.value, dict) else {}
    group = "entity" if ask is not None and "entities" in ask.segments[2:3] else "cluster"
    known = _HEADINGS.get(answer.problem, "").format(group=group)
    heading = known or str(value.get("title", "The request failed"))
    again = answer.problem in _AGAIN and not back
    return Page(
        "problem",
        heading,
        {
            "heading": heading,
            "detail": str(value.get("detail", "")),
            "missing": value.get("missing", {}),
            "into": value.get("into"),
            "group": group,
            "again": again,
            "back": back,
            "unconfirmed": answer.problem in _UNCONFIRMED,
        },
        ask,
        status=502 if answer.problem == "unauthorised" else answer.status,
        section=section,
        refresh_s=2 if again else 0,
        passing=again,
    )


def unknown_page() -> Page:
    """The page for a path that does not exist."""
    return problem_page(
        Answer(404, {"type": "urn:stream-lsh:problem:unknown-path", "detail": "the menu leads to all pages"})
    )
