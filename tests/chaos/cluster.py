"""Three Kafka nodes, each a broker and a controller, as processes of this machine.

The brokers speak to each other directly.  Each worker has a listener of its own on every broker, and what is advertised
there are the ports of proxies: so a worker can be cut off from one broker, from all, or from none.
"""

import asyncio
import base64
import contextlib
import os
import random
import signal
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from aiokafka.admin import NewTopic  # type: ignore[import-untyped]
from aiokafka.errors import KafkaError  # type: ignore[import-untyped]

from stream_lsh.worker.brokers import MavenBroker
from tests.chaos.disk import Disk
from tests.kafka.harness import admin_at

BROKERS, WORKERS = 3, 2
IN_SYNC_SECONDS = 90.0
_PORTS_EACH = 10
# Below the ports that a system gives to clients: one of those could take a broker's while that is down.
_FIRST_PORT, _LAST_PORT = 20_000, 31_000

_OF_A_CLUSTER = """\
offsets.topic.replication.factor=3
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
share.coordinator.state.topic.replication.factor=3
share.coordinator.state.topic.min.isr=2
default.replication.factor=3
min.insync.replicas=2
unclean.leader.election.enable=false
# small ones, so that a short run rolls and deletes some
log.segment.bytes=16777216
"""


class Node(MavenBroker):
    """One of the nodes.

    Args:
        number: from 0.
        first_port: of the cluster.
        cluster_id: that all nodes are formatted with.
    """

    def __init__(self, folder: Path, number: int, first_port: int, cluster_id: str) -> None:
        self.number, self._first_port, self._cluster = number, first_port, cluster_id
        super().__init__(folder, first_port + number * _PORTS_EACH, heap="400m")
        self.disk = Disk(folder / "data", lambda: self.pid)

    def listener(self, worker: int) -> int:
        """The port on which the broker waits for a worker's proxy."""
        return self._port + 2 + worker

    def advertised(self, worker: int) -> int:
        """The port that a worker connects to."""
        return self._port + 2 + WORKERS + worker

    def send(self, sent: signal.Signals) -> None:
        """A signal, if it runs."""
        pid = self.pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sent)

    def _settings(self, template: str) -> str:
        voters = ",".join(f"{n + 1}@127.0.0.1:{self._first_port + n * _PORTS_EACH + 1}" for n in range(BROKERS))
        names = [f"WORKER{worker}" for worker in range(WORKERS)]
        listening = [f"{name}://127.0.0.1:{self.listener(worker)}" for worker, name in enumerate(names)]
        advertised = [f"{name}://127.0.0.1:{self.advertised(worker)}" for worker, name in enumerate(names)]
        controller = f"CONTROLLER://127.0.0.1:{self._port + 1}"
        protocols = ",".join(f"{name}:PLAINTEXT" for name in ("PLAINTEXT", "CONTROLLER", *names))
        # Of a key that is there twice, the last one counts.
        return (
            super()._settings(template)
            + _OF_A_CLUSTER
            + "\n".join(
                [
                    f"node.id={self.number + 1}",
                    f"controller.quorum.voters={voters}",
                    f"listeners={','.join([f'PLAINTEXT://{self.address}', controller, *listening])}",
                    f"advertised.listeners={','.join([f'PLAINTEXT://{self.address}', *advertised])}",
                    f"listener.security.protocol.map={protocols}",
                    "",
                ]
            )
        )

    def _cluster_id(self) -> str:
        return self._cluster


class Cluster:
    """The nodes.

    Args:
        folder: one folder for each of them will be in it.

    Attributes:
        broken: held by what breaks brokers, so that it does so one after the other.
    """

    def __init__(self, folder: Path) -> None:
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "x", 1)
        first_port = _free_ports(BROKERS * _PORTS_EACH)
        self.nodes = [Node(folder / f"broker-{n}", n, first_port, cluster_id) for n in range(BROKERS)]
        self.broken = asyncio.Lock()

    @property
    def address(self) -> str:
        """Of all nodes, past the proxies."""
        return ",".join(node.address for node in self.nodes)

    async def start(self) -> None:
        """Start all nodes: none of them is there before two are."""
        await asyncio.gather(*(asyncio.to_thread(node.start) for node in self.nodes))

    async def make_topics(self, topics: Mapping[str, int]) -> None:
        """Create topics with these numbers of partitions and three replicas: all is kept, with its time of storing."""
        settings = {"retention.ms": "-1", "message.timestamp.type": "LogAppendTime"}
        async with admin_at(self.address) as admin:
            await admin.create_topics(
                [NewTopic(name, count, BROKERS, topic_configs=settings) for name, count in topics.items()]
            )

    async def kill(self) -> None:
        """Kill all nodes at once."""
        for node in self.nodes:
            node.send(signal.SIGKILL)
        await asyncio.gather(*(asyncio.to_thread(node.kill) for node in self.nodes))

    async def heal(self, say: Callable[[str], None]) -> None:
        """Start what does not run, and wait until every partition has all its copies."""
        for attempt in range(2):
            await self.start()
            end = time.monotonic() + IN_SYNC_SECONDS
            lacking: Iterable[str] = ["no answer"]
            while lacking and time.monotonic() < end:
                await asyncio.sleep(0.5)
                lacking = await self._out_of_sync()
            if not lacking:
                return
            say(f"not in sync after {IN_SYNC_SECONDS:.0f} s: {', '.join(list(lacking)[:5])}")
            if attempt == 0:
                for node in self.nodes:
                    await asyncio.to_thread(node.kill)
        raise TimeoutError("the cluster does not come back")

    async def close(self) -> None:
        """End all nodes and take their disks away."""
        await self.kill()
        for node in self.nodes:
            node.disk.close()

    async def _out_of_sync(self) -> list[str]:
        try:
            async with asyncio.timeout(10), admin_at(self.address) as admin:
                topics: list[Any] = await admin.describe_topics()
        except (KafkaError, OSError, TimeoutError) as error:
            return [repr(error)]
        return [
            f"{topic['topic']}[{partition['partition']}]"
            for topic in topics
            for partition in topic["partitions"]
            if len(partition["isr"]) < len(partition["replicas"])
        ]


def _free_ports(count: int) -> int:
    """The first of `count` consecutive free ports."""
    while True:
        first = random.SystemRandom().randrange(_FIRST_PORT, _LAST_PORT)
        try:
            for port in range(first, first + count):
                with socket.socket() as tried:
                    tried.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
