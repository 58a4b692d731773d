"""The barriers of the worker's driver: no record passes a barrier, no offset is acknowledged before it is stored."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from faust.types import TP

from stream_lsh.config import parse
from stream_lsh.errors import DoubtError, UnusableDocument
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.pipeline.agents.effects import (
    BARRIER,
    FLUSH,
    TURN,
    Acknowledge,
    Append,
    Copy,
    DeadLetter,
    Effect,
    Publish,
    Save,
    Send,
    Trim,
)
from stream_lsh.pipeline.batches import BandsFrame, Candidates, CandidatesFrame, EdgesFrame, Mark, Watermarks
from stream_lsh.retention import Horizon
from stream_lsh.wire.frames import decode_candidates
from stream_lsh.worker.agents.driver import Driver, Received
from stream_lsh.worker.engine import Batch, OrderedAcker
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.evaluation.edges import edges_of

NO_FRAME = BandsFrame(horizon=Horizon(5))
MARKS = Watermarks(0, (Mark(0, 5, False, 0),))


class Worker:
    """A driver over an app whose records are stored on request of the test.

    Attributes:
        log: what has happened, in order: topics of records that were sent, and what the agents and the acker did.
        under_way: the records that are not stored yet.
        values: of all records of `candidates`.
        room: whether the client takes records.
    """

    def __init__(self, partitions: int = 1) -> None:
        text = '[[pipeline]]\nname = "p"\nsource = "s"\n'
        self.state = PipelineState(parse(text, "test.toml", {}).pipelines[0], partitions)
        self.state.buckets.own(0)
        self.log = list[str]()
        self.under_way = list[tuple[str, asyncio.Future[Any]]]()
        self.values = list[bytes]()
        self.room = asyncio.Event()
        self.room.set()
        self.offsets = 0
        self.stopped: BaseException | None = None
        self._futures = list[asyncio.Task[None]]()
        self.app = cast(
            Any,
            SimpleNamespace(
                produce=self._produce,
                produce_all=self._produce_all,
                add_future=lambda running: self._futures.append(asyncio.ensure_future(running)),
                pass_over=lambda event: self.log.append("passed over"),
                consumer_generation_id=1,
            ),
        )
        tables: Any = {"buckets": SimpleNamespace(append=self._append)}
        self.driver = Driver(self.app, self.state, tables)
        self.acker = OrderedAcker(self.app)

    async def _produce(self, topic: str, key: Any, value: Any, partition: int = 0, *, headers: Any = None) -> Any:
        step = topic.rpartition("-")[2]
        await self.room.wait()
        self.log.append(step)
        self.values += [value] if step == "candidates" else []
        self.under_way.append((step, asyncio.get_running_loop().create_future()))
        return self.under_way[-1][1]

    async def _produce_all(self, topic: str, records: Any) -> list[Any]:
        return [await self._produce(topic, None, b"")] if records else []

    async def _append(self, app: Any, partition: int, value: bytes, taken: Any) -> Any:
        delivery = await self._produce("changelog", None, value)
        delivery.add_done_callback(self.state.buckets.appended(partition, taken))
        return delivery

    def batch(self) -> Batch:
        message = SimpleNamespace(tp=TP("bands", 0), generation_id=1, topic="bands", offset=0)
        record = SimpleNamespace(topic="bands", partition=0, offset=0, timestamp=0, key=None, value=b"x")
        event = SimpleNamespace(message=message, value=[record], ack=lambda: self.log.append("acknowledged"))
        return Batch(event)

    def store(self, at: int) -> None:
        """One of the records is stored."""
        name, delivery = self.under_way.pop(at)
        delivery.set_result(SimpleNamespace(offset=self.offsets))
        self.offsets += 1
        self.log.append(f"{name} stored")

    def start(
        self, effects: Iterator[Effect], acker: OrderedAcker | None = None, is_owned: Any = lambda: True
    ) -> asyncio.Task[bool]:
        return asyncio.ensure_future(self.driver.run(effects, self.batch(), acker or self.acker, is_owned))

    async def rest(self, running: asyncio.Task[bool], order: random.Random) -> bool:
        """Let everything be stored, in some order, until the agent has ended and nothing is under way."""
        await turns()
        while self.under_way:
            self.store(order.randrange(len(self.under_way)))
            await turns()
        return await running

    def end(self) -> None:
        for running in self._futures:
            running.cancel()


async def turns() -> None:
    for _ in range(12):
        await asyncio.sleep(0)


def candidates(count: int) -> Send:
    refs = np.arange(count, dtype=np.uint64)
    return Send("candidates", CandidatesFrame(candidates=Candidates(refs, refs, np.zeros(count, np.uint8))))


def noted(worker: Worker, effects: Sequence[Effect]) -> Iterator[Effect]:
    """The effects; whenever the agent continues behind a barrier or a flush, that is noted."""
    for effect in effects:
        yield effect
        if effect in (BARRIER, FLUSH):
            worker.log.append("continues")


@pytest.mark.parametrize("seed", range(20))
def test_nothing_goes_past_a_barrier_and_nothing_is_acknowledged_before_it_is_stored(seed: int) -> None:
    async def run() -> list[str]:
        worker, order = Worker(), random.Random(seed)
        effects: list[Effect] = [
            Append("buckets", 0, NO_FRAME),
            candidates(2),
            BARRIER,
            TURN,
            candidates(3),
            Acknowledge(1),
        ]
        assert await worker.rest(worker.start(noted(worker, effects)), order)
        await turns()
        worker.end()
        return worker.log

    log = asyncio.run(run())
    assert sorted(log[:2]) == ["candidates", "changelog"]
    assert sorted(log[2:4]) == ["candidates stored", "changelog stored"]
    assert log[4:] == ["continues", "candidates", "candidates stored", "acknowledged"]


def test_a_flush_waits_for_the_pairs_of_another_agent_and_for_no_other_output() -> None:
    async def run() -> list[str]:
        worker = Worker()
        await worker.start(iter([candidates(2), Acknowledge(1)]))
        await turns()
        await worker.start(iter([Send("candidates", CandidatesFrame(watermarks=MARKS)), Acknowledge(2)]))
        waits = worker.start(
            noted(worker, [Append("buckets", 0, NO_FRAME), FLUSH, Acknowledge(3)]), OrderedAcker(worker.app)
        )
        await turns()
        assert worker.log == ["candidates", "candidates", "changelog"]
        worker.store(0)
        await turns()
        log = [*worker.log[3:]]
        await worker.rest(waits, random.Random(1))
        worker.end()
        return log

    assert asyncio.run(run()) == ["candidates stored", "acknowledged", "continues"]


def test_pairs_that_are_not_stored_end_the_next_agent_after_theirs_was_given_up() -> None:
    async def run() -> list[str]:
        worker = Worker()
        given_up = worker.start(iter([candidates(2), BARRIER, Acknowledge(1)]), is_owned=lambda: False)
        await turns()
        assert not await given_up
        worker.under_way.pop()[1].set_exception(DoubtError("not stored"))
        await turns()
        with pytest.raises(DoubtError):
            await worker.start(iter([FLUSH]))
        worker.end()
        return worker.log

    assert asyncio.run(run()) == ["passed over", "candidates"]


@pytest.mark.parametrize("effect", [Append("buckets", 0, NO_FRAME), candidates(2), Send("edges", NO_FRAME)])
def test_every_output_is_waited_for_before_the_acknowledgement(effect: Effect) -> None:
    async def run() -> None:
        worker = Worker()
        running = worker.start(iter([effect, Acknowledge(1)]))
        await turns()
        assert worker.under_way
        assert "acknowledged" not in worker.log
        await worker.rest(running, random.Random(1))
        await turns()
        assert worker.log[-1] == "acknowledged"
        worker.end()

    asyncio.run(run())


def test_published_changes_are_stored_before_an_agent_continues_behind_a_barrier() -> None:
    async def run() -> list[str]:
        worker = Worker()
        worker.state.ledger.own(0)
        edge = Edge(End("a", 1, 5, 0), End("b", 2, 6, 0), 0.9, 9, 10)
        settlement = worker.state.ledger[0].settler.settle(EdgesFrame(edges=edges_of([edge])), 0)
        assert settlement is not None
        running = worker.start(noted(worker, [Publish(settlement), BARRIER, Acknowledge(1)]))
        await turns()
        assert sorted(worker.log) == ["clusters", "matches", "members"]
        await worker.rest(running, random.Random(1))
        await turns()
        worker.end()
        return worker.log[3:]

    *stored, behind, last = asyncio.run(run())
    assert sorted(stored) == ["clusters stored", "matches stored", "members stored"]
    assert (behind, last) == ("continues", "acknowledged")


def test_dead_letters_and_copies_are_waited_for_too() -> None:
    record = SimpleNamespace(topic="s", partition=0, offset=7, timestamp=5, key=b"a", value=b"{}")
    letter = DeadLetter(Received(record), UnusableDocument("text", "got nothing"))
    copy = Copy([Received(record)], [b"a"], 3, 1_000)

    async def run(effect: Effect, topic: str) -> None:
        worker = Worker()
        running = worker.start(iter([effect, Acknowledge(1)]))
        await turns()
        assert worker.log == [topic]
        await worker.rest(running, random.Random(1))
        await turns()
        assert worker.log == [topic, f"{topic} stored", "acknowledged"]
        worker.end()

    asyncio.run(run(letter, "letters"))
    asyncio.run(run(copy, "s"))


def test_an_output_that_is_not_stored_ends_an_agent_at_its_barrier() -> None:
    async def run() -> list[str]:
        worker = Worker()
        running = worker.start(noted(worker, [candidates(2), BARRIER, candidates(3), Acknowledge(1)]))
        await turns()
        worker.under_way.pop()[1].set_exception(DoubtError("not stored"))
        with pytest.raises(DoubtError):
            await running
        worker.end()
        return worker.log

    assert asyncio.run(run()) == ["candidates"]


def test_marks_go_to_every_partition() -> None:
    async def run() -> list[str]:
        worker = Worker(partitions=3)
        send = Send("candidates", CandidatesFrame(watermarks=MARKS))
        await worker.rest(worker.start(iter([send, Acknowledge(1)])), random.Random(1))
        worker.end()
        return worker.log

    assert asyncio.run(run())[:3] == ["candidates"] * 3


def test_a_partition_that_goes_away_is_passed_over_and_its_agent_continues_no_further() -> None:
    async def run() -> list[str]:
        worker, held = Worker(), [True]
        effects = noted(worker, [candidates(2), BARRIER, candidates(3), Acknowledge(1)])
        running = worker.start(effects, is_owned=lambda: held[0])
        await turns()
        held[0] = False
        assert not await worker.rest(running, random.Random(1))
        worker.end()
        return worker.log

    assert asyncio.run(run()) == ["candidates", "candidates stored", "passed over"]


def test_an_acknowledged_batch_of_a_partition_that_goes_away_is_not_passed_over() -> None:
    async def run() -> list[str]:
        worker, held = Worker(), iter([True, False])
        running = worker.start(iter([candidates(2), Acknowledge(1), candidates(3)]), is_owned=lambda: next(held))
        assert not await worker.rest(running, random.Random(1))
        await turns()
        worker.end()
        return worker.log

    assert asyncio.run(run()) == ["candidates", "candidates stored", "acknowledged"]


class Pass:
    """A pass of this number of records."""

    def __init__(self, records: int) -> None:
        self._left = records

    def sent(self, records: int, size: int) -> None:
        assert (records, size > 0) == (1, True)

    def delivered(self, offset: int) -> None:
        self._left -= 1

    def until(self) -> int | None:
        return None if self._left else 17


def trims(worker: Worker) -> list[int]:
    """The offsets up to which the changelog of buckets becomes obsolete, as they are noted."""
    noted = list[int]()
    worker.state.buckets.rewritten = lambda partition, offset: noted.append(offset)  # type: ignore[method-assign]
    return noted


def test_a_changelog_is_trimmed_when_the_last_record_of_a_pass_is_stored() -> None:
    async def run(seed: int) -> None:
        worker, rewriter = Worker(), Pass(2)
        noted, copy = trims(worker), Append("buckets", 0, NO_FRAME, rewriter)
        running = worker.start(iter([copy, copy, Trim("buckets", 0, rewriter.until), Acknowledge(1)]))
        await turns()
        assert noted == []
        worker.store(seed % 2)
        await turns()
        assert noted == []
        await worker.rest(running, random.Random(seed))
        await turns()
        assert noted[0] == 17
        worker.end()

    for seed in range(2):
        asyncio.run(run(seed))


def test_a_pass_that_ends_after_its_state_was_dropped_trims_nothing() -> None:
    async def run() -> list[int]:
        worker, rewriter = Worker(), Pass(1)
        noted, copy = trims(worker), Append("buckets", 0, NO_FRAME, rewriter)
        running = worker.start(iter([copy, Trim("buckets", 0, rewriter.until), Acknowledge(1)]))
        await turns()
        worker.state.buckets.drop(0)
        worker.state.buckets.own(0)
        await worker.rest(running, random.Random(1))
        await turns()
        worker.end()
        assert rewriter.until() == 17
        return noted

    assert asyncio.run(run()) == []


def test_a_table_is_saved_behind_the_acknowledgement() -> None:
    async def run() -> list[str]:
        worker = Worker()

        async def save(partition: int, buckets: Any) -> None:
            worker.log.append("saved")

        worker.state.save_buckets = save  # type: ignore[method-assign]
        effects: list[Effect] = [Append("buckets", 0, NO_FRAME), Acknowledge(1), Save("buckets", 0)]
        await worker.rest(worker.start(iter(effects)), random.Random(1))
        await turns()
        worker.end()
        return worker.log

    assert asyncio.run(run()) == ["changelog", "changelog stored", "acknowledged", "saved"]


def sent_refs(worker: Worker) -> list[list[int]]:
    """The new refs of each message of `candidates`, in order."""
    frames = [decode_candidates(value, worker.state.fingerprint) for value in worker.values]
    return [[] if frame.candidates is None else frame.candidates.new.tolist() for frame in frames]


def test_frames_of_one_turn_are_one_message_and_each_agent_waits_for_it() -> None:
    async def run() -> tuple[list[list[int]], list[str]]:
        worker = Worker()
        running = [worker.start(iter([candidates(count), Acknowledge(1)])) for count in (2, 3)]
        await turns()
        assert [await each for each in running] == [True, True]
        first = worker.log[:]
        worker.store(0)
        await turns()
        later = worker.start(iter([candidates(1), Acknowledge(1)]))
        await worker.rest(later, random.Random(1))
        await turns()
        worker.end()
        assert first == ["candidates"]
        return sent_refs(worker), worker.log

    assert asyncio.run(run()) == (
        [[0, 1, 0, 1, 2], [0]],
        ["candidates", "candidates stored", *["acknowledged"] * 2, "candidates", "candidates stored", "acknowledged"],
    )


def test_frames_keep_their_order_while_the_client_is_full() -> None:
    async def run() -> list[list[int]]:
        worker = Worker()
        worker.room.clear()
        running = [worker.start(iter([candidates(count), Acknowledge(1)])) for count in (1, 2)]
        await turns()
        running += [worker.start(iter([candidates(count), Acknowledge(1)])) for count in (3, 4)]
        await turns()
        assert [each.done() for each in running] == [True, True, False, False]  # no frame is held beside a full client
        worker.room.set()
        for each in running:
            await worker.rest(each, random.Random(1))
        worker.end()
        return sent_refs(worker)

    assert asyncio.run(run()) == [[0, 0, 1], [0, 1, 2, 0, 1, 2, 3]]


def test_a_cancelled_agent_leaves_the_frames_of_the_others() -> None:
    async def run() -> list[str]:
        worker = Worker()
        stopped, other = [worker.start(iter([candidates(2), BARRIER, Acknowledge(1)])) for _ in range(2)]
        await turns()
        stopped.cancel()
        await worker.rest(other, random.Random(1))
        await turns()
        worker.end()
        return worker.log

    assert asyncio.run(run()) == ["candidates", "candidates stored", "acknowledged"]


def test_an_agent_that_is_cancelled_in_a_flush_leaves_the_pairs_of_the_others() -> None:
    async def run() -> list[str]:
        worker = Worker()
        other = worker.start(iter([candidates(2), BARRIER, Acknowledge(1)]))
        await turns()
        stopped = worker.start(iter([FLUSH, Acknowledge(2)]))
        await turns()
        stopped.cancel()
        await worker.rest(other, random.Random(1))
        worker.end()
        return worker.log

    assert asyncio.run(run()) == ["candidates", "candidates stored", "acknowledged"]
