"""Hostile requests to the query API of a worker process: it answers all of them, lives on, and does not grow."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from stream_lsh import Client
from stream_lsh.errors import NotAvailable
from stream_lsh.worker.brokers.maven import free_port
from tests.evaluation.brokers import choose_broker
from tests.kafka.harness import make_topics
from tests.unit.worker.query.hostile import run_hostile

_AT_ONCE = 10_000
_MOST_GROWTH = 32 << 20
"""Bytes of resident memory, beyond those after the first requests."""
_STARTED_SECONDS = 120.0
_TEXT = "a text of some words that a worker stores and finds again after all those requests"


class Harmed(Exception):
    """Requests have harmed a worker, or it gave an answer that no client may receive."""


def bombard(count: int, seed: int) -> Counter[int]:
    """The statuses of the answers to hostile requests.

    Raises:
        Harmed: the worker did not outlive them as it was.
    """
    with tempfile.TemporaryDirectory(prefix="stream-lsh-requests-") as folder:
        with choose_broker(Path(folder) / "broker") as broker:
            file, address = Path(folder) / "fuzz.toml", f"127.0.0.1:{free_port()}"
            file.write_text(
                f'[kafka]\nbrokers = "{broker.address}"\n[worker]\nask = "{address}"\nweb = ""\n'
                f'data_dir = "{folder}/data"\n[[pipeline]]\nname = "docs"\nsource = "docs"\npartitions = 2\n',
                encoding="utf-8",
            )
            asyncio.run(_send(broker.address))
            command = [sys.executable, "-m", "stream_lsh", "worker", "--config", str(file)]
            with (Path(folder) / "worker.log").open("wb") as log:
                worker = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603 - ourselves
            try:
                return _bombard(worker, address, count, seed)
            finally:
                worker.kill()
                worker.wait()


async def _send(address: str) -> None:
    await make_topics(address, "docs", partitions=2)
    async with AIOKafkaProducer(bootstrap_servers=address) as producer:
        for id in ("a", "b"):
            await producer.send_and_wait("docs", json.dumps({"text": _TEXT}).encode(), id.encode())


def _bombard(worker: "subprocess.Popen[bytes]", address: str, count: int, seed: int) -> Counter[int]:
    statuses, sizes = Counter[int](), list[int]()
    with Client(f"http://{address}", "docs") as client:
        _expect_answer(client)
        for at in range(0, count, _AT_ONCE):
            outcome = asyncio.run(run_hostile(address, min(_AT_ONCE, count - at), seed + at))
            if outcome.wrong:
                raise Harmed(f"got {outcome.wrong[:3]}")
            statuses += outcome.statuses
            sizes.append(_resident(worker.pid))
            print(f"{at + _AT_ONCE} requests, {sizes[-1] >> 20} MiB, {dict(statuses)}", flush=True)
        if worker.poll() is not None:
            raise Harmed(f"the worker ended with {worker.returncode}")
        if sizes[-1] - sizes[0] > _MOST_GROWTH:
            raise Harmed(f"the worker grew from {sizes[0] >> 20} to {sizes[-1] >> 20} MiB")
        _expect_answer(client)
    return statuses


def _expect_answer(client: Client) -> None:
    """Wait until the stored texts are found."""
    end = time.monotonic() + _STARTED_SECONDS
    while True:
        try:
            found = [match.id for match in client.similar(_TEXT).matches]
            if sorted(found) == ["a", "b"]:
                return
        except NotAvailable as error:
            found = [str(error)]
        if time.monotonic() > end:
            raise Harmed(f"got {found}, expected the stored texts")
        time.sleep(0.2)


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
