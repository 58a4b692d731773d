"""The programs of the documents that read the topics, as they stand there, beside a worker on a real broker.

Only the address and the topics are others; the rest of the text is run as it is.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiokafka.partitioner import DefaultPartitioner  # type: ignore[import-untyped]

from stream_lsh.config import Config, parse
from stream_lsh.worker.brokers import Broker
from tests.kafka.harness import make_topics, read, running, until
from tests.kafka.messages import NOW_MS, Message, document, eventually, producing, put, started
from tests.kafka.pipelines import configured
from tests.kafka.worker.test_records import ANN, resolving
from tests.kafka.worker.test_records import send as send_records
from tests.test_docs import ROOT, blocks
from tests.unit.kinds.test_record_linker import PROFILE

CONSUMING = (ROOT / "docs" / "guides" / "consuming.md").read_text(encoding="utf-8")
KAFKA = (ROOT / "docs" / "guides" / "kafka.md").read_text(encoding="utf-8")
WORDS = [f"word{number}" for number in range(30)]
FIRST, BETWEEN, LAST = (" ".join(WORDS[start : start + 20]) for start in (0, 5, 10))
"""The first and the last have too little in common to match each other, and enough to match the one between."""
UNLIKE = " ".join(reversed(WORDS))


def program(text: str, name: str, config: Config) -> dict[str, Any]:
    """The definitions of the programs of a document, up to the one that defines `name`."""
    shown = parse(next(block.text for block in blocks(KAFKA) if block.language == "toml"), "kafka.md", {})
    mine, yours = config.pipelines[0], shown.pipelines[0]
    names = {shown.kafka.brokers[0]: config.kafka.brokers[0], yours.source: mine.source}
    shared = yours.public_topics.keys() & mine.public_topics.keys()
    names |= {yours.public_topics[kind]: mine.public_topics[kind] for kind in shared}
    if mine.kind.takes_decisions:
        names |= {f"customers-{kind}": topic for kind, topic in mine.named_topics.items()}
        names["reviewers"] = f"{config.worker.app_id}-reviewers"
    found = dict[str, Any]()
    for block in blocks(text):
        if block.language == "python" and "Consumer(" in block.text and name not in found:
            exec(re.sub(r'"([^"\n]+)"', lambda quoted: f'"{names.get(quoted[1], quoted[1])}"', block.text), found)  # noqa: S102
    assert name in found, f"no program defines {name}"
    return found


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run a program meanwhile; its failure is raised."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        elif not task.cancelled():
            task.result()


def article(id: str, text: str | None, after_ms: int, outlet: str) -> Message:
    if text is None:
        return Message(id.encode(), None)
    return Message(id.encode(), document(text, time=NOW_MS + after_ms, title=f"Title of {id}", source=outlet))


def copies(id: str, text: str, after_ms: int) -> list[Message]:
    return [article(f"{id}1", text, after_ms, "Agency"), article(f"{id}2", text, after_ms + 5, "Herald")]


async def members_of(config: Config) -> dict[str, str]:
    """The table as it follows from the whole topic, if one reads on until nothing more comes."""
    last = {one.key: one.value for one in await read(config.kafka.brokers[0], config.pipelines[0].members_topic)}
    return {key.decode(): json.loads(value)["cluster"] for key, value in last.items() if value is not None}


def clusters_in(table: dict[str, Any]) -> dict[str, str]:
    return {id: member["cluster"] for id, member in table.items()}


TOGETHER = {"a1": "a1", "a2": "a1", "b": "a1", "c1": "a1", "c2": "a1"}


async def merged_and_split(broker: Broker, config: Config) -> AsyncIterator[dict[str, str]]:
    """Five changes for a reader; yields the clusters of the documents after each."""
    source = config.pipelines[0].source
    steps: tuple[tuple[list[Message], dict[str, str]], ...] = (
        (copies("a", FIRST, 0), {"a1": "a1", "a2": "a1"}),
        (copies("c", LAST, 10), {"a1": "a1", "a2": "a1", "c1": "c1", "c2": "c1"}),
        ([article("b", BETWEEN, 20, "Post")], TOGETHER),
        ([article("b", None, 0, "")], {"a1": "a1", "a2": "a1", "c1": "c1~", "c2": "c1~"}),
        ([article("a2", None, 0, ""), article("c1", None, 0, "")], {}),
    )
    for messages, expected in steps:
        await put(broker, source, messages)

        async def found() -> dict[str, str]:
            return {id: re.sub(r"~\d+", "~", cluster) for id, cluster in (await members_of(config)).items()}

        assert await eventually(found, expected) == expected
        yield await members_of(config)


def test_the_table_of_members_reports_when_it_is_complete_and_stays_current(
    broker: Broker, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configured(broker, name, 2)
    follow, topic = program(CONSUMING, "follow", config)["follow"], config.pipelines[0].members_topic

    async def run() -> None:
        early, complete = dict[str, Any](), asyncio.Event()
        async with running(await started(config)), beside(follow(early, complete, broker.address, topic)):
            await asyncio.wait_for(complete.wait(), 15)
            assert early == {}
            async for expected in merged_and_split(broker, config):

                async def current() -> dict[str, str]:
                    return clusters_in(early)

                assert await eventually(current, expected) == expected
                late, whole = dict[str, Any](), asyncio.Event()
                async with beside(follow(late, whole, broker.address, topic)):
                    await asyncio.wait_for(whole.wait(), 15)
                    assert late == early
                if expected == TOGETHER:
                    assert late["b"]["similarity"] == 13 / 23
                    async with beside(program(CONSUMING, "follow", config)["main"]()):
                        printed = "5 documents are in a cluster\n"
                        assert await eventually(written(capsys), printed) == printed
        for one in await read(broker.address, topic):
            assert one.partition == DefaultPartitioner()(one.key, [0, 1], [0, 1]), "as the source is to be"

    asyncio.run(run())


def written(capsys: pytest.CaptureFixture[str]) -> Callable[[], Awaitable[str]]:
    """Everything that has been printed since."""
    pieces = list[str]()

    async def so_far() -> str:
        pieces.append(capsys.readouterr().out)
        return "".join(pieces)

    return so_far


def test_stories_are_printed_as_they_change_and_repeats_are_not(
    broker: Broker, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configured(broker, name, 2, stories=True)
    topic = config.pipelines[0].clusters_topic
    stories = program(CONSUMING, "stories", config)["stories"]

    async def run() -> tuple[list[str], int]:
        capsys.readouterr()
        printed = written(capsys)

        async def ended() -> bool:
            return (await printed()).endswith("d1 created: Title of d1 (Agency, Herald)\n")

        async with running(await started(config)), beside(stories(broker.address, topic)):
            async for _ in merged_and_split(broker, config):
                await sent_again(broker, topic)
            await put(broker, config.pipelines[0].source, copies("d", UNLIKE, 30))
            assert await eventually(ended, True)
        values = dict[bytes, list[bytes | None]]()
        for one in await read(broker.address, topic):
            values.setdefault(one.key, []).append(one.value)
        news = sum(one != before for of in values.values() for before, one in pairwise([None, *of]))
        assert news < sum(map(len, values.values()))
        return (await printed()).splitlines(), news

    printed_lines, news = asyncio.run(run())
    assert len(printed_lines) == news
    assert any(re.fullmatch(r"a1 \w+: Title of a1 \(Agency, Herald\)", line) for line in printed_lines)
    assert "c1 is over, went into a1" in printed_lines
    assert any(re.fullmatch(r"c1~\d+ split: Title of c1 \(Agency, Herald\)", line) for line in printed_lines)
    assert any(re.fullmatch(r"c1~\d+ is over, went into nothing", line) for line in printed_lines)


async def sent_again(broker: Broker, topic: str) -> None:
    """The last message of each key once more, as after a crash of the worker."""
    async with producing(broker) as producer:
        for one in {one.key: one for one in await read(broker.address, topic)}.values():
            await producer.send_and_wait(topic, one.value, one.key, one.partition, headers=[*one.headers])


def test_documents_are_joined_with_their_clusters_whichever_comes_first(
    broker: Broker, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configured(broker, name, 2)
    pipeline, found = config.pipelines[0], program(CONSUMING, "joined", config)
    before = [
        *copies("a", UNLIKE, 0),
        *copies("a", FIRST, 0),
        article("lone", UNLIKE, 1, "Post"),
        article("gone", UNLIKE, 2, "Post"),
        article("gone", None, 0, ""),
        Message(b"bad", b"no JSON"),
        Message(b"lone", b"5"),
        Message(None, document(FIRST)),
        Message(b"\xff", document(FIRST)),
    ]
    first = {"a1": (FIRST, "a1"), "a2": (FIRST, "a1"), "lone": (UNLIKE, None), "gone": (None, None)}

    async def run() -> None:
        joined = list[tuple[str, tuple[str | None, str | None]]]()

        async def listen() -> None:
            async for id, message, member in found["joined"](broker.address, pipeline.source, pipeline.members_topic):
                joined.append((id, (message and message["text"], member and member["cluster"])))

        async def last() -> dict[str, Any]:
            return dict(joined)

        async with running(await started(config)):
            await put(broker, pipeline.source, before)
            assert await eventually(lambda: members_of(config), {"a1": "a1", "a2": "a1"})
            async with producing(broker, transactional_id=name) as producer:
                await producer.begin_transaction()
                await producer.send_and_wait(pipeline.source, document(FIRST), b"ghost", partition=1)
                await producer.abort_transaction()
            async with beside(listen()):
                assert await eventually(last, first) == first
                assert len(joined) == len(first), "once each, as it is when everything has been read"
                await put(broker, pipeline.source, [article("lone", FIRST, 1, "Post")])
                changed = first | {"lone": (FIRST, "a1")}
                assert await eventually(last, changed) == changed
                await put(broker, pipeline.source, [article("a2", None, 0, "")])
                second = changed | {"a2": (None, None)}
                assert await eventually(last, second) == second
                async with producing(broker) as producer:
                    value = json.dumps({"cluster": "e", "time": NOW_MS}).encode()
                    await producer.send_and_wait(pipeline.members_topic, value, b"early")
                assert await eventually(last, second | {"early": (None, "e")}) == second | {"early": (None, "e")}
                await put(broker, pipeline.source, [article("early", UNLIKE, 3, "Post")])
                third = second | {"early": (UNLIKE, "e")}
                assert await eventually(last, third) == third
            capsys.readouterr()
            lines = ["a1 is in a1", "a2 is not there", "early is in e", "gone is not there", "lone is in a1"]
            printed = written(capsys)

            async def shown() -> list[str]:
                return sorted((await printed()).splitlines())

            async with beside(found["main"]()):
                assert await eventually(shown, lines) == lines

    asyncio.run(run())


def test_entities_are_kept_and_reviews_are_answered(broker: Broker, name: str, tmp_path: Path) -> None:
    config = resolving(broker, name, PROFILE, tmp_path)
    (pipeline,) = config.pipelines
    both, table = program(CONSUMING, "answered", config), dict[str, Any]()
    asked = list[tuple[str, str]]()

    def decide(pair: dict[str, Any]) -> str | None:
        asked.append((pair["left"], pair["right"]))
        return {"3": "same", "4": "different"}.get(pair["right"])

    async def groups_now() -> list[list[str]]:
        return sorted(sorted(entity["members"]) for entity in table.values())

    async def run() -> None:
        topics = pipeline.reviews_topic, pipeline.decisions_topic
        async with (
            running(await started(config)),
            beside(both["golden"](table, broker.address, pipeline.public_topics["entities"])),
            beside(both["answered"](decide, broker.address, *topics)),
        ):
            await send_records(broker, pipeline.source, [("1", ANN), ("3", {"name": "Ann Lee"})])
            assert await eventually(groups_now, [["1", "3"]]) == [["1", "3"]]
            assert table["1"] | {"members": None} == {**ANN, "members": None}
            await send_records(broker, pipeline.source, [("4", {"name": "Ann Lee"})])
            await until(lambda: {("1", "3"), ("1", "4")} <= set(asked))
            await send_records(broker, pipeline.source, [("1", None)])
            assert await eventually(groups_now, []) == []

    asyncio.run(run())


LONG = 4_000
"""Messages of a kilobyte: more than one fetch brings."""


def test_tables_are_complete_when_all_of_a_long_topic_has_been_read_and_not_before(broker: Broker, name: str) -> None:
    config = configured(broker, name, 1)
    source, members = f"{name}-long-source", f"{name}-long-members"

    async def run() -> None:
        await make_topics(broker.address, source, members, partitions=2)
        async with producing(broker, linger_ms=20) as producer:
            for version in range(LONG):
                value = json.dumps({"version": version, "cluster": "x" * 1_000}).encode()
                for topic in (source, members):
                    await producer.send(topic, value, b"a", partition=1)
        table, complete = dict[str, Any](), asyncio.Event()
        async with beside(program(CONSUMING, "follow", config)["follow"](table, complete, broker.address, members)):
            await asyncio.wait_for(complete.wait(), 30)
            assert table["a"]["version"] == LONG - 1
        joined = program(CONSUMING, "joined", config)["joined"](broker.address, source, members)
        async with aclosing(joined):
            id, found, member = await anext(joined)
            assert (id, found["version"], member["version"]) == ("a", LONG - 1, LONG - 1)

    asyncio.run(run())
