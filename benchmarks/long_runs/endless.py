"""Growth during an endless stream: `python -m benchmarks.long_runs.endless --out endless.json --plot endless.png`.

Messages of 1 KB go through one worker process on a real broker, with a retention that always holds the same number of
them: by event time, or with `--by count` by `max_documents`.  They are fed as fast as the worker takes them, at most
`--ahead` before it.  Meanwhile the benchmark samples the worker's memory, its data directory, the topics on the broker,
and the sizes that the worker reports.

The second quarter of the run is compared with the last one; whatever must not grow is at most 1.1 times as large.  In
the first one the retention fills, and after it the caches.  Public topics are kept for the retention and a day by the
clock, so in a run of hours they grow.

A smoke test: `--documents 60000 --retained 10000 --ahead 2000 --every 1`.  The broker is Kafka from its jars.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.long_runs.common import BLOCK, PARTITIONS, Watch, add_arguments, keep, retention
from benchmarks.long_runs.news import News
from benchmarks.long_runs.watching import Sample, Topics, ratios
from benchmarks.worker.running import Feed, configured, running_broker, running_worker

FLAT = 1.1
TARGETS = ("resident", "anonymous", "data directory", "changelogs", "changelogs, files", "internal topics")
"""The quantities that must not grow."""
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
_EXPIRY_ROOM = 1.25
"""Documents expire by watermarks and segments, somewhat after the retention: full is what has this much."""


def main(argv: Sequence[str]) -> int:
    """Run it; the table goes to standard output, data and picture to files.  1 if something grew that must not."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.long_runs.endless",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=int, default=2_000_000, help="how many messages go through")
    parser.add_argument("--by", choices=("time", "count"), default="time", help="what the retention is")
    parser.add_argument("--ahead", type=int, default=20_000, help="how far the feed may be ahead of the worker")
    parser.add_argument("--folder", type=Path, help="for broker, logs and state; kept.  Default: a temporary one")
    add_arguments(parser)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="stream-lsh-endless-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        samples = _run(folder, options)
    found = ratios(samples, options.retained * _EXPIRY_ROOM, options.documents)
    grew = _print(found)
    keep(options, {"settings": _plain(options), "ratios": found}, samples, PANELS, "taken")
    return 1 if grew else 0


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
                    feed.send(news.block(BLOCK))
                else:
                    time.sleep(0.1)
                watch.look(taken, feed.sent)
            feed.flush()
            worker.end()
    return watch.samples


def _print(found: dict[str, tuple[float, float, float]]) -> list[str]:
    """The table; what grew and must not."""
    print(f"\n{'measure':<36}{'second quarter':>16}{'last quarter':>16}{'ratio':>8}   at most")
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
