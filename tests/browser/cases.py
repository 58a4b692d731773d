"""The pages that are looked at: each state of each page, with its answers."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.browser.answers import FixedSource, service


class Case(NamedTuple):
    """A page in one state.

    Attributes:
        name: of the test.
        path: of the page.
        source: makes the answers.
        shows: texts that the page shows.
        status: of HTTP.
    """

    name: str
    path: str
    source: Callable[[], Any]
    shows: tuple[str, ...]
    status: int = 200


def _silent() -> FixedSource:
    source = FixedSource({}, [service(), service()])
    source.silent_since = 1_700_000_000.0
    return source


def _one_recovers() -> FixedSource:
    missing = {"documents": [2, 3], "buckets": [2]}
    pipeline = {**service()["pipelines"][0], "missing": missing}
    return FixedSource({}, [service(complete=False, pipelines=[pipeline]), service("b" * 16, "recovering"), None])


CASES = [
    Case("overview", "/", lambda: FixedSource({}), ("All well: 1 worker, 2 pipelines",)),
    Case("overview-troubled", "/", _one_recovers, ("1 of 3 workers does not answer", "documents 2-3")),
    Case("overview-silent", "/", _silent, ("No worker answers", "not connected since")),
    Case("no-such-page", "/nowhere", lambda: FixedSource({}), ("There is no such page",), 404),
]
