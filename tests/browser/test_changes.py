"""Changes in a real browser: a page follows them, holds while it is read, and asks by time without them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.answers import FixedSource
from tests.browser.window import Window, window

PATH = "/pipelines/news/clusters?limit=50"


def clusters(headline: str) -> tuple[int, Any]:
    """A list of one cluster."""
    row = {"cluster": "wire-1", "size": 2, "representative": "wire-1", "first_time": 0, "last_time": 0, "grew": 0}
    return 200, {"clusters": [{**row, "headline": headline}], "total": 1, "next": None, "lag": 0}


def opened(one: Window, source: FixedSource) -> int:
    """Wait until the page is live and has asked once after that; returns the number of requests for the list."""
    one.open("/p/news/clusters")
    one.page.wait_for_selector("#standing.live")
    one.page.wait_for_timeout(2_500)
    return asked(source)


def asked(source: FixedSource) -> int:
    return len([ask for ask in source.asked if ask.path == PATH])


@pytest.fixture
def source() -> FixedSource:
    return FixedSource({PATH: clusters("Before")})


def test_a_page_asks_again_after_changes_of_its_own_only(
    browser: Any, serve: Callable[..., str], source: FixedSource
) -> None:
    with window(browser, serve(source)) as one:
        before = opened(one, source)
        source.answers[PATH] = clusters("After")
        source.changed += [("members", "a"), ("matches", '["a","b"]')]
        one.page.wait_for_timeout(3_000)
        assert asked(source) == before
        source.changed.append(("clusters", "wire-1"))
        one.page.wait_for_selector("text=After")
        assert asked(source) > before
        assert one.messages == []


def test_a_list_holds_while_it_is_read(browser: Any, serve: Callable[..., str], source: FixedSource) -> None:
    with window(browser, serve(source)) as one:
        opened(one, source)
        one.page.hover("tbody tr")
        source.answers[PATH] = clusters("After")
        source.changed += [("clusters", "wire-1"), ("clusters", "wire-2")]
        one.page.wait_for_selector("text=2 changes – show")
        assert one.page.is_visible("text=Before")
        assert one.page.inner_text("#news") == "2 changes – show"
        assert one.violations() == []
        one.page.click("#changed")
        one.page.wait_for_selector("text=After")
        one.page.wait_for_selector("#changed", state="hidden")


def test_a_paused_page_counts_changes(browser: Any, serve: Callable[..., str], source: FixedSource) -> None:
    with window(browser, serve(source)) as one:
        before = opened(one, source)
        one.page.click("#pause")
        source.changed.append(("clusters", "wire-1"))
        one.page.wait_for_selector("text=1 change – show")
        assert asked(source) == before
        one.page.click("#pause")
        one.page.wait_for_selector("#changed", state="hidden")
        assert asked(source) > before


def test_a_page_asks_by_time_while_no_worker_reports_changes(
    browser: Any, serve: Callable[..., str], source: FixedSource
) -> None:
    with window(browser, serve(source)) as one:
        opened(one, source)
        source.reports_changes = False
        one.page.wait_for_selector("#standing:not(.live)")
        source.answers[PATH] = clusters("After")
        one.page.wait_for_selector("text=After")
        source.reports_changes = True
        one.page.wait_for_selector("#standing.live")
        assert one.messages == []


def test_a_hidden_page_closes_its_stream(browser: Any, serve: Callable[..., str], source: FixedSource) -> None:
    with window(browser, serve(source)) as one:
        opened(one, source)
        hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true});"
        one.page.evaluate(hide % "true" + "document.dispatchEvent(new Event('visibilitychange'))")
        one.page.wait_for_selector("#standing:not(.live)")
        assert not one.page.is_visible("#standing.live")
        one.page.evaluate(hide % "false" + "document.dispatchEvent(new Event('visibilitychange'))")
        one.page.wait_for_selector("#standing.live")
        assert one.messages == []


def test_a_page_keeps_its_contents_while_a_partition_is_unavailable(
    browser: Any, serve: Callable[..., str], source: FixedSource
) -> None:
    with window(browser, serve(source)) as one:
        opened(one, source)
        problem = {"type": "urn:stream-lsh:problem:not-now", "title": "not-now", "status": 503, "detail": "no owner"}
        source.answers[PATH] = (503, {**problem, "missing": {"ledger": [0]}})
        source.changed.append(("clusters", "wire-1"))
        one.page.wait_for_selector("#stale:visible")
        shown = one.page.inner_text("#stale")
        assert shown.startswith("Not available right now. Unavailable partitions: ledger 0. Contents of "), shown
        assert one.page.inner_text("#news") == "Not available right now"
        assert one.page.is_visible("text=Before")
        assert one.violations() == []
        source.answers[PATH] = clusters("After")
        one.page.wait_for_selector("text=After")
        assert not one.page.is_visible("#stale")
