"""The command `allpairs`: answers as those of `dedup`, and what ends a run."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.cli.runs import EXPECTED, LINES, LOW, STORY, Run, a_few_thousand, dedup, lines_of, stream_lsh


def allpairs(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    return stream_lsh("allpairs", *arguments, stdin=stdin, cwd=cwd)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES)
    return path


def test_pairs_are_written_as_dedup_writes_them(file: Path) -> None:
    run, other = allpairs(file, *LOW), dedup(file, *LOW)
    assert (run.code, run.pairs) == (0, EXPECTED)
    assert run.out == [one | {"pipeline": "allpairs"} for one in other.out]
    assert run.err.startswith("3 documents, 1 candidates, 1 pairs, 1 clusters, ")


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_pairs_and_groups_of_many_documents_are_those_of_dedup(tmp_path: Path, measure: str) -> None:
    (tmp_path / "docs.jsonl.gz").write_bytes(gzip.compress(a_few_thousand(600)))
    options = ["docs.jsonl.gz", "--measure", measure, "--threshold", "0.6", "--clusters"]
    run = allpairs(*options, "groups", "--memory", "64MB", "--jobs", "1", cwd=tmp_path)
    other = dedup(*options, "others", "--max-candidates", "0", "--recall", "0.9999", cwd=tmp_path)
    assert run.code == other.code == 0
    assert run.out == [one | {"pipeline": "allpairs"} for one in other.out]
    groups, others = (
        {tuple(sorted(json.loads(line)["members"])) for line in (tmp_path / name).read_text().splitlines()}
        for name in ("groups", "others")
    )
    assert groups == others
    assert len(groups) > 100


def test_standard_input_columns_and_rejects_are_as_of_dedup(tmp_path: Path) -> None:
    table = "id,body\n1,one two three four\n2,one two three four\n,nobody\n"
    rejects = tmp_path / "rejects"
    options = ("--format", "csv", "--text-column", "body", "--strict", "--quiet")
    run = allpairs("-", *options, "--rejects", rejects, stdin=table.encode())
    assert (run.code, run.pairs, run.err) == (1, {("1", "2"): 1.0}, "")
    assert json.loads(rejects.read_text())["line"] == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.jsonl", "neither"], "nothing.jsonl: there is no such file"),
        ([], "required: FILE"),
        (["docs.jsonl", "--threshold", "1.5"], "expected a number above 0 and below 1"),
        (["docs.jsonl", "--shingles", "words:3"], "did you mean 'word:3'"),
        (["docs.jsonl", "--recall", "0.9"], "got the option '--recall', which does not exist"),
        (["docs.jsonl", "--size-ratio", "3"], "--size-ratio: got 3, expected none"),
        (["docs.jsonl", "--memory", "much"], "--memory: got 'much', expected a size such as 512MB or 2GB"),
        (["docs.jsonl", "--memory", "1MB"], "memory: got 1,048,576 bytes, expected at least 67,108,864"),
        (["docs.jsonl", "--matches", "docs.jsonl"], "is an input"),
        (["docs.jsonl", "--matches", "x", "--clusters", "x"], "two outputs cannot be one file"),
    ],
)
def test_wrong_use_is_told_and_ends_with_2(file: Path, arguments: list[str], words: str) -> None:
    run = stream_lsh("allpairs", *arguments, cwd=file.parent)
    assert (run.code, run.out) == (2, [])
    assert words in run.err
    assert os.listdir(file.parent) == ["docs.jsonl"]


@pytest.mark.parametrize("output", ["--matches", "--clusters"])
def test_a_full_disk_ends_with_1_and_a_sentence(file: Path, output: str) -> None:
    run = allpairs(file, *LOW, output, "/dev/full")
    assert run.code == 1
    assert "/dev/full: cannot be written: No space left on device" in run.err


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_bytes(lines_of([{"id": str(n), "text": STORY} for n in range(300)]))
    command = f"{sys.executable} -m stream_lsh allpairs docs.jsonl | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, check=False, cwd=tmp_path)  # noqa: S603
    line, code = done.stdout.splitlines()
    assert json.loads(line)["similarity"] == 1.0
    assert (code, done.stderr) == (b"0", b"")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, code: int) -> None:
    endless, spilled = tmp_path / "endless", tmp_path / "spilled"
    os.mkfifo(endless)
    spilled.mkdir()
    command = [sys.executable, "-m", "stream_lsh", "allpairs", "endless", "--matches", "out"]
    process = subprocess.Popen(  # noqa: S603
        command, stderr=subprocess.PIPE, cwd=tmp_path, env=os.environ | {"TMPDIR": str(spilled)}
    )
    with endless.open("wb") as feeder:
        feeder.write(a_few_thousand(1000))
        feeder.flush()
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".out.*")) or not os.listdir(spilled):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert sorted(os.listdir(tmp_path)) == ["endless", "spilled"]
    assert os.listdir(spilled) == []
