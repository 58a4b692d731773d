"""The report of `plan`: as text and as JSON."""

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from stream_lsh.cli.output.terminal import Screen
from stream_lsh.config.model import Config
from stream_lsh.sizing.load import Load
from stream_lsh.sizing.plan import SHARE, Plan

_WIDEST = 100
_KB, _MB, _GB, _TB = 1e3, 1e6, 1e9, 1e12


def as_json(plan: Plan) -> str:
    """One line."""
    return json.dumps({**asdict(plan), "cores": plan.cores})


def as_text(plan: Plan, config: Config, load: Load, screen: Screen) -> Iterator[str]:
    """Tables of the deployment, the steps and the topics; then the notes."""
    ceiling, recovery = plan.ceiling, plan.recovery
    yield (
        f"{plan.pipeline}: {as_count(load.rate)} documents a second, at the peak {as_count(plan.peak)}; "
        f"{as_count(plan.documents)} documents kept"
    )
    yield ""
    settles = f"{as_bytes(plan.memory)}; {as_bytes(plan.other_memory)} without the ledger"
    starts = f"{_seconds(recovery.from_disk)} from disk, {_seconds(recovery.from_changelogs)} from the changelogs"
    rows = [
        ("workers", f"{plan.workers} of {SHARE:.0%} of a core each at the peak"),
        ("partitions", str(plan.partitions)),
        ("memory of a worker", as_bytes(plan.memory) if plan.workers == 1 else settles),
        ("disk of a worker", as_bytes(plan.disk) if plan.disk else "none (data_dir is empty)"),
        ("disk of all brokers", f"{as_bytes(sum(topic.disk for topic in plan.topics.values()))}, {_copies(config)}"),
        ("written to brokers", f"{as_bytes(sum(topic.written for topic in plan.topics.values()))}/s with copies"),
        ("read by workers", f"{as_bytes(sum(topic.read for topic in plan.topics.values()))}/s"),
        ("start", starts),
    ]
    if ceiling.documents:
        limit = (
            f"{as_count(ceiling.pairs)} pairs a second, {as_count(ceiling.documents)} documents a second of this stream"
        )
        rows.append(("ceiling of settle", f"{limit}: {ceiling.used:.0%} used at the peak"))
    yield from _table(rows)
    yield ""
    steps = [("step", "cores at the peak", ""), *_steps(plan)]
    yield from _table(steps, numbers=(1,))
    yield ""
    head = ("topic", "messages/s", "bytes/s", "with copies/s", "disk")
    topics = [
        (name, as_count(topic.messages), as_bytes(topic.bytes), as_bytes(topic.written), as_bytes(topic.disk))
        for name, topic in plan.topics.items()
    ]
    yield from _table([head, *topics], numbers=(1, 2, 3, 4))
    width = min(screen.width, _WIDEST)
    for note in plan.notes:
        yield ""
        yield from textwrap.wrap(f"{note[0].upper()}{note[1:]}.", width, break_on_hyphens=False)


def _steps(plan: Plan) -> Iterator[tuple[str, str, str]]:
    for step, spent in plan.cpu.items():
        yield step, f"{spent:.3f}", "<- bottleneck" if step == plan.bottleneck else ""
    yield "together", f"{plan.cores:.3f}", ""


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


def as_count(number: float) -> str:
    """A number with three digits, or whole.

    Example:
        >>> as_count(0.1234), as_count(1_234), as_count(2_345_678)
        ('0.123', '1,234', '2.35 million')
    """
    if number >= _MB:
        return f"{number / _MB:,.3g} million"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def as_bytes(size: float) -> str:
    """A size in decimal units.

    Example:
        >>> as_bytes(1_234), as_bytes(56_789_000)
        ('1.2 KB', '57 MB')
    """
    for unit, name in ((_TB, "TB"), (_GB, "GB"), (_MB, "MB"), (_KB, "KB")):
        if size >= unit:
            amount = size / unit
            return f"{amount:,.0f} {name}" if amount >= 10 else f"{amount:.1f} {name}"
    return f"{size:.0f} B"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
