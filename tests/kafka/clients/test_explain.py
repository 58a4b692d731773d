"""`stream-lsh explain` on a live pipeline: chains, unrelated documents, deleted ones and messages in flight."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.cli.main import main
from stream_lsh.worker.brokers import Broker
from tests.kafka.clients.test_check import settled
from tests.kafka.harness import admin_at, running
from tests.kafka.messages import NOW_MS, Message, document, eventually, matched, put, started
from tests.kafka.pipelines import configured, written
from tests.kafka.worker.test_startup import topics_of

WORDS = [f"w{number}" for number in range(20)]
OF_A_TEST = re.compile("-[0-9a-f]{8}(-|$)")
"""In the names of a test's topics and groups, see the fixture `name`."""


def part(id: str, start: int) -> Message:
    """A document of twelve words; each shares 7 of 13 shingles with the one three words further on."""
    return Message(id.encode(), document(" ".join(WORDS[start : start + 12])), NOW_MS + start)


async def groups(broker: Broker) -> set[str]:
    async with admin_at(broker.address) as admin:
        return {group for group, *_ in await admin.list_consumer_groups()}


def test_a_live_pipeline_explains_its_clusters_and_nothing_is_written(
    broker: Broker, name: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    config = configured(broker, name, 1)
    source = config.pipelines[0].source
    file = str(written(config, tmp_path))

    def explained(*arguments: str, code: int = 0) -> Any:
        assert main(["explain", *arguments, "--config", file, "--json"]) == code
        out, err = capfdbinary.readouterr()
        return json.loads(out) if out else err.decode()

    assert "has a worker run with this configuration?" in explained("a", "c", code=2)

    async def run() -> set[str]:
        async with running(await started(config)):
            other = Message(b"other", document("nothing of all that was written here before"))
            twin = Message(b"twin", document(" ".join(WORDS[6:18]).upper()))
            gone = Message(b"gone", document("this will not stay for long"))
            first = [part("a", 0), part("b", 3), part("c", 6), other, twin, gone, Message(b"gone", None)]
            await put(broker, source, [*first, Message(b"bad", b"no JSON")])
            wanted = {("a", "b"), ("b", "c"), ("b", "twin"), ("c", "twin")}
            assert await eventually(lambda: matched(config), wanted) == wanted
            await settled(config)
        return await topics_of(broker, name)

    topics = asyncio.run(run())
    known = asyncio.run(groups(broker))
    chain = explained("a", "c")
    assert (chain["together"], chain["reason"], chain["under_way"]) == (True, "chain", 0)
    assert [(step["left"], step["right"]) for step in chain["path"]] == [("a", "b"), ("b", "c")]
    assert [step["similarity"] for step in chain["path"]] == [7 / 13] * 2
    assert chain["comparison"]["similarity"] == 4 / 16
    assert [one["cluster"] for one in chain["documents"]] == ["a", "a"]
    assert chain["documents"][0]["text"] == " ".join(WORDS[:12])
    assert chain["documents"][0]["time"] == NOW_MS

    twins = explained("c", "twin", "--pipeline", f"{name}-p")
    assert (twins["reason"], twins["comparison"]["identical"]) == ("match", True)
    strangers = explained("a", "other")
    assert (strangers["together"], strangers["reason"], strangers["path"]) == (False, "below", None)
    assert strangers["documents"][1]["cluster"] is None
    assert explained("a", "gone")["reason"] == "deleted"
    assert "got the id 'bad', which no document has: its message is a dead letter" in explained("a", "bad", code=2)

    asyncio.run(put(broker, source, [part("late", 9)]))  # no worker is there
    late = explained("c", "late")
    assert (late["reason"], late["under_way"]) == ("unsettled", 1)
    assert asyncio.run(topics_of(broker, name)) == topics
    # Tests share the broker, so groups with the name of another test come and go.
    new = asyncio.run(groups(broker)) - known
    assert {group for group in new if name in group or not OF_A_TEST.search(group)} == set()
    assert main(["explain", "a", "c", "--config", file]) == 0
    out = capfdbinary.readouterr().out.decode()
    assert (
        "In the same cluster: 2 matches connect them, the weakest with a similarity of 0.5385.\n1 messages are under"
        in out
    )
    assert "[-w0 w1 w2 w3 w4 w5-] w6" in out


def test_brokers_that_do_not_answer_are_reported(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "explain.toml"
    file.write_text('[kafka]\nbrokers = "127.0.0.1:1"\n[pipeline]\nsource = "s"\n')
    assert main(["explain", "a", "b", "--config", str(file)]) == 1
    assert "127.0.0.1:1" in capfdbinary.readouterr().err.decode()
