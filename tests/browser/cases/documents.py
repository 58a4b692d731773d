"""The overview, clusters, documents and pairs."""

from collections.abc import Callable, Iterable
from typing import Any

from tests.browser.answers import FixedSource, activity, service
from tests.browser.cases.case import START, Case, silent
from tests.browser.cases.reviews import record
from tests.browser.hostile import HOSTILE


def _one_recovers() -> FixedSource:
    missing = {"documents": [2, 3], "buckets": [2]}
    pipeline = {**service()["pipelines"][0], "missing": missing}
    return FixedSource({}, [service(complete=False, pipelines=[pipeline]), service("b" * 16, "recovering"), None])


def _cluster(id: str, size: int, growth: int, **further: Any) -> dict[str, Any]:
    times = {"first_time": START, "last_time": START + 60_000 * size}
    return {"cluster": id, "size": size, "representative": id, **times, "grew": growth, **further}


def _story(id: str, headline: str, size: int, growth: int) -> dict[str, Any]:
    first = {"id": id, "source": "wire.example", "time": START}
    return _cluster(id, size, growth, headline=headline, source_count=min(size, 11), first=first)


def _clusters(*rows: Any, path: str = "limit=50", **changes: Any) -> Callable[[], FixedSource]:
    value = {"clusters": list(rows), "next": None, "total": len(rows), "lag": 0, **changes}
    return lambda: FixedSource({f"/pipelines/news/clusters?{path}": (200, value)})


_OUTLETS = ("wire.example", "herald.example", "post.example", "blog.example")


