"""`stream-lsh mirrors` on two versions of real documentation: against containment by Python sets of every two pages."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evaluation.oracles import word_windows

pytestmark = pytest.mark.corpus

SITES = ("clang-15", "clang-16")
THRESHOLD, RATIO = 0.8, 2.0


def test_two_versions_of_the_clang_pages_are_mirrors(data_dir: Path, tmp_path: Path) -> None:
    with gzip.open(data_dir / "llvm_docs_pages" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        pages = [one for one in map(json.loads, lines) if one["id"].startswith(SITES)]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in pages))
    command = [sys.executable, "-m", "stream_lsh", "mirrors", str(path), "--url-column", "id"]
    # Templates of C++ look like tags.
    options = ["--html", "off", "--json", "--max-candidates", "0"]
    done = subprocess.run([*command, *options], capture_output=True, check=True)  # noqa: S603
    (found,) = map(json.loads, done.stdout.splitlines())
    shingles = {one["id"]: set(word_windows(one["text"], 3)) for one in pages}
    mirrored = {site: 0 for site in SITES}
    for id, own in shingles.items():
        others = [other for other_id, other in shingles.items() if other_id[:8] != id[:8]]
        mirrored[id[:8]] += any(contained(own, other) for other in others)
    assert [found["left"], found["right"]] == [*SITES]
    assert [found["left_pages"], found["right_pages"]] == [sum(id[:8] == site for id in shingles) for site in SITES]
    # The bands find a pair at the threshold with .99; most of these are far above it.
    for key, site in zip(("left_mirrored", "right_mirrored"), SITES, strict=True):
        assert mirrored[site] - 2 <= found[key] <= mirrored[site]
    assert min(mirrored.values()) > 60


def contained(own: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> bool:
    sizes = sorted((len(own), len(other)))
    return sizes[0] > 0 and sizes[1] <= RATIO * sizes[0] and len(own & other) >= THRESHOLD * len(own)
