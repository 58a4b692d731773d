"""What grows while a stream runs on and on: `python -m benchmarks.endless --out endless.json --plot endless.png`.

Messages of 1 KB go through one worker process on a real broker, with a retention that always holds so many of them:
by event time, or with `--by count` by `max_documents`.  They are fed as fast as the worker takes them, never more than
`--ahead` before it.  Meanwhile is watched: the worker's memory, its data directory, the topics on the broker, and what
the worker says that it holds.

The quarter of the run that begins when the retention is full for the first time is compared with the last quarter;
whatever must not grow is at most 1.1 times as large.  Public topics are kept for the retention and a day by the clock,
so in a run of hours they grow.

A smoke test: `--documents 60000 --retained 10000 --ahead 2000 --every 1`.  The broker is Kafka from its jars.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.curves import draw
from benchmarks.news import STEP_MS, News
from benchmarks.running import Feed, WorkerProcess, configured, running_broker, running_worker
from benchmarks.watching import MB, Sample, Topics, bytes_in, last_line, memory_of, ratios

PARTITIONS = 4
FLAT = 1.1
TARGETS = ("resident", "anonymous", "data directory", "changelogs", "changelogs, files", "internal topics")
"""What the target is about."""
PANELS = {
    "memory of the worker, MB": ("resident", "anonymous", "bytes of the index"),
    "changelogs on the broker, MB": ("changelogs", "changelogs, files"),
    "changelogs one by one, MB": ("changelog of documents", "changelog of buckets", "changelog of ledger"),
    "other topics, MB": ("internal topics", "internal topics, files", "public topics", "public topics, files"),
    "data directory of the worker, MB": ("data directory",),
    "documents": ("documents", "lag"),
    "ledger": ("members", "clusters", "clusters that were closed", "newest refs in the ledger", "pasts"),
    "index": ("segments",),
    "caches": ("pairs remembered by gather", "sets remembered by verify"),
    "documents a second": ("rate",),
}
_BLOCK = 500
_EXPIRY_ROOM = 1.25
"""Documents expire by watermarks and segments, somewhat after the retention: full is what has this much."""


def main(argv: Sequence[str]) -> int:
    """Run it; the table goes to standard output, data and picture to files.  1 if something grew that must not."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.endless", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=2_000_000, help="how many messages go through")
    parser.add_argument("--retained", type=int, default=100_000, help="how many of them the retention holds")
    parser.add_argument("--by", choices=("time", "count"), default="time", help="what the retention is")
    parser.add_argument("--ahead", type=int, default=20_000, help="how far the feed may be ahead of the worker")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two samples")
    parser.add_argument("--folder", type=Path, help="for broker, logs and state; kept.  Default: a temporary one")
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    parser.add_argument("--plot", type=Path, help="where the curves go, as PNG")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="stream-lsh-endless-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        samples = _run(folder, options)
    found = ratios(samples, options.retained * _EXPIRY_ROOM, options.documents)
    grew = _print(found)
    if options.out is not None:
        said = {"settings": _plain(options), "ratios": found, "samples": samples}
        options.out.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    if options.plot is not None:
        draw(samples, PANELS, "taken", options.plot)
    return 1 if grew else 0


def retention(retained: int, by: str) -> dict[str, Any]:
    """The keys of a pipeline that holds so many messages of `news`."""
    if by == "count":
        return {"retention": "", "max_documents": retained // PARTITIONS}
    lateness_ms = retained * STEP_MS // 10
    return {"retention": f"{retained * STEP_MS - lateness_ms}ms", "lateness": f"{lateness_ms}ms"}


def _run(folder: Path, options: argparse.Namespace) -> list[Sample]:
    news = News(options.retained * 3 // 4)
    with running_broker(folder / "broker") as broker:
        kept = retention(options.retained, options.by)
        config, file = configured(folder, broker.address, "endless", PARTITIONS, **kept)
        feed = Feed(broker.address, config.pipelines[0].source)
        with running_worker(file, observed=True) as worker, closing(Topics(config, broker.logs)) as topics:
            watch = Watch(worker, topics, options.every)
            while (taken := topics.taken()) < options.documents:
                if feed.sent < min(options.documents, taken + options.ahead):
                    feed.send(news.block(_BLOCK))
                else:
                    time.sleep(0.1)
                watch.look(taken, feed.sent)
            feed.flush()
            worker.end()
    return watch.samples


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


def _print(found: dict[str, tuple[float, float, float]]) -> list[str]:
    """The table; what grew and must not."""
    print(f"\n{'measure':<36}{'after the fill':>16}{'last quarter':>16}{'ratio':>8}   at most")
    grew = []
    for name, (first, last, ratio) in found.items():
        target = name in TARGETS
        if target and ratio > FLAT:
            grew.append(name)
        print(f"{name:<36}{first:>16,.0f}{last:>16,.0f}{ratio:>8.2f}   {FLAT if target else ''}")
    print(f"\nmust not grow, and did: {', '.join(grew) or 'nothing'}")
    return grew


def _plain(options: argparse.Namespace) -> dict[str, Any]:
    return {key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
