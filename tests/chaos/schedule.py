"""The schedule of faults: rounds of all kinds, whose order, distances and victims a seed decides."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from tests.chaos.cluster import BROKERS, WORKERS
from tests.chaos.faults import BROKERS_DOWN, Fault, Hit, Scene


@dataclass(frozen=True, slots=True)
class Planned:
    """A fault that will be: how long after the one before it begins, and how long it lasts."""

    fault: Fault
    gap_s: float
    lasts_s: float
    hit: Hit

    def __str__(self) -> str:
        if self.fault.kind == BROKERS_DOWN:
            where = "all brokers"
        elif self.fault.of_brokers:
            where = f"broker {self.hit.broker}"
        elif self.fault.of_a_worker:
            where = f"worker {self.hit.worker}"
        else:
            to = "all brokers" if self.hit.all_brokers else f"broker {self.hit.broker}"
            where = f"worker {self.hit.worker} to {to}"
        return f"{self.fault.kind:<20} {where}" + (f" for {self.lasts_s:.1f} s" if self.lasts_s else "")


def plan(seed: int, faults: Sequence[Fault], gap_s: tuple[float, float], down_s: float) -> Iterator[Planned]:
    """The faults of a seed, without an end: in rounds, each kind once in a round."""
    rng = random.Random(seed)
    while True:
        for fault in rng.sample(faults, len(faults)):
            lasts_s = rng.uniform(fault.least_s, fault.most_s)
            hit = Hit(rng.randrange(WORKERS), rng.randrange(BROKERS), rng.random() < 0.5)
            yield Planned(fault, rng.uniform(*gap_s), down_s if fault.kind == BROKERS_DOWN else lasts_s, hit)


class Chaos:
    """Lets what is planned happen.

    Args:
        scene: where.

    Attributes:
        happened: how often, by kind.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._workers = [asyncio.Lock() for _ in scene.workers]
        self._ways = [asyncio.Lock() for _ in scene.workers]
        self.happened: Counter[str] = Counter()

    async def run(self, planned: Iterator[Planned], seconds: float, at_least: int) -> None:
        """Begin one fault after the other for `seconds`, and at least `at_least`; return when the last one has ended.

        Faults of different victims overlap; a fault of a broken victim waits until the victim works again.
        """
        end, begun = time.monotonic() + seconds, 0
        async with asyncio.TaskGroup() as group:
            while time.monotonic() < end or begun < at_least:
                one = next(planned)
                begun += 1
                await asyncio.sleep(one.gap_s)
                async with AsyncExitStack() as held:
                    await held.enter_async_context(self._victim(one))
                    group.create_task(self._happens(one, held.pop_all()))

    async def _happens(self, one: Planned, held: AsyncExitStack) -> None:
        async with held:
            self._scene.say(str(one))
            self.happened[one.fault.kind] += 1
            async with one.fault.way(self._scene, one.hit):
                await asyncio.sleep(one.lasts_s)
            if one.fault.of_brokers:
                await self._scene.cluster.heal(self._scene.say)
            if one.lasts_s:
                self._scene.say(f"{one.fault.kind} is over")

    @asynccontextmanager
    async def _victim(self, one: Planned) -> AsyncIterator[None]:
        if one.fault.of_brokers:
            lock = self._scene.cluster.broken
        else:
            lock = (self._workers if one.fault.of_a_worker else self._ways)[one.hit.worker]
        async with lock:
            yield
