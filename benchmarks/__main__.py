"""All measurements, one after the other: `python -m benchmarks --data DIR [--results DIR]`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.documents import dedup, index, joins, ledger, quality, sketching
from benchmarks.worker import streaming


def main(argv: Sequence[str]) -> int:
    """Run everything; tables go to standard output, data to the folder of results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="All measurements against the peers.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parent / "results", help="folder of the data files"
    )
    options = parser.parse_args(argv)
    options.results.mkdir(parents=True, exist_ok=True)
    data, results = str(options.data), options.results
    sketching.main(["--data", data, "--out", str(results / "sketching.json")])
    index.main(["--out", str(results / "index.json")])
    ledger.main(["--out", str(results / "ledger.json")])
    dedup.main(["--data", data, "--out", str(results / "dedup.json")])
    joins.main(["--data", data, "--out", str(results / "joins.json")])
    plot = ["--plot", str(results / "quality.png")]
    quality.main(["--data", data, "--out", str(results / "quality.json"), *plot])
    streaming.main(["--data", data, "--out", str(results / "streaming.json")])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
