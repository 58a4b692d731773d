"""Every page in a real browser, narrow and wide, light and dark, with and without scripts."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.answers import FixedSource
from tests.browser.cases import CASES, Case
from tests.browser.conftest import NAME
from tests.browser.window import NARROW, WIDE, Window, window


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_page_is_silent_accessible_and_fits(browser: Any, serve: Callable[..., str], case: Case) -> None:
    address = serve(case.source())
    for width in (NARROW, WIDE):
        with window(browser, address, width) as one:
            assert problems(one, case) == []
            assert one.page.evaluate("window.owned === undefined")
            for scheme in ("light", "dark"):
                one.page.emulate_media(color_scheme=scheme)
                assert not one.scrolls_sideways(), (width, scheme)
                assert one.violations() == [], (width, scheme)
            assert one.messages == []
        with window(browser, address, width, scripts=False) as one:
            assert problems(one, case) == []


def test_a_long_value_breaks_neither_the_names_of_fields_nor_times(browser: Any, serve: Callable[..., str]) -> None:
    (case,) = [one for one in CASES if one.name == "entity-long-value"]
    with window(browser, serve(case.source()), WIDE) as one:
        one.open(case.path)
        lines = "all => all.map(one => one.getClientRects().length)"
        assert set(one.page.locator(".rows .name bdi, .rows time").evaluate_all(lines)) == {1}


def test_all_labels_of_a_narrow_table_have_one_font(browser: Any, serve: Callable[..., str]) -> None:
    (case,) = [one for one in CASES if one.name == "entity"]
    with window(browser, serve(case.source()), NARROW) as one:
        one.open(case.path)
        fonts = "all => all.map(one => getComputedStyle(one, '::before').fontFamily)"
        assert len(set(one.page.locator(".rows [data-label]").evaluate_all(fonts))) == 1


def test_a_reader_signs_in_at_an_address_without_tls(browser: Any, serve: Callable[..., str]) -> None:
    address = serve(FixedSource({}), ("a-token",)).replace("127.0.0.1", NAME)
    with window(browser, address) as one:
        one.open("/sign-in")
        one.page.fill("#token", "a-token")
        with one.page.expect_navigation() as navigation:
            one.page.click("button.main")
        assert (navigation.value.status, navigation.value.url) == (200, f"{address}/")


def test_a_page_returns_to_the_sign_in_when_its_session_has_ended(browser: Any, serve: Callable[..., str]) -> None:
    address = serve(FixedSource({}), ("a-token",))
    with window(browser, address) as one:
        one.open("/sign-in")
        one.page.fill("#token", "a-token")
        with one.page.expect_navigation():
            one.page.click("button.main")
        one.page.context.clear_cookies()
        one.page.wait_for_url(f"{address}/sign-in?next=%2F")
        assert one.page.locator("#token").is_visible()


def problems(one: Window, case: Case) -> list[str]:
    """Open a page; returns its problems."""
    status = one.open(case.path, case.value)
    shown = one.page.inner_text("body")
    found = [f"not shown: {text}" for text in case.shows if text not in shown] + one.messages
    if status != case.status:
        found.append(f"status {status}")
    if one.scrolls_sideways():
        found.append("scrolls sideways")
    return found
