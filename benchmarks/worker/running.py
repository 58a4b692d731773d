"""A broker with accessible files, workers that can be killed, and a feed for the source of a pipeline."""

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

from benchmarks.long_runs.news import KeyValue
from stream_lsh.config import Config, load
from stream_lsh.worker.brokers import MavenBroker

_READY_SECONDS = 600.0
_STOP_SECONDS = 120.0
_LOOKS_OFTEN = """\
# deletes trimmed segments after five seconds; the default is five minutes
log.retention.check.interval.ms=5000
"""


class WatchedBroker(MavenBroker):
    """A broker on this machine that deletes trimmed segments early.

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
    """A `WatchedBroker`, stopped at the end."""
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
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
    file = folder / f"{name}.toml"
    file.write_text(
        f'[kafka]\nbrokers = "{address}"\n[worker]\napp_id = "{name}"\nstandbys = {standbys}\n'
        f'[[pipeline]]\nname = "{name}"\nsource = "{name}-source"\npartitions = {partitions}\n{lines}\n',
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
        number: of the worker, among those of one configuration; each has its own folder and log.
        observed: whether the worker reports its sizes, see `benchmarks.worker.observed`.
        options: of that module.

    Attributes:
        data_dir: where its state is.
        samples: the file of its reports.
        started_at: seconds on the clock of `time.time`.
    """

    def __init__(self, file: Path, number: int = 0, *, observed: bool = False, options: Sequence[str] = ()) -> None:
        self.data_dir = state_of(file, number)
        self.samples = self.data_dir.with_suffix(".samples.jsonl")
        self._log = self.data_dir.with_suffix(".log")
        self.data_dir.mkdir(exist_ok=True)
        with self._log.open("ab") as log:
            self._began = self._log.stat().st_size
            module = (
                ["benchmarks.worker.observed", "--samples", str(self.samples)] if observed else ["stream_lsh", "worker"]
            )
            self.started_at = time.time()
            self.process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-m", *module, *options, "--config", str(file)],
                # With bytecode, as an installed package has it.
                env={
                    **os.environ,
                    "PYTHONDONTWRITEBYTECODE": "",
                    "STREAM_LSH__WORKER__DATA_DIR": str(self.data_dir),
                },
                stdout=log,
                stderr=log,
            )

    def log_text(self) -> str:
        """The log of the worker since its start."""
        with self._log.open("rb") as log:
            log.seek(self._began)
            return log.read().decode(errors="replace")

    def wait_ready(self) -> None:
        """Wait until the log reports that the worker is ready; raises RuntimeError on a timeout."""
        end = time.monotonic() + _READY_SECONDS
        while not self.ready:
            self.check()
            if time.monotonic() > end:
                raise RuntimeError(f"not ready after {_READY_SECONDS:.0f} s: {self.log_text()[-2_000:]}")
            time.sleep(0.02)

    @property
    def ready(self) -> int:
        """The number of `ready` lines in the log: one after each rebalance."""
        return self.log_text().count(" ready: ")

    @property
    def standing_by(self) -> bool:
        """Whether the worker has caught up with the partitions that it follows, since the last rebalance."""
        _, _, rest = self.log_text().rpartition(" ready: ")
        return " standing by: " in rest

    def events(self) -> dict[str, float]:
        """The events that an observed worker has reported since its start, with the seconds until the last of each."""
        file = self.samples.with_suffix(".events")
        events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return {event["event"]: since for event in events if (since := event["at"] - self.started_at) > 0}

    def check(self) -> None:
        """Raise RuntimeError if it has ended."""
        if self.process.poll() is not None:
            raise RuntimeError(f"the worker has ended with {self.process.returncode}: {self.log_text()[-4_000:]}")

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
        sent: the number of messages.
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
        """Hand messages to the client; waits only if its queue is full."""
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
        """Wait until all messages are stored; raises RuntimeError if some cannot be stored."""
        left = self._producer.flush(120)
        if left or self._failure is not None:
            raise RuntimeError(f"messages could not be stored: {self._failure or f'{left} wait after two minutes'}")

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        self._failure = self._failure or error
