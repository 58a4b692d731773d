"""The ends of the runs of all commands that read documents: a full disk, a closed pipe, a signal."""

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import IO

import pytest

from tests.patience import PATIENCE
from tests.unit.applications.test_duplicate_code import RENAMED, TOTAL
from tests.unit.cli.commands.files.test_link import PROFILE, UNLEARNED, people
from tests.unit.cli.runs import OTHER, STORY, a_few_thousand, lines_of, ran, stream_lsh

COPIES = [str(number) for number in range(200)]
CONTENTS = {
    "texts.jsonl": lines_of([{"id": id, "text": STORY} for id in COPIES]),
    "essays.jsonl": lines_of([{"id": id, "text": f"{STORY} and {OTHER}"} for id in COPIES[:2]]),
    "sets.jsonl": lines_of([{"id": id, "items": ["a", "b"]} for id in COPIES]),
    "vectors.jsonl": lines_of([{"id": id, "vector": [1, 2]} for id in COPIES]),
    "people.jsonl": people(1000),
    "a.py": TOTAL.encode(),
    "b.py": RENAMED.encode(),
    "p.toml": PROFILE.encode(),
    "new.toml": UNLEARNED.encode(),
}
PAIRS = ["dedup texts.jsonl", "allpairs texts.jsonl", "sets sets.jsonl", "neighbours vectors.jsonl --within 5"]
"""Commands that write pairs."""
QUERIES = ["sets sets.jsonl --query sets.jsonl", "neighbours vectors.jsonl --within 5 --query vectors.jsonl"]
INPUTS = {
    "dedup endless --jobs 1": a_few_thousand(1000),
    "allpairs endless": a_few_thousand(1000),
    "sets endless": CONTENTS["sets.jsonl"],
    "neighbours endless --within 5": CONTENTS["vectors.jsonl"],
    "link endless --profile p.toml": people(),
    "link endless --profile new.toml": people(),
}
"""The input of commands that are interrupted."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in CONTENTS.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("output", ["--matches", "--clusters", "--rejects"])
@pytest.mark.parametrize("command", PAIRS)
def test_a_full_disk_ends_with_1_and_a_sentence(folder: Path, command: str, output: str) -> None:
    name, file, *options = command.split()
    with (folder / file).open("ab") as more:
        more.write(b"nonsense\n")
    run = stream_lsh(name, file, *options, output, "/dev/full", cwd=folder)
    assert run.code == 1
    assert "/dev/full: cannot be written: No space left on device" in run.err


@pytest.mark.parametrize(
    "command", [PAIRS[0], "clones . --least-tokens 20", "plagiarism essays.jsonl", "--help", "dedup --help"]
)
def test_a_full_disk_behind_standard_output_ends_with_1(folder: Path, command: str) -> None:
    words = [sys.executable, "-m", "stream_lsh", *command.split()]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, cwd=folder, check=False)  # noqa: S603
    assert done.returncode == 1
    assert b"standard output: cannot be written: No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", [*PAIRS, *QUERIES, "link people.jsonl --profile p.toml", "tune"])
def test_a_reader_that_has_had_enough_is_no_error(folder: Path, command: str) -> None:
    more = {"tune": ""}.get(command, "--quiet") + " --clusters groups" * (command in PAIRS)
    script = f"{sys.executable} -m stream_lsh {command} {more} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False, cwd=folder)  # noqa: S603
    line, code = done.stdout.splitlines()
    assert (code, done.stderr) == (b"0", b"")
    if command.startswith("link"):
        assert json.loads(line)["size"] >= 2
    elif command != "tune":
        assert json.loads(line)["similarity"] == 1.0
    if command in PAIRS:
        assert len(json.loads((folder / "groups").read_text())["members"]) == len(COPIES)


def waiting(pipe: IO[bytes]) -> int:
    """The bytes in a pipe that were not read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize("command", INPUTS)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_an_interruption_leaves_nothing_behind(folder: Path, command: str, number: signal.Signals, code: int) -> None:
    spilled = folder / "spilled"
    spilled.mkdir()
    os.mkfifo(folder / "endless")
    before = sorted(os.listdir(folder))
    words = [sys.executable, "-m", "stream_lsh", *command.split(), "--matches", "out"]
    environment = os.environ | {"TMPDIR": str(spilled)}
    process = subprocess.Popen(words, stderr=subprocess.PIPE, cwd=folder, env=environment)  # noqa: S603
    with (folder / "endless").open("wb") as feeder:
        feeder.write(INPUTS[command])
        feeder.flush()
        deadline = time.monotonic() + PATIENCE
        spills = command.startswith("allpairs")
        while not list(folder.glob(".out.*")) or waiting(feeder) or (spills and not os.listdir(spilled)):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert b"no partial output file remains" in err
    assert b"Traceback" not in err
    assert sorted(os.listdir(folder)) == before
    assert os.listdir(spilled) == []


