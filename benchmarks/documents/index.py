"""The band-bucket table: what a document costs, the worst pause, memory, hot buckets, recovery.

    python -m benchmarks.documents.index --out index.json

Each document has 16 bands and a digest.  Two streams: `random`, where no two documents share a bucket, which
flatters any index; and `shared`, where 5 % of the documents have 12 bands of an earlier one, 1 % are copies, and one
band in eight comes from 50,000 common ones, as boilerplate makes them.  Every batch is timed, from the first;
filling up is part of the run.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.index import BandTable

BANDS = 17
SIZES = (10_000, 100_000, 400_000, 1_000_000)
BATCHES = (200, 16)
WINDOW = 10_000
"""The cost at a size is that of the last 10,000 documents before it (half of the size, if that is less)."""
COPIES = 3_000
_BLOCK = 20_000

Row = dict[str, str | int | float]
Columns = tuple[U64, I64, I64, U64]


def main(argv: Sequence[str] | None = None) -> int:
    """Measures, prints the tables, writes the results as JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where to write the results as JSON")
    parser.add_argument("--quick", action="store_true", help="up to 100,000 documents only: to see that it runs")
    options = parser.parse_args(argv)
    sizes = SIZES[:2] if options.quick else SIZES
    growth = [row for stream in ("random", "shared") for batch in BATCHES for row in _growth(stream, batch, sizes)]
    _print_table("insert and probe", growth)
    copies = [_copies(batch) for batch in (200, 16, 1)]
    _print_table(f"{COPIES:,} identical documents, us a document", copies)
    other = [_relinking(sizes[-1]), _alone(), _retiring_copies()]
    _print_table("other", other)
    if options.out:
        about = {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine()}
        results = {"about": about, "growth": growth, "copies": copies, "other": other}
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


class _Stream:
    """Buckets of documents, block by block, from a fixed seed."""

    def __init__(self, kind: str) -> None:
        self._random = np.random.default_rng(7)
        self._shared = kind == "shared"
        self._common = self._fresh(50_000)
        self._earlier = np.empty((0, BANDS), dtype=np.uint64)

    def _fresh(self, *shape: int) -> U64:
        return self._random.integers(0, 1 << 63, shape, dtype=np.uint64) << np.uint64(1)

    def block(self, n: int) -> U64:
        buckets = self._fresh(n, BANDS)
        buckets[:, -1] |= np.uint64(1)
        if self._shared:
            boilerplate = self._random.integers(0, len(self._common), (n, 2))
            buckets[:, :2] = self._common[boilerplate]
            near = (self._random.random(n) < 0.06).nonzero()[0]
            copies = near[: len(near) // 6]
            if len(self._earlier):
                sources = self._earlier[self._random.integers(0, len(self._earlier), len(near))]
                buckets[near, 2:14] = sources[:, 2:14]
                buckets[copies] = sources[: len(copies)]
            self._earlier = np.concatenate((self._earlier[-200_000:], buckets[::4]))
        return buckets

    def batches(self, size: int) -> Iterator[Columns]:
        first = 0
        while True:
            buckets = self.block(_BLOCK)
            for begin in range(0, _BLOCK, size):
                part = buckets[begin : begin + size]
                yield _columns(first, part)
                first += len(part)


def _columns(first: int, buckets: U64) -> Columns:
    n = len(buckets)
    rows = np.repeat(np.arange(n), buckets.shape[1])
    return np.arange(first, first + n, dtype=np.uint64), np.zeros(n, dtype=np.int64), rows, buckets.reshape(-1)


def _growth(stream: str, size: int, sizes: Sequence[int]) -> list[Row]:
    table = BandTable()
    batches = _Stream(stream).batches(size)
    rows: list[Row] = []
    documents = pairs = 0
    took: list[float] = []
    for mark in sizes:
        while documents < mark:
            batch = next(batches)
            start = time.perf_counter()
            hits = table.insert_and_probe(*batch)
            took.append(time.perf_counter() - start)
            documents += len(batch[0])
            pairs += len(hits)
        last = took[-max(1, min(WINDOW, mark // 2) // size) :]
        rows.append(
            {
                "stream": stream,
                "batch": size,
                "documents": mark,
                "us": round(sum(last) / len(last) / size * 1e6, 2),
                "us, median batch": round(statistics.median(last) / size * 1e6, 2),
                "worst batch so far, ms": round(max(took) * 1e3, 1),
                "bytes a document": round(table.nbytes / documents),
                "candidates a document": round(pairs / documents, 2),
                "segments": table.segments,
            }
        )
    return rows


def _copies(size: int) -> Row:
    """The cost of documents 200 to 400 and 2,800 to 3,000 of one hot bucket set; the median of five tables."""
    buckets = np.repeat(_Stream("random").block(1), COPIES, axis=0)
    early, late, read = [], [], 0
    for _ in range(5):
        table = BandTable()
        took: dict[int, float] = {}
        for first in range(0, COPIES, size):
            batch = _columns(first, buckets[first : first + size])
            before, start = table.visited, time.perf_counter()
            table.insert_and_probe(*batch)
            took[first] = time.perf_counter() - start
            read = (table.visited - before) // len(batch[0])
        early.append(sum(seconds for first, seconds in took.items() if 200 <= first < 400) / 200)
        late.append(sum(seconds for first, seconds in took.items() if first >= COPIES - 200) / 200)
    at_first, at_last = statistics.median(early) * 1e6, statistics.median(late) * 1e6
    return {
        "batch": size,
        "200 to 400": round(at_first, 1),
        f"{COPIES - 200:,} to {COPIES:,}": round(at_last, 1),
        "ratio": round(at_last / at_first, 2),
        "postings read": read,
    }


def _relinking(documents: int) -> Row:
    stream, table, seconds = _Stream("random"), BandTable(), 0.0
    for first in range(0, documents, _BLOCK):
        batch = _columns(first, stream.block(_BLOCK))
        start = time.perf_counter()
        table.insert(*batch)
        seconds += time.perf_counter() - start
    return {"what": f"relinking {documents:,} documents, M postings/s", "value": round(len(table) / seconds / 1e6, 2)}


def _alone() -> Row:
    table, took = BandTable(first_capacity=256), []
    for first, buckets in enumerate(_Stream("random").block(4_000)):
        batch = _columns(first, buckets[None, :])
        start = time.perf_counter()
        table.insert_and_probe(*batch)
        took.append(time.perf_counter() - start)
    return {
        "what": "a batch of one, table begun with 256 postings, us",
        "value": round(statistics.median(took) * 1e6, 1),
    }


def _retiring_copies() -> Row:
    buckets = np.repeat(_Stream("random").block(1), COPIES, axis=0)
    table = BandTable()
    table.insert(*_columns(0, buckets))
    refs, _, rows, gone = _columns(COPIES // 2, buckets[:1])
    start = time.perf_counter()
    table.retire(refs, rows, gone)
    seconds = time.perf_counter() - start
    return {"what": f"retiring the middle one of {COPIES:,} copies, ms", "value": round(seconds * 1e3, 2)}


def _print_table(title: str, rows: Sequence[Row]) -> None:
    print(f"\n## {title}\n")
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        print(
            "| " + " | ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in row.values()) + " |"
        )


if __name__ == "__main__":
    raise SystemExit(main())
