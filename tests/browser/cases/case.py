"""A page in one state."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.browser.answers import FixedSource, service

START = 1_700_000_000_000


class Case(NamedTuple):
    """A page in one state.

    Attributes:
        name: of the test.
        path: of the page.
        source: makes the answers.
        shows: texts that the page shows.
        status: of HTTP.
        value: is put into the form of the page, which is sent.
    """

    name: str
    path: str
    source: Callable[[], Any]
    shows: tuple[str, ...]
    status: int = 200
    value: str = ""


def silent() -> FixedSource:
    """No worker answers."""
    source = FixedSource({}, [service(), service()])
    source.silent_since = 1_700_000_000.0
    return source
