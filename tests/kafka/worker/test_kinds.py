"""Pipelines of sets, fingerprints and vectors live: the same pairs and groups as in memory, whatever restarts."""

import asyncio
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stream_lsh import NearestNeighbours, SimilarSets
from stream_lsh.config import Config, parse
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.topology import build_app, source_partitions
from tests.kafka.harness import read, running
from tests.kafka.messages import NOW_MS, eventually, producing, started
from tests.kafka.worker.test_records import send, truths
from tests.patience import PATIENCE

SETS = 'kind = "set"\nthreshold = 0.5\n'
GRID = 'kind = "set"\nfamily = "grid"\ngrid.squares = 400\nthreshold = 0.4\n'
VECTORS = 'kind = "vector"\ndimension = 8\ndistance = 20.0\n'
HASHES = 'kind = "vector"\nmeasure = "hamming"\ndimension = 64\ndistance = 6\n'

Change = tuple[str, Any]
"""An id, and what is compared; None deletes it."""
Found = tuple[dict[str, float], list[list[str]]]
"""Of each pair the similarity, of vectors the distance; the groups."""


def text_of(broker: Broker, name: str, lines: str, folder: str) -> str:
    return f"""
[kafka]
brokers = "{broker.address}"
[worker]
app_id = "{name}"
data_dir = "{folder}"
[[pipeline]]
name = "{name}-p"
source = "{name}-source"
partitions = 2
{lines}
"""


def comparing(broker: Broker, name: str, lines: str) -> Config:
    return parse(text_of(broker, name, lines, tempfile.mkdtemp(prefix="stream-lsh-test-")), "test.toml", {})


def messages(config: Config, changes: Iterable[Change]) -> list[tuple[str, dict[str, Any] | None]]:
    field = {"set": "items", "vector": "vector"}[config.pipelines[0].kind.name]
    return [(id, None if value is None else {field: value}) for id, value in changes]


async def groups(config: Config) -> list[list[str]]:
    """The members of each cluster, by the topic `clusters`; the topic `members` agrees."""
    found = sorted(sorted(one["members"]) for one in (await truths(config, "clusters")).values())
    members = dict[str, list[str]]()
    for id, member in (await truths(config, "members")).items():
        members.setdefault(member["cluster"], []).append(id)
    return found if found == sorted(map(sorted, members.values())) else [["clusters", "members", "differ"]]


async def results(config: Config) -> Found:
    measure = "distance" if config.pipelines[0].kind.name == "vector" else "similarity"
    return {key: one[measure] for key, one in (await truths(config, "matches")).items()}, await groups(config)


def in_memory(memory: SimilarSets | NearestNeighbours) -> Found:
    found = sorted(sorted(cluster.members) for cluster in memory.clusters())
    if isinstance(memory, SimilarSets):
        return {_key(one.left, one.right): one.similarity for one in memory.matches()}, found
    return {_key(one.left, one.right): one.distance for one in memory.pairs()}, found


def _key(left: str, right: str) -> str:
    return json.dumps([left, right], separators=(",", ":"))


def around(chance: random.Random, points: int, count: int) -> list[Change]:
    """Vectors near some points."""
    centres = [[chance.gauss(0, 1) for _ in range(8)] for _ in range(points)]
    return [
        (f"v{number}", [one + chance.gauss(0, 0.05) for one in centres[number % points]]) for number in range(count)
    ]


def steps_of(kind: str) -> list[list[Change]]:
    """The changes before and between the restarts of a pipeline: new documents, updates, deletes."""
    chance = random.Random(kind)
    if kind == "sets":
        first: list[Change] = [
            ("a", ["milk", "bread", "tea"]), ("b", ["tea", "bread", "milk", "salt"]), ("c", ["tea", "bread", 7]),
            ("d", []), ("e", ["milk", "tea", "bread", "tea"]), ("f", [1, 2, 3]), ("g", ["1", "2", "3", "4"]),
        ]  # fmt: skip
        return [first, [("a", None), ("d", ["f"])], [("b", ["other"]), ("h", ["other"]), ("a", [1, 2, 3])]]
    if kind == "grid":
        finger = chance.sample(range(400), 80)
        again = [square for square in finger if chance.random() < 0.85] + chance.sample(range(400), 8)
        others: list[Change] = [(f"o{number}", sorted(chance.sample(range(400), 80))) for number in range(9)]
        first = [("one", finger), ("again", sorted({*again})), *others]
        return [first, [("one", others[0][1])], [("again", None), ("o1", finger), ("o2", sorted({*again}))]]
    if kind == "vectors":
        first = around(chance, 4, 24)
        moved = [(f"v{number}", value) for number, (_, value) in enumerate(around(chance, 4, 8))]
        return [first, [*moved, ("v9", None), ("v10", None)], [("v9", first[9][1]), ("w", first[9][1])]]
    hashes = [f"{chance.getrandbits(64):016x}" for _ in range(3)]
    near = [f"{int(one, 16) ^ (0b10101 << 7):016x}" for one in hashes]
    bits = [*map(int, f"{int(hashes[0], 16):064b}")]
    first = [*((f"h{number}", one) for number, one in enumerate([*hashes, *near])), ("bits", bits)]
    return [first, [("h0", None), ("h1", hashes[2])], [("h0", near[2]), ("h4", None)]]


