"""The demo finds what is there, is the same for the same seed, and leaves nothing behind."""

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from stream_lsh.demo.edits import EDITS
from stream_lsh.demo.prose import collect
from tests.oracles import jaccard, word_windows


def demo(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"TMPDIR": str(folder)}
    command = [sys.executable, "-m", "stream_lsh", "demo", *arguments]
    done = subprocess.run(command, capture_output=True, check=False, cwd=folder, env=environment)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, b"")
    assert os.listdir(folder) == []
    return done.stdout.decode()


def test_the_demo_finds_nearly_all_and_nothing_wrong(tmp_path: Path) -> None:
    told = demo(tmp_path)
    found = re.search(r"recall +(\d+) of (\d+) .* (\d+) wrong", told)
    assert found
    hit, there, wrong = map(int, found.groups())
    assert there > 50
    assert hit >= 0.97 * there
    assert wrong == 0
    assert "a copy, " in told
    assert max(map(len, told.splitlines())) <= 80


def test_the_same_seed_gives_the_same_demo(tmp_path: Path) -> None:
    def without_times(told: str) -> str:
        return re.sub(r"in [\d.]+ s", "", told)

    first, again, other = (without_times(demo(tmp_path, "--seed", seed)) for seed in ("5", "5", "6"))
    assert first == again != other


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_copy_resembles_its_original(name: str, seed: int) -> None:
    random = Random(seed)
    for one in collect(5):
        copy = EDITS[name](one.text, random)
        assert jaccard(word_windows(one.text, 3), word_windows(copy, 3)) > 0.5
