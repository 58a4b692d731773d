"""The search."""

from collections.abc import Callable
from typing import Any

from tests.browser.answers import FixedSource
from tests.browser.cases.case import Case, silent
from tests.browser.hostile import HOSTILE, PASTED


def _matches(*matches: Any, **changes: Any) -> dict[str, Any]:
    whole = {"compared": 12, "capped": False, "complete": True, "missing": {}, "lag": 0}
    return {"matches": list(matches), **whole, **changes}


def _alike(id: str, similarity: float = 0.75) -> dict[str, Any]:
    return {"id": id, "similarity": similarity, "shared": 6, "union": 8}


def _answered(pipeline: str, value: Any, status: int = 200) -> Callable[[], FixedSource]:
    return lambda: FixedSource({f"/pipelines/{pipeline}/similar": (status, value)})


_PERSON = {
    "id": "c-40",
    "probability": 0.957,
    "review": True,
    "evidence": {
        "measure": "fellegi-sunter",
        "score": 4.48,
        "weights": {"given_name": -2.25, "surname": 3.64, "date_of_birth": 13.05, "<b>city</b>": 0.0},
        "rules": ["surname:first4", "date_of_birth"],
    },
}
_TOO_SHORT = {
    "type": "urn:stream-lsh:problem:unusable",
    "title": "The value cannot be compared",
    "status": 422,
    "detail": "got a text without shingles",
    "reason": "text",
}
_ARTICLE = "Two ships burn in the port of the quiet old town, and the night is as bright as day.\n\nFire brigades came."


CASES = [
    Case(
        "search-empty", "/p/news/search", lambda: FixedSource({}), ("A text. The stored documents are compared", "Find")
    ),
    Case("search-no-pipeline", "/p/nowhere/search", lambda: FixedSource({}), ("Unknown pipeline",), 404),
    Case("search-silent", "/p/news/search", silent, ("No worker is responding", "retries every 2 seconds"), 503),
    Case(
        "search-found",
        "/p/news/search",
        _answered("news", _matches(_alike("herald-7", 0.8125), _alike("wire-1"), _alike("blog/2?#", 1))),
        ("3 matches; 12 documents were compared", "herald-7", "0.8125", "6 of 8 in common"),
        value=_ARTICLE,
    ),
    Case(
        "search-incomplete",
        "/p/news/search",
        _answered("news", _matches(complete=False, missing={"documents": [2, 3]}, capped=True, lag=1)),
        ("No matches", "documents 2-3", "A cap of the pipeline", "1 message is not included yet"),
        value=_ARTICLE,
    ),
    Case(
        "search-record",
        "/p/people/search",
        _answered("people", _matches(_PERSON)),
        ("1 match; 12 records were compared", "0.957", "+4.48 bits", "for review", "<b>city</b>"),
        value='{"given_name": "Bob", "surname": "Garsky"}',
    ),
    Case("search-misread", "/p/people/search", lambda: FixedSource({}), ("A record, as JSON: Expecting",), value="Bob"),
    Case("search-unusable", "/p/news/search", _answered("news", _TOO_SHORT, 422), ("without shingles",), 422, "a"),
    Case(
        "search-hostile",
        "/p/news/search",
        _answered("news", _matches(*map(_alike, HOSTILE))),
        (f"{len(HOSTILE)} matches", "<script>window.owned=1</script>", "{{7*7}}", "\\u202e", "\\x00"),
        value=PASTED,
    ),
]
