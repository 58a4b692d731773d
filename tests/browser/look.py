"""Screenshots of all pages, to be looked at.

python -m tests.browser.look FOLDER [NAME ...]
"""

import asyncio
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from stream_lsh.web.server import PageServer
from stream_lsh.worker.brokers.maven import free_port
from tests.browser.cases import CASES
from tests.browser.conftest import CHROMIUM
from tests.browser.window import NARROW, WIDE, window


def main(folder: Path, names: list[str]) -> None:
    """Write the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        for case in CASES:
            if names and case.name not in names:
                continue
            port = free_port()
            server = PageServer(case.source(), ("127.0.0.1", port))
            asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
            for width, scheme in ((NARROW, "light"), (NARROW, "dark"), (WIDE, "light"), (WIDE, "dark")):
                with window(browser, f"http://127.0.0.1:{port}", width, scheme) as one:
                    one.open(case.path, case.value)
                    one.page.screenshot(path=folder / f"{case.name}-{width}-{scheme}.png", full_page=True)
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        browser.close()
    loop.call_soon_threadsafe(loop.stop)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
