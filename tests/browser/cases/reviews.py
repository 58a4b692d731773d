"""Pairs of records for review."""

from collections.abc import Mapping
from itertools import pairwise, starmap
from typing import Any

from tests.browser.answers import FixedSource
from tests.browser.cases.case import START, Case
from tests.browser.hostile import HOSTILE

LEFT = {"given_name": "Robert", "surname": "Garski", "born": "1978-11-12", "phone": "030 1234"}
RIGHT = {"given_name": "Bob", "surname": "Garsky", "born": "1978-11-12", "city": "Ulm"}
WEIGHTS = {"given_name": -2.25, "surname": 3.64, "born": 13.05}


def pair_of(left: str, right: str, **changes: Any) -> dict[str, Any]:
    """A pair of the list."""
    measures = {"similarity": 0.957, "measure": "fellegi-sunter", "score": 4.48, "weights": WEIGHTS, "rules": ["birth"]}
    return {"left": left, "right": right, **measures, "left_time": START, "right_time": START, **changes}


def record(id: str, fields: Mapping[str, Any], cluster: str | None = None) -> dict[str, Any]:
    """A record."""
    return {
        "id": id,
        "live": True,
        "time": START,
        "source": id.partition("-")[0],
        "fields": fields,
        "cluster": cluster,
        "matches": [],
        "total": 0,
        "next": None,
        "lag": 0,
    }


def reviews(*pairs: Any, **changes: Any) -> dict[str, Any]:
    """The list."""
    return {"reviews": list(pairs), "total": 340, "next": None, "lag": 0, **changes}


def source(path: str = "", *pairs: Any, records: Any = (), **changes: Any) -> FixedSource:
    """The answers for a page of the review."""
    known = {f"/pipelines/people/documents/{one['id']}?limit=1": (200, one) for one in records}
    return FixedSource({f"/pipelines/people/reviews?{path}limit=1": (200, reviews(*pairs, **changes)), **known})


def explained(left: str, right: str, *, for_review: bool) -> tuple[int, Any]:
    """The explanation of a pair."""
    sides = [{"id": id, "time": START, "cluster": None} for id in (left, right)]
    pair = {**pair_of(left, right), "review": for_review}
    return 200, {"together": False, "threshold": 0.5, "documents": sides, "pair": pair, "lag": 0}


def _one(path: str = "", **changes: Any) -> FixedSource:
    both = [record("c-17", LEFT, "c-3"), record("c-40", RIGHT, "c-40")]
    return source(path, pair_of("c-17", "c-40"), records=both, **changes)


def _after_a_decision() -> FixedSource:
    found = _one("sort=newest&after=second&", next="third", lag=1)
    found.answers["/pipelines/people/pairs/c-9/c-12"] = explained("c-9", "c-12", for_review=True)
    return found


def _hostile() -> FixedSource:
    fields = {one: one for one in HOSTILE}
    both = [{**record(id, fields), "id": id} for id in ("c-17", "c-40")]
    pair = pair_of("c-17", "c-40", weights={one: at - 9.0 for at, one in enumerate(HOSTILE)}, rules=list(HOSTILE))
    found = source("after=%3Cscript%3E&", pair, records=both)
    found.answers["/pipelines/people/pairs/%3Cscript%3Ewindow%2Eowned=1/b"] = explained("a", "b", for_review=True)
    return found


def _hostile_ids() -> FixedSource:
    return source("", pair_of(HOSTILE[0], HOSTILE[1]))


_LATEST = "last=different&last_left=c-9&last_right=c-12&back=first"

CASES: list[Case] = [
    Case(
        "review",
        "/p/people/review",
        _one,
        (
            "340 pairs to review",
            "Robert",
            "Garsky",
            "−2.25",
            "+13.05",
            "Probability 0.957, +4.48 bits, found by birth",
            "can merge the entities c-3 and c-40",
        ),
    ),
    Case(
        "review-after-a-decision",
        f"/p/people/review?sort=newest&after=second&by=ben&{_LATEST}",
        _after_a_decision,
        ("c-9 and c-12: different, sent, but not in effect yet", "Undo", "Check again", "Skip", "1 message is not"),
    ),
    Case(
        "review-end",
        f"/p/people/review?after=last&effect=1&{_LATEST}",
        lambda: source("after=last&"),
        ("different, in effect", "This is the end of the list"),
    ),
    Case(
        "review-none",
        "/p/people/review",
        lambda: source(total=0),
        ("0 pairs to review", "There are no pairs to review"),
    ),
    Case(
        "review-hostile",
        "/p/people/review?after=%3Cscript%3E&last=same&last_left=%3Cscript%3Ewindow.owned%3D1&last_right=b&by=%22%3E",
        _hostile,
        ("<script>window.owned=1</script>", "{{7*7}}", "\\u202e"),
    ),
    Case("review-hostile-ids", "/p/people/review", _hostile_ids, (HOSTILE[0], HOSTILE[1])),
]


def several(*pairs: Any, path: str = "", records: Any = (), **changes: Any) -> FixedSource:
    """The answers for a page of the list."""
    found = source("", *pairs, records=records)
    found.answers[f"/pipelines/people/reviews?{path}limit=20"] = (200, reviews(*pairs, **changes))
    return found


def _several() -> FixedSource:
    known = [record(f"c-{number}", LEFT if number % 2 else RIGHT) for number in range(8)]
    pairs = [pair_of(f"c-{number}", f"c-{number + 1}") for number in (1, 3, 5)]
    return several(*pairs, records=known, path="sort=newest&", next="further", lag=1)


def _several_hostile() -> FixedSource:
    found = several(*starmap(pair_of, pairwise(HOSTILE)))
    found.answers["/pipelines/people/documents/c-1?limit=1"] = (200, record("c-1", {one: one for one in HOSTILE}))
    found.answers["/pipelines/people/reviews?limit=20"][1]["reviews"].append(pair_of("c-1", "c-2"))
    return found


CASES += [
    Case(
        "reviews",
        "/p/people/reviews?sort=newest&by=ben&all=1",
        _several,
        (
            "340 pairs to review",
            "c-1 and c-2",
            "Robert",
            "Garsky",
            "Selected pairs: same",
            "Next page",
            "Marked values differ",
        ),
    ),
    Case("reviews-none", "/p/people/reviews", lambda: several(total=0), ("There are no pairs to review",)),
    Case("reviews-hostile", "/p/people/reviews", _several_hostile, ("<script>window.owned=1</script>", "{{7*7}}")),
]
