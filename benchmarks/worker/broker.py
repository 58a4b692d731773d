"""Common parts of the measurements on a broker: fresh applications, workers, feeders, documents."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from stream_lsh.config import Config, parse
from stream_lsh.config.model import PipelineConfig
from stream_lsh.worker.brokers import Broker

KeyValue = tuple[bytes, bytes]

SIZE = 3_000
NEAR = 0.1
_VOCABULARY = 50_000


class Bench:
    """A broker, and applications on it that have nothing to do with each other."""

    def __init__(self, broker: Broker, folder: Path) -> None:
        self._broker, self._folder = broker, folder
        self._runs = self._processes = 0

    def configured(self, partitions: int, **keys: Any) -> tuple[Config, Path]:
        """A configuration with new names of application and topics, and its file."""
        self._runs += 1
        name = f"run{self._runs}"
        lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
        text = (
            f'[kafka]\nbrokers = "{self._broker.address}"\n[worker]\napp_id = "{name}"\n'
            f'data_dir = "{self._folder / name}"\n[[pipeline]]\nname = "{name}"\nsource = "{name}-source"\n'
            f"partitions = {partitions}\n{lines}\n"
        )
        file = self._folder / f"{name}.toml"
        file.write_text(text, encoding="utf-8")
        return parse(text, str(file), {}), file

    @contextlib.contextmanager
    def workers(
        self, config: Config, file: Path, count: int, ask: Sequence[str] = ()
    ) -> Iterator[list["subprocess.Popen[bytes]"]]:
        """Worker processes that are ready; ended in order, and it is an error if one ended before.

        Args:
            config: of the application.
            file: with the configuration.
            count: of workers.
            ask: the address of the query API of each; none by default.
        """
        with contextlib.ExitStack() as stack:
            addresses = ask or [""] * count
            yield [stack.enter_context(self.started("worker", file, address)) for address in addresses]

    @contextlib.contextmanager
    def started(self, command: str, file: Path, ask: str = "") -> Iterator["subprocess.Popen[bytes]"]:
        """A process of the application, `worker` or `serve`, that is ready; it is an error if it ends by itself."""
        self._processes += 1
        log = self._folder / f"{file.stem}-{command}-{self._processes}.log"
        environment = {**os.environ, **({"STREAM_LSH__WORKER__ASK": ask} if ask else {})}
        arguments = [sys.executable, "-m", "stream_lsh", command, "--config", str(file)]
        with log.open("wb") as output:
            process = subprocess.Popen(arguments, stdout=output, stderr=output, env=environment)  # noqa: S603 - ourselves
        try:
            _wait(lambda: b" ready: " in log.read_bytes(), log)
            yield process
        finally:
            ended = process.poll()
            process.terminate()
            process.wait(60)
        if ended is not None:
            raise RuntimeError(f"{command} ended with {ended}: {log.read_text()[-2_000:]}")

    @contextlib.contextmanager
    def floor(self, hops: int) -> Iterator[tuple["subprocess.Popen[str]", "Stream", list[str]]]:
        """A process that copies over `hops` topics, see `floor.py`, the stream that feeds and reads it, the topics."""
        self._runs += 1
        topics = [f"floor{self._runs}-{number}" for number in range(hops)]
        self._create(*topics)
        command = [sys.executable, "-m", "benchmarks.worker.floor", self._broker.address, *topics]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:  # noqa: S603
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise RuntimeError("the copier did not start")
            yield process, Stream(self._producer(), self.consumer(topics[-1]), topics[0]), topics
            process.kill()

    @contextlib.contextmanager
    def redis_peer(self, threshold: float) -> Iterator["Stream"]:
        """A consumer with datasketch and Redis, see `benchmarks.worker.datasketch_redis`; what feeds and reads it."""
        self._runs += 1
        source, target = f"peer{self._runs}-source", f"peer{self._runs}-matches"
        self._create(source, target)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        server = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder)]
        command = [sys.executable, "-m", "benchmarks.worker.datasketch_redis", self._broker.address, source, target]
        with contextlib.ExitStack() as stack:
            for started in (server, [*command, str(threshold), port]):
                process = stack.enter_context(subprocess.Popen(started, stdout=subprocess.PIPE, text=True))  # noqa: S603
                stack.callback(process.kill)
                if process.stdout is None or not any(" ready" in f" {line.lower()}" for line in process.stdout):
                    raise RuntimeError(f"did not start: {started}")
            yield Stream(self._producer(), self.consumer(target), source)

    def _create(self, *topics: str) -> None:
        admin = AdminClient({"bootstrap.servers": self._broker.address})
        stamped = {"message.timestamp.type": "LogAppendTime"}
        for made in admin.create_topics([NewTopic(name, 1, 1, config=stamped) for name in topics]).values():
            made.result()

    def stream(self, pipeline: PipelineConfig) -> "Stream":
        """A feeder and a reader of a pipeline."""
        return Stream(self._producer(), self.consumer(pipeline.matches_topic), pipeline.source)

    def consumer(self, *topics: str) -> Consumer:
        """Reads topics from their beginning."""
        consumer = Consumer(
            {
                "bootstrap.servers": self._broker.address,
                "group.id": f"bench-{uuid.uuid4()}",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 5,
                "topic.metadata.refresh.interval.ms": 500,
            }
        )
        if topics:
            consumer.subscribe(list(topics))
        return consumer

    def records(self, topic: str, partitions: int) -> Iterator[Message]:
        """All records of a topic, as they are now."""
        with contextlib.closing(self.consumer()) as consumer:
            for partition in range(partitions):
                tp = TopicPartition(topic, partition, 0)
                at, end = consumer.get_watermark_offsets(tp, 30)
                consumer.assign([TopicPartition(topic, partition, at)])
                while at < end:
                    message = consumer.poll(1.0)
                    if message is not None and message.error() is None:
                        at = (message.offset() or 0) + 1
                        yield message

    def truths(self, topic: str, still: float = 5.0) -> dict[str, Any]:
        """The final content of a compacted topic: the last value of each key, without tombstones."""
        last: dict[str, bytes | None] = {}
        with contextlib.closing(self.consumer(topic)) as consumer:
            end = time.monotonic() + 3 * still
            while time.monotonic() < end:
                message = consumer.poll(0.2)
                if message is not None and message.error() is None:
                    last[(message.key() or b"").decode()] = message.value()
                    end = time.monotonic() + still
        return {key: json.loads(value) for key, value in last.items() if value is not None}

    def _producer(self) -> Producer:
        """Sends as the Java client would; its own cost is small."""
        return Producer(
            {
                "bootstrap.servers": self._broker.address,
                "linger.ms": 2,
                "partitioner": "murmur2_random",
                "queue.buffering.max.messages": 1_000_000,
                "queue.buffering.max.kbytes": 2_000_000,
                "message.max.bytes": 16 << 20,
            }
        )


class Stream:
    """Feeds a pipeline and reads its matches.

    Attributes:
        seen: when each pair came first.
    """

    def __init__(self, producer: Producer, consumer: Consumer, topic: str) -> None:
        self._producer, self._consumer, self._topic = producer, consumer, topic
        self.seen: dict[str, float] = {}

    def feed(self, messages: Sequence[KeyValue]) -> None:
        """Send as fast as they are taken."""
        for key, value in messages:
            self._producer.produce(self._topic, value, key)
            self._producer.poll(0)
        self._producer.flush()

    def feed_paced(self, messages: Sequence[KeyValue], rate: int) -> dict[str, float]:
        """Send at a steady rate, and read what comes meanwhile; when each was sent.

        The client rounds a wait of less than a millisecond down to none, so that shorter waits would occupy a core.
        """
        sent: dict[str, float] = {}
        began = time.perf_counter()
        for number, (key, value) in enumerate(messages):
            while (left := began + number / rate - time.perf_counter()) > 0:
                self._take(self._consumer.poll(max(left, 0.001)))
            sent[key.decode()] = time.perf_counter()
            self._producer.produce(self._topic, value, key)
            self._producer.poll(0)
        self._producer.flush()
        return sent

    def matches(self, enough: int, patience: float = 15.0) -> float:
        """Read until there are `enough` matches; returns the time of the last new one.

        Raises:
            RuntimeError: no more come, and some are missing.
        """
        last = time.perf_counter()
        while len(self.seen) < enough:
            if self._take(self._consumer.poll(0.1)):
                last = time.perf_counter()
            if time.perf_counter() - last > patience:
                raise RuntimeError(f"{len(self.seen)} matches of {enough} came")
        return max(self.seen.values())

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _take(self, message: Message | None) -> bool:
        """Read the messages that have arrived; returns whether there were any."""
        if message is None or message.error() is not None:
            return False
        self.seen.setdefault((message.key() or b"").decode(), time.perf_counter())
        return True


def free_addresses(count: int) -> list[str]:
    """Addresses of this machine that no process listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


