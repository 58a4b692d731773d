"""What ends a run of `sets` and `neighbours`: a full disk, a reader that has had enough, a signal, clashing outputs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.cli.runs import lines_of, stream_lsh

SETS = lines_of([{"id": str(number), "items": ["a", "b"]} for number in range(200)])
VECTORS = lines_of([{"id": str(number), "vector": [1, 2]} for number in range(200)])
both = pytest.mark.parametrize(
    ("command", "lines"), [(["sets"], SETS), (["neighbours", "--within", "5"], VECTORS)], ids=["sets", "neighbours"]
)


@both
@pytest.mark.parametrize("output", ["--matches", "--clusters", "--rejects"])
def test_a_full_disk_ends_with_1_and_a_sentence(command: list[str], lines: bytes, output: str) -> None:
    run = stream_lsh(*command, "-", output, "/dev/full", stdin=lines + b"nonsense\n")
    assert run.code == 1
    assert "/dev/full: cannot be written: No space left on device" in run.err


@both
@pytest.mark.parametrize("more", [[], ["--query", "FILE"]])
def test_a_reader_that_has_had_enough_is_no_error(
    tmp_path: Path, command: list[str], lines: bytes, more: list[str]
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(lines)
    words = [sys.executable, "-m", "stream_lsh", *command, path, *(path if word == "FILE" else word for word in more)]
    script = f"{' '.join(map(str, words))} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False)  # noqa: S603
    line, code = done.stdout.splitlines()
    assert json.loads(line)["similarity"] == 1.0
    assert code == b"0"
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr


@both
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_leaves_nothing_behind(
    tmp_path: Path, command: list[str], lines: bytes, number: signal.Signals, code: int
) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    words = [sys.executable, "-m", "stream_lsh", *command, str(endless), "--matches", "out"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, cwd=tmp_path)  # noqa: S603
    with endless.open("wb") as feeder:
        feeder.write(lines)
        feeder.flush()
        deadline = time.monotonic() + 20
        while not list(tmp_path.glob(".out.*")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert os.listdir(tmp_path) == ["endless"]


@both
def test_damaged_compressed_data_end_the_run(tmp_path: Path, command: list[str], lines: bytes) -> None:
    (tmp_path / "in.jsonl.gz").write_bytes(b"\x1f\x8b" + lines)
    run = stream_lsh(*command, "in.jsonl.gz", "--matches", "out", cwd=tmp_path)
    assert run.code == 1
    assert "in.jsonl.gz: the gzip data are damaged" in run.err
    assert os.listdir(tmp_path) == ["in.jsonl.gz"]


@both
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--matches", "in.jsonl"], "is an input, and would be replaced"),
        (["--query", "q.jsonl", "--matches", "q.jsonl"], "is an input, and would be replaced"),
        (["--matches", "x", "--rejects", "x"], "two outputs cannot be one file"),
        (["--matches", "no/such/folder"], "no/such/folder: cannot be written"),
    ],
)
def test_outputs_that_cannot_be_are_refused(
    tmp_path: Path, command: list[str], lines: bytes, arguments: list[str], told: str
) -> None:
    for name in ("in.jsonl", "q.jsonl"):
        (tmp_path / name).write_bytes(lines)
    run = stream_lsh(*command, "in.jsonl", *arguments, cwd=tmp_path)
    assert (run.code, run.out) == (2, [])
    assert told in run.err
    assert (tmp_path / "in.jsonl").read_bytes() == lines


@both
def test_a_query_that_is_deleted_is_named_and_counted(tmp_path: Path, command: list[str], lines: bytes) -> None:
    (tmp_path / "q.jsonl").write_bytes(lines_of([{"id": "gone", "deleted": True}]) + lines[: lines.index(b"\n") + 1])
    run = stream_lsh(*command, "-", "--query", tmp_path / "q.jsonl", stdin=lines)
    assert len(run.out) == 200
    assert "gone: rejected (deleted)" in run.err
    assert "1 asked about, 1 of them have a match, 200 matches" in run.err
    assert "1 rejected: deleted 1" in run.err
