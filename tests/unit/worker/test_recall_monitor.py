"""The recall monitor in a worker: which pipelines have one, when it starts again, and what it reports."""

import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stream_lsh.config import parse
from stream_lsh.model import Document
from stream_lsh.pipeline.recall_monitor import RecallCounts
from stream_lsh.worker.maintenance import _warn_of_low_recall
from stream_lsh.worker.monitoring.metrics import LagTimes, WorkerCollector
from stream_lsh.worker.state.pipeline_state import PipelineState
from tests.unit.pipeline.makers import signed


def state_of(keys: str = "") -> PipelineState:
    return PipelineState(parse(f'[[pipeline]]\nname = "p"\nsource = "s"\n{keys}', "test.toml", {}).pipelines[0], 2)


def see(counts: RecallCounts, found: int, missed: int) -> None:
    """Pairs at 0.9, each of another document; 0.99 of them should be found."""
    for number in range(found + missed):
        counts.add(np.array([0.9]), np.array([number < found]), np.array([0.99]))
        counts.documents += 1


def values(state: PipelineState) -> dict[tuple[str, ...], float]:
    """The metrics of the recall monitor, by name and labels."""
    app: Any = SimpleNamespace()
    collector: Any = WorkerCollector(app, {"p": state}, app, {}, LagTimes())
    metrics: Iterator[Any] = collector._recall()
    return {(name, *labels): value for name, _, _, found in metrics for labels, value in found}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("", True), ("shadow = 0.5", True), ("shadow = 0", False), ('kind = "record"\nprofile = "people"', False)],
)
def test_pipelines_whose_signatures_estimate_similarity_have_a_recall_monitor_unless_it_is_switched_off(
    keys: str, expected: bool
) -> None:
    state = state_of(keys)
    state.documents.own(1)
    assert (state.has_recall_monitor, state.documents[1].recall_monitor is not None) == (expected, expected)
    assert bool(values(state)) == expected


def test_a_partition_that_comes_again_starts_an_empty_sample_and_its_counts_stay() -> None:
    state = state_of("shadow = 0.999999999")
    state.documents.own(0)
    before = state.documents[0]
    record = signed(
        before.table, state.scheme, 0, [Document("a", "some text", 0), Document("b", "some text", 0)]
    ).record
    assert record is not None
    assert before.recall_monitor is not None
    before.recall_monitor.observe(record, before.table)
    assert (len(before.recall_monitor), state.counts.recall_monitor.identical) == (2, 1)
    state.documents.drop(0)
    state.documents.own(0)
    after = state.documents[0].recall_monitor
    assert after is not None
    assert (len(after), state.counts.recall_monitor.identical) == (0, 1)


def test_metrics_show_pairs_by_similarity_the_promised_recall_and_the_interval() -> None:
    state = state_of()
    assert values(state) == {
        ("shadow_documents_total", "p"): 0,
        ("shadow_identical_total", "p"): 0,
        ("shadow_left_out_total", "p"): 0,
    }
    see(state.counts.recall_monitor, 98, 2)
    metrics = values(state)
    assert metrics["shadow_documents_total", "p"] == 100
    assert metrics["shadow_pairs_total", "p", "true", "0.90"] == 98
    assert metrics["shadow_pairs_total", "p", "false", "0.90"] == 2
    assert metrics["shadow_promised_total", "p", "0.90"] == pytest.approx(99)
    assert metrics["shadow_recall", "p"] == 0.98
    assert metrics["shadow_recall_low", "p"] < 0.98 < metrics["shadow_recall_high", "p"]
    assert metrics["shadow_recall_promised", "p"] == pytest.approx(0.99)


def test_the_line_of_the_log_shows_the_recall_once_there_is_a_pair() -> None:
    state = state_of()
    assert "shadow" not in state.counts.line()
    see(state.counts.recall_monitor, 98, 2)
    assert state.counts.line().endswith("; shadow: recall 0.980 (0.911 to 0.999) of 100 pairs")


def test_bands_that_fall_short_are_reported_once_until_they_recover(caplog: pytest.LogCaptureFixture) -> None:
    state, short = state_of(), set[str]()
    caplog.set_level(logging.WARNING)
    _warn_of_low_recall(state, short)
    assert caplog.messages == []
    see(state.counts.recall_monitor, 900, 100)
    for _ in range(3):
        _warn_of_low_recall(state, short)
    (warning,) = caplog.messages
    assert warning.startswith("p: the bands find fewer matches than the configured recall, 0.99: see ")
    see(state.counts.recall_monitor, 20_000, 0)
    _warn_of_low_recall(state, short)
    assert short == set()
