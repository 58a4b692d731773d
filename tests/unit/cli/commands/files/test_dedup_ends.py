"""The ends of a run of `dedup`: damaged input, wrong use, a signal to several processes; more is in `test_ends`."""

import errno
import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import zstandard

from stream_lsh.cli.runs.signer_pool import Signers
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.shingled.methods import text_scheme
from tests.patience import PATIENCE
from tests.unit.cli.runs import (
    LINES,
    a_few_thousand,
    dedup,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES)
    return path


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("docs.jsonl.gz", gzip.compress(a_few_thousand(400))[:-3000], "gzip data end too early"),
        ("docs.jsonl.gz", gzip.compress(a_few_thousand(400))[:3000] + b"\xff" * 9000, "gzip data are damaged"),
        ("docs.jsonl.gz", b"not gzip at all", "is not; rename it"),
        ("docs.jsonl.zst", zstandard.compress(a_few_thousand(400))[:-3000], "zstd data end too early"),
    ],
)
def test_damaged_compressed_data_end_the_run(tmp_path: Path, jobs: str, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    run = dedup(tmp_path / name, "--jobs", jobs, "--matches", tmp_path / "matches")
    assert run.code == 1
    assert words in run.err
    assert str(tmp_path / name) in run.err
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.jsonl", "neither"], "nothing.jsonl: there is no such file"),
        ([], "required: FILE"),
        (["docs.jsonl", "--treshold", "0.5"], "got the option '--treshold', did you mean `--threshold`?\n"),
        (["docs.jsonl", "--threshold", "1.5"], "expected a number above 0 and up to 1"),
        (["docs.jsonl", "--threshold", "0.0001"], "raise the threshold"),
        (["docs.jsonl", "--shingles", "words:3"], "did you mean 'word:3'"),
        (["docs.jsonl", "--retention", "3 days"], "such as 3d"),
        (["docs.jsonl", "--max-candidates", "-1"], "a whole number from 0 on"),
        (["docs.jsonl", "--jobs", "0"], "a whole number from 1 on"),
        (["docs.jsonl", "--jobs", "2", "--shingles", "char:0"], "did you mean 'char:1'"),
        (["docs.jsonl", "--matches", "no/such/folder"], "no/such/folder: cannot be written"),
        (["docs.jsonl", "--matches", "docs.jsonl"], "is an input"),
        (["docs.jsonl", "--matches", "x", "--clusters", "x"], "two outputs cannot be one file"),
        (["docs.jsonl", "--clusters", "-"], "-: two outputs cannot be one file: name a file with --output\n"),
        (["docs.csv"], "got no column 'text', found 'id', 'body': set --text-column"),
    ],
)
def test_wrong_use_is_reported_and_ends_with_2(file: Path, arguments: list[str], words: str) -> None:
    (file.parent / "docs.csv").write_text("id,body\n1,x\n")
    run = dedup(*arguments, cwd=file.parent)
    assert (run.code, run.out) == (2, [])
    assert words in run.err
    assert sorted(os.listdir(file.parent)) == ["docs.csv", "docs.jsonl"]


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_an_interruption_leaves_no_child_behind(tmp_path: Path, number: signal.Signals, code: int) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    command = [sys.executable, "-m", "stream_lsh", "dedup", str(endless), "--jobs", "2", "--matches", "out"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=tmp_path, start_new_session=True)  # noqa: S603
    with endless.open("wb") as feeder:
        feeder.write(a_few_thousand(1000))
        feeder.flush()
        deadline = time.monotonic() + PATIENCE
        while len(children_of(process.pid)) < 2 or not list(tmp_path.glob(".out.*")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        children = children_of(process.pid)
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert os.listdir(tmp_path) == ["endless"]
    while any(map(alive, children)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_parent_that_is_killed_takes_its_children_with_it(tmp_path: Path) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    command = [sys.executable, "-m", "stream_lsh", "dedup", str(endless), "--jobs", "3"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603
    with endless.open("wb") as feeder:
        feeder.write(a_few_thousand(1000))
        feeder.flush()
        deadline = time.monotonic() + PATIENCE
        while len(children_of(process.pid)) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        children = children_of(process.pid)
        process.kill()
        process.wait()
    while any(map(alive, children)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("function", ["mmap.mmap", "os.fork"])
def test_more_processes_than_the_system_allows_are_reported_with_their_option(
    monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(function, refuse)
    with pytest.raises(ConfigError, match=r"--jobs: got 3, which the system refuses \(Cannot allocate memory\)"):
        Signers(2, text_scheme("lsh", 0.8, "word:3"))
