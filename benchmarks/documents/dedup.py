"""The command `dedup` as a whole: `python -m benchmarks.documents.dedup --data DIR`, or one part with its option.

speed       newsgroups20 (19,997 documents, .jsonl.gz), T = .5: the whole process, start to end, against a script that
            does the same with datasketch; runs alternate
quality     pairs found of those that an exact comparison of every two documents found, on corpora of several kinds
--templates texts that are made from templates, or short, in many scripts: pairs found of those of `--method exact`
--memory    a million synthetic documents of 1 KB: most memory of all processes together, time a document
--parquet   the same documents in Parquet with a clean file as the output, against JSON lines without one
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.timing import Timing
from tests.evaluation.corpora import exact_pairs, pair_of

Pairs = dict[tuple[str, str], float]

_ROUNDS = 5
_ROUNDING = 0.00005  # of the similarities in the files of exact pairs
_TEMPLATE_THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
_DOCUMENTS = 1_000_000
_VOCABULARY = 50_000


@dataclass(frozen=True, slots=True)
class Quality:
    """How the pairs that were found compare with the exact ones: recall, precision, similarities that differ."""

    documents: str
    threshold: float
    caps: str
    pairs: int
    recall: float
    precision: float
    differing: int


@dataclass(frozen=True, slots=True)
class Memory:
    """A run over synthetic documents: us a document, and the most megabytes that all its processes had together."""

    documents: int
    jobs: int
    us_per_document: float
    peak_mb: float


def main(argv: Sequence[str]) -> int:
    """Measure and print; with --out also write the figures as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.documents.dedup", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="file for the figures")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help=f"runs of each contender (default {_ROUNDS})")
    parser.add_argument("--memory", action="store_true", help="only the million documents; takes minutes and 1.1 GB")
    parser.add_argument("--templates", action="store_true", help="only the texts made from templates")
    parser.add_argument("--parquet", action="store_true", help="only Parquet; takes minutes and 2 GB")
    parser.add_argument("--documents", type=int, default=_DOCUMENTS, help="of --memory and --parquet")
    options = parser.parse_args(argv)
    # As installed: with compiled modules, which an environment for development may switch off.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="dedup-") as folder:
        if options.templates:
            figures: dict[str, object] = {"templates": _templates(options.data, Path(folder))}
        elif options.memory:
            figures = {"memory": _memory(Path(folder), options.documents)}
        elif options.parquet:
            figures = {"parquet": _parquet(Path(folder), options.documents, options.rounds)}
        else:
            figures = _speed(options.data, Path(folder), options.rounds)
            figures["quality"] = _quality(options.data, Path(folder))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1, default=asdict) + "\n")
    return 0


def _command(source: Path, matches: Path, threshold: float, *more: str) -> list[str]:
    options = ["--threshold", str(threshold), "--matches", str(matches), "--quiet", *more]
    return [sys.executable, "-m", "stream_lsh", "dedup", str(source), *options]


def _run(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True)  # noqa: S603 - our own commands
    return time.perf_counter() - start


# -- speed


def _speed(data: Path, folder: Path, rounds: int) -> dict[str, object]:
    source, threshold = data / "newsgroups20" / "docs.jsonl.gz", 0.5
    out = {name: folder / f"{name}.jsonl" for name in ("jobs 1", "jobs 2", "datasketch")}
    peer = ["-m", "benchmarks.documents.datasketch_dedup", str(source), str(out["datasketch"]), str(threshold)]
    lanes = {
        "jobs 1": _command(source, out["jobs 1"], threshold, "--jobs", "1"),
        "jobs 2": _command(source, out["jobs 2"], threshold, "--jobs", "2"),
        "datasketch": [sys.executable, *peer],
    }
    took: dict[str, list[float]] = {name: [] for name in lanes}
    _run(lanes["jobs 1"])
    for _ in range(rounds):
        for name, lane in lanes.items():
            took[name].append(_run(lane))
    timings = {name: _timing(times) for name, times in took.items()}
    exact = exact_pairs(data / "newsgroups20" / "pairs_exact_jaccard.csv.gz")
    print("newsgroups20, T = .5, whole process, exact verification\n")
    print("contender      seconds  spread  datasketch / it  recall  precision")
    for name, timing in timings.items():
        found = _compared("newsgroups20", threshold, "", _matches(out[name]), exact)
        ratio = timings["datasketch"].seconds / timing.seconds
        print(
            f"{name:<13}{timing.seconds:>9.2f}{timing.spread:>8.0%}{ratio:>17.1f}{found.recall:>8.4f}"
            f"{found.precision:>11.4f}"
        )
    print()
    same = out["jobs 1"].read_bytes() == out["jobs 2"].read_bytes()
    print(f"matches with 1 and 2 jobs are {'the same bytes' if same else 'DIFFERENT'}\n")
    return {"speed": timings, "same": same}


