"""Hostile ids, titles, texts, fields and dead letters of a real worker in a real browser: displayed, never executed."""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import pytest

from stream_lsh.web.links import link
from tests.browser.conftest import browser  # noqa: F401 - a fixture
from tests.browser.hostile import HOSTILE, PASTED
from tests.browser.window import NARROW, WIDE, Window, window
from tests.embedded.applications import PIPELINE
from tests.embedded.test_ui import with_pages, working
from tests.unit.cli.runs import STORY

IDS = [one for one in HOSTILE if "\udc80" not in one and len(one.encode()) <= 1_000]
"""Those that can be ids of documents."""


@contextmanager
def pages(documents: Sequence[tuple[str, Mapping[str, Any]]], pipeline: str) -> Iterator[str]:
    """The address of the pages of a worker that has processed documents, in a thread: playwright has ours."""
    config, url = with_pages(pipeline)
    ready, over, failed = threading.Event(), threading.Event(), list[BaseException]()

    async def run() -> None:
        async with working(config, documents):
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.05)

    def work() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        ready.wait()
        yield url
    finally:
        over.set()
        thread.join(60)
        if failed:
            raise failed[0]


def shown(one: Window, path: str, value: str = "") -> str:
    """The text of a page, on which nothing has run or moved."""
    assert one.open(path, value) == 200, path
    assert one.messages == [], path
    assert not one.scrolls_sideways(), path
    if one.has_scripts:
        assert one.page.evaluate("window.owned === undefined"), path
    # The page of another origin, or another title than ours, would mean that markup had an effect.
    assert one.page.url.startswith(one.address)
    assert one.page.title().endswith("· stream_lsh")
    text: str = one.page.inner_text("#contents")
    return text


def documents() -> list[tuple[str, dict[str, Any]]]:
    """Two versions of a text for each hostile id, and a message that is rejected."""
    found = list[tuple[str, dict[str, Any]]]()
    for number, (id, hostile) in enumerate(zip(IDS, cycle(HOSTILE))):
        own = " ".join(f"{word}{number}" for word in STORY.split())
        found.append((id, {"text": f"{own} {hostile}", "title": hostile, "source": id}))
        found.append((f"{id} again", {"text": own, "title": id, "source": hostile}))
        found.append((f"{id} rejected", {id: hostile}))
    return found


@pytest.mark.browser
def test_hostile_documents_are_displayed(browser: Any) -> None:  # noqa: F811 - the fixture
    looks = cycle([(NARROW, True), (WIDE, True), (NARROW, False)])
    with pages(documents(), "threshold = 0.5\nstories = true") as url:
        for number, id in enumerate(IDS):
            width, scripts = next(looks)
            paths = (
                link("document", PIPELINE, id=id),
                link("pair", PIPELINE, left=id, right=f"{id} again"),
                link("clusters", PIPELINE, text=id, sort="growing"),
            )
            with window(browser, url, width, scripts=scripts) as one:
                text = shown(one, paths[number % 3])
                if id.isascii() and id.isprintable() and len(id) < 60:
                    assert id in text
        with window(browser, url, NARROW) as one:
            shown(one, "/")
            assert f"{len(IDS)} clusters" in shown(one, link("clusters", PIPELINE))
            rows = one.page.locator("table.clusters th a").evaluate_all("links => links.map(link => link.pathname)")
            assert set(rows) == {f"/p/{PIPELINE}/cluster"}
            for at in (0, 9, 22):
                path = one.page.locator("table.clusters th a").nth(at).get_attribute("href")
                shown(one, path)
                shown(one, f"{path}&near=1")
                one.page.goto(f"{url}{link('clusters', PIPELINE)}")
            assert "<script>window.owned=1</script>" in shown(one, link("dead-letters", PIPELINE))
            assert "2 matches" in shown(one, link("search", PIPELINE), documents()[1][1]["text"])
            shown(one, link("search", PIPELINE), PASTED)


def records() -> list[tuple[str, dict[str, Any]]]:
    """Two records with hostile values for each hostile id."""
    found = list[tuple[str, dict[str, Any]]]()
    for number, (id, hostile) in enumerate(zip(IDS, cycle(HOSTILE))):
        fields = {"given_name": hostile, "surname": f"{hostile} lee", "city": hostile, "email": f"{number}@example.org"}
        fields["date_of_birth"] = f"19{number + 10}-03-11"
        found.append((id, {"fields": fields, "source": id}))
        found.append((f"{id} again", {"fields": {**fields, "city": "York"}, "source": hostile}))
    return found


@pytest.mark.browser
def test_hostile_records_are_displayed(browser: Any) -> None:  # noqa: F811 - the fixture
    with pages(records(), "kind = 'record'\nprofile = 'people'") as url, window(browser, url, NARROW) as one:
        for id in IDS[::4]:
            shown(one, link("document", PIPELINE, id=id))
            shown(one, link("pair", PIPELINE, left=id, right=f"{id} again"))
        shown(one, link("entities", PIPELINE))
        paths = one.page.locator("tbody th a").evaluate_all("links => links.map(link => link.pathname + link.search)")
        assert len(paths) > 10
        for path in paths[::5]:
            shown(one, path)
        shown(one, link("reviews", PIPELINE))
        shown(one, link("review", PIPELINE))
