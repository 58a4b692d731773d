"""Dead letters."""

import base64
from collections.abc import Callable
from typing import Any

from tests.browser.answers import FixedSource
from tests.browser.cases.case import START, Case
from tests.browser.hostile import HOSTILE


def _letter(place: int, reason: str, value: str, **changes: Any) -> dict[str, Any]:
    body = value.encode("utf-8", "replace")
    row = {
        "place": place,
        "time": START + 1_000 * place,
        "reason": reason,
        "error": "got no `text`, expected a string",
        "topic": "articles",
        "partition": 3,
        "offset": 88_100 + place,
        "key": f"herald-{place}",
        "bytes": len(body),
        "text": body.decode(),
        "base64": base64.b64encode(body).decode(),
    }
    return {**row, **changes}


def _letters(*rows: Any, path: str = "limit=20", **changes: Any) -> Callable[[], FixedSource]:
    value = {"dead_letters": list(rows), "total": len(rows), "next": None, **changes}
    return lambda: FixedSource({f"/pipelines/news/dead-letters?{path}": (200, value)})


_THREE = (
    _letter(12, "text", '{"id": "herald-12", "body": "Two ships burn in the port"}'),
    _letter(9, "json", "Two ships", key=None, partition=None, offset=None, error="got another value than an object"),
    _letter(7, "unheard-of", "{" + "long " * 900, bytes=12_000),
)

CASES = [
    Case(
        "dead-letters",
        "/p/news/dead-letters",
        _letters(*_THREE, total=1_204, next="older"),
        ("1,204 dead letters, newest first", "articles/3 @ 88,112", "got no `text`", "not a JSON object", "Next page"),
    ),
    Case(
        "dead-letters-hex",
        "/p/news/dead-letters?view=hex&after=older",
        _letters(*_THREE, path="limit=20&after=older"),
        ("0000  7b 22 69 64", "First page"),
    ),
    Case(
        "dead-letters-of-reason",
        "/p/news/dead-letters?reason=time",
        _letters(path="limit=20&reason=time", total=40, next="older"),
        ("has the reason time", "Older pages may have some"),
    ),
    Case("dead-letters-none", "/p/news/dead-letters", _letters(), ("There are no dead letters",)),
    Case(
        "dead-letters-hostile",
        "/p/news/dead-letters",
        _letters(*(_letter(at, one, one, error=one, topic=one, key=one) for at, one in enumerate(HOSTILE))),
        ("<script>window.owned=1</script>", "{{7*7}}", "\\u202e", "\\x00"),
    ),
]
