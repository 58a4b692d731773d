"""Whether a change has made anything slower: `make bench-check`, or `python -m benchmarks.check [--update]`.

It measures a few ratios of two processes that do the same work in one run, and compares them with the committed ones
(`benchmarks/results/check.json`).  A ratio depends far less on the machine than a time does, and little on what else
the machine does.  Still, compare a loss with the ratio of the commit before, measured on the same day:

sparse        processor time of a document: the worker on a real broker / the chain in memory; one near-duplicate in ten
dense         the same for a pair of near-duplicates, in groups of 50
datasketch    processor time of a document: the chain in memory / datasketch
latency       the median until a match is received, at 100 documents a second: the worker / the client alone

Each round measures both sides one after the other; the figure is the median of the rounds.  A ratio that is more than
15 % above the committed one is measured in as many rounds again before it counts as a loss.  The exit code is 1 for a
loss, and 0 otherwise; `--update` writes the measured ratios in place of the committed ones.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from datasketch import MinHash, MinHashLSH  # type: ignore[import-untyped]

from benchmarks.worker.broker import Bench, KeyValue, cpu_seconds, documents
from benchmarks.worker.costs import in_memory, near
from benchmarks.worker.latency import alone, paced
from tests.evaluation.brokers import choose_broker

TOLERANCE = 0.15
COMMITTED = Path(__file__).parent / "results" / "check.json"
_SPARSE, _DENSE, _GROUP, _SIZE, _BY_DATASKETCH = 10_000, 2_500, 50, 3_000, 300
_WARM = 500
_RATE, _PACED = 100, 1_000


def main(argv: Sequence[str]) -> int:
    """Measure, compare, and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("sparse", "dense", "datasketch", "latency"), action="append")
    parser.add_argument("--update", action="store_true", help="replace the committed ratios by the measured ones")
    options = parser.parse_args(argv)
    committed: dict[str, float] = json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}
    with tempfile.TemporaryDirectory(prefix="stream-lsh-bench-") as folder:
        with choose_broker(Path(folder) / "broker") as broker:
            lanes = _lanes(Bench(broker, Path(folder)))
            chosen = {name: lane for name, lane in lanes.items() if name in (options.only or lanes)}
            rounds = measured(chosen, options.rounds, {} if options.update else committed)
    print(f"{'ratio':<12}{'committed':>10}{'measured':>10}{'rounds':>8}  lowest to highest")
    for name, ratios in rounds.items():
        print(
            f"{name:<12}{committed.get(name, float('nan')):>10.3g}{statistics.median(ratios):>10.3g}{len(ratios):>8}"
            f"  {min(ratios):.3g} to {max(ratios):.3g}"
        )
    medians = {name: float(f"{statistics.median(ratios):.3g}") for name, ratios in rounds.items()}
    if options.update:
        COMMITTED.write_text(json.dumps(committed | medians, indent=1) + "\n", encoding="utf-8")
        return 0
    lost = losses(medians, committed)
    for name in lost:
        above = medians[name] / committed[name] - 1
        print(f"{name}: {above:.0%} above the committed ratio, at most {TOLERANCE:.0%} are allowed")
    return 1 if lost else 0


def measured(lanes: dict[str, Callable[[], float]], rounds: int, committed: dict[str, float]) -> dict[str, list[float]]:
    """The ratios of all rounds, in turns; twice the rounds for those that seem to be lost."""
    found: dict[str, list[float]] = {name: [] for name in lanes}
    for _ in range(rounds):
        for name, lane in lanes.items():
            found[name].append(lane())
    again = losses({name: statistics.median(ratios) for name, ratios in found.items()}, committed)
    for _ in range(rounds):
        for name in again:
            found[name].append(lanes[name]())
    return found


def losses(ratios: dict[str, float], committed: dict[str, float]) -> list[str]:
    """The names of the ratios that are too far above the committed ones.

    Example:
        >>> losses({"sparse": 2.4, "dense": 2.0, "new": 9.0}, {"sparse": 2.0, "dense": 1.9})
        ['sparse']
    """
    return [name for name, ratio in ratios.items() if ratio > (1 + TOLERANCE) * committed.get(name, float("inf"))]


def _lanes(bench: Bench) -> dict[str, Callable[[], float]]:
    sparse, twins = documents(_WARM + _SPARSE)
    dense = near(_DENSE, _GROUP, _SIZE)
    pairs = _DENSE * (_GROUP - 1) // 2

    def of_sparse() -> float:
        warm = sum(number < _WARM for number in twins)
        worker = _of_worker(bench, sparse, warm, len(twins)) / _SPARSE
        return worker / (in_memory(sparse) / len(sparse))

    def of_dense() -> float:
        # A pair exactly at the threshold is found with the probability `recall`.
        return _of_worker(bench, dense, 0, pairs * 999 // 1_000) / in_memory(dense)

    def of_datasketch() -> float:
        some = sparse[: 4 * _BY_DATASKETCH]
        return in_memory(some) / len(some) / (_by_datasketch(some[:_BY_DATASKETCH]) / _BY_DATASKETCH)

    def of_latency() -> float:
        return paced(bench, _RATE, _PACED, 1).p50_ms / alone(bench, _RATE, _PACED).p50_ms

    return {"sparse": of_sparse, "dense": of_dense, "datasketch": of_datasketch, "latency": of_latency}


def _of_worker(bench: Bench, messages: Sequence[KeyValue], warm_matches: int, matches: int) -> float:
    """The processor time of a worker for the messages behind the first ones."""
    config, file = bench.configured(4, max_candidates=0)
    with bench.workers(config, file, 1) as (process,), closing(bench.stream(config.pipelines[0])) as stream:
        first = _WARM if warm_matches else 0
        if first:
            stream.feed(messages[:first])
            stream.matches(warm_matches)
        spent = cpu_seconds(process.pid)
        stream.feed(messages[first:])
        stream.matches(matches, patience=60.0)
        return cpu_seconds(process.pid) - spent


def _by_datasketch(messages: Sequence[KeyValue]) -> float:
    """The processor time of datasketch for the same task without the exact comparison."""
    texts = [json.loads(value)["text"] for _, value in messages]
    began, index = time.process_time(), MinHashLSH(threshold=0.8, num_perm=128)
    for number, text in enumerate(texts):
        sketch = MinHash(num_perm=128)
        sketch.update_batch([text[at : at + 5].encode() for at in range(max(1, len(text) - 4))])
        index.query(sketch)
        index.insert(number, sketch)
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
