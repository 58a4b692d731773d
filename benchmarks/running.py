"""A broker whose files can be looked at, workers that can be killed, and a feed that knows how far the worker is."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from benchmarks.news import KeyValue
from stream_lsh.config import Config, load
from stream_lsh.worker.brokers import MavenBroker

_READY_SECONDS = 600.0
_STOP_SECONDS = 120.0
_LOOKS_OFTEN = """\
# deletes what is trimmed soon, where the default is after five minutes
log.retention.check.interval.ms=5000
"""


class WatchedBroker(MavenBroker):
    """A node of this machine that deletes soon what was trimmed.

    Attributes:
        logs: the folder of its topics.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, heap="1g")
        self.logs = folder.absolute() / "data"

    def _settings(self, template: str) -> str:
        return super()._settings(template) + _LOOKS_OFTEN


@contextlib.contextmanager
def running_broker(folder: Path) -> Iterator[WatchedBroker]:
    """Such a node, stopped at the end."""
    broker = WatchedBroker(folder)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


def configured(
    folder: Path, address: str, name: str, partitions: int, *, standbys: int = 0, **keys: Any
) -> tuple[Config, Path]:
    """A configuration of one pipeline; `keys` are the pipeline's.  Each worker gets a `data_dir` of its own."""
    told = "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
    file = folder / f"{name}.toml"
    file.write_text(
        f'[kafka]\nbrokers = "{address}"\n[worker]\napp_id = "{name}"\nstandbys = {standbys}\n'
        f'[[pipeline]]\nname = "{name}"\nsource = "{name}-source"\npartitions = {partitions}\n{told}\n',
        encoding="utf-8",
    )
    return load(str(file), {}), file


def state_of(file: Path, number: int = 0) -> Path:
    """The `data_dir` of a worker."""
    return file.with_name(f"{file.stem}-{number}")


class WorkerProcess:
    """One worker.

    Args:
        file: its configuration.
        number: tells workers of one configuration apart: each has its folder and its log.
        observed: whether it tells what it holds, see `benchmarks.observed`.
        options: of that module.

    Attributes:
        data_dir: where its state is.
        samples: what it tells.
        started_at: seconds on the clock of `time.time`.
    """

    def __init__(self, file: Path, number: int = 0, *, observed: bool = False, options: Sequence[str] = ()) -> None:
        self.data_dir = state_of(file, number)
        self.samples = self.data_dir.with_suffix(".samples.jsonl")
        self._log = self.data_dir.with_suffix(".log")
        self.data_dir.mkdir(exist_ok=True)
        with self._log.open("ab") as log:
            self._began = log.tell()
            module = ["benchmarks.observed", "--samples", str(self.samples)] if observed else ["stream_lsh", "worker"]
            self.started_at = time.time()
            self.process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-m", *module, *options, "--config", str(file)],
                env={**os.environ, "STREAM_LSH__WORKER__DATA_DIR": str(self.data_dir)},
                stdout=log,
                stderr=log,
            )

    def said(self) -> str:
        """Its log since it was started."""
        with self._log.open("rb") as log:
            log.seek(self._began)
            return log.read().decode(errors="replace")

    def wait_ready(self) -> None:
        """Wait until it has said that it is ready; raises RuntimeError if it does not."""
        end = time.monotonic() + _READY_SECONDS
        while not self.ready:
            self.check()
            if time.monotonic() > end:
                raise RuntimeError(f"not ready after {_READY_SECONDS:.0f} s: {self.said()[-2_000:]}")
            time.sleep(0.02)

    @property
    def ready(self) -> int:
        """How often it has said that it is ready: after each rebalance."""
        return self.said().count(" ready: ")

    @property
    def standing_by(self) -> bool:
        """Whether it has read all that it follows since the last rebalance."""
        _, _, said = self.said().rpartition(" ready: ")
        return " standing by: " in said

    def events(self) -> dict[str, float]:
        """What an observed worker has told since it was started, and when last, in seconds since then."""
        file = self.samples.with_suffix(".events")
        told = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return {one["event"]: since for one in told if (since := one["at"] - self.started_at) > 0}

    def check(self) -> None:
        """Raise RuntimeError if it has ended."""
        if self.process.poll() is not None:
            raise RuntimeError(f"the worker has ended with {self.process.returncode}: {self.said()[-4_000:]}")

    def end(self, sent: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait; the exit code."""
        self.process.send_signal(sent)
        try:
            return self.process.wait(_STOP_SECONDS)
        finally:
            self.process.kill()


@contextlib.contextmanager
def running_worker(
    file: Path, number: int = 0, *, observed: bool = False, options: Sequence[str] = ()
) -> Iterator[WorkerProcess]:
    """A worker that is ready; killed at the end, if it was not ended before."""
    worker = WorkerProcess(file, number, observed=observed, options=options)
    try:
        worker.wait_ready()
        yield worker
    finally:
        worker.process.kill()
        worker.process.wait()


class Feed:
    """Sends messages to the source of a pipeline, as the Java client would.

    Attributes:
        sent: how many.
    """

    def __init__(self, address: str, topic: str) -> None:
        self._topic = topic
        self.sent = 0
        self._failure: KafkaError | None = None
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "enable.idempotence": True,
                "linger.ms": 5,
                "batch.size": 1 << 18,  # a topic's max.message.bytes is one of batches
                "partitioner": "murmur2_random",
                "queue.buffering.max.messages": 200_000,
            }
        )

    def send(self, messages: list[KeyValue]) -> None:
        """Hand them to the client; waits only where it has too many."""
        for key, value in messages:
            self._put(value=value, key=key)
        self._producer.poll(0)
        self.sent += len(messages)

    def put(self, value: bytes, partition: int) -> None:
        """Hand one message without a key to the client."""
        self._put(value=value, partition=partition)
        self.sent += 1

    def _put(self, **message: Any) -> None:
        while True:
            try:
                self._producer.produce(self._topic, on_delivery=self._delivered, **message)
                return
            except BufferError:
                self._producer.poll(0.1)

    def flush(self) -> None:
        """Wait until all of them are stored; raises RuntimeError if some cannot be."""
        left = self._producer.flush(120)
        if left or self._failure is not None:
            raise RuntimeError(f"messages could not be stored: {self._failure or f'{left} wait after two minutes'}")

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        self._failure = self._failure or error
