"""The Prometheus metrics of a worker: counts since the start, the size of its state, its lag and its latency."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from faust.types import TP
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from stream_lsh.arrays import F64, I64
from stream_lsh.pipeline.recall_monitor import BINS
from stream_lsh.pipeline.sign import SignCounts
from stream_lsh.worker.maintenance import Maintenance
from stream_lsh.worker.state.counts import LATENCY_BOUNDS_S
from stream_lsh.worker.state.pipeline_state import PipelineState

_Values = list[tuple[tuple[str, ...], float]]
"""The labels of each sample: the pipeline, and any further label of the metric."""

_PREFIX = "stream_lsh_"
_MOST_ENDS = 1_000
"""Beyond this number of ends of a partition, every second one is forgotten."""
_BECAME = tuple(name for name in SignCounts.__slots__ if name != "expired")


class LagTimes:
    """The lag of partitions in seconds: the time since their ends passed the first message that is not acknowledged.

    It is computed from the ends at each request for metrics, because timestamps of a source may be times of events.  So
    it is too low by at most the time between two requests, or since the start of the worker.

    Args:
        clock: monotonic seconds.

    Example:
        >>> now, source = iter([100.0, 115.0, 130.0]), TP("articles", 0)
        >>> lags = LagTimes(lambda: next(now))
        >>> [lags.lags({source: end}, {source: read})[source] for end, read in ((7, 5), (9, 6), (9, 7))]
        [0.0, 15.0, 15.0]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[TP, list[tuple[float, int]]] = {}

    def lags(self, ends: Mapping[TP, int], acknowledged: Mapping[TP, int]) -> dict[TP, float]:
        """The lag of each partition, from its present end and the offset after its last acknowledged message."""
        now = self._clock()
        waiting = {tp: self._waiting(tp, now, end, acknowledged[tp]) for tp, end in ends.items()}
        self._ends |= waiting
        return {tp: now - first[0][0] if first else 0.0 for tp, first in waiting.items()}

    def _waiting(self, tp: TP, now: float, end: int, acknowledged: int) -> list[tuple[float, int]]:
        """The times and ends at which messages that still wait were first seen."""
        waiting = [(at, seen) for at, seen in self._ends.get(tp, ()) if seen > acknowledged]
        if end > max(acknowledged, waiting[-1][1] if waiting else 0):
            waiting.append((now, end))
        return waiting if len(waiting) <= _MOST_ENDS else [*waiting[:-1:2], waiting[-1]]


