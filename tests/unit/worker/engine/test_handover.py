"""A handover takes no task where the queue has room, and waits as the engine does where it has none."""

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
    """How often other tasks ran while an item was handed over, and the results."""
    place, turns = Place(), 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(others())
    await asyncio.sleep(0)
    before = turns
    done = await service.wait_first(place.take(1), place.suspended.wait())
    took = turns - before
    beside.cancel()
    assert place.queue.get_nowait() == 1
    return took, done.results


def test_an_item_that_fits_is_handed_over_in_one_turn_by_ours_only() -> None:
    assert asyncio.run(turns_of(PromptService())) == (0, ["took 1"])
    took, results = asyncio.run(turns_of(Service()))
    assert took >= 2
    assert results == ["took 1"]


@pytest.mark.parametrize("kind", [Service, PromptService])
def test_a_handover_waits_for_room(kind: type[Service]) -> None:
    async def run() -> tuple[bool, list[Any], list[int]]:
        place, service = Place(), kind()
        await place.take(1)
        handing = asyncio.ensure_future(service.wait_first(place.take(2), place.suspended.wait()))
        await asyncio.sleep(0.01)
        waited = not handing.done()
        got = [await place.queue.get()]
        done = await handing
        return waited, done.results, [*got, await place.queue.get()]

    assert asyncio.run(run()) == (True, ["took 2"], [1, 2])


@pytest.mark.parametrize("kind", [Service, PromptService])
def test_where_there_is_no_room_a_suspended_flow_ends_the_wait_and_nothing_is_handed_over(kind: type[Service]) -> None:
    async def run() -> tuple[list[Any], list[int]]:
        place, service = Place(), kind()
        await place.take(1)
        handing = asyncio.ensure_future(service.wait_first(place.take(2), place.suspended.wait()))
        await asyncio.sleep(0.01)
        place.suspended.set()
        done = await handing
        got = [await place.queue.get()]
        await asyncio.sleep(0.01)
        assert place.queue.empty()
        return done.results, got

    assert asyncio.run(run()) == ([True], [1])


@pytest.mark.parametrize("kind", [Service, PromptService])
@pytest.mark.parametrize("first_waits", [False, True])
def test_a_stopped_service_reports_it(kind: type[Service], first_waits: bool) -> None:
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


def test_an_event_is_awaited_as_by_the_engine() -> None:
    async def run() -> list[Any]:
        event = asyncio.Event()
        event.set()
        return (await PromptService().wait_first(event)).results

    assert asyncio.run(run()) == [True]
