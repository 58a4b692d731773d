"""Everything that can happen: each fault begins, lasts a while, and ends.

A fault is an asynchronous context manager over the scene: what is before the `yield` is its begin, what is behind it
its end.  Those of brokers come one after the other, each once every partition has all its copies again: a majority of
the nodes is there at any time, but for `brokers-down`.
"""

import asyncio
import contextlib
import resource
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.chaos.cluster import Cluster, Node
from tests.chaos.proxy import Proxy
from tests.chaos.workers import SESSION_SECONDS, Worker

_RUNS_SECONDS, _STOPPED_SECONDS = 0.05, 0.45
_SLOW_DELAY, _SLOW_BYTES = 0.3, 100_000


class Hit(NamedTuple):
    """The victim of a fault: a worker, a broker, or the way between them; `all_brokers`: the way to every broker."""

    worker: int
    broker: int
    all_brokers: bool


@dataclass(slots=True)
class Scene:
    """The victims of faults; `say` reports each fault."""

    cluster: Cluster
    workers: list[Worker]
    proxies: dict[tuple[int, int], Proxy]
    say: Callable[[str], None]

    def ways(self, hit: Hit) -> list[Proxy]:
        """The proxies between the worker that is hit and one broker, or all."""
        return [
            proxy
            for (worker, broker), proxy in self.proxies.items()
            if worker == hit.worker and (hit.all_brokers or broker == hit.broker)
        ]


Way = Callable[[Scene, Hit], AbstractAsyncContextManager[None]]


# -- workers


