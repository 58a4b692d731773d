"""Runs of the command, in a process of its own or in this one, and its inputs."""

import gc
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from stream_lsh.cli.main import main
from tests.evaluation.oracles import jaccard, word_windows

STORY = "the minister held on monday that the bridge would be closed for repairs until the end of the month"
EDITED = STORY.replace("monday", "tuesday")
OTHER = "quarterly figures of the shipping company were better than analysts had expected in spring"


class Run:
    """The exit code and the output of a run of the command."""

    def __init__(self, done: "subprocess.CompletedProcess[bytes]") -> None:
        self.code = done.returncode
        self.out = [json.loads(line) for line in done.stdout.splitlines()]
        self.err = done.stderr.decode()
        assert "Traceback" not in self.err, self.err

    @property
    def pairs(self) -> dict[tuple[str, str], float]:
        return {(one["left"], one["right"]): one["similarity"] for one in self.out}


def own_process(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """A run in a process of its own, for tests of signals, pipes, loaded modules and child processes."""
    command = [sys.executable, "-m", "stream_lsh", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, cwd=cwd)  # noqa: S603


def ran(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> "subprocess.CompletedProcess[bytes]":
    """A run in this process, without the start of an interpreter; it sees one core, so that it starts no children."""
    command = [str(argument) for argument in arguments]
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, ExitStack() as changed:
        source.write(stdin)
        source.seek(0)
        text = io.TextIOWrapper(source)
        changed.enter_context(patch.object(sys, "stdin", text))
        changed.enter_context(patch.object(os, "sched_getaffinity", return_value={0}))
        changed.enter_context(chdir(cwd or Path()))
        changed.callback(gc.unfreeze)
        err = changed.enter_context(redirect_stderr(io.StringIO()))
        printed = changed.enter_context(redirect_stdout(io.TextIOWrapper(out, write_through=True)))
        before = os.dup(1)
        os.dup2(out.fileno(), 1)
        try:
            code = main(command)
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            os.dup2(before, 1)
            os.close(before)
        printed.seek(0)
        return subprocess.CompletedProcess(command, code, printed.buffer.read(), err.getvalue().encode())


def stream_lsh(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    """A run of a command that prints JSON; one that is to start children gets a process of its own."""
    jobs = arguments[arguments.index("--jobs") + 1] if "--jobs" in arguments else "1"
    start = ran if jobs == "1" else own_process
    return Run(start(*arguments, stdin=stdin, cwd=cwd))


def dedup(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    return stream_lsh("dedup", *arguments, stdin=stdin, cwd=cwd)


def lines_of(documents: Sequence[object]) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


DOCUMENTS = [
    {"id": "a", "text": STORY, "time": "1970-01-01T00:00:01Z"},
    {"id": "b", "text": EDITED, "time": "1970-01-01T00:00:05Z", "more": {"unknown": [1]}},
    {"id": "c", "text": OTHER},
]
LINES = lines_of(DOCUMENTS)
SIMILARITY = jaccard(word_windows(STORY, 3), word_windows(EDITED, 3))
EXPECTED = {("a", "b"): SIMILARITY}
LOW = ("--threshold", "0.5")


def a_few_thousand(count: int = 4000) -> bytes:
    words = [f"w{number}" for number in range(500)]
    return lines_of(
        [
            {"id": str(n), "text": " ".join(words[(n // 2 * 7 + i * i) % 500] for i in range(150)) + f" {n % 2}"}
            for n in range(count)
        ]
    )
