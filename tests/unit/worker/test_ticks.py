"""The messages of sign at each tick: event time always, pages of sites at every tenth, and of a generation at once."""

import asyncio
from types import SimpleNamespace
from typing import Any

from faust.types import TP

from stream_lsh.config import parse
from stream_lsh.ledger.sites.page_counts import PageCounts
from stream_lsh.model import About, Document
from stream_lsh.pipeline.sign import Arrivals
from stream_lsh.wire.frames import decode_bands, decode_edges
from stream_lsh.worker.agents.reports import PAGES_TICKS, ticking
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.unit.pipeline.signing import sign

TEXT = '[[pipeline]]\nname = "p"\nsource = "s"\nstories = true\nmirror_share = 0.1\n'
CONFIG = parse(TEXT, "test.toml", {}).pipelines[0]


class Ticking:
    """A worker with some of the partitions, of which only its ticks are there."""

    def __init__(self, *partitions: int) -> None:
        self.state = PipelineState(CONFIG, 2)
        self.sent = list[tuple[str, bytes]]()
        assigned = {TP(CONFIG.documents_topic, partition) for partition in partitions}
        self.app = SimpleNamespace(
            rebalancing=False,
            in_recovery=False,
            generation=1,
            consumer=SimpleNamespace(assignment=lambda: assigned, at_end=lambda source, position: False),
            committed_offset=lambda source: None,
            produce=self._produce,
        )
        for partition in partitions:
            self.state.documents.own(partition)
        self._offset = 0
        self._tick: Any = ticking(self.app, self.state)

    async def _produce(self, topic: str, key: None, value: bytes, partition: int) -> Any:
        self.sent.append((topic, value))
        return asyncio.sleep(0)

    def page(self, partition: int, site: str) -> None:
        """One more page."""
        table, self._offset = self.state.documents[partition].table, self._offset + 1
        page = Document(f"{site}{self._offset}", "x", 5, About("", site, 1))
        sign(Arrivals(partition, [self._offset], [page]), table, self.state.scheme, table.horizon)

    def tick(self) -> list[PageCounts]:
        """The messages of one tick about pages."""
        self.sent.clear()
        asyncio.run(self._tick())
        edges = CONFIG.internal_topic("edges")
        frames = [decode_edges(value, self.state.fingerprint) for topic, value in self.sent if topic == edges]
        return [frame.pages for frame in frames if frame.pages is not None]


def test_changes_of_pages_are_sent_at_every_tenth_tick() -> None:
    worker, sent = Ticking(0), dict[int, list[int]]()
    worker.page(0, "a")
    for number in range(1, 3 * PAGES_TICKS + 1):
        pages = worker.tick()
        if pages:
            assert [one.sites for one in pages] == [["a"]]
            sent[number] = [int(count) for one in pages for count in one.counts]
        assert len(worker.sent) - len(pages) == 2, "event time is sent to both partitions at every tick"
        worker.page(0, "a")
    assert sent == {1: [1], 10: [10], 20: [20], 30: [30]}


def test_all_partitions_of_a_worker_are_in_one_message() -> None:
    """Idle is a source that was at its end at two marks of one generation."""
    worker, reported = Ticking(0, 1), list[list[tuple[int, int, bool]]]()
    worker.app.consumer.at_end = lambda source, position: True
    for generation in (1, 1, 1, 2, 2):
        worker.app.generation = generation
        worker.tick()
        values = [value for topic, value in worker.sent if topic == CONFIG.internal_topic("bands")]
        assert len(values) == 2, "one for each partition of `bands`"
        frames = [decode_bands(value, worker.state.fingerprint) for value in values]
        assert frames[0].watermarks == frames[1].watermarks
        assert frames[0].watermarks is not None
        reported.append([(mark.source, mark.generation, mark.idle) for mark in frames[0].watermarks.marks])
    idle = (1, False), (1, True), (1, True), (2, False), (2, True)
    assert reported == [[(0, *of), (1, *of)] for of in idle]


def test_a_statement_waits_for_no_tick() -> None:
    worker = Ticking(0, 1)
    assert [(one.partition, one.begins) for one in worker.tick()] == [(0, True), (1, True)]
    worker.tick()
    worker.page(1, "a")
    worker.app.generation = 2
    worker.app.rebalancing = True
    assert worker.tick() == []
    worker.app.rebalancing = False
    assert [(one.partition, [*one.sites], one.ends) for one in worker.tick()] == [(0, [], True), (1, ["a"], True)]
    assert worker.tick() == []
