"""A window of the browser that records everything that must not happen."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

AXE = (Path(__file__).parent / "vendor" / "axe-core-4.14.1" / "axe.min.js").read_text(encoding="utf-8")
NARROW, WIDE = 400, 1600


class Window:
    """A page of the browser.

    Attributes:
        page: of the library.
        messages: of the console, of exceptions, and of requests to other hosts.
    """

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address
        self.messages = list[str]()
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith((address, "data:")) else self.messages.append(request.url),
        )

    def open(self, path: str, value: str = "") -> int:
        """Open a page, and send its form with a value if there is one; returns the status."""
        response = self.page.goto(f"{self.address}{path}")
        if value:
            self.page.fill("#value", value)
            with self.page.expect_navigation() as navigation:
                self.page.click("button.main")
            response = navigation.value
        if self.has_scripts:
            self.page.wait_for_selector("html[data-ready]")
        # The browser reports the status of a problem page on its console.
        self.messages = [
            one
            for one in self.messages
            if not one.startswith("Failed to load resource: the server responded with a status of")
        ]
        return int(response.status)

    has_scripts = True

    def violations(self) -> list[str]:
        """The violations of the rules of accessibility."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        found: list[str] = self.page.evaluate(
            "axe.run(document).then(r => r.violations.map(v => `${v.id}: ${v.nodes.map(n => n.html).join(' | ')}`))"
        )
        return found

    def scrolls_sideways(self) -> bool:
        """Whether the page is wider than the window."""
        width: int = self.page.evaluate("document.documentElement.scrollWidth")
        return bool(width > self.page.viewport_size["width"])


@contextmanager
def window(
    browser: Any, address: str, width: int = WIDE, scheme: str = "light", *, scripts: bool = True
) -> Iterator[Window]:
    """A window of its own session."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
        java_script_enabled=scripts,
        timezone_id="America/New_York",
        locale="en-GB",
    )
    context.set_default_timeout(1_000 * PATIENCE)
    opened = Window(context.new_page(), address)
    opened.has_scripts = scripts
    try:
        yield opened
    finally:
        context.close()