@pytest.mark.parametrize(
    ("kind", "lines", "memory"),
    [
        ("sets", SETS, SimilarSets(threshold=0.5)),
        ("grid", GRID, SimilarSets(threshold=0.4, squares=400)),
        ("vectors", VECTORS, NearestNeighbours(8, 20)),
        ("hashes", HASHES, NearestNeighbours(64, 6, "hamming")),
    ],
    ids=["sets", "grid", "vectors", "hashes"],
)
def test_pairs_and_groups_are_those_of_memory_and_outlive_the_worker(
    kind: str, lines: str, memory: Any, *, broker: Broker, name: str, tmp_path: Path
) -> None:
    config = comparing(broker, name, lines)
    elsewhere = replace(config, worker=replace(config.worker, data_dir=tmp_path / "empty"))
    seen: list[Found] = []

    async def step(config: Config, changes: Sequence[Change]) -> None:
        for id, value in changes:
            memory.remove(id) if value is None else memory.add(id, value, NOW_MS)
        async with running(build_app(config, await source_partitions(config))):
            await send(broker, config.pipelines[0].source, messages(config, changes))
            assert await eventually(lambda: results(config), in_memory(memory)) == in_memory(memory)
        seen.append(in_memory(memory))

    async def run() -> None:
        # The second worker has its state from the disk, the third from the changelogs.
        for place, changes in zip((config, config, elsewhere), steps_of(kind), strict=True):
            await step(place, changes)

    asyncio.run(run())
    assert all(pairs and found for pairs, found in seen)
    assert seen[0] != seen[1] != seen[2]


@pytest.mark.parametrize("lines", [SETS, VECTORS], ids=["sets", "vectors"])
def test_unusable_messages_are_rejected_and_no_others_are_lost(lines: str, broker: Broker, name: str) -> None:
    config = comparing(broker, name, lines.replace("dimension = 8", "dimension = 2"))
    source, of_sets = config.pipelines[0].source, lines == SETS
    bad: list[dict[str, Any]] = [
        {"text": "none"}, {"items": "a", "vector": "a"}, {"items": [True], "vector": [True, 1]},
        {"items": [1.5], "vector": [1]}, {"items": ["x" * 1_025], "vector": [0, 0]},
        {"items": [None], "vector": [1, 1e39]}, {"items": [["a"]], "vector": [[1], [2]]},
    ]  # fmt: skip
    good = {"items": ["a", "b"], "vector": [1, 2]}

    async def run() -> None:
        async with running(await started(config)):
            async with producing(broker) as producer:
                for number, value in enumerate(bad):
                    key = b"%d" % number
                    await producer.send_and_wait(source, json.dumps(value).encode(), key=key, timestamp_ms=NOW_MS)
            await send(broker, source, [("a", good), ("b", good)])
            assert await eventually(lambda: groups(config), [["a", "b"]]) == [["a", "b"]]
        letters = await read(broker.address, config.pipelines[0].dead_letters_topic)
        reasons = [dict(one.headers)["reason"].decode() for one in letters]
        assert reasons == ["items" if of_sets else "vector"] * len(bad)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("lines", "file", "pair"),
    [
        (SETS, 'a.csv:id,items\na,milk|tea|bread\nb,"[""milk"", ""tea""]"\nc,salt\n', "0.6667  a  b"),
        (VECTORS, "a.csv:id,vector\na,1 0 0 0 0 0 0 0\nb,9 1 0 0 0 0 0 0\nc,0 1 0 0 0 0 0 0\n", "distance 6.34019"),
    ],
    ids=["sets", "vectors"],
)
def test_files_are_fed_and_results_are_followed_explained_and_audited(
    lines: str, file: str, pair: str, *, broker: Broker, name: str, tmp_path: Path
) -> None:
    settings, data = tmp_path / "worker.toml", tmp_path / "a.csv"
    settings.write_text(text_of(broker, name, lines, str(tmp_path / "state")))
    data.write_text(file.partition(":")[2])
    config = parse(settings.read_text(), "worker.toml", {})

    def output(*arguments: str) -> str:
        command = [sys.executable, "-m", "stream_lsh", *arguments, "--config", str(settings)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603 - ourselves
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    async def run() -> None:
        async with running(await started(config)):
            await asyncio.to_thread(output, "feed", str(data))
            assert await eventually(lambda: groups(config), [["a", "b"]]) == [["a", "b"]]

    asyncio.run(run())
    (match,) = output("tail", "matches", "--from-beginning", "--no-follow").splitlines()
    assert pair in match
    explained = json.loads(output("explain", "a", "b", "--json"))
    assert (explained["together"], explained["reason"]) == (True, "match")
    assert explained["comparison"]["bands_met"] > 0
    if config.pipelines[0].kind.name == "vector":
        assert round(explained["comparison"]["distance"], 5) == 6.34019
        assert "distance    6.34019; the maximum of a match is 20" in output("explain", "a", "b")
        assert "they are farther apart than the maximum distance of a match, 20" in output("explain", "a", "c")
    else:
        assert "[-bread" in output("explain", "a", "b")
        assert "they are less similar than the threshold, 0.5" in output("explain", "a", "c")
    audited = output("check", "--audit")
    assert "1 pair and 2 members of 3 documents are true" in audited
