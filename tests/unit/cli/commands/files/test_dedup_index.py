"""`dedup --save` and `dedup --query --index`: a saved collection gives the answers of its documents."""

import json
import os
import re
from pathlib import Path
from random import Random

import pytest

from stream_lsh import NearDuplicates
from tests.unit.cli.runs import EDITED, LINES, LOW, OTHER, STORY, Run, lines_of, own_process, ran, stream_lsh

SETTINGS = [
    ("--threshold", "0.6"),
    ("--threshold", "0.5", "--measure", "containment", "--size-ratio", "3", "--shingles", "word:2"),
    ("--threshold", "0.5", "--method", "exact", "--normalise", "nfkc,casefold"),
    ("--threshold", "0.5", "--min-characters", "60", "--max-size", "7", "--retention", "30d"),
    ("--threshold", "0.5", "--recall", "0.9", "--max-candidates", "50"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = Random(3)
    words = [f"w{number}" for number in range(200)]
    texts = [" ".join(random.choices(words, k=30)) for _ in range(40)]
    rows = [{"id": f"d{number}", "text": f"{random.choice(texts)} {random.choice(words)}"} for number in range(300)]
    (tmp_path / "old.jsonl").write_bytes(lines_of(rows[:200]) + lines_of([{"id": "d5", "deleted": True}]))
    (tmp_path / "new.jsonl").write_bytes(lines_of(rows[200:]))
    return tmp_path


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_saved_collection_gives_the_answers_of_its_documents(folder: Path, settings: tuple[str, ...]) -> None:
    direct = stream_lsh("dedup", *settings, "old.jsonl", "--query", "new.jsonl", cwd=folder)
    plain = stream_lsh("dedup", *settings, "old.jsonl", cwd=folder)
    assert stream_lsh("dedup", *settings, "old.jsonl", "--save", "x.slsh", cwd=folder).out == plain.out != []
    saved = stream_lsh("dedup", "--index", "x.slsh", "--query", "new.jsonl", cwd=folder)
    assert saved.out == direct.out != []
    assert "199 documents, 100 queries" in saved.err
    assert stream_lsh("dedup", *settings, "--index", "x.slsh", "--query", "new.jsonl", cwd=folder).out == direct.out


def test_the_class_of_the_library_loads_the_collection(folder: Path) -> None:
    run = stream_lsh("dedup", *LOW, "old.jsonl", "--save", "x.slsh", cwd=folder)
    near = NearDuplicates.load(folder / "x.slsh")
    assert {(match.left, match.right): match.similarity for match in near.matches()} == run.pairs
    near.save(folder / "again.slsh")
    assert (folder / "again.slsh").read_bytes() == (folder / "x.slsh").read_bytes()


def test_files_are_added_to_a_saved_collection_before_the_queries(folder: Path) -> None:
    (folder / "a.jsonl").write_bytes(lines_of([{"id": "a", "text": STORY}]))
    (folder / "b.jsonl").write_bytes(lines_of([{"id": "b", "text": OTHER}]))
    (folder / "q.jsonl").write_bytes(lines_of([{"id": "q", "text": EDITED}, {"id": "r", "text": OTHER}]))
    assert ran("dedup", *LOW, "a.jsonl", "--save", "x.slsh", cwd=folder).returncode == 0
    query = ("--query", "q.jsonl", "--save", "y.slsh")
    both = stream_lsh("dedup", "b.jsonl", "--index", "x.slsh", *query, cwd=folder)
    assert [(one["query"], one["id"]) for one in both.out] == [("q", "a"), ("r", "b")]
    assert len(NearDuplicates.load(folder / "x.slsh")) == 1
    assert stream_lsh("dedup", "--index", "y.slsh", "--query", "q.jsonl", cwd=folder).out == both.out


def test_several_processes_save_the_same_collection(folder: Path) -> None:
    for jobs in ("1", "3"):
        run = own_process("dedup", "-q", *LOW, "old.jsonl", "--jobs", jobs, "--save", f"{jobs}.slsh", cwd=folder)
        assert run.returncode == 0, run.stderr
    assert (folder / "1.slsh").read_bytes() == (folder / "3.slsh").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--threshold", "0.7"],
            "--threshold: got 0.7, expected 0.5 as in x.slsh: leave it out, or save",
        ),
        (["--shingles", "word:4", "--retention", "3d"], "--shingles: got word:4, expected mixed:3 as in x.slsh"),
        (["--threshold", "0.8"], "--threshold: got 0.8, expected 0.5 as in x.slsh"),
        (["--preset", "news"], "--min-characters: got 200, expected 0 as in x.slsh"),
        (["--max-size", "4"], "--max-size: got 4, expected 0 as in x.slsh"),
    ],
)
def test_settings_that_differ_are_refused(folder: Path, arguments: list[str], words: str) -> None:
    assert ran("dedup", *LOW, "old.jsonl", "--save", "x.slsh", cwd=folder).returncode == 0
    run = ran("dedup", *arguments, "--index", "x.slsh", "--query", "new.jsonl", "-o", "out.jsonl", cwd=folder)
    assert run.returncode == 2
    assert words in run.stderr.decode()
    assert not (folder / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["old.jsonl", "--index", "x.slsh"], "--index: expected --query"),
        ([], "required: FILE"),
        (["--query", "new.jsonl"], "required: FILE"),
        (["--index", "none.slsh", "--query", "new.jsonl"], "--index: none.slsh: cannot be read: No such file"),
        (["--index", "x.slsh", "--query", "none.jsonl"], "none.jsonl: there is no such file"),
        (["--index", "x.slsh", "--query", "new.jsonl", "--keep", "first"], "cannot be used with --query"),
        (["old.jsonl", "--save", "old.jsonl"], "old.jsonl: is an input, and would be replaced"),
        (["--index", "x.slsh", "--query", "new.jsonl", "--save", "new.jsonl"], "new.jsonl: is an input"),
        (["--index", "x.slsh", "--query", "new.jsonl", "-o", "x.slsh"], "x.slsh: is an input, and would be replaced"),
        (["--index", "x.slsh", "--query", "new.jsonl", "--rejects", "x.slsh"], "x.slsh: is an input"),
        (["old.jsonl", "--save", "-"], "--save: got -, expected a file"),
        (["old.jsonl", "--save", "."], ".: is a folder, expected a file"),
        (["old.jsonl", "--save", "pipe"], "pipe: is a device or a pipe, expected a file"),
        (["old.jsonl", "--save", "none/y.slsh"], "none/y.slsh: cannot be written: there is no folder "),
        (["--index", "x.slsh", "--query", "new.jsonl", "--save", "pipe"], "pipe: is a device or a pipe"),
    ],
)
def test_wrong_use_is_an_error_and_replaces_nothing(folder: Path, arguments: list[str], words: str) -> None:
    assert ran("dedup", *LOW, "old.jsonl", "--save", "x.slsh", cwd=folder).returncode == 0
    os.mkfifo(folder / "pipe")
    before = (folder / "x.slsh").read_bytes()
    run = ran("dedup", *arguments, cwd=folder)
    assert run.returncode == 2, run.stderr
    assert words in run.stderr.decode()
    assert (folder / "x.slsh").read_bytes() == before
    assert (folder / "pipe").is_fifo()