def cpu_seconds(pid: int) -> float:
    """The processor time of a process up to now."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kernel_seconds(pid: int) -> float:
    """The part of `cpu_seconds` in the kernel: much on a virtual machine that gets its memory as it uses it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[12]) / os.sysconf("SC_CLK_TCK")


def _wait(done: Any, log: Path, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise RuntimeError(f"not ready after {seconds} s: {log.read_text()[-2_000:]}")
        time.sleep(0.05)


def documents(count: int) -> tuple[list[KeyValue], dict[int, int]]:
    """Messages of documents, and for each near-duplicate the number of the original.

    Words follow Zipf's law; a near-duplicate has twenty words of its own, so its similarity is some .9, and nothing
    else is similar to anything.
    """
    random = np.random.default_rng(1)
    words = np.array([f"w{number:x}" for number in range(_VOCABULARY)], object)
    weights = 1 / np.arange(10, _VOCABULARY + 10)
    bounds = np.cumsum(weights / weights.sum())
    originals: list[tuple[int, list[str]]] = []
    messages, twins = list[KeyValue](), dict[int, int]()
    for start in range(0, count, 1000):
        drawn = words[np.searchsorted(bounds, random.random((min(1000, count - start), SIZE // 4)), side="right")]
        for number, row in enumerate(drawn.tolist(), start):
            chosen = row[: len(" ".join(row)[:SIZE].split()) - 1]
            if originals and random.random() < NEAR:
                twins[number], original = originals.pop(int(random.integers(len(originals))))
                at = int(random.integers(len(original) - 20))
                chosen = [*original[:at], *chosen[:20], *original[at + 20 :]]
            else:
                originals.append((number, chosen))
            value = {"text": " ".join(chosen), "time": 1_700_000_000_000 + number}
            messages.append((b"%08d" % number, json.dumps(value).encode()))
    return messages, twins
