"""Handing over costs no task where there is room, and waits as the engine does where there is none."""

import asyncio
from typing import Any

import pytest
from mode import Service

from stream_lsh.worker.engine.reading.handover import PromptService


class Place:
    """A queue of one place, as a stream has; and a flow that may be suspended."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[int] = asyncio.Queue(1)
        self.suspended = asyncio.Event()

    async def take(self, item: int) -> str:
        await self.queue.put(item)
        return f"took {item}"


async def turns_of(service: Service) -> tuple[int, Any]:
    """How often others came to their turn while an item was handed over, and what was said."""
    place, turns = Place(), 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(others())
    await asyncio.sleep(0)
    before = turns
    said = await service.wait_first(place.take(1), place.suspended.wait())
    took = turns - before
    beside.cancel()
    assert place.queue.get_nowait() == 1
    return took, said.results


def test_what_there_is_room_for_is_handed_over_in_one_turn_by_ours_only() -> None:
    assert asyncio.run(turns_of(PromptService())) == (0, ["took 1"])
    took, said = asyncio.run(turns_of(Service()))
    assert took >= 2
    assert said == ["took 1"]


@pytest.mark.parametrize("kind", [Service, PromptService])
def test_where_there_is_no_room_it_waits_for_it(kind: type[Service]) -> None:
    async def run() -> tuple[bool, list[Any], list[int]]:
        place, service = Place(), kind()
        await place.take(1)
        handing = asyncio.ensure_future(service.wait_first(place.take(2), place.suspended.wait()))
        await asyncio.sleep(0.01)
        waited = not handing.done()
        got = [await place.queue.get()]
        said = await handing
        return waited, said.results, [*got, await place.queue.get()]

    assert asyncio.run(run()) == (True, ["took 2"], [1, 2])


@pytest.mark.parametrize("kind", [Service, PromptService])
def test_where_there_is_no_room_a_suspended_flow_ends_the_wait_and_nothing_is_handed_over(kind: type[Service]) -> None:
    async def run() -> tuple[list[Any], list[int]]:
        place, service = Place(), kind()
        await place.take(1)
        handing = asyncio.ensure_future(service.wait_first(place.take(2), place.suspended.wait()))
        await asyncio.sleep(0.01)
        place.suspended.set()
        said = await handing
        got = [await place.queue.get()]
        await asyncio.sleep(0.01)
        assert place.queue.empty()
        return said.results, got

    assert asyncio.run(run()) == ([True], [1])


@pytest.mark.parametrize("kind", [Service, PromptService])
@pytest.mark.parametrize("first_waits", [False, True])
def test_a_service_that_has_stopped_says_so(kind: type[Service], first_waits: bool) -> None:
    async def run() -> bool:
        place, service = Place(), kind()
        if first_waits:
            await place.take(1)
        service._stopped.set()
        return (await service.wait_first(place.take(2), place.suspended.wait())).stopped

    assert asyncio.run(run())


@pytest.mark.parametrize("kind", [Service, PromptService])
@pytest.mark.parametrize("waits", [0, 1, 3])
def test_an_error_comes_through_however_late_it_is_raised(kind: type[Service], waits: int) -> None:
    async def fails() -> None:
        for _ in range(waits):
            await asyncio.sleep(0.001)
        raise KeyError("no such stream")

    async def run() -> None:
        await kind().wait_first(fails(), asyncio.Event().wait())

    with pytest.raises(KeyError, match="no such stream"):
        asyncio.run(run())


def test_an_error_that_is_caught_on_the_way_does_not_end_what_waits() -> None:
    async def impatient() -> str:
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 0.001)
        except TimeoutError:
            await asyncio.sleep(0)
        return "went on"

    async def run() -> list[Any]:
        return (await PromptService().wait_first(impatient(), asyncio.Event().wait())).results

    assert asyncio.run(run()) == ["went on"]


def test_what_is_no_coroutine_is_waited_for_as_the_engine_does() -> None:
    async def run() -> list[Any]:
        event = asyncio.Event()
        event.set()
        return (await PromptService().wait_first(event)).results

    assert asyncio.run(run()) == [True]