def test_a_collection_is_saved_under_the_name_that_it_was_loaded_from(folder: Path) -> None:
    assert ran("dedup", *LOW, "old.jsonl", "--save", "x.slsh", cwd=folder).returncode == 0
    before = len(NearDuplicates.load(folder / "x.slsh"))
    own = ("--index", "x.slsh", "--query", "new.jsonl", "--save", "x.slsh")
    assert ran("dedup", "new.jsonl", *own, cwd=folder).returncode == 0
    assert len(NearDuplicates.load(folder / "x.slsh")) > before


def test_a_device_or_a_pipe_is_not_replaced(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path, words in (
        (folder / "pipe", "not a regular file"),
        (folder, "directory"),
        (folder / "no" / "x", "No such"),
    ):
        with pytest.raises(OSError, match=rf"cannot be written: .*{words}.*'{re.escape(str(path))}'"):
            NearDuplicates().save(path)
    assert (folder / "pipe").is_fifo()
    assert not [*folder.glob("*.part")]


def test_a_damaged_collection_is_an_error(folder: Path) -> None:
    assert ran("dedup", *LOW, "old.jsonl", "--save", "x.slsh", cwd=folder).returncode == 0
    whole = (folder / "x.slsh").read_bytes()
    for data in (b"", whole[:-1], whole[: len(whole) // 2], LINES, whole[:40] + b"x" + whole[41:]):
        (folder / "x.slsh").write_bytes(data)
        run = ran("dedup", "--index", "x.slsh", "--query", "new.jsonl", "-o", "out.jsonl", cwd=folder)
        assert run.returncode in (1, 2)
        assert b"x.slsh" in run.stderr
        assert not (folder / "out.jsonl").exists()
    at = len(whole) * 3 // 4
    (folder / "x.slsh").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    flipped = ran("dedup", "--index", "x.slsh", "--query", "new.jsonl", cwd=folder).stderr.decode()
    assert re.fullmatch(r"stream-lsh: x\.slsh: got .*; restore it from a copy, or add the documents again\n", flipped)
    newer = bytearray(whole)
    newer[8] = 99
    (folder / "x.slsh").write_bytes(newer)
    assert b"version" in ran("dedup", "--index", "x.slsh", "--query", "new.jsonl", cwd=folder).stderr


def test_answers_of_a_saved_collection_are_documented_fields(folder: Path) -> None:
    assert ran("dedup", *LOW, "old.jsonl", "--save", "x.slsh", cwd=folder).returncode == 0
    run: Run = stream_lsh("dedup", "--index", "x.slsh", "--query", "old.jsonl", cwd=folder)
    assert {json.dumps([*one]) for one in run.out} == {
        '["pipeline", "query", "id", "similarity", "measure", "shared", "union"]'
    }
