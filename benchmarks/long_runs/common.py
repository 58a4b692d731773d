"""Common parts of the long runs: retention, sampling, and output of the data."""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.long_runs.curves import draw
from benchmarks.long_runs.news import STEP_MS
from benchmarks.long_runs.watching import MB, Sample, Topics, bytes_in, last_line, memory_of
from benchmarks.worker.running import WorkerProcess

PARTITIONS = 4
BLOCK = 500
"""Messages that are fed together."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much is kept, and what is watched."""
    parser.add_argument("--retained", type=int, default=100_000, help="how many messages the retention holds")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two samples")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    parser.add_argument("--plot", type=Path, help="where the curves go, as PNG")


def retention(retained: int, by: str) -> dict[str, Any]:
    """The keys of a pipeline that holds `retained` messages of `news`."""
    if by == "count":
        return {"retention": "", "max_documents": retained // PARTITIONS}
    lateness_ms = retained * STEP_MS // 10
    return {"retention": f"{retained * STEP_MS - lateness_ms}ms", "lateness": f"{lateness_ms}ms"}


def keep(
    options: argparse.Namespace,
    summary: Mapping[str, Any],
    samples: Sequence[Sample],
    panels: Mapping[str, Sequence[str]],
    across: str,
) -> None:
    """Write data and curves to the files of the options."""
    if options.out is not None:
        options.out.write_text(json.dumps({**summary, "samples": samples}, indent=1) + "\n", encoding="utf-8")
    if options.plot is not None:
        draw(samples, panels, across, options.plot)


class Watch:
    """Takes samples of a worker and its topics.

    Args:
        every: seconds between two samples.

    Attributes:
        samples: that were taken.
    """

    def __init__(self, worker: WorkerProcess, topics: Topics, every: float) -> None:
        self._worker, self._topics, self._every = worker, topics, every
        self._began = self._due = time.monotonic()
        self.samples: list[Sample] = []

    def look(self, taken: int, sent: int) -> None:
        """Take a sample if it is time, and say now and then how it stands."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + self._every
        self._worker.check()
        sample: Sample = {
            **last_line(self._worker.samples),
            "at": now - self._began,
            "taken": taken,
            "lag": sent - taken,
            **memory_of(self._worker.process.pid),
            "data directory": bytes_in(self._worker.data_dir),
            **self._topics.sizes(),
        }
        if self.samples:
            before = self.samples[-1]
            sample["rate"] = (taken - before["taken"]) / (sample["at"] - before["at"])
        self.samples.append(sample)
        if len(self.samples) % 10 == 1:
            print(
                f"{sample['at']:7.0f} s {taken:>10,} taken {sent - taken:>10,} behind"
                f"{sample.get('rate', 0):>8,.0f}/s{sample['resident'] / MB:>8,.0f} MB resident"
                f"{sample['changelogs'] / MB:>8,.0f} MB changelogs{sample.get('documents', 0):>10,.0f} documents",
                flush=True,
            )
