"""The ledger: edges a second, memory, merges, splits, hubs, a large cluster, snapshots, copies in slices.

    python -m benchmarks.documents.ledger --out ledger.json

Two streams: `of 4`, pairs of clusters of four that form one after the other; `of 200`, newcomers to 150 clusters in
turn, until each has 200 members.  Edges come in frames of 150, as from a sparse stream, and of 1,024, as verify sends
them while documents have many matches.  `core` is settling alone, `messages` with all public messages encoded, `record`
with the record of the changelog encoded too.  Memory is that of a process which does nothing else.
"""

import argparse
import gc
import json
import platform
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from stream_lsh.ledger.changes import Settled
from stream_lsh.ledger.edges import Edge, Edges, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Retirement, make_ref
from stream_lsh.pipeline.batches import EdgesFrame
from stream_lsh.pipeline.changelog.ledger_rewrite import LedgerRewriter
from stream_lsh.pipeline.changelog.records import LedgerRecord
from stream_lsh.pipeline.settle import Settler
from stream_lsh.pipeline.verify import STEP
from stream_lsh.wire.ledger_parts import LedgerAssembler, encode_ledger
from stream_lsh.wire.public import cluster_messages, match_messages, member_messages
from tests.evaluation.edges import edges_of

FRAME, FULL_FRAME = 150, STEP
MEMBERS = 1_000_000
FEW_MEMBERS = 20_000
LARGE = 100_000
ROUNDS = 5
THRESHOLD = 0.5
DAY_MS = 86_400_000
COLLECT_AFTER = 100_000
"""Objects between two searches for reference cycles, as in a worker: by default one takes .3 s at a million members."""

_LOADS = (("of 4", FRAME), ("of 200", FRAME), ("of 4", FULL_FRAME), ("of 200", FULL_FRAME))
Row = dict[str, str | int | float]


def main(argv: Sequence[str] | None = None) -> int:
    """Measures, prints the tables, writes the results as JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where to write the results as JSON")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything: to see that it runs")
    parser.add_argument("--memory-of", choices=("ledger", "nothing"), help=argparse.SUPPRESS)
    parser.add_argument("--members", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
    if options.memory_of:
        print(_resident(options.memory_of, options.members))
        return 0
    scale = 10 if options.quick else 1
    tables: dict[str, list[Row]] = {
        "edges": [row for stream, frame in _LOADS for row in _rates(stream, FEW_MEMBERS // scale, frame)],
        "edges, alone": [_rate(stream, MEMBERS // scale, frame) for stream, frame in _LOADS],
        "memory": [_memory(MEMBERS // scale)],
        "at once": _at_once(10_000 // scale),
        "one cluster": [_newcomers(LARGE // scale)],
        "snapshot": [_snapshot(members // scale) for members in (MEMBERS, 10 * FEW_MEMBERS)],
        "copied in slices": [_copied(MEMBERS // scale)],
    }
    for title, rows in tables.items():
        _print_table(title, rows)
    if options.out:
        about = {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine()}
        options.out.write_text(json.dumps({"about": about, **tables}, indent=1) + "\n")
    return 0


# -- streams


def _end(cluster: int, number: int, time_ms: int) -> End:
    ref = cluster * 1_000 + number
    return End(f"document-{cluster}-{number}", make_ref(ref % 4, ref), time_ms, ref * 0x9E3779B97F4A7C15 % (1 << 64))


def _edges(stream: str, members: int) -> Iterator[Edge]:
    """The edges of `members` documents, one for each that does not begin a cluster."""
    size, beside = (4, 1) if stream == "of 4" else (200, FRAME)
    rng = random.Random(7)
    for first in range(0, members // size, beside):
        for number in range(1, size):
            for cluster in range(first, first + beside):
                time_ms = 1_000 * (cluster * size + number)
                old = 0 if stream == "of 4" else rng.randrange(number)
                shared = rng.randint(80, 99)
                ends = _end(cluster, old, 1_000 * (cluster * size + old)), _end(cluster, number, time_ms)
                yield Edge(*ends, shared / 100, shared, 100)


def _frames(stream: str, members: int, size: int = FRAME) -> Iterator[Edges]:
    edges = _edges(stream, members)
    while frame := [*islice(edges, size)]:
        yield edges_of(frame)


def _messages(settled: Settled, offset: int) -> int:
    """Every public message of a frame, encoded; how many they are."""
    matches = match_messages("news", settled.matches, 1_700_000_000_000)
    return len(matches) + len(member_messages(settled.members)) + len(cluster_messages(settled.clusters, offset))


class _Lane:
    """A ledger, and what its frames take."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name, self.ledger = name, ledger
        self.edges, self.worst = 0, 0.0
        self._core = self._messages = self._record = 0.0

    def settle(self, offset: int, edges: Edges) -> None:
        """One frame."""
        start = time.perf_counter()
        settled = self.ledger.settle(offset, edges=edges)
        core = time.perf_counter()
        _messages(settled, offset)
        messages = time.perf_counter()
        encode_ledger(LedgerRecord(offset, settled.changes, ()), 0)
        record = time.perf_counter()
        self._core += core - start
        self._messages += messages - core
        self._record += record - messages
        self.worst = max(self.worst, record - start)
        self.edges += len(edges)

    def row(self, stream: str, members: int, frame: int) -> Row:
        """The measured values."""
        messages = self._core + self._messages
        return {
            "clusters": stream,
            "frame": frame,
            "ledger": self.name,
            "members": members,
            "edges/s, core": round(self.edges / self._core),
            "edges/s, messages": round(self.edges / messages),
            "edges/s, record": round(self.edges / (messages + self._record)),
            "worst frame, ms": round(self.worst * 1e3, 1),
        }


