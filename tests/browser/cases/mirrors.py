"""Mirrored sites."""

from collections.abc import Callable
from typing import Any

from tests.browser.answers import FixedSource
from tests.browser.cases.case import START, Case
from tests.browser.hostile import HOSTILE


def _sites(left: str, right: str, pages: tuple[int, int], mirrored: tuple[int, int], direction: str) -> dict[str, Any]:
    return {
        "left": left,
        "right": right,
        "left_pages": pages[0],
        "right_pages": pages[1],
        "left_mirrored": mirrored[0],
        "right_mirrored": mirrored[1],
        "left_share": mirrored[0] / pages[0],
        "right_share": mirrored[1] / pages[1],
        "direction": direction,
        "first_time": START,
    }


def _mirrors(*rows: Any, path: str = "limit=50", **changes: Any) -> Callable[[], FixedSource]:
    value = {"mirrors": list(rows), "total": len(rows), "next": None, "lag": 0, **changes}
    return lambda: FixedSource({f"/pipelines/news/mirrors?{path}": (200, value)})


CASES = [
    Case(
        "mirrors",
        "/p/news/mirrors",
        _mirrors(
            _sites("copy.example", "full.example", (310, 1_004), (310, 311), "left_in_right"),
            _sites("one.example", "two.example", (20, 21), (19, 20), "both"),
            _sites("whole.example", "z.example", (7_000, 1), (1, 1), "right_in_left"),
            total=51,
            next=50,
            lag=1,
        ),
        (
            "51 pairs of sites, by name",
            "copy.example is mirrored on full.example",
            "311 of 1,004 pages of full.example",
            "one.example and two.example",
            "z.example is mirrored on whole.example",
            "100.0 %",
            "Next page",
        ),
    ),
    Case("mirrors-none", "/p/news/mirrors", _mirrors(), ("No pair of sites reaches",)),
    Case(
        "mirrors-of-a-site",
        "/p/news/mirrors?site=+lone.example&start=x",
        _mirrors(path="site=lone.example&limit=50"),
        ("lone.example mirrors no other site", "Show all pairs"),
    ),
    Case(
        "mirrors-hostile",
        "/p/news/mirrors?start=50",
        _mirrors(*(_sites(one, one[::-1], (2, 2), (1, 2), "both") for one in HOSTILE), path="limit=50&start=50"),
        ("<script>window.owned=1</script>", "{{7*7}}", "\\u202e", "First page"),
    ),
]
