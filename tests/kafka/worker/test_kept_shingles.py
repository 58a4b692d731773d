"""A worker continues a state of the earlier words with these, and reports it; so do commands that read the state."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from stream_lsh.config import Config, load
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.checks.startup import as_stored
from stream_lsh.worker.clients.audit import audit
from stream_lsh.worker.clients.health import check
from tests.kafka.harness import running
from tests.kafka.messages import Message, document, eventually, matched, put, started
from tests.kafka.pipelines import configured, written

HINDI = "हिन्दी भाषा बहुत सुन्दर है और करोड़ों लोग इसे बोलते हैं"


async def worker_on(config: Path, matches: Config, wanted: set[tuple[str, str]]) -> str:
    """Run the command `worker` until these pairs are there; returns its standard error."""
    command = [sys.executable, "-m", "stream_lsh", "worker", "--config", str(config)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stderr=pipe, stdout=asyncio.subprocess.DEVNULL)
    try:
        assert await eventually(lambda: matched(matches), wanted) == wanted
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return err.decode()


@pytest.mark.parametrize("named", [True, False])
def test_an_existing_state_is_continued_with_its_own_words(
    broker: Broker, name: str, tmp_path: Path, named: bool
) -> None:
    before = configured(broker, name, 1, shingles="word:3/v1")
    source = before.pipelines[0].source
    file = written(configured(broker, name, 1, shingles="word:3"), tmp_path)
    if not named:
        file.write_text(file.read_text().replace('shingles = "word:3"\n', ""))

    async def run() -> tuple[str, Config, list[str]]:
        async with running(await started(before)):
            await put(broker, source, [Message(b"a", document(HINDI)), Message(b"b", document(HINDI))])
            assert await eventually(lambda: matched(before), {("a", "b")}) == {("a", "b")}
        await put(broker, source, [Message(b"c", document(f"{HINDI} भी"))])
        err = await worker_on(file, before, {("a", "b"), ("a", "c"), ("b", "c")})
        config = await as_stored(load(file, {}))
        findings = await check(load(file, {}), load(file, {}).pipelines) + await audit(config, config.pipelines[0])
        return err, config, [json.dumps(str(one)) for one in findings if one.state == "wrong"]

    err, config, wrong = asyncio.run(run())
    ours = "word:3" if named else "mixed:3"
    assert f'pipeline.{name}-p.shingles: "word:3/v1" instead of "{ours}": the state was built with it' in err
    assert as_kind(config.pipelines[0].kind, TextKind).shingles == "word:3/v1"
    assert wrong == []
