"""The screenshots of README.md: the largest cluster of the demo's newsroom, light and dark.

python -m tests.browser.screenshots
"""

import asyncio
import time
from io import BytesIO
from pathlib import Path

import aiohttp
from PIL import Image
from playwright.async_api import Browser, async_playwright

from stream_lsh.cli.runs import demo
from stream_lsh.demo.schedule import schedule
from stream_lsh.demo.stories import stories
from stream_lsh.model import Document
from stream_lsh.web.links import link
from stream_lsh.worker.clients.producer import Feeder
from stream_lsh.worker.embedded import embedded
from stream_lsh.worker.in_process import live_worker
from tests.browser.conftest import CHROMIUM

FOLDER = Path(__file__).parents[2] / "docs" / "figures"
SCHEMES = ("light", "dark")
_EVENTS, _EVERY_MS = 500, 45_000
_WIDTH, _HEIGHT, _SCALE = 1_200, 720, 1.5


async def main(folder: Path) -> None:
    """Write the pictures."""
    with embedded(demo._config(0.6)) as broker:
        ui, pipeline = f"http://{broker.config.worker.ui}", broker.config.pipelines[0]
        async with live_worker(broker) as worker, Feeder(broker.config.kafka, pipeline) as feeder:
            events = schedule(stories(240), 1)[:_EVENTS]
            first_ms = int(time.time() * 1_000) - _EVERY_MS * len(events)
            for number, event in enumerate(events):
                await feeder.send([Document(event.id, event.text, first_ms + number * _EVERY_MS, event.about)])
            await worker.settled()
            async with aiohttp.ClientSession() as session:
                url = f"{ui}{link('clusters', pipeline.name, sort='size')}".replace("clusters?", "clusters.json?")
                async with session.get(url) as answer:
                    largest = (await answer.json())["clusters"][0]["cluster"]
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
                for scheme in SCHEMES:
                    address = f"{ui}{link('cluster', pipeline.name, id=largest)}"
                    await shoot(browser, address, folder / f"pages-cluster-{scheme}.png", scheme)
                await browser.close()


async def shoot(browser: Browser, url: str, path: Path, scheme: str) -> None:
    """One picture of the upper part of a page."""
    context = await browser.new_context(
        viewport={"width": _WIDTH, "height": _HEIGHT},
        device_scale_factor=_SCALE,
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    page = await context.new_page()
    await page.goto(url)
    await page.wait_for_selector("html[data-ready]")
    picture = Image.open(BytesIO(await page.screenshot()))  # Pillow comes with matplotlib
    picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    await context.close()


if __name__ == "__main__":
    asyncio.run(main(FOLDER))