def _rates(stream: str, members: int, frame: int) -> list[Row]:
    """Frame by frame in turn: a ledger, and one that lets documents expire after three days."""
    retention_ms = 3 * DAY_MS
    lanes = [
        _Lane("ledger", Ledger(THRESHOLD)),
        _Lane("ledger, retention of 3 days", Ledger(THRESHOLD, retention_ms)),
    ]
    for offset, edges in enumerate(_frames(stream, members, frame)):
        for lane in lanes:
            lane.settle(offset, edges)
    return [lane.row(stream, members, frame) for lane in lanes]


def _rate(stream: str, members: int, frame: int) -> Row:
    lane = _Lane("ledger", Ledger(THRESHOLD))
    for offset, edges in enumerate(_frames(stream, members, frame)):
        lane.settle(offset, edges)
    return lane.row(stream, members, frame)


# -- memory


def _memory(members: int) -> Row:
    """Bytes a member, in processes of their own: what the ledger leaves resident over a process without one."""
    command = [sys.executable, "-m", "benchmarks.documents.ledger", "--members", str(members), "--memory-of"]
    held, empty = (
        int(subprocess.run([*command, what], check=True, capture_output=True, text=True).stdout)  # noqa: S603
        for what in ("ledger", "nothing")
    )
    return {
        "members": members,
        "MB": round((held - empty) / 1e6, 1),
        "bytes a member": round((held - empty) / members),
    }


def _resident(name: str, members: int) -> int:
    """Resident bytes once all frames are settled by a ledger, or only made."""
    ledger = Ledger(THRESHOLD)
    for offset, edges in enumerate(_frames("of 4", members)):
        if name != "nothing":
            ledger.settle(offset, edges=edges)
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


# -- what touches many at once


def _at_once(size: int) -> list[Row]:
    """Merges, splits and removals: the median of some rounds."""
    cases: dict[str, tuple[Callable[[], Iterator[Edge]], Callable[[Ledger], Settled]]] = {
        f"merge of {size:,} and {size:,}": (lambda: _two_paths(size), lambda ledger: _merge(ledger, size)),
        f"split of a path of {2 * size:,}": (lambda: _path(2 * size), lambda ledger: _split(ledger, size)),
        f"hub of a star of {2 * size:,} goes": (lambda: _star(2 * size), _hub),
        f"leaf of a star of {2 * size:,} goes": (lambda: _star(2 * size), lambda ledger: _leaf(ledger, size)),
    }
    rows: list[Row] = []
    for what, (edges, act) in cases.items():
        took = []
        for _ in range(ROUNDS):
            ledger = Ledger(THRESHOLD)
            ledger.settle(0, edges=edges())
            gc.collect()
            start = time.perf_counter()
            act(ledger)
            took.append(time.perf_counter() - start)
        rows.append({"what": what, "ms": round(statistics.median(took) * 1e3, 1)})
    return rows


def _path(size: int, cluster: int = 0) -> Iterator[Edge]:
    for number in range(1, size):
        yield Edge(_end(cluster, number - 1, number - 1), _end(cluster, number, number), 0.9, 9, 10)


def _star(size: int) -> Iterator[Edge]:
    for number in range(1, size):
        yield Edge(_end(0, 0, 0), _end(0, number, number), 0.9, 9, 10)


def _two_paths(size: int) -> Iterator[Edge]:
    yield from _path(size)
    yield from _path(size, cluster=1_000)


def _merge(ledger: Ledger, size: int) -> Settled:
    half = size // 2
    return ledger.settle(1, edges=[Edge(_end(0, half, half), _end(1_000, half, half), 0.9, 9, 10)])