class WorkerCollector:
    """The metrics of one worker, as a collector of prometheus_client.

    Args:
        app: the engine.
        pipelines: all pipelines of the app, by name.
        maintenance: measures the bytes under way.
        ends: of the partitions that this worker reads, as far as the broker has reported them.
        lag_times: of the worker; each `collect` adds the ends.

    Cost: some microseconds for each partition; no state is iterated.
    """

    def __init__(
        self,
        app: Any,
        pipelines: Mapping[str, PipelineState],
        maintenance: Maintenance,
        ends: Mapping[TP, int],
        lag_times: LagTimes,
    ) -> None:
        self._app, self._pipelines, self._maintenance, self._ends = app, pipelines, maintenance, ends
        self._lag_times = lag_times

    def collect(self) -> Iterator[Metric]:
        """All metrics, with their current values."""
        yield from self._of_the_worker()
        yield from self._lags()
        yield self._failed_trims()
        yield self._latencies()
        for name, help_text, labels, values in (*self._passed(), *self._held(), *self._recall()):
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            metric = kind(_PREFIX + name, help_text, labels=("pipeline", *labels))
            for of, value in values:
                metric.add_metric(of, value)
            yield metric

    def _of_the_worker(self) -> Iterator[Metric]:
        app, ready = self._app, self._maintenance.is_ready
        yield GaugeMetricFamily(_PREFIX + "ready", "1 if the worker is in its group and has its state.", int(ready))
        recovery = app.tables.recovery
        left = recovery.active_remaining_total() if app.in_recovery else 0
        yield GaugeMetricFamily(
            _PREFIX + "recovery_records", "Records of changelogs that a recovery still has to read.", left
        )
        under_way = self._maintenance.bytes_under_way() if ready else 0
        yield GaugeMetricFamily(
            _PREFIX + "under_way_bytes", "Bytes between the steps that this worker has to read.", under_way
        )
        elsewhere = self._maintenance.bytes_before_settle() if ready else 0
        yield GaugeMetricFamily(_PREFIX + "settle_lag_bytes", "Bytes that wait for settle on other workers.", elsewhere)
        waits = int(self._maintenance.sources_wait)
        yield GaugeMetricFamily(
            _PREFIX + "sources_wait", "1 while sources are closed because too many bytes are under way.", waits
        )

    def _failed_trims(self) -> Metric:
        failed = CounterMetricFamily(
            _PREFIX + "failed_trims_total", "Requests to delete obsolete records that failed.", labels=("topic",)
        )
        for topic, count in sorted(self._maintenance.failed_trims.items()):
            failed.add_metric((topic,), count)
        return failed

    def _lags(self) -> Iterator[Metric]:
        labels = ("topic", "partition")
        messages = GaugeMetricFamily(_PREFIX + "lag_messages", "Messages that are not acknowledged yet.", labels=labels)
        seconds = GaugeMetricFamily(
            _PREFIX + "lag_seconds", "Time for which the first of these messages has waited.", labels=labels
        )
        acknowledged = {tp: self._app.committed_offset(tp) or 0 for tp in self._ends}
        for tp, lag in sorted(self._lag_times.lags(self._ends, acknowledged).items()):
            messages.add_metric((tp.topic, str(tp.partition)), max(0, self._ends[tp] - acknowledged[tp]))
            seconds.add_metric((tp.topic, str(tp.partition)), lag)
        yield messages
        yield seconds

    def _latencies(self) -> Metric:
        metric = HistogramMetricFamily(
            _PREFIX + "step_latency_seconds",
            "Time from the timestamp of a message to the end of the step, of the oldest message of each batch.",
            labels=("pipeline", "step"),
        )
        bounds = [*map(str, LATENCY_BOUNDS_S), "+Inf"]
        for name, state in self._pipelines.items():
            for step, latencies in state.counts.latencies.items():
                bins = zip(bounds, latencies.cumulative(), strict=True)
                metric.add_metric((name, step), [*bins], latencies.total_s)
        return metric

    def _passed(self) -> Iterator[tuple[str, str, tuple[str, ...], _Values]]:
        counts = {name: state.counts for name, state in self._pipelines.items()}
        for name, help_text in (
            ("documents", "Valid documents that were read."),
            ("candidates", "Pairs that gather received: candidates of the index, and rechecks."),
            ("matches", "Pairs that were published as matches, repeated ones included."),
        ):
            yield f"{name}_total", help_text, (), [((of,), getattr(one, name)) for of, one in counts.items()]
        became: _Values = [((of, name), getattr(one.signed, name)) for of, one in counts.items() for name in _BECAME]
        yield "versions_total", "Documents by their effect on stored versions.", ("became",), became
        letters: _Values = [
            ((of, reason), count) for of, one in counts.items() for reason, count in one.dead_letters.items()
        ]
        yield "dead_letters_total", "Messages that were rejected.", ("reason",), letters
        late: _Values = [((of,), one.signed.expired) for of, one in counts.items()]
        yield "too_late_total", "Documents that had expired on arrival, and match nothing.", (), late
        cut: _Values = [((of, what), getattr(one, f"capped_{what}")) for of, one in counts.items() for what in _CAPPED]
        yield "left_out_total", "Buckets and candidates that a cap left out.", ("what",), cut
        blocks: _Values = [
            ((of, name), count) for of, one in counts.items() for name, count in one.capped_by_block.items() if name
        ]
        yield (
            "left_out_by_rule_total",
            "Buckets that a probe followed only up to the cap, by blocking rule.",
            ("rule",),
            blocks,
        )
        hot: _Values = [
            ((of,), sum(count for _, count in one.capped_by_bucket.largest(1))) for of, one in counts.items()
        ]
        help_text = "Probes that followed the bucket with the most such probes only up to the cap."
        yield "hot_bucket_left_out_total", help_text, (), hot

    def _held(self) -> Iterator[tuple[str, str, tuple[str, ...], _Values]]:
        held: dict[str, dict[str, int]] = {}
        for name, state in self._pipelines.items():
            documents, buckets = state.documents.owned().values(), state.buckets.owned().values()
            ledgers = [partition_state.settler.ledger for partition_state in state.ledger.owned().values()]
            held[name] = {
                "held_documents": sum(len(partition.table) for partition in documents),
                "held_postings": sum(partition.recovery.size for partition in buckets),
                "held_members": sum(len(ledger.graph.nodes) for ledger in ledgers),
                "held_clusters": sum(len(ledger.ids.live) for ledger in ledgers),
            }
        for kind, help_text in _HELD.items():
            yield kind, help_text, (), [((of,), values[kind]) for of, values in held.items()]

    def _recall(self) -> Iterator[tuple[str, str, tuple[str, ...], _Values]]:
        seen = {
            name: state.counts.recall_monitor for name, state in self._pipelines.items() if state.has_recall_monitor
        }
        for kind, help_text in _RECALL.items():
            name = f"shadow_{kind}_total"
            yield name, help_text, (), [((of,), getattr(recall_counts, kind)) for of, recall_counts in seen.items()]
        pairs: _Values = [
            ((of, label, bound), count)
            for of, recall_counts in seen.items()
            for label, counts in (
                ("true", recall_counts.found),
                ("capped", recall_counts.capped),
                ("false", recall_counts.missed),
            )
            for bound, count in _by_similarity(counts)
        ]
        help_text = (
            "Matching pairs of the shadow, by whether bands and caps let them be found; identical pairs excluded."
        )
        yield "shadow_pairs_total", help_text, ("found", "similarity"), pairs
        promised: _Values = [
            ((of, bound), count)
            for of, recall_counts in seen.items()
            for bound, count in _by_similarity(recall_counts.promised)
        ]
        yield (
            "shadow_promised_total",
            "The expected number of these pairs that the bands find.",
            ("similarity",),
            promised,
        )
        recalls = [(of, recall) for of, recall_counts in seen.items() if (recall := recall_counts.recall()) is not None]
        yield (
            "shadow_recall",
            "The share of all matches that is found, including pairs that were not compared.",
            (),
            [((of,), r.share) for of, r in recalls],
        )
        for end in ("low", "high"):
            help_text = "A bound of the 99 % interval of that share."
            yield f"shadow_recall_{end}", help_text, (), [((of,), getattr(recall, end)) for of, recall in recalls]
        expected: _Values = [
            ((of,), share) for of, recall_counts in seen.items() if (share := recall_counts.expected()) is not None
        ]
        yield "shadow_recall_promised", "The recall that the bands should have for these similarities.", (), expected


def _by_similarity(counts: I64 | F64) -> Iterator[tuple[str, float]]:
    """The nonzero counts, by the least similarity of their bin."""
    return ((f"{row / BINS:.2f}", counts[row].item()) for row in np.flatnonzero(counts).tolist())


_RECALL = {
    "documents": "Documents that were compared with all recent ones.",
    "identical": "Pairs of equal documents in the shadow: found without the bands.",
    "left_out": "Similar documents that were not compared exactly, because one had too many.",
}
_CAPPED = ("postings", "candidates")
_HELD = {
    "held_documents": "Live documents in the partitions of this worker.",
    "held_postings": "Postings of the band-bucket table in the partitions of this worker.",
    "held_members": "Documents in clusters; reported by the worker that settles.",
    "held_clusters": "Live clusters; reported by the worker that settles.",
}
