"""Every page in a real browser, narrow and wide, light and dark, with and without scripts."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.cases import CASES, Case
from tests.browser.window import NARROW, WIDE, window

LOOKS = [
    (width, scheme, scripts) for width in (NARROW, WIDE) for scheme in ("light", "dark") for scripts in (True, False)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_page_is_silent_accessible_and_fits(browser: Any, serve: Callable[..., str], case: Case) -> None:
    address = serve(case.source())
    for width, scheme, scripts in LOOKS:
        with window(browser, address, width, scheme, scripts=scripts) as one:
            assert one.open(case.path, case.value) == case.status
            assert not one.scrolls_sideways(), (width, scheme)
            assert one.messages == []
            shown = one.page.inner_text("body")
            assert [text for text in case.shows if text not in shown] == [], shown
            if scripts:
                assert one.page.evaluate("window.owned === undefined")
                assert one.violations() == [], (width, scheme)
