"""The report of `plan`: as text and as JSON."""

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from stream_lsh.cli.output.terminal import Screen
from stream_lsh.config.model import Config
from stream_lsh.settings.units import count_text, size_text
from stream_lsh.sizing.load import Load
from stream_lsh.sizing.plan import SHARE, Plan, workers_needed

_WIDEST = 100
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def as_json(plan: Plan) -> str:
    """One line."""
    return json.dumps({**asdict(plan), "cores": plan.cores})


def as_text(plan: Plan, config: Config, load: Load, screen: Screen) -> Iterator[str]:
    """Tables of the deployment, the steps and the topics; then the notes."""
    ceiling, recovery = plan.ceiling, plan.recovery
    yield (
        f"{plan.pipeline}: {count_text(load.rate)} documents a second, at the peak {count_text(plan.peak)}; "
        f"{count_text(plan.documents)} documents kept"
    )
    yield ""
    settles = f"{size_text(plan.memory)}; {size_text(plan.other_memory)} without the ledger"
    starts = f"{_duration(recovery.from_disk)} from disk, {_duration(recovery.from_changelogs)} from the changelogs"
    busy = f"{plan.workers} of {SHARE:.0%} of a core each at the peak"
    few = f"{plan.workers}, one for each partition, but the peak needs {workers_needed(plan.needed)}"
    rows = [
        ("workers", busy if plan.needed == plan.workers else few),
        ("partitions", str(plan.partitions)),
        ("memory of a worker", size_text(plan.memory) if plan.workers == 1 else settles),
        ("disk of a worker", size_text(plan.disk) if plan.disk else "none (data_dir is empty)"),
        ("disk of all brokers", f"{size_text(sum(topic.disk for topic in plan.topics.values()))}, {_copies(config)}"),
        ("written to brokers", f"{size_text(sum(topic.written for topic in plan.topics.values()))}/s with copies"),
        ("read by workers", f"{size_text(sum(topic.read for topic in plan.topics.values()))}/s"),
        ("start", starts),
    ]
    if ceiling.documents:
        pairs, documents = count_text(ceiling.pairs), count_text(ceiling.documents)
        over = f"the peak needs {ceiling.used:,.1f} times that"
        used = f"{ceiling.used:.0%} used at the peak" if ceiling.used <= 1 else over
        rows.append(
            ("ceiling of settle", f"{pairs} pairs a second, {documents} documents a second of this stream: {used}")
        )
    yield from _table(rows)
    yield ""
    steps = [("step", "cores at the peak", ""), *_steps(plan)]
    yield from _table(steps, numbers=(1,))
    yield ""
    head = ("topic", "messages/s", "bytes/s", "with copies/s", "disk")
    topics = [
        (name, count_text(topic.messages), size_text(topic.bytes), size_text(topic.written), size_text(topic.disk))
        for name, topic in plan.topics.items()
    ]
    yield from _table([head, *topics], numbers=(1, 2, 3, 4))
    width = min(screen.width, _WIDEST)
    for note in plan.notes:
        yield ""
        yield from textwrap.wrap(f"{note[0].upper()}{note[1:]}.", width, break_on_hyphens=False)


def _steps(plan: Plan) -> Iterator[tuple[str, str, str]]:
    for step, spent in plan.cpu.items():
        yield step, f"{spent:,.3f}", "<- bottleneck" if step == plan.bottleneck else ""
    yield "together", f"{plan.cores:,.3f}", ""


def _copies(config: Config) -> str:
    copies = config.kafka.replication
    return f"with {copies} copies of each topic" if copies > 1 else "one copy of each topic"


def _table(rows: Sequence[tuple[str, ...]], numbers: Sequence[int] = ()) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            f"{cell:>{width}}" if column in numbers else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _duration(seconds: float) -> str:
    """A time in the greatest unit that it has two of.

    Example:
        >>> [_duration(seconds) for seconds in (90, 600, 7_200, 532_380)]
        ['90 s', '10 min', '2 h', '6 days']
    """
    for unit, name in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:.0f} s"
