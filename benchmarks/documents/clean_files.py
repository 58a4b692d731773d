"""A file without its near-duplicates: `python -m benchmarks.documents.clean_files --data DIR --peers PYTHON`.

The same file of JSON lines goes through `stream-lsh dedup --keep first`, text-dedup and datatrove, one process each, in
turn.  PYTHON is the interpreter of an environment with the peers:

    python3 -m venv peers
    peers/bin/pip install text-dedup==0.4.0 datatrove==0.10.1 spacy orjson

All use shingles of three words.  text-dedup has the same threshold, and its default weights of errors.  datatrove has
its default buckets, 14 of 8 hashes.  Both remove candidates without comparing them.

The truth is the components of the exact pairs of the corpus at the threshold: all but one document of each are copies.
Recall is the share of the copies that were removed, precision the share of copies among the removed documents.
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.documents import datatrove_dedup
from tests.evaluation.clustering import components
from tests.evaluation.corpora import exact_pairs

CORPORA = {"newsgroups20": 0.8, "llvm_docs_pages": 0.8}
"""Corpora with exact pairs, and the threshold."""
_ROUNDS = 3


class Lane(NamedTuple):
    """A contender: its command for a clean file, and the reader of the ids that are left."""

    command: Sequence[str]
    kept: Callable[[], set[str]]


class Run(NamedTuple):
    """The cost of a run, and the ids that it left."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class Row:
    """A contender on a corpus: medians of all rounds, and the spread of CPU time."""

    corpus: str
    contender: str
    seconds: float
    cpu_seconds: float
    spread: float
    peak_mb: float
    removed: int
    recall: float
    precision: float


def main(argv: Sequence[str]) -> int:
    """Measure and print a table; with --out also write it as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.documents.clean_files",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--peers", type=Path, required=True, help="Python of the environment of the peers")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help=f"runs of each contender (default {_ROUNDS})")
    parser.add_argument("--out", type=Path, help="file for the rows")
    options = parser.parse_args(argv)
    print("| corpus | contender | seconds | CPU s | spread | peak MB | removed | recall | precision |")
    print("|---|---|---|---|---|---|---|---|---|")
    rows = list[Row]()
    for corpus, threshold in CORPORA.items():
        with tempfile.TemporaryDirectory(prefix="clean-") as folder:
            source = _unpacked(options.data / corpus / "docs.jsonl.gz", Path(folder))
            lanes = _lanes(source, Path(folder), options.peers.absolute(), threshold)
            runs: dict[str, list[Run]] = {name: [] for name in lanes}
            for _ in range(options.rounds):
                for name, lane in lanes.items():
                    runs[name].append(_run(lane, Path(folder) / "out"))
            with source.open(encoding="utf-8") as lines:
                ids = {json.loads(line)["id"] for line in lines}
        exact = exact_pairs(options.data / corpus / "pairs_exact_jaccard.csv.gz")
        groups = components(pair for pair, similarity in exact.items() if similarity >= threshold)
        for name, of_lane in runs.items():
            row = _row(corpus, name, of_lane, ids, groups)
            rows.append(row)
            print(
                "| " + " | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in asdict(row).values()) + " |"
            )
    if options.out:
        options.out.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return 0


def _unpacked(source: Path, folder: Path) -> Path:
    """The ids and texts of a corpus as JSON lines, since text-dedup reads no compressed lines from a disk."""
    (folder / "in").mkdir()
    path = folder / "in" / "docs.jsonl"
    with gzip.open(source, "rt", encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
        for line in lines:
            document = json.loads(line)
            out.write(json.dumps({"id": document["id"], "text": document["text"]}) + "\n")
    return path


def _lanes(source: Path, folder: Path, python: Path, threshold: float) -> Mapping[str, Lane]:
    """The contenders; all outputs are in `folder / "out"`."""
    out = folder / "out"
    clean, text_dedup, datatrove = out / "clean.jsonl", out / "text-dedup", out / "datatrove"
    ours = [sys.executable, "-m", "stream_lsh", "dedup", str(source), "--threshold", str(threshold), "--quiet"]
    theirs = [str(python), "-m", "text_dedup.minhash", "--path", "json", "--data_files", str(source)]
    theirs += ["--split", "train", "--column", "text", "--ngram", "3", "--min_length", "1", "--num_perm", "128"]
    theirs += ["--threshold", str(threshold), "--num_proc", "1", "--cache_dir", str(out / "cache")]
    script = str(Path(datatrove_dedup.__file__))
    return {
        "stream_lsh": Lane([*ours, "--jobs", "1", "--keep", "first", "-o", str(clean)], partial(_ids, clean)),
        "text-dedup": Lane([*theirs, "--output", str(text_dedup)], partial(_ids_of_dataset, text_dedup)),
        "datatrove": Lane(
            [str(python), script, str(source), str(datatrove)], partial(_ids, datatrove / "clean" / "00000.jsonl.gz")
        ),
    }


def _run(lane: Lane, out: Path) -> Run:
    """A run into a new folder, which is removed afterwards: the peers skip work whose results they find."""
    out.mkdir()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(out / "home")}
    log = out / "log.txt"
    started = time.perf_counter()
    with log.open("wb") as errors:
        process = subprocess.Popen(lane.command, env=environment, stdout=errors, stderr=errors)  # noqa: S603 - our own
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{lane.command[:3]} has failed:\n{log.read_text(errors='replace')[-2_000:]}")
    kept = frozenset(lane.kept())
    shutil.rmtree(out)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1_000, kept)


def _ids(path: Path) -> set[str]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        return {json.loads(line)["id"] for line in lines}


def _ids_of_dataset(folder: Path) -> set[str]:
    ipc: Any = import_module("pyarrow.ipc")
    ids = set[str]()
    for path in folder.glob("*.arrow"):
        with ipc.open_stream(path.read_bytes()) as reader:
            ids.update(reader.read_all()["id"].to_pylist())
    return ids


def _row(corpus: str, contender: str, runs: Sequence[Run], ids: set[str], groups: Sequence[set[str]]) -> Row:
    cpu = [run.cpu_seconds for run in runs]
    removed = ids - runs[0].kept
    copies = sum(len(group) - 1 for group in groups)
    right = sum(min(len(group & removed), len(group) - 1) for group in groups)
    return Row(
        corpus,
        contender,
        statistics.median(run.seconds for run in runs),
        statistics.median(cpu),
        (max(cpu) - min(cpu)) / statistics.median(cpu),
        max(run.peak_mb for run in runs),
        len(removed),
        right / copies,
        right / max(1, len(removed)),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