@asynccontextmanager
async def _kill_worker(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    scene.workers[hit.worker].send(signal.SIGKILL)
    yield


@asynccontextmanager
async def _terminate_worker(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    scene.workers[hit.worker].send(signal.SIGTERM)
    yield


@asynccontextmanager
async def _pause_worker(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    worker = scene.workers[hit.worker]
    pid = worker.pid
    worker.send(signal.SIGSTOP)
    try:
        yield
    finally:
        worker.send(signal.SIGCONT, pid)


@asynccontextmanager
async def _starve_worker_of_cpu(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    worker = scene.workers[hit.worker]
    async with _a_tenth_of_the_time(worker.send):
        yield


@asynccontextmanager
async def _starve_worker_of_files(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    """Nothing more can be opened, and the connections are lost."""
    with _no_more_files(scene.workers[hit.worker].pid):
        for proxy in scene.ways(hit):
            proxy.cut()
        yield


@asynccontextmanager
async def _fill_disk_of_worker(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    """Nothing can be written to any file: neither the copy of the state nor the log."""
    pid = scene.workers[hit.worker].pid
    if pid is None:
        yield
        return
    before = _limit(pid, resource.RLIMIT_FSIZE, 0)
    try:
        yield
    finally:
        _limit(pid, resource.RLIMIT_FSIZE, before)


# -- connections


@asynccontextmanager
async def _cut(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    for proxy in scene.ways(hit):
        proxy.cut()
    yield


@asynccontextmanager
async def _refuse(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    ways = scene.ways(hit)
    for proxy in ways:
        proxy.refusing = True
        proxy.cut()
    try:
        yield
    finally:
        for proxy in ways:
            proxy.refusing = False


@asynccontextmanager
async def _hold_back(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    """Packets are dropped without an error."""
    ways = scene.ways(hit)
    for proxy in ways:
        proxy.hold()
    try:
        yield
    finally:
        for proxy in ways:
            proxy.release()


@asynccontextmanager
async def _slow_down(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    ways = scene.ways(hit)
    for proxy in ways:
        proxy.delay_s, proxy.bytes_per_s = _SLOW_DELAY, _SLOW_BYTES
    try:
        yield
    finally:
        for proxy in ways:
            proxy.delay_s, proxy.bytes_per_s = 0.0, None


# -- brokers


@asynccontextmanager
async def _kill_broker(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    node = scene.cluster.nodes[hit.broker]
    await asyncio.to_thread(node.kill)
    yield


@asynccontextmanager
async def _stop_broker(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    node = scene.cluster.nodes[hit.broker]
    await asyncio.to_thread(node.stop)
    yield


@asynccontextmanager
async def _pause_broker(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    node = scene.cluster.nodes[hit.broker]
    node.send(signal.SIGSTOP)
    try:
        yield
    finally:
        node.send(signal.SIGCONT)


@asynccontextmanager
async def _starve_broker_of_cpu(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    async with _a_tenth_of_the_time(scene.cluster.nodes[hit.broker].send):
        yield


@asynccontextmanager
async def _starve_broker_of_files(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    node = scene.cluster.nodes[hit.broker]
    with _no_more_files(node.pid):
        for (_, broker), proxy in scene.proxies.items():
            if broker == hit.broker:
                proxy.cut()
        yield
    await _replaced_if_ill(node)


@asynccontextmanager
async def _fill_disk_of_broker(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    """A broker whose only disk is full ends, or has to be ended."""
    node = scene.cluster.nodes[hit.broker]
    node.disk.fill()
    try:
        yield
    finally:
        scene.say(f"broker {node.number} {'has ended' if node.pid is None else 'runs'} on a full disk")
        node.disk.free()
    await _replaced_if_ill(node)


@asynccontextmanager
async def _all_brokers_down(scene: Scene, hit: Hit) -> AsyncIterator[None]:
    await scene.cluster.kill()
    yield


async def _replaced_if_ill(node: Node) -> None:
    """A broker that could not write may hold its topics offline until it is started again."""
    await asyncio.to_thread(node.kill)


# -- what several do


@asynccontextmanager
async def _a_tenth_of_the_time(send: Callable[[signal.Signals], None]) -> AsyncIterator[None]:
    async def starve() -> None:
        while True:
            send(signal.SIGSTOP)
            await asyncio.sleep(_STOPPED_SECONDS)
            send(signal.SIGCONT)
            await asyncio.sleep(_RUNS_SECONDS)

    starving = asyncio.create_task(starve())
    try:
        yield
    finally:
        starving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await starving
        send(signal.SIGCONT)


@contextlib.contextmanager
def _no_more_files(pid: int | None) -> Iterator[None]:
    opened = Path(f"/proc/{pid}/fd")
    if pid is None or not opened.exists():
        yield
        return
    before = _limit(pid, resource.RLIMIT_NOFILE, len(list(opened.iterdir())))
    try:
        yield
    finally:
        _limit(pid, resource.RLIMIT_NOFILE, before)


def _limit(pid: int, what: int, value: int) -> int:
    """Set the soft limit of a process that may be gone; what it was."""
    with contextlib.suppress(ProcessLookupError):
        soft, hard = resource.prlimit(pid, what)
        resource.prlimit(pid, what, (value, hard))
        return soft
    return value


class Fault(NamedTuple):
    """A kind of fault.

    Attributes:
        kind: its name.
        way: how it begins and ends.
        least_s: it lasts so long at least.
        most_s: and so long at most.
    """

    kind: str
    way: Way
    least_s: float
    most_s: float

    @property
    def of_brokers(self) -> bool:
        """Whether it breaks brokers."""
        return self.kind.startswith("broker")

    @property
    def of_a_worker(self) -> bool:
        """Whether it breaks a worker's process."""
        return self.kind.startswith("worker")


BROKERS_DOWN = "brokers-down"

FAULTS = (
    Fault("worker-kill", _kill_worker, 0.0, 0.0),
    Fault("worker-terminate", _terminate_worker, 0.0, 0.0),
    Fault("worker-pause", _pause_worker, 1.5 * SESSION_SECONDS, 3 * SESSION_SECONDS),
    Fault("worker-cpu", _starve_worker_of_cpu, 4.0, 10.0),
    Fault("worker-files", _starve_worker_of_files, 2.0, 8.0),
    Fault("worker-disk", _fill_disk_of_worker, 2.0, 8.0),
    Fault("connections-cut", _cut, 0.0, 0.0),
    Fault("connections-refused", _refuse, 1.0, 8.0),
    Fault("connections-held", _hold_back, 1.0, 12.0),
    Fault("connections-slow", _slow_down, 4.0, 12.0),
    Fault("broker-kill", _kill_broker, 0.0, 6.0),
    Fault("broker-stop", _stop_broker, 0.0, 6.0),
    Fault("broker-pause", _pause_broker, 3.0, 12.0),
    Fault("broker-cpu", _starve_broker_of_cpu, 4.0, 10.0),
    Fault("broker-files", _starve_broker_of_files, 3.0, 8.0),
    Fault("broker-disk", _fill_disk_of_broker, 4.0, 8.0),
    Fault(BROKERS_DOWN, _all_brokers_down, 60.0, 60.0),
)
"""All kinds; the run sets the duration of `brokers-down`."""