def _timing(times: list[float]) -> Timing:
    median = statistics.median(times)
    return Timing(median, (max(times) - min(times)) / median)


# -- quality


def _quality(data: Path, folder: Path) -> list[Quality]:
    print("documents          T   caps      pairs  recall  precision  similarities that differ")
    out, rows = folder / "found.jsonl", []
    for name, source, truth, thresholds in _corpora(data, folder):
        exact = exact_pairs(truth)
        for threshold in thresholds:
            for caps, more in (("default", ()), ("lifted", ("--max-candidates", "0"))):
                _run(_command(source, out, threshold, *more))
                row = _compared(name, threshold, caps, _matches(out), exact)
                print(
                    f"{name:<16}{threshold:>4}   {caps:<8}{row.pairs:>7}{row.recall:>8.4f}{row.precision:>11.4f}"
                    f"{row.differing:>12}"
                )
                rows.append(row)
    print()
    return rows


def _corpora(data: Path, folder: Path) -> Iterator[tuple[str, Path, Path, tuple[float, ...]]]:
    """Name, documents, exact pairs, thresholds of each."""
    for name, thresholds in (("newsgroups20", (0.5, 0.8)), ("llvm_docs_pages", (0.8, 0.9))):
        yield name, data / name / "docs.jsonl.gz", data / name / "pairs_exact_jaccard.csv.gz", thresholds
    for size in (100, 1000, 2500):
        file = data / "mccormick" / f"articles_{size}.train"
        if file.exists():
            truth = data / "mccormick" / f"pairs_exact_jaccard_{size}.csv.gz"
            yield f"mccormick {size}", _lines_of_mccormick(file, folder), truth, (0.5,)


def _templates(data: Path, folder: Path) -> list[Quality]:
    print("documents           shingles   T      pairs  recall  precision")
    found, exact, rows = folder / "found.jsonl", folder / "exact.jsonl", []
    for name, shingles in product(("licence_texts_3000", "tldr_scripts"), ("mixed:3", "char:5")):
        source = data / name / "docs.jsonl.gz"
        _run(_command(source, exact, min(_TEMPLATE_THRESHOLDS), "--shingles", shingles, "--method", "exact"))
        wanted = _matches(exact)
        for threshold in _TEMPLATE_THRESHOLDS:
            _run(_command(source, found, threshold, "--shingles", shingles))
            row = _compared(f"{name}, {shingles}", threshold, "default", _matches(found), wanted)
            print(
                f"{name:<20}{shingles:<9}{threshold:>4}{row.pairs:>10}{row.recall:>9.4f}{row.precision:>11.4f}",
                flush=True,
            )
            rows.append(row)
    print()
    return rows


def _compared(name: str, threshold: float, caps: str, found: Pairs, exact: Pairs) -> Quality:
    wanted = {pair for pair, similarity in exact.items() if similarity >= threshold}
    right = {pair for pair in found if exact.get(pair, 0.0) >= threshold - _ROUNDING}
    differing = sum(abs(found[pair] - exact[pair]) > _ROUNDING * 1.01 for pair in right)
    recall = len(wanted & found.keys()) / max(1, len(wanted))
    return Quality(name, threshold, caps, len(found), recall, len(right) / max(1, len(found)), differing)


