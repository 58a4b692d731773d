"""The recipe of docs/guides/querying.md and `stream-lsh query` with a running application."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from stream_lsh import Client
from stream_lsh.worker.brokers.maven import free_port
from tests.embedded.applications import application, configured
from tests.test_docs import ROOT, blocks
from tests.unit.worker.query.client import in_loop

TEXT = "the council met on monday and voted to repair the old bridge before winter comes"
OTHER = "ships burn in the port of the old town and the night is quiet over the sea"


def recipe() -> Any:
    guide = (ROOT / "docs" / "guides" / "querying.md").read_text(encoding="utf-8")
    (block,) = [block for block in blocks(guide) if block.language == "python"]
    names: dict[str, Any] = {}
    exec(block.text, names)  # noqa: S102 - the guide is ours
    return names["store_unknown"]


@in_loop
async def test_a_crawler_asks_before_it_stores() -> None:
    async with application(configured(2, "max_document_bytes = '2KB'")) as running:
        await running.send([("first", {"text": TEXT})])
        stored = list[tuple[str, str]]()
        pages = [("copy", f"{TEXT} today"), ("first", TEXT), ("new", OTHER), ("large", "word " * 1_000)]
        with Client(f"http://{running.shares[0].address}", "docs") as client:
            known = await asyncio.to_thread(recipe(), client, pages, lambda id, text: stored.append((id, text)))
    assert known == ["copy"]
    assert stored == [("first", TEXT), ("new", OTHER)]


def test_a_crawler_stores_while_no_worker_answers() -> None:
    stored = list[str]()
    with Client(f"http://127.0.0.1:{free_port()}", "docs") as client:
        assert recipe()(client, [("a", TEXT)], lambda id, text: stored.append(id)) == []
    assert stored == ["a"]


async def query(*arguments: str, input: str = "") -> tuple[int, str, str]:
    """Exit code, output and errors of the command `query`."""
    return await command("query", *arguments, input=input)


async def command(*arguments: str, input: str = "") -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "stream_lsh", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},
    )
    out, err = await process.communicate(input.encode())
    return process.returncode or 0, out.decode(), err.decode()


@in_loop
async def test_the_command_prints_matches_and_its_exit_code_shows_the_fault(tmp_path: Path) -> None:
    article = tmp_path / "article.txt"
    article.write_text(TEXT)
    async with application(configured(2, "")) as running:
        await running.send([("first", {"text": TEXT})])
        at = ("--url", f"http://{running.shares[0].address}", "--pipeline")
        assert await query(str(article), *at, "docs") == (0, "1.0000  first\n", "")
        code, out, _ = await query("-", *at, "docs", "--json", input=TEXT)
        assert (code, [match["id"] for match in json.loads(out)["matches"]]) == (0, ["first"])
        code, _, err = await query(str(article), *at, "other")
        assert (code, err.startswith("stream-lsh: ")) == (2, True)
        assert (await query(str(article), "--value", "items", *at, "docs"))[0] == 2
        assert (await query(*at, "docs"))[0] == 2
    code, _, err = await query(str(article), *at, "docs")
    assert code == 1
    assert "is the worker running" in err


@in_loop
async def test_the_commands_explain_a_pair_and_decide_on_it() -> None:
    person = {"fields": {"given_name": "Catherine", "surname": "Marlowe", "date_of_birth": "1969-09-25"}}
    async with application(configured(1, "kind = 'record'\nprofile = 'people'")) as running:
        stranger = {"fields": {"given_name": "Otto", "surname": "Berg", "date_of_birth": "2001-01-31"}}
        await running.send([("1", person), ("2", person), ("5", stranger)])
        at = ("--url", f"http://{running.shares[0].address}", "--pipeline", "docs")
        code, out, _ = await command("explain", "1", "2", *at)
        assert (code, out.splitlines()[0]) == (0, "in the same entity")
        assert "surname +" in out
        code, out, err = await command("decide", "2", "1", "different", "--by", "ben", *at)
        assert (code, out.startswith("1 ~ 2: different, "), err) == (0, True, "")
        code, out, err = await command("decide", "1", "4", "same", *at)
        assert (code, out.startswith("1 ~ 4: same, ")) == (0, True)
        assert err == "note: no record has the id 4: the decision is kept until one does\n"
        _, _, err = await command("decide", "1", "5", "same", *at)
        assert err.startswith("note: the two records are neither a match nor a pair for review: ")
        assert (await command("decide", "1", "5", "different", *at))[2] == ""
        await running.worker.settled()
        assert [key for key, _ in await running.read("matches")] == []
        assert (await command("decide", "1", "2", "perhaps", *at))[0] == 2
        assert (await command("explain", "1", "3", *at))[0] == 1