def test_under_nohup_a_command_outlives_its_terminal(folder: Path) -> None:
    os.mkfifo(folder / "endless")
    words = ["nohup", sys.executable, "-m", "stream_lsh", "allpairs", "endless", "--clusters", "groups"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)  # noqa: S603
    with (folder / "endless").open("wb") as feeder:
        feeder.write(CONTENTS["texts.jsonl"])
        feeder.flush()
        deadline = time.monotonic() + PATIENCE
        while not list(folder.glob(".groups.*")) or waiting(feeder):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert len(json.loads((folder / "groups").read_text())["members"]) == len(COPIES)


@pytest.mark.parametrize(
    "command",
    [
        "dedup -",
        "dedup --jobs 1 -",
        "allpairs -",
        "plagiarism -",
        "link - --profile p.toml --format csv",
        "neighbours texts.jsonl --query - --within 5",
        "evaluate - texts.jsonl",
        "feed --config news.toml --format jsonl -",
        "query - --url http://127.0.0.1:1 --pipeline news",
    ],
)
def test_a_closed_standard_input_is_reported_in_one_line(folder: Path, command: str) -> None:
    (folder / "news.toml").write_text('[[pipeline]]\nsource = "docs"\n')
    script = f"{sys.executable} -m stream_lsh {command} <&-"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False, cwd=folder)  # noqa: S603
    assert done.stderr == b"stream-lsh: -: standard input is closed, expected a pipe or a file, as in `< FILE`\n"
    assert done.returncode == 2


def test_the_review_of_a_closed_standard_input_needs_a_terminal(folder: Path) -> None:
    script = f"{sys.executable} -m stream_lsh review people.jsonl --profile p.toml --labels l.csv <&-"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False, cwd=folder)  # noqa: S603
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr
    assert b"review needs a terminal, got a standard input that is none" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "dedup wrong.jsonl",
        "dedup wrong.jsonl --query texts.jsonl",
        "news wrong.jsonl",
        "mirrors wrong.jsonl",
        "allpairs wrong.jsonl",
        "plagiarism wrong.jsonl",
        "clones wrong.py",
        "link wrong.jsonl --profile p.toml",
        "sets wrong.jsonl",
        "neighbours wrong.jsonl --within 5",
        "train wrong.jsonl people.jsonl --profile p.toml --strict",
        "profile infer wrong.jsonl people.jsonl --strict",
        "evaluate wrong.jsonl groups.jsonl",
        "tune wrong.jsonl texts.jsonl --strict",
    ],
)
def test_quiet_does_not_silence_why_a_run_failed(folder: Path, command: str) -> None:
    (folder / "wrong.jsonl").write_bytes(b"nonsense\n")
    (folder / "wrong.py").write_bytes(b"\0")
    (folder / "groups.jsonl").write_bytes(lines_of([{"id": "1", "cluster": "a"}, {"id": "2", "cluster": "a"}]))
    run = ran(*command.split(), "--quiet", cwd=folder)
    reason = "binary" if command.startswith("clones") else "json"
    expected = f"stream-lsh: 1 rejected: {reason} 1; --rejects lists them\n"
    assert (run.returncode, run.stderr.decode()) == (1, expected)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize(
    "command", [*PAIRS, "dedup texts.jsonl wrong.jsonl --jobs 2", "link people.jsonl --profile p.toml"]
)
def test_results_do_not_depend_on_standard_error(folder: Path, command: str, redirection: str) -> None:
    (folder / "wrong.jsonl").write_bytes(b"nonsense\n")
    script = f"{sys.executable} -m stream_lsh {command} --matches out {redirection}"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False, cwd=folder)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line) for line in (folder / "out").read_bytes().splitlines()]


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_failure_that_cannot_be_printed_has_its_exit_code(folder: Path, redirection: str) -> None:
    script = f"{sys.executable} -m stream_lsh dedup nothing.jsonl --matches out {redirection}"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False, cwd=folder)  # noqa: S603
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_results_do_not_depend_on_a_terminal_that_shows_the_progress(folder: Path) -> None:
    os.mkfifo(folder / "endless")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "stream_lsh", "dedup", "endless", "--jobs", "1", "--matches", "out"]
    process = subprocess.Popen(words, stderr=theirs, cwd=folder)  # noqa: S603
    os.close(theirs)
    lines = a_few_thousand(2000).splitlines(keepends=True)
    with (folder / "endless").open("wb") as feeder:
        for number in range(0, len(lines), 50):
            feeder.write(b"".join(lines[number : number + 50]))
            feeder.flush()
            if ours >= 0 and select.select([ours], [], [], 0.02)[0]:
                os.close(ours)
                ours = -1
    assert ours < 0
    assert process.wait(PATIENCE) == 0
    assert len((folder / "out").read_bytes().splitlines()) >= len(lines) // 2