def _lines_of_mccormick(file: Path, folder: Path) -> Path:
    """`ID TEXT` a line becomes JSON lines."""
    out = folder / f"{file.stem}.jsonl"
    with file.open(encoding="latin-1") as lines, out.open("w", encoding="utf-8") as target:
        for line in lines:
            id, _, text = line.rstrip("\n").partition(" ")
            target.write(json.dumps({"id": id, "text": text}) + "\n")
    return out


def _matches(path: Path) -> Pairs:
    with path.open(encoding="utf-8") as lines:
        return {pair_of(one["left"], one["right"]): one["similarity"] for one in map(json.loads, lines)}


# -- memory


def _memory(folder: Path, documents: int) -> list[Memory]:
    print("documents  jobs  us a document  most memory, MB")
    rows = []
    for count in (10_000, documents):
        source = folder / "synthetic.jsonl"
        _write_synthetic(source, count)
        for jobs in (1, 2):
            seconds, peak = _watched(_command(source, Path(os.devnull), 0.8, "--jobs", str(jobs)))
            row = Memory(count, jobs, seconds / count * 1e6, peak / 1e6)
            print(f"{row.documents:>9}{row.jobs:>6}{row.us_per_document:>15.1f}{row.peak_mb:>17.0f}", flush=True)
            rows.append(row)
    print()
    return rows


def _parquet(folder: Path, documents: int, rounds: int) -> dict[str, object]:
    """Seconds with JSON lines and with Parquet in and out, for each round; the most megabytes with Parquet."""
    source, table, clean = (folder / name for name in ("synthetic.jsonl", "synthetic.parquet", "clean.parquet"))
    _write_synthetic(source, documents)
    parquet, reader = import_module("pyarrow.parquet"), import_module("pyarrow.json")
    parquet.write_table(reader.read_json(source), table)
    cleaning = _command(table, Path(os.devnull), 0.8, "--keep", "first", "--output", str(clean))
    print("JSON lines, s  Parquet to a clean file, s  ratio")
    seconds = []
    for _ in range(rounds):
        without, to_clean = _run(_command(source, Path(os.devnull), 0.8)), _run(cleaning)
        seconds.append((without, to_clean))
        print(f"{without:>13.1f}{to_clean:>28.1f}{to_clean / without:>7.3f}", flush=True)
    _, peak = _watched(cleaning)
    print(f"most memory: {peak / 1e6:.0f} MB\n")
    return {"seconds": seconds, "peak_mb": peak / 1e6}


def _write_synthetic(path: Path, count: int) -> None:
    """Documents of 1 KB: words drawn by Zipf's law; one in ten is an earlier one with its last words replaced."""
    random = np.random.default_rng(1)
    words = np.array([f"w{number:x}" for number in range(_VOCABULARY)], object)
    weights = 1 / np.arange(10, _VOCABULARY + 10)
    bounds = np.cumsum(weights / weights.sum())
    earlier = ""
    with path.open("w", encoding="utf-8") as out:
        for start in range(0, count, 1000):
            drawn = words[np.searchsorted(bounds, random.random((min(1000, count - start), 200)), side="right")]
            for at, row in enumerate(drawn):
                text = " ".join(row)[:1000]
                if at % 10 == 9:
                    text = earlier[:950] + text[:50]
                earlier = text
                out.write(f'{{"id": "document-{start + at}", "text": "{text}"}}\n')


def _watched(command: Sequence[str]) -> tuple[float, float]:
    """Seconds, and the most bytes that a process and its children had: shared memory counts once."""
    start, peak = time.perf_counter(), 0
    with subprocess.Popen(command) as process:  # noqa: S603 - our own command
        while process.poll() is None:
            peak = max(peak, sum(map(_proportional_bytes, [process.pid, *_children(process.pid)])))
            time.sleep(0.05)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.perf_counter() - start, float(peak)


def _children(pid: int) -> Iterator[int]:
    try:
        yield from map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    except OSError:
        return


def _proportional_bytes(pid: int) -> int:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
