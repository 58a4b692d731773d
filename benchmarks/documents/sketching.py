"""Texts to band keys, and exact Jaccard, against datasketch and Python sets.

    python -m benchmarks.documents.sketching --data ../shared/data --out sketching.json

The texts are stretches of newsgroups20, joined; 128 slots, 16 bands of 8 rows.  datasketch takes the same shingles as
Python sets of bytes through `update_batch`, as documented, with its default scheme, and makes no band keys.
"""

import argparse
import gzip
import importlib.metadata
import json
import platform
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.timing import Timing, interleaved
from stream_lsh.arrays import U64
from stream_lsh.lsh.banding import Bands
from stream_lsh.measure.jaccard import shared_count, shared_counts, sorted_unique
from stream_lsh.sketch.catalog import scheme
from stream_lsh.text.catalog import shingler
from stream_lsh.text.digest import bag_digest
from stream_lsh.text.hashing.groups import groups
from stream_lsh.text.normalise import Normaliser

SIZES = {300: 256, 3_000: 256, 30_000: 32}
"""Characters of a text, and how many texts."""
BATCHES = (1, 16, 256)
SPECS = ("char:5", "word:3")
SLOTS, BANDS, ROWS = 128, 16, 8
PEER = "datasketch update_batch"

Row = dict[str, str | int | float]


def main(argv: Sequence[str] | None = None) -> int:
    """Measures, prints the tables, writes the results as JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds newsgroups20/")
    parser.add_argument("--out", type=Path, help="where to write the results as JSON")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="fewer texts and rounds: to see that it runs")
    options = parser.parse_args(argv)
    rounds = 2 if options.quick else options.rounds
    prose = _prose(options.data)
    keys = _keys_table(prose, rounds, quick=options.quick)
    exact = _exact_table(rounds)
    print("## text to band keys, us a document\n")
    _print_table(keys, ("characters", "shingles", "lane", "us", "spread", "gain"))
    print("\n## exact Jaccard, us a pair\n")
    _print_table(exact, ("set size", "lane", "us", "spread", "gain"))
    if options.out:
        about = {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "datasketch": importlib.metadata.version("datasketch"),
        }
        options.out.write_text(json.dumps({"about": about, "keys": keys, "exact": exact}, indent=1) + "\n")
    return 0


def _prose(data: Path) -> str:
    with gzip.open(data / "newsgroups20" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return "\n".join(json.loads(line)["text"] for line, _ in zip(lines, range(8_000), strict=False))


def _keys_table(prose: str, rounds: int, *, quick: bool) -> list[Row]:
    rows = []
    for size, count in SIZES.items():
        texts = [prose[i * size : (i + 1) * size] for i in range(min(count, 32) if quick else count)]
        for spec in SPECS:
            lanes = {f"batches of {batch}": _ours(texts, spec, batch) for batch in BATCHES if batch <= len(texts)}
            lanes[PEER] = _datasketch(texts, spec)
            took = interleaved(lanes, rounds)
            rows += [
                {"characters": size, "shingles": spec, **_row(lane, timing, took[PEER], len(texts))}
                for lane, timing in took.items()
            ]
    return rows


def _ours(texts: list[str], spec: str, batch: int) -> Callable[[], None]:
    normalise, shingles, sketch, bands = Normaliser(), shingler(spec), scheme(slots=SLOTS), Bands(BANDS, ROWS)

    def run() -> None:
        for start in range(0, len(texts), batch):
            some = [normalise(text) for text in texts[start : start + batch]]
            for group in groups(some):
                made = shingles(some[group])
                bag_digest(made)
                bands(sketch(made))

    return run


def _datasketch(texts: list[str], spec: str) -> Callable[[], None]:
    peer = importlib.import_module("datasketch")  # it has no types
    shingle_set = _char_set if spec.startswith("char") else _word_set
    k = int(spec.partition(":")[2])

    def run() -> None:
        for text in texts:
            peer.MinHash(num_perm=SLOTS).update_batch([s.encode() for s in shingle_set(text, k)])

    return run


def _char_set(text: str, k: int) -> set[str]:
    return {text[i : i + k] for i in range(len(text) - k + 1)}


def _word_set(text: str, k: int) -> set[str]:
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[i : i + k]) for i in range(len(words) - k + 1)}


def _exact_table(rounds: int) -> list[Row]:
    generator = np.random.default_rng(0)
    rows = []
    for size in (50, 450, 2_700):
        one = sorted_unique(generator.integers(0, 1 << 64, size, np.uint64))
        shared = int(0.6 * size)
        many = [
            sorted_unique(
                np.concatenate(
                    (
                        generator.choice(one, shared, replace=False),
                        generator.integers(0, 1 << 64, size - shared, np.uint64),
                    )
                )
            )
            for _ in range(64)
        ]
        took = interleaved(_exact_lanes(one, many), rounds)
        rows += [{"set size": size, **_row(lane, t, took["Python sets"], len(many))} for lane, t in took.items()]
    return rows


def _exact_lanes(one: U64, many: list[U64]) -> dict[str, Callable[[], object]]:
    members, sets = set(one.tolist()), [set(other.tolist()) for other in many]
    return {
        "Python sets": lambda: [len(members & other) for other in sets],
        "pair by pair": lambda: [shared_count(one, other) for other in many],
        "one against 64": lambda: shared_counts(one, many),
    }


def _row(lane: str, timing: Timing, reference: Timing, count: int) -> Row:
    return {
        "lane": lane,
        "us": round(timing.seconds / count * 1e6, 2),
        "spread": round(timing.spread, 3),
        "gain": round(reference.seconds / timing.seconds, 1),
    }


def _print_table(rows: list[Row], columns: tuple[str, ...]) -> None:
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(str(row[column]) for column in columns) + " |")


if __name__ == "__main__":
    raise SystemExit(main())
