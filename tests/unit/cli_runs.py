"""Running the command in a process of its own, and what it is fed."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.oracles import jaccard, word_windows

STORY = "the minister said on monday that the bridge would be closed for repairs until the end of the month"
EDITED = STORY.replace("monday", "tuesday")
OTHER = "quarterly figures of the shipping company were better than analysts had expected in spring"


class Run:
    """What a run of the command left behind."""

    def __init__(self, done: "subprocess.CompletedProcess[bytes]") -> None:
        self.code = done.returncode
        self.out = [json.loads(line) for line in done.stdout.splitlines()]
        self.err = done.stderr.decode()
        assert "Traceback" not in self.err, self.err

    @property
    def pairs(self) -> dict[tuple[str, str], float]:
        return {(one["left"], one["right"]): one["similarity"] for one in self.out}


def stream_lsh(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    command = [sys.executable, "-m", "stream_lsh", *map(str, arguments)]
    return Run(subprocess.run(command, input=stdin, capture_output=True, check=False, cwd=cwd))  # noqa: S603


def dedup(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    return stream_lsh("dedup", *arguments, stdin=stdin, cwd=cwd)


def lines_of(documents: Sequence[object]) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


DOCUMENTS = [
    {"id": "a", "text": STORY, "time": 1000},
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
