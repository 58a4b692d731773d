"""One run: a cluster, two workers, a feed, and a schedule of faults; then the checker."""

import asyncio
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stream_lsh.config import Config, load
from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.worker.brokers.maven import free_port
from tests.chaos.checker import Verdict, still
from tests.chaos.cluster import BROKERS, WORKERS, Cluster
from tests.chaos.evidence import write_evidence
from tests.chaos.faults import FAULTS, Fault, Scene
from tests.chaos.feeding import Feeder, documents
from tests.chaos.profiles import PROFILES, Part, Profile, Sent
from tests.chaos.proxy import Proxy
from tests.chaos.queries import Queries
from tests.chaos.schedule import Chaos, plan
from tests.chaos.workers import Worker, write_config
from tests.kafka.harness import until

PARTITIONS = 4
_READY_SECONDS, _STILL_SECONDS = 120.0, 300.0
_FIRM_SECONDS = 30.0
_REASONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a run; `gap_s` is the least and the most time between two faults."""

    seed: int
    documents: int
    seconds: float
    data_dir: Path
    profile: str = "texts"
    faults: Sequence[Fault] = FAULTS
    gap_s: tuple[float, float] = (5.0, 10.0)
    down_s: float = 60.0


@dataclass(slots=True)
class Outcome:
    """The outcome of a run."""

    folder: Path
    verdicts: list[Verdict]
    happened: Counter[str] = field(default_factory=Counter)
    exits: list[Counter[int]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return all(verdict.is_clean for verdict in self.verdicts)


async def run(settings: Settings, say: Callable[[str], None] = print) -> Outcome:
    """Run it; what is left in the folder of the outcome is the caller's to remove."""
    folder, began = Path(tempfile.mkdtemp(prefix="stream-lsh-chaos-")), time.monotonic()

    def timed(line: str) -> None:
        say(f"{time.monotonic() - began:7.1f} s  {line}")

    standbys, profile = settings.seed % 2, PROFILES[settings.profile]
    say(f"{settings.profile}, seed {settings.seed}, {settings.documents} documents, {standbys} standbys; in {folder}")
    found = documents(settings.data_dir, settings.documents, settings.seed)
    async with _cluster(folder, timed) as cluster, _scene(folder, cluster, profile, standbys, timed) as (scene, config):
        streams = [
            _Stream(part, pipeline, part.stream(found[number :: len(profile.parts)], settings.seed, settings.seconds))
            for number, (part, pipeline) in enumerate(zip(profile.parts, config.pipelines, strict=True))
        ]
        happened = await _fed_under_faults(settings, scene, streams)
        timed("the feed and the faults are over")
        waiting = await still(config, _STILL_SECONDS)
        exits = [Counter(worker.exits) for worker in scene.workers]
        reasons = sum((worker.reasons for worker in scene.workers), Counter[str]())
        codes = [await worker.stop() for worker in scene.workers]
        timed(f"nothing moves any more: the workers were stopped, with {', '.join(map(str, codes))}")
        verdicts = [await one.part.checker(config, one.pipeline, one.documents).check() for one in streams]
        for verdict, one in zip(verdicts, streams, strict=True):
            if verdict.at_fault:
                await write_evidence(config, one.pipeline, verdict.at_fault, folder / f"{one.pipeline.name}.txt")
        if waiting:
            verdicts[0].others.append(f"not still after {_STILL_SECONDS:.0f} s: {waiting} messages under way")
        verdicts[0].others += happened.failures
    outcome = Outcome(folder, verdicts, happened.faults, exits, reasons)
    for line in _report(outcome):
        timed(line)
    return outcome