def _members(ids: Iterable[str], *, titles: bool = True) -> list[dict[str, Any]]:
    known = list(ids)
    return [
        {
            "id": id,
            "time": START + 420_000 * number + 97_000 * (number % 3),
            "similarity": None if not number else 0.55 + 0.04 * (number % 11),
            "partner": None if not number else known[number // 2 if number % 2 else number - 1],
            **({"title": f"Two ships burn in the port {id}", "source": _OUTLETS[number % 4]} if titles else {}),
        }
        for number, id in enumerate(known)
    ]


def _one_cluster(members: list[dict[str, Any]], path: str = "limit=200", **changes: Any) -> Callable[[], FixedSource]:
    value = {
        "cluster": "wire-1",
        "size": len(members),
        "representative": members[0]["id"],
        "first_time": START,
        "last_time": members[-1]["time"],
        "grew": 0,
        "members": sorted(members, key=lambda one: one["time"]),
        "next": None,
        "lag": 0,
        "history": {"since": None, "events": []},
        **changes,
    }
    return lambda: FixedSource({f"/pipelines/news/clusters/wire-1?{path}": (200, value)})


def _links(size: int, *outside: tuple[str, str, str | None, float]) -> dict[str, Any]:
    """Pairs of all shades, and some that do not match."""
    names = ("id", "partner", "cluster", "similarity")
    pairs = [(one, other) for other in range(size) for one in range(other) if (one + other) % 5]
    inside = [[one, other, min(1.0, 0.5 + 0.07 * ((3 * one + other) % 9))] for one, other in pairs]
    return {"inside": inside, "outside": [dict(zip(names, one, strict=True)) for one in outside]}


def _event(event: str, minute: int = 0, size: int = 2, changes: int = 1, **clusters: Any) -> dict[str, Any]:
    return {"time": START + 60_000 * minute, "event": event, "size": size, "changes": changes, **clusters}


_HISTORY = {
    "since": START,
    "events": [
        _event("joined", 50, 12, 3),
        _event("left", 40, 9),
        _event("merged", 30, 9, merged_from=["herald-9", "blog-2"]),
        _event("changed", 20, 4),
        _event("split", 10, 4),
        _event("joined", 9, 5),
        _event("split", 8, 2, split_from="wire-0"),
        _event("created", 7),
    ],
}

_CLOSED = {
    "type": "urn:stream-lsh:problem:closed",
    "title": "The cluster or entity is closed",
    "status": 410,
    "detail": "got a cluster that was merged",
    "into": "wire-2",
}


def _document(matches: list[dict[str, Any]], **changes: Any) -> Callable[[], FixedSource]:
    value = {
        "id": "herald-7",
        "live": True,
        "time": START,
        "cluster": "wire-1",
        "matches": matches,
        "total": len(matches),
    }
    return lambda: FixedSource(
        {"/pipelines/news/documents/herald-7?limit=50": (200, {**value, "next": None, "lag": 0, **changes})}
    )


HOSTILE_TEXT = "<script>window.owned = 1</script> </textarea> {{7*7}} \u202e 'quiet'"


def _step(left: str, right: str) -> dict[str, Any]:
    return {"left": left, "right": right, "similarity": 0.6}


def _side(id: str, text: str | None) -> dict[str, Any]:
    split = 0 if text is None else len(text) // 2
    passages = [] if text is None else [_passage(0, split, shared=True), _passage(split, len(text), shared=False)]
    size, whole = None if text is None else 64, None if text is None else len(text)
    side = {"id": id, "time": START, "cluster": "wire-1", "characters": whole, "shingles": size}
    return {**side, "text": text, "passages": passages}


def _passage(start: int, end: int, *, shared: bool) -> dict[str, Any]:
    return {"start": start, "end": end, "shared": shared}


def _explained(
    texts: tuple[str | None, str | None] = ("Two ships burn in the port. The night is quiet.", HOSTILE_TEXT),
    **changes: Any,
) -> Callable[[], FixedSource]:
    measures = {"similarity": 0.8125, "shared": 52, "union": 64, "estimate": 0.8, "matching_slots": 102, "slots": 128}
    value = {
        "together": True,
        "reason": "match",
        "threshold": 0.6,
        "documents": [_side("herald-7", texts[0]), _side("wire-1", texts[1])],
        "comparison": {**measures, "bands_met": 9, "bands": 19, "probability": 0.99, "identical": False},
        "path": [_step("herald-7", "wire-1")],
        "pair": {**_pair("herald-7", "wire-1"), "review": False},
        "lag": 0,
    }
    return lambda: FixedSource({"/pipelines/news/pairs/herald-7/wire-1": (200, {**value, **changes})})


def _of_records(**changes: Any) -> Callable[[], FixedSource]:
    pair = _pair("herald-7", "wire-1", score=4.48, weights={"name": 2.1, "<b>": -1.0}, rules=["birth"])
    sides = [{"id": id, "time": START, "cluster": None} for id in ("herald-7", "wire-1")]
    value = {"together": False, "threshold": 0.5, "documents": sides, "lag": 0}
    value["pair"] = {**pair, "similarity": 0.957, "review": True}
    fields = {"herald-7": {"name": "Ann <b>", "town": HOSTILE_TEXT}, "wire-1": {"name": "Anna <b>"}}
    records = {f"/pipelines/people/documents/{id}?limit=1": (200, record(id, values)) for id, values in fields.items()}
    return lambda: FixedSource({"/pipelines/people/pairs/herald-7/wire-1": (200, {**value, **changes}), **records})


def _pair(left: str, right: str, **further: Any) -> dict[str, Any]:
    whole = {"similarity": 0.8125, "measure": "jaccard", "left_time": START, "right_time": START + 60_000}
    return {"left": left, "right": right, **whole, **(further or {"shared": 52, "union": 64})}


def _hot(example: Any, **changes: Any) -> dict[str, Any]:
    return {"rule": None, "identical": False, "left_out": 7, "postings": 33, "example": example, **changes}


def _active(**activities: tuple[int, Any]) -> Callable[[], FixedSource]:
    return lambda: FixedSource({f"/pipelines/{name}/activity": one for name, one in activities.items()})


_NEAR = {"from": 0.45, "below": 0.6, "compared": ["wire-1", HOSTILE[0]]}

CASES = [
    Case(
        "clusters",
        "/p/news/clusters",
        _clusters(
            _story("wire-1", "Two ships burn in the port", 37, 14),
            _story("post-2", "Council votes to repair the old bridge", 9, 3),
            _cluster("blog-9", 2, 0),
            total=9_310,
            next="page-2",
        ),
        ("9,310 clusters, newest first", "+14", "Council votes", "Next page"),
    ),
    Case("clusters-none", "/p/news/clusters", _clusters(), ("There are no clusters yet",)),
    Case(
        "clusters-filtered",
        "/p/news/clusters?text=fire&least_size=5&least_sources=x&sort=growing",
        _clusters(path="text=fire&least_size=5&sort=growing&limit=50"),
        ("No cluster matches these filters", "Show all clusters"),
    ),
    Case(
        "clusters-hostile",
        "/p/news/clusters",
        _clusters(*(_story(id, id, 2, 0) for id in HOSTILE)),
        ("<script>window.owned=1</script>", "{{7*7}}"),
    ),
    Case(
        "cluster",
        "/p/news/cluster?id=wire-1",
        _one_cluster(
            _members([f"{name.partition('.')[0]}-{number}" for number in range(3) for name in _OUTLETS]),
            headline="Two ships burn in the port",
            source_count=4,
            lag=3,
            history=_HISTORY,
            links=_links(12, ("wire-0", "post-77", "post-70", 0.8125), ("post-1", "blog-99", None, 0.62)),
        ),
        (
            *("Two ships burn in the port", "12 documents · 4 outlets", "3 messages are not included yet"),
            *("3 documents joined: 12 documents", "merged: 9 documents, including those of herald-9, blog-2"),
            *("split off: 2 documents, from wire-0", "The history begins"),
            *("Pairwise similarity", "0.57", "Kept apart", "post-77", "a pending review keeps these pairs out"),
        ),
    ),
    Case(
        "cluster-plain",
        "/p/news/cluster?id=wire-1",
        _one_cluster(_members(["wire-1", "a", "b", "c"], titles=False), next=200),
        ("4 documents", "Next page"),
    ),
    Case(
        "cluster-of-forty",
        "/p/news/cluster?id=wire-1",
        _one_cluster(_members([f"a-long-name-of-an-outlet/{number}" for number in range(40)]), links=_links(40)),
        ("40 documents", "Pairwise similarity"),
    ),
    Case(
        "cluster-hostile",
        "/p/news/cluster?id=wire-1",
        _one_cluster(
            _members(HOSTILE),
            headline=HOSTILE[0],
            history={"since": 0, "events": [_event("merged", merged_from=HOSTILE)]},
            links=_links(len(HOSTILE), *((one, one, one, 0.9) for one in HOSTILE[:10])),
        ),
        ("<script>window.owned=1</script>", "\\u202e"),
    ),
    Case(
        "cluster-near",
        "/p/news/cluster?id=wire-1&near=1",
        _one_cluster(
            _members(["wire-1", "a"]),
            path="limit=200&near=20",
            near_misses={
                **_NEAR,
                "documents": [
                    {"id": one, "similarity": 0.59, "partner": one, "cluster": one or None, "title": one}
                    for one in HOSTILE
                ],
            },
        ),
        ("Near misses", "0.59", "This view does not update", "from 0.45 to below 0.6", "for 2 documents"),
    ),
    Case(
        "cluster-near-none",
        "/p/news/cluster?id=wire-1&near=1",
        _one_cluster(_members(["wire-1", "a"]), path="limit=200&near=20", near_misses={**_NEAR, "documents": []}),
        ("No document was found between 0.45 and the threshold of 0.6",),
    ),
    Case(
        "cluster-closed",
        "/p/news/cluster?id=wire-1",
        lambda: FixedSource({"/pipelines/news/clusters/wire-1?limit=200": (410, _CLOSED)}),
        ("This cluster is closed", "Its documents are now in wire-2"),
        410,
    ),
    Case("cluster-unknown", "/p/news/cluster?id=..", lambda: FixedSource({}), ("This id does not exist",), 404),
    Case("cluster-no-id", "/p/news/cluster", lambda: FixedSource({}), ("Invalid request",), 400),
    Case(
        "document",
        "/p/news/document?id=herald-7",
        _document([_pair("herald-7", "wire-1"), _pair("blog-2", "herald-7")], title="Ships <b>burn", source="herald"),
        ("Ships <b>burn", "2 matches", "wire-1", "blog-2", "52 of 64 in common"),
    ),
    Case(
        "document-record",
        "/p/news/document?id=herald-7",
        _document(
            [_pair("herald-7", "9", score=2.1, weights={"name": 2.1, "<b>": -1.0}, rules=["name"])],
            cluster=None,
        ),
        ("<b>", "+2.10 bits", "found by name"),
    ),
    Case(
        "pair",
        "/p/news/pair?left=herald-7&right=wire-1",
        _explained(),
        ("They match.", "0.8125", "52 of 64 in common", "quiet", "Marked parts"),
    ),
    Case(
        "pair-chain",
        "/p/news/pair?left=herald-7&right=wire-1",
        _explained(reason="chain", pair=None, path=[_step("herald-7", "<b>"), _step("<b>", "wire-1")]),
        ("other members connect them", "Connecting matches", "<b>"),
    ),
    Case(
        "pair-deleted",
        "/p/news/pair?left=herald-7&right=wire-1",
        _explained(together=False, reason="deleted", comparison=None, path=None, pair=None, texts=(None, HOSTILE_TEXT)),
        ("They are not in the same cluster", "One of them was deleted", "no longer stored"),
    ),
    Case(
        "pair-records",
        "/p/people/pair?left=herald-7&right=wire-1",
        _of_records(),
        ("0.957", "for review", "+2.10", "birth", "Anna <b>", "town", "+4.48 bits"),
    ),
    Case(
        "pair-records-apart",
        "/p/people/pair?left=herald-7&right=wire-1",
        _of_records(pair=None),
        ("neither a match nor a pair to review", "Anna <b>"),
    ),
    Case(
        "document-alone",
        "/p/news/document?id=herald-7",
        _document([], live=False),
        ("No other document matches", "deleted"),
    ),
    Case(
        "overview",
        "/",
        lambda: FixedSource({}),
        (
            *("Healthy: 1 worker, 2 pipelines", "Documents per second", "1,343", "highest 1,343 in the last 10 min"),
            *("Hot buckets", "1,000 or more", "4,812", "We use cookies to improve"),
        ),
    ),
    Case(
        "overview-hostile",
        "/",
        _active(
            news=activity(
                3,
                hot_buckets=[_hot({"id": id, "title": id, "source": id}) for id in HOSTILE[:5]],
                missing={"documents": [2, 3]},
            ),
            people=activity(1, hot_buckets=[_hot(None, rule="surname:first4"), _hot({"id": "7"}, identical=True)]),
        ),
        (
            *("<script>window.owned=1</script>", "Rates and hot buckets are incomplete: documents 2-3 unavailable"),
            *("surname:first4", "no longer stored", "identical content"),
        ),
    ),
    Case(
        "overview-without-rates",
        "/",
        _active(news=activity(0), people=activity(0, rates=None, hot_buckets=[])),
        ("The first rates follow in two seconds", "No worker reports rates"),
    ),
    Case("overview-troubled", "/", _one_recovers, ("1 of 3 workers is not responding", "documents 2-3")),
    Case("overview-silent", "/", silent, ("No worker is responding", "no answer since")),
    Case(
        "health",
        "/health",
        lambda: FixedSource({}),
        ("every partition has an owner", "4f1c2d3e5a6b7c8d 12 messages waiting", "24", "another worker"),
    ),
    Case("health-troubled", "/health", _one_recovers, ("1 of 3 workers is not responding", "unavailable", "unknown")),
    Case("health-silent", "/health", silent, ("No worker is responding", "no answer since")),
    Case("no-such-page", "/nowhere", lambda: FixedSource({}), ("Unknown page",), 404),
]
