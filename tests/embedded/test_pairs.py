"""A running application explains pairs of documents as `stream-lsh explain` does for the same documents in files."""

import asyncio
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from stream_lsh.cli.commands.explain import run
from stream_lsh.worker.query.resources import pairs
from tests.embedded.applications import application, configured
from tests.embedded.test_lookups import BASE, found
from tests.embedded.test_similar import people, texts
from tests.unit.worker.query.client import in_loop

KEYS = "kind = 'text'\nthreshold = 0.5\nshingles = 'word:2'\nmax_candidates = 0"
LIKE_THE_PIPELINE = ("--threshold", "0.5", "--shingles", "word:2", "--max-candidates", "0")
TIME_MS = 1_700_000_000_000
DIFFERENT = ("said", "under_way")
"""The members that only the command has."""


def explained(left: str, right: str, file: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(printed(file, left, right, str(file), *LIKE_THE_PIPELINE, "--json"))
    return {name: one for name, one in value.items() if name not in DIFFERENT}


def printed(beside: Path, *arguments: str) -> str:
    """The output of the command."""
    output = beside.with_name("explanation")
    assert run([*arguments, "--output", str(output)]) == 0
    return output.read_text(encoding="utf-8")


def without_clusters(text: str) -> str:
    """An explanation without the ids of clusters, which depend on the order of arrival."""
    return re.sub(r"cluster \S+$", "cluster", text, flags=re.MULTILINE)


async def explanation(client: Any, left: str, right: str) -> dict[str, Any]:
    return await found(client, f"pairs/{quote(left, safe='')}/{quote(right, safe='')}")


@in_loop
async def check_pairs(file: Path, values: list[str]) -> None:
    ids = [f"d/{number}" for number in range(len(values))]
    reasons = set[str]()
    async with application(configured(3, KEYS), processes=2) as app:
        await app.send((id, {"text": text, "time": TIME_MS}) for id, text in zip(ids, values, strict=True))
        for number in range(1, len(ids)):
            for left, right in ((ids[number - 1], ids[number]), (ids[0], ids[number])):
                if left == right:
                    continue
                shown = await explanation(app.clients[number % 2], left, right)
                pair, expected = shown.pop("pair"), explained(left, right, file)
                identical, is_match = shown["comparison"]["identical"], shown["reason"] == "match"
                assert pair is None if not is_match else (pair is not None or identical)
                assert pair is None or pair["similarity"] == shown["comparison"]["similarity"]
                for side in (*shown["documents"], *expected["documents"]):
                    side.pop("cluster")  # ids of clusters depend on the order of arrival
                assert shown == expected
                if shown["reason"] not in reasons:
                    at = ("--url", f"http://{app.shares[0].address}", "--pipeline", "docs")
                    text = await asyncio.to_thread(printed, file, left, right, *at)
                    in_files = printed(file, left, right, str(file), *LIKE_THE_PIPELINE)
                    assert without_clusters(text) == without_clusters(in_files)
                reasons.add(shown["reason"])
    assert {"match", "chain", "below"} <= reasons


def test_pairs_are_explained_as_by_the_command(tmp_path: Path) -> None:
    values = [*texts(17, 60), "word1 word2 word3", "word1 word2 word3"]
    file = tmp_path / "documents.jsonl"
    lines = (json.dumps({"id": f"d/{number}", "text": text, "time": TIME_MS}) for number, text in enumerate(values))
    file.write_text("\n".join(lines), encoding="utf-8")
    check_pairs(file, values)


@in_loop
async def test_a_large_cluster_has_a_shortest_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_MOST_LINKS", 5)
    monkeypatch.setattr(pairs, "_SLICE", 2)
    words = [f"word{number}" for number in range(60)]
    async with application(configured(2, KEYS)) as app:
        await app.send((str(at), {"text": " ".join(words[at : at + 20])}) for at in range(0, 40, 2))
        shown = await explanation(app.clients[0], "0", "38")
        assert (shown["together"], shown["reason"], shown["pair"]) == (True, "chain", None)
        path = shown["path"]
        assert (path[0]["left"], path[-1]["right"]) == ("0", "38")
        assert all(before["right"] == link["left"] for before, link in pairwise(path))
        # Two windows match if they start at most six words apart.
        assert len(path) == 7
        assert all(link["similarity"] >= 0.5 for link in path)


@in_loop
async def test_deleted_and_unknown_documents_are_reasons_and_problems() -> None:
    async with application(configured(2, KEYS), processes=2) as app:
        await app.send([(id, {"text": "the quick brown fox jumps over the dog"}) for id in ("a", "b", "c")])
        await app.send([("b", {"deleted": True})])
        deleted = await explanation(app.clients[1], "a", "b")
        assert (deleted["together"], deleted["reason"], deleted["comparison"]) == (False, "deleted", None)
        identical = await explanation(app.clients[0], "a", "c")
        assert (identical["reason"], identical["comparison"]["identical"]) == ("match", True)
        for path, problem in (("a/nothing", "unknown-id"), ("a/a", "malformed")):
            assert (await app.clients[0].get(f"{BASE}/pairs/{path}")).problem == problem


@in_loop
async def test_records_have_their_published_evidence() -> None:
    async with application(configured(2, "kind = 'record'\nprofile = 'people'"), processes=2) as app:
        await app.send((str(number), value) for number, value in enumerate(people(120)))
        members = {key: value["entity"] for key, value in await app.read("members")}
        shown = 0
        for key in ("matches", "reviews"):
            for _, value in (await app.read(key))[:10]:
                left, right = value["left"], value["right"]
                explained = await explanation(app.clients[shown % 2], left, right)
                pair = explained["pair"]
                assert pair.pop("review") == (key == "reviews")
                assert pair == {name: one for name, one in value.items() if name not in ("pipeline", "confirmed_at")}
                assert [side["cluster"] for side in explained["documents"]] == [members.get(left), members.get(right)]
                assert explained["together"] == (left in members and members.get(left) == members.get(right))
                shown += 1
        assert shown > 10