def remove(outcome: Outcome) -> None:
    """Remove the logs of a run."""
    shutil.rmtree(outcome.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Happened:
    faults: Counter[str]
    failures: list[str]


@dataclass(frozen=True, slots=True)
class _Stream:
    part: Part
    pipeline: PipelineConfig
    documents: list[Any]

    def messages(self, seed: int) -> list[Sent]:
        return self.part.messages(self.documents, self.pipeline, seed)


async def _fed_under_faults(settings: Settings, scene: Scene, streams: Sequence[_Stream]) -> _Happened:
    feeder, chaos = Feeder(scene.cluster.address), Chaos(scene)
    planned = plan(settings.seed, settings.faults, settings.gap_s, settings.down_s)
    addresses = [worker.ask for worker in scene.workers]
    queries = [
        Queries(stream.pipeline, stream.documents, addresses, 2 * settings.down_s + _FIRM_SECONDS)
        for stream in streams
        if isinstance(stream.pipeline.kind, TextKind) and stream.pipeline.retention_ms is None
    ]
    over = asyncio.Event()
    async with asyncio.TaskGroup() as asking:
        for one in queries:
            asking.create_task(one.run(settings.seed, over))
        async with asyncio.TaskGroup() as group:
            for stream in streams:
                group.create_task(feeder.feed(stream.messages(settings.seed), settings.seconds))
            group.create_task(chaos.run(planned, settings.seconds, len(settings.faults)))
        over.set()
    for one in queries:
        scene.say(str(one))
    return _Happened(chaos.happened, [*feeder.failures, *(found for one in queries for found in one.failures)])


def _report(outcome: Outcome) -> list[str]:
    faults = ", ".join(f"{kind} {count}" for kind, count in sorted(outcome.happened.items()))
    exits = "; ".join(
        f"worker {number}: " + (", ".join(f"{count} with {code}" for code, count in sorted(codes.items())) or "none")
        for number, codes in enumerate(outcome.exits)
    )
    found = [line for verdict in outcome.verdicts for line in verdict.lines()]
    reasons = [f"{count} times: {line}" for line, count in outcome.reasons.most_common(_REASONS)]
    return [f"faults: {faults}", f"ends of processes: {exits}", *reasons, *found]


@asynccontextmanager
async def _cluster(folder: Path, say: Callable[[str], None]) -> AsyncIterator[Cluster]:
    cluster = Cluster(folder)
    try:
        for node in cluster.nodes:
            node.disk.mount()
        await cluster.start()
        await cluster.heal(say)
        say(f"{BROKERS} brokers run" + ("" if cluster.nodes[0].disk.mounted else ", without disks of their own"))
        yield cluster
    finally:
        await cluster.close()


@asynccontextmanager
async def _scene(
    folder: Path, cluster: Cluster, profile: Profile, standbys: int, say: Callable[[str], None]
) -> AsyncIterator[tuple[Scene, Config]]:
    """Workers that are ready behind their proxies; and a configuration with the addresses of the brokers themselves."""
    pipelines = [part.settings for part in profile.parts]
    await cluster.make_topics(profile.topics)
    async with AsyncExitStack() as stack:
        proxies, workers = dict[tuple[int, int], Proxy](), list[Worker]()
        for number in range(WORKERS):
            for node in cluster.nodes:
                proxy = proxies[number, node.number] = Proxy(node.advertised(number), node.listener(number))
                await proxy.start()
                stack.push_async_callback(proxy.close)
            file = folder / f"worker-{number}" / "worker.toml"
            file.parent.mkdir()
            addresses = [f"127.0.0.1:{node.advertised(number)}" for node in cluster.nodes]
            ask = f"127.0.0.1:{free_port()}"
            write_config(file, addresses, "chaos", pipelines, PARTITIONS, standbys=standbys, ask=ask)
            workers.append(Worker(number, file, ask))
        for worker in workers:
            supervised = asyncio.create_task(worker.supervise())
            stack.callback(supervised.cancel)
            stack.push_async_callback(worker.stop)
        await until(lambda: all(worker.is_ready() for worker in workers), _READY_SECONDS)
        say("both workers are ready")
        direct = folder / "direct.toml"
        brokers = [node.address for node in cluster.nodes]
        write_config(direct, brokers, "chaos", pipelines, PARTITIONS, standbys=standbys)
        yield Scene(cluster, workers, proxies, say), load(direct, {})
