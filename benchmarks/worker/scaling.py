"""The cost of distribution: `python -m benchmarks.worker.scaling [--out FILE]`, 1, 2 and 4 workers on 8 partitions.

All workers share the machine, so documents per second of wall time would show its cores.  Processor time shows the cost
instead: documents per second of processor time, over all workers, each fed as fast as it can.  With more workers each
batch is smaller and each worker sends messages of its own; `settle` is on one of them.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.worker.broker import Bench, cpu_seconds, documents
from tests.evaluation.brokers import choose_broker

_PARTITIONS, _WARM = 8, 2_000
_WORKERS = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class Scaling:
    """One run: documents per second of processor time, and of wall time; the share of the busiest worker."""

    workers: int
    documents: int
    matches: int
    per_cpu_second: float
    per_second: float
    busiest: float


def main(argv: Sequence[str]) -> int:
    """Run all numbers of workers in turns; a table goes to standard output, data to the file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worker.scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="where the data goes, as JSON")
    options = parser.parse_args(argv)
    rows = list[Scaling]()
    with tempfile.TemporaryDirectory(prefix="stream-lsh-bench-") as folder:
        with choose_broker(Path(folder) / "broker") as broker:
            bench = Bench(broker, Path(folder))
            print("workers  documents a CPU second  documents a second  the busiest worker's share", flush=True)
            for _ in range(options.rounds):
                for workers in _WORKERS:
                    row = _run(bench, workers, options.documents)
                    print(
                        f"{row.workers:>7}{row.per_cpu_second:>24.0f}{row.per_second:>20.0f}{row.busiest:>28.0%}",
                        flush=True,
                    )
                    rows.append(row)
    if options.out is not None:
        options.out.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0


def _run(bench: Bench, workers: int, count: int) -> Scaling:
    messages, twins = documents(_WARM + count)
    config, file = bench.configured(_PARTITIONS)
    with bench.workers(config, file, workers) as processes, closing(bench.stream(config.pipelines[0])) as stream:
        stream.feed(messages[:_WARM])
        stream.matches(sum(number < _WARM for number in twins), patience=60.0)
        before, began = [cpu_seconds(process.pid) for process in processes], time.perf_counter()
        stream.feed(messages[_WARM:])
        ended = stream.matches(len(twins), patience=60.0)
        spent = [cpu_seconds(process.pid) - then for process, then in zip(processes, before, strict=True)]
    took = sum(spent)
    return Scaling(workers, count, len(twins), count / took, count / (ended - began), max(spent) / took)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