def _split(ledger: Ledger, size: int) -> Settled:
    return ledger.settle(1, edges=[Edge(_end(0, size - 1, size - 1), _end(0, size, size), 0.1, 1, 10)])


def _hub(ledger: Ledger) -> Settled:
    return _delete(ledger, _end(0, 0, 0))


def _leaf(ledger: Ledger, size: int) -> Settled:
    return _delete(ledger, _end(0, size, size))


def _delete(ledger: Ledger, end: End) -> Settled:
    return ledger.settle(1, retirements=[Retirement(end.id, end.ref + 10_000_000, end.time_ms, 0, True, end.time_ms)])


def _newcomers(size: int) -> Row:
    """Newcomers to a large cluster, one in a frame, with their messages: a document each finds a member it matches."""
    ledger, rng = Ledger(THRESHOLD), random.Random(3)
    took, published = list[float](), 0
    for number in range(1, size + 1_000):
        edges = [Edge(_end(0, rng.randrange(number), 0), _end(0, number, number), 0.9, 9, 10)]
        edges = [edge._replace(left=edge.left._replace(time_ms=int(edge.left.id.split("-")[2]))) for edge in edges]
        start = time.perf_counter()
        settled = ledger.settle(number, edges=edges)
        messages = _messages(settled, number)
        if number >= size:
            took.append(time.perf_counter() - start)
            published += messages
    return {
        "members": size,
        "newcomer, us": round(statistics.median(took) * 1e6, 1),
        "worst, us": round(max(took) * 1e6, 1),
        "messages a newcomer": round(published / len(took), 2),
    }


# -- snapshots


def _snapshot(members: int) -> Row:
    ledger = Ledger(THRESHOLD)
    for offset, edges in enumerate(_frames("of 4", members)):
        ledger.settle(offset, edges=edges)
    gc.collect()
    start = time.perf_counter()
    record = LedgerRecord(1, ledger.snapshot(), ())
    taken = time.perf_counter()
    parts = encode_ledger(record, 0)
    encoded = time.perf_counter()
    del ledger, record
    assembler, found = LedgerAssembler(0), list[LedgerRecord]()
    gc.collect()
    before = time.perf_counter()
    for part in parts:
        read = assembler.add(part)
        if read is not None:
            found.append(read)
    decoded = time.perf_counter()
    Ledger(THRESHOLD).apply(found[0].changes)
    applied = time.perf_counter()
    return {
        "members": members,
        "MB": round(sum(map(len, parts)) / 1e6, 1),
        "snapshot, s": round(taken - start, 3),
        "encode, s": round(encoded - taken, 3),
        "decode, s": round(decoded - before, 3),
        "load, s": round(applied - decoded, 3),
    }


def _copied(members: int) -> Row:
    """The ledger copied in slices as a worker does, between frames that go on."""
    settler = Settler(THRESHOLD)
    stream = enumerate(_frames("of 4", 2 * members))
    for offset, edges in stream:
        settler.settle(EdgesFrame(edges=edges), offset)
        if 200 * offset >= members:
            break
    rewriter, pauses, settled, began = LedgerRewriter(least=0), list[float](), 0, time.perf_counter()
    for offset, edges in stream:
        settlement = settler.settle(EdgesFrame(edges=edges), offset)
        if settlement is None:
            continue
        settled += len(edges)
        written = sum(map(len, encode_ledger(settlement.record, 0)))
        rewriter.wrote(written)
        if rewriter.completed_pass() is not None:
            break
        slices, start = rewriter.slices(settler, written), time.perf_counter()
        for copied in slices:
            parts = encode_ledger(copied, 0)
            pauses.append(time.perf_counter() - start)
            rewriter.sent(len(parts), sum(map(len, parts)))
            for _ in parts:
                rewriter.delivered(0)
            start = time.perf_counter()
    took = time.perf_counter() - began
    return {
        "members": members,
        "slices": len(pauses),
        "MB": round(rewriter.sizes.copied / 1e6, 1),
        "longest pause, ms": round(max(pauses) * 1e3, 1),
        "of a hundred, ms": round(sorted(pauses)[len(pauses) * 99 // 100] * 1e3, 1),
        "slices together, s": round(sum(pauses), 3),
        "edges settled meanwhile": settled,
        "edges a second": round(settled / took),
    }


def _print_table(title: str, rows: Sequence[Row]) -> None:
    print(f"\n## {title}\n")
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        cells = (f"{value:,}" if isinstance(value, int) else str(value) for value in row.values())
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    raise SystemExit(main())
