"""A feed that is far faster than the worker: `python -m benchmarks.long_runs.flood --out flood.json --plot flood.png`.

The worker first fills its retention at its own pace.  Then for `--minutes` it is fed `--times` as fast as that, or as
fast as the machine can; then the feed stops until the worker has caught up, which takes that many times as long.
The benchmark samples the worker's memory, the bytes under way between its steps, its lag, and the lag that
`stream-lsh check` reports.

At the end every document must have been processed, none be a dead letter or too late, and every near-duplicate have its
match.  Ten minutes at ten times 3,000 a second are 18 million messages, some 20 GB, and two hours; a smoke test:
`--minutes 0.3 --retained 5000 --every 1`.  The broker is Kafka from its jars.
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from faust.types import TP

from benchmarks.long_runs.common import BLOCK, PARTITIONS, Watch, add_arguments, keep, retention
from benchmarks.long_runs.news import News
from benchmarks.long_runs.watching import MB, Sample, Topics
from benchmarks.worker.running import Feed, configured, running_broker, running_worker
from stream_lsh.config import Config
from stream_lsh.worker.clients.topic_reader import bounds, partitions_of, records
from stream_lsh.worker.engine.reading.backpressure import HIGH_BYTES

PANELS = {
    "memory of the worker, MB": ("resident", "anonymous"),
    "under way between the steps, MB": ("bytes under way",),
    "messages": ("lag", "taken"),
    "documents that are held": ("documents",),
    "documents a second": ("rate",),
    "internal topics, MB": ("internal topics", "internal topics, files"),
}
_AHEAD = 2_000
_FILL = 1.5
_STILL_SECONDS = 5.0


def main(argv: Sequence[str]) -> int:
    """Run it; the summary goes to standard output, data and picture to files.  1 if anything was lost."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.long_runs.flood",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="how long the flood lasts")
    parser.add_argument("--times", type=float, default=10.0, help="how much faster than the worker")
    add_arguments(parser)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="stream-lsh-flood-") as temporary:
        summary, samples = _run(Path(temporary), options)
    print()
    for name, value in summary.items():
        print(f"{name:<48}{value:>16,.1f}" if isinstance(value, float) else f"{name:<48}{value:>16}")
    keep(options, {"summary": summary}, samples, PANELS, "at")
    return 1 if any(summary[name] for name in ("documents lost", "dead letters", "too late", "matches missing")) else 0


def _run(folder: Path, options: argparse.Namespace) -> tuple[dict[str, float | str], list[Sample]]:
    news = News(options.retained // 2, updated=0.0, deleted=0.0)
    with running_broker(folder / "broker") as broker:
        kept = retention(options.retained, "time")
        config, file = configured(folder, broker.address, "flood", PARTITIONS, **kept)
        feed = Feed(broker.address, config.pipelines[0].source)
        with running_worker(file, observed=True) as worker, closing(Topics(config, broker.logs)) as topics:
            watch = Watch(worker, topics, options.every)

            def look() -> int:
                taken = topics.taken()
                watch.look(taken, feed.sent)
                return taken

            rate = _filled(news, feed, look, int(options.retained * _FILL))
            calm = len(watch.samples)
            began, before = time.monotonic(), feed.sent
            while (passed := time.monotonic() - began) < 60 * options.minutes:
                if feed.sent - before < passed * rate * options.times:
                    feed.send(news.block(BLOCK))
                else:
                    time.sleep(0.02)
                look()
            feed.flush()
            flooded, flood_s = feed.sent - before, time.monotonic() - began
            seen = _lag_seen(file)
            while look() < feed.sent:
                time.sleep(0.2)
            caught_s = time.monotonic() - began - flood_s
            time.sleep(max(_STILL_SECONDS, 2 * options.every))
            look()
            worker.end()
        lost = asyncio.run(_missing(config, news))
    after, last = watch.samples[calm:], watch.samples[-1]
    summary: dict[str, float | str] = {
        "the worker by itself, documents a second": rate,
        "the flood, documents a second": flooded / flood_s,
        "the flood, seconds": flood_s,
        "caught up after, seconds": caught_s,
        "greatest lag, messages": max(one["lag"] for one in after),
        "lag that `check` saw when the flood was over": seen,
        "resident before the flood, MB": max(one["resident"] for one in watch.samples[:calm]) / MB,
        "most resident since, MB": max(one["resident"] for one in after) / MB,
        "most under way, MB": max(one.get("bytes under way", 0.0) for one in after) / MB,
        "sources are closed above, MB": HIGH_BYTES / MB,
        "near-duplicates": float(len(news.pairs)),
        "documents lost": feed.sent - last["documents taken"],
        "dead letters": last["dead letters"],
        "too late": last["too late"],
        "matches missing": float(lost),
    }
    return summary, watch.samples


def _filled(news: News, feed: Feed, look: Callable[[], int], documents: int) -> float:
    """Feed at the worker's own pace; documents a second in the second half."""
    half = (0.0, 0)
    while (taken := look()) < documents:
        if not half[1] and taken > documents / 2:
            half = time.monotonic(), taken
        if feed.sent < min(documents, taken + _AHEAD):
            feed.send(news.block(BLOCK))
        else:
            time.sleep(0.02)
    return (taken - half[1]) / (time.monotonic() - half[0])


def _lag_seen(file: Path) -> str:
    """The lag of the source in messages, as `stream-lsh check` reports it."""
    command = [sys.executable, "-m", "stream_lsh", "check", "--config", str(file)]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - ourselves
    found = re.search(r"lag of flood-source\W+([\d,]+) messages", output)
    return found[1] if found else f"nothing: {output}"


async def _missing(config: Config, news: News) -> int:
    """Near-duplicates without a match."""
    topic = config.pipelines[0].matches_topic
    left = {(b"%09d" % older, b"%09d" % newer) for newer, older in news.pairs}
    begins, ends = await bounds(config.kafka, [TP(*tp) for tp in partitions_of(topic, PARTITIONS)])
    async for chunk in records(config.kafka, begins, ends):
        for record in chunk:
            one, other = json.loads(record.key)
            left.discard((one.encode(), other.encode()))
    return len(left)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
