"""Answers of workers on a broker and of the classes in memory: `python -m tests.kafka.equality [--kinds text ...]`.

Each kind of data in each layout, with 20,000 documents and 2,000 queries, half of them for stored documents.  Ends with
1 if an answer differs.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stream_lsh.worker.brokers import Broker, MavenBroker
from tests.embedded.test_similar import CASES, Case, queries_of
from tests.kafka.worker.test_records import send
from tests.kafka.worker.test_similar import LAYOUTS, Workers, running_workers

_LAST = 40
_SECONDS = 600.0


def main(argv: Sequence[str]) -> int:
    """Compare all kinds in all layouts; one line for each."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.kafka.equality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=CASES, default=[*CASES])
    parser.add_argument("--layouts", nargs="+", metavar="PARTITIONS:WORKERS", default=[f"{a}:{b}" for a, b in LAYOUTS])
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=2_000)
    options = parser.parse_args(argv)
    differing = 0
    with tempfile.TemporaryDirectory(prefix="stream-lsh-equality-") as temporary:
        broker = MavenBroker(Path(temporary) / "broker")
        broker.start()
        try:
            for kind in options.kinds:
                for layout in options.layouts:
                    differing += _compare(broker, kind, layout, Path(temporary), options)
        finally:
            broker.stop()
    return int(differing > 0)


def _compare(broker: Broker, kind: str, layout: str, folder: Path, options: argparse.Namespace) -> int:
    """The number of differing answers of a kind in a layout."""
    case = CASES[kind](options.documents + options.queries)
    partitions, processes = map(int, layout.split(":"))
    file = folder / f"{kind}-{partitions}-{processes}.toml"
    file.write_text(
        f'[kafka]\nbrokers = "{broker.address}"\n[worker]\napp_id = "{file.stem}"\ndata_dir = ""\n[[pipeline]]\n'
        f'name = "{file.stem}"\nsource = "{file.stem}-source"\npartitions = {partitions}\nretention = 0\n{case.keys}\n'
        + ("" if kind == "record" else "max_candidates = 0\n"),
        encoding="utf-8",
    )
    stored = [(f"d{at}", value) for at, value in enumerate(case.values[: options.documents])]
    for id, value in stored:
        case.add(id, value)
    queries = queries_of(case.values, options.queries)
    answers = [case.of_memory(value) for value in queries]

    async def found_by_workers() -> list[Any]:
        async with running_workers(file, processes) as running:
            await send(broker, f"{file.stem}-source", ((id, case.message(value)) for id, value in stored))
            await _stored(running, case, [value for _, value in stored[-_LAST:]])
            return await _answers(running, [{case.member: value} for value in queries])

    found = asyncio.run(found_by_workers())
    wrong = [at for at, (one, other) in enumerate(zip(found, answers, strict=True)) if one != other]
    matches = sum(map(len, answers))
    print(
        f"{kind}, {partitions} partitions, {processes} workers: {len(stored)} documents, {len(queries)} queries, "
        f"{matches} matches: {len(wrong)} differ",
        flush=True,
    )
    for at in wrong[:3]:
        print(f"  {queries[at]!r:.200}\n    got      {found[at]!r:.400}\n    expected {answers[at]!r:.400}", flush=True)
    return len(wrong) + (matches < len(queries) // 2)


async def _answers(running: Workers, queries: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The matches of each query, or the whole answer if it has none; the workers are asked in turns."""
    answers = [await running.ask(at % len(running.clients), query) for at, query in enumerate(queries)]
    return [answer.value.get("matches", answer.value) for answer in answers]


async def _stored(running: Workers, case: Case, last: Sequence[Any]) -> None:
    """Wait until the last documents are found."""
    async with asyncio.timeout(_SECONDS):
        for value in last:
            while (await running.ask(0, {case.member: value})).value.get("matches") != case.of_memory(value):
                await asyncio.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
