"""A worker that reports its sizes: `python -m benchmarks.worker.observed --config FILE --samples FILE [--every S]`.

With `--limit-mb` its sources pause above that many MB under way; with `--ignore-lag` they do not pause for the lag of
settle on another worker.

It is the worker of `stream-lsh worker` with one task more, which appends a line of JSON to a file now and then.  What
happens once goes to another file, FILE.events: when it was loaded, when it was a member, and when recoveries began and
ended, in seconds of the clock `time.time`, with the processor time that it had taken by then.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from faust.tables.recovery import Recovery

from stream_lsh.config import Config, load
from stream_lsh.worker import maintenance, process
from stream_lsh.worker.engine import Backpressure
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.state.settle_lag import SettleLag
from stream_lsh.worker.topology import WorkerApp, build_app, source_partitions


def main(argv: Sequence[str]) -> int:
    """Run until a signal comes; the exit code of the worker."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker.observed", description=__doc__)
    parser.add_argument("--config", required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--every", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--limit-mb", type=int)
    parser.add_argument("--ignore-lag", action="store_true")
    options = parser.parse_args(argv)
    if options.ignore_lag:
        setattr(SettleLag, "receive", lambda lag, size: None)  # noqa: B010 - a method
    if options.limit_mb is not None:
        limits = {"high_bytes": options.limit_mb << 20, "low_bytes": options.limit_mb * 3 << 18}
        setattr(maintenance, "Backpressure", partial(Backpressure, **limits))  # noqa: B010 - mypy knows no names that a module does not export

    events = options.samples.with_suffix(".events")
    _report(events, "loaded")
    engine: Any = Recovery
    engine._set_recovery_started = _reporting(Recovery._set_recovery_started, events, "recovery began")
    engine._set_recovery_ended = _reporting(Recovery._set_recovery_ended, events, "recovery ended")

    def built(config: Config, partitions: Mapping[str, int], **settings: Any) -> WorkerApp:
        app = build_app(config, partitions, **settings)
        app.task(lambda: _observe(app, options.samples, options.every))
        return app

    setattr(process, "build_app", built)  # noqa: B010 - mypy knows no names that a module does not export
    config = load(options.config, os.environ)
    return process.execute(config, asyncio.run(source_partitions(config)), "info")


def _report(file: Path, event: str) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"event": event, "at": time.time(), "cpu": time.process_time()}) + "\n")


def _reporting(step: Callable[[Any], None], file: Path, event: str) -> Callable[[Any], None]:
    def reported(recovery: Any) -> None:
        _report(file, event)
        step(recovery)

    return reported


async def _observe(app: WorkerApp, file: Path, every: float) -> None:
    (state,) = app.pipelines.values()
    while True:
        if not (app.rebalancing or app.in_recovery):
            held = {"at": time.time(), "bytes under way": app.maintenance.bytes_under_way(), **_held(state)}
            held["sources wait"] = app.maintenance.sources_wait
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(held) + "\n")
        await asyncio.sleep(every)


def _held(state: PipelineState) -> dict[str, int]:
    """How many of everything that could grow."""
    documents, buckets = state.documents.owned().values(), [one.table for one in state.buckets.owned().values()]
    found = {
        "documents taken": state.counts.documents,
        "dead letters": sum(state.counts.dead_letters.values()),
        "too late": state.counts.signed.expired,
        "documents": sum(len(one.table) for one in documents),
        "pairs remembered by gather": sum(len(one.forwarded) for one in documents),
        "sets remembered by verify": len(state.comparer),
        "postings": sum(map(len, buckets)),
        "segments": sum(table.segments for table in buckets),
        "bytes of the index": sum(table.nbytes for table in buckets),
    }
    for ledger in state.ledger.owned().values():
        known = ledger.settler.ledger
        found |= {
            "members": len(known.graph.nodes),
            "clusters": len(known.ids.live),
            "clusters that were closed": len(known.ids.closed),
            "pasts": len(known.graph.past.links),
            "newest refs in the ledger": len(known.newest),
            "horizon": max(0, known.horizon.time_ms),
        }
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
