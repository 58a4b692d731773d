"""The extension of a file or an option determines its format; nothing is guessed, and an empty input is a success."""

import errno
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.runs import EDITED, LINES, LOW, OTHER, STORY, lines_of, ran, stream_lsh

TEXTS = {"a.txt": STORY, "b.md": EDITED, "c.html": OTHER}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "docs.jsonl").write_bytes(LINES)
    return tmp_path


def test_files_of_text_that_are_named_are_documents(folder: Path) -> None:
    run = stream_lsh("dedup", *LOW, *TEXTS, cwd=folder)
    assert (run.code, list(run.pairs)) == (0, [("a.txt", "b.md")])
    assert "3 documents" in run.err


def test_a_compressed_text_and_any_file_that_is_called_text_are_documents(folder: Path) -> None:
    (folder / "a.txt.gz").write_bytes(gzip.compress(STORY.encode()))
    (folder / "notes").write_text(EDITED)
    assert stream_lsh("dedup", *LOW, "a.txt.gz", "b.md", cwd=folder).pairs
    assert list(stream_lsh("dedup", *LOW, "--format", "text", "a.txt", "notes", cwd=folder).pairs) == [
        ("a.txt", "notes")
    ]
    assert list(stream_lsh("dedup", *LOW, "--format", "text", "a.txt", "-", stdin=EDITED.encode(), cwd=folder).pairs)


@pytest.mark.parametrize("command", ["dedup", "news", "mirrors", "plagiarism", "allpairs", "tune"])
@pytest.mark.parametrize("name", ["docs", "docs.log", "docs.zip", "docs.npz", "docs.gz", "docs.npy.gz"])
def test_a_file_of_an_unknown_ending_is_rejected_with_advice(tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(LINES) if name.endswith(".gz") else LINES)
    run = ran(command, name, cwd=tmp_path)
    printed = run.stderr.decode()
    assert (run.returncode, run.stdout) == (2, b"")
    assert printed.startswith(f"stream-lsh: {name}: has an unknown ending, expected .jsonl, ")
    assert printed.endswith("set --format: jsonl, json, csv, tsv, parquet, arrow, text, lines\n")
    assert ran("dedup", "--format", "jsonl", name, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["sets", "a.txt"],
            ".ndjson, .json, .csv, .tsv, .tab, .parquet, .pq, .arrow, .feather, .ipc, opt",
        ),
        (["neighbours", "--within", "5", "x.npz"], "x.npz: has an unknown ending, expected"),
        (["link", "--profile", "people", "a.txt"], "a.txt: is text, expected .jsonl"),
        (["link", "--profile", "people", "--format", "csv", "a.txt"], "a.txt: got no column"),
        (["demo", "--from", "x.npz"], "optionally followed by .gz or .zst: rename it"),
        (["dedup", "x.npz", "none.txt"], "none.txt: there is no such file or folder"),
    ],
)
def test_every_command_names_what_it_reads(folder: Path, arguments: list[str], words: str) -> None:
    for name in ("x.npz", "x.parquet"):
        (folder / name).write_bytes(b"PK")
    run = ran(*arguments, cwd=folder)
    assert run.returncode == 2
    assert words in run.stderr.decode()


def test_a_folder_of_tables_stands_for_its_files(folder: Path) -> None:
    for name in ("one.jsonl", "inner/two.jsonl.gz", "_SUCCESS", ".one.jsonl.crc", ".hidden/three.jsonl"):
        (folder / "dump" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "dump" / name).write_bytes(gzip.compress(LINES) if name.endswith(".gz") else LINES)
    files = ("dump/inner/two.jsonl.gz", "dump/one.jsonl")
    run = stream_lsh("dedup", *LOW, "dump", cwd=folder)
    assert run.out == stream_lsh("dedup", *LOW, *files, cwd=folder).out != []
    assert "6 documents" in run.err
    assert "5 documents" in stream_lsh("dedup", "--format", "folder", "dump", cwd=folder).err
    (folder / "dump" / "a.txt").write_text(STORY)
    assert "6 documents" in stream_lsh("dedup", "dump", cwd=folder).err, (
        "with a text among them each file is a document"
    )
    assert "7 documents" in stream_lsh("dedup", "--format", "lines", "dump", cwd=folder).err


def test_a_folder_for_a_command_that_reads_no_texts_has_tables_only(folder: Path) -> None:
    (folder / "sets").mkdir()
    for name in ("a", "b"):
        (folder / "sets" / f"{name}.json").write_text(json.dumps([{"id": name, "items": ["x", "y"]}]))
    assert list(stream_lsh("sets", "sets", cwd=folder).pairs) == [("a", "b")]
    (folder / "sets" / "notes.txt").write_text(STORY)
    run = ran("sets", "sets", cwd=folder)
    assert run.returncode == 2
    assert b"sets: is a folder, expected a file, or a folder of such files only; it has sets/notes.txt" in run.stderr


def test_a_pattern_stands_for_the_files_that_match_it(folder: Path) -> None:
    (folder / "x").mkdir()
    for name in ("x/b.jsonl", "x/a.jsonl", "odd[1].jsonl"):
        (folder / name).write_bytes(LINES)
    for pattern, files in [("x/*.jsonl", ["x/a.jsonl", "x/b.jsonl"]), ("[ab].*", ["a.txt", "b.md"]), ("x*", ["x"])]:
        run = stream_lsh("dedup", *LOW, pattern, cwd=folder)
        assert run.out == stream_lsh("dedup", *LOW, *files, cwd=folder).out != [], pattern
    assert "3 documents" in stream_lsh("dedup", "odd[1].jsonl", cwd=folder).err, "a file of this name"
    assert "12 documents" in stream_lsh("dedup", "**/*.jsonl", cwd=folder).err
    none = ran("dedup", "none/*.csv", "docs.jsonl", cwd=folder)
    assert none.returncode == 2
    assert b"none/*.csv: no file matches this pattern; is the folder right?" in none.stderr
    replaced = ran("dedup", "docs.*", "-o", "docs.jsonl", cwd=folder)
    assert replaced.returncode == 2
    assert b"docs.jsonl: is an input, and would be replaced" in replaced.stderr


@pytest.mark.parametrize("command", ["dedup", "news", "plagiarism", "allpairs"])
def test_a_run_that_could_read_nothing_fails(tmp_path: Path, command: str) -> None:
    (tmp_path / "docs.jsonl").write_text("no JSON\nnor this\n")
    run = ran(command, "docs.jsonl", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (1, b"")
    assert b"2 rejected: json 2" in run.stderr
    (tmp_path / "docs.jsonl").write_bytes(b"no JSON\n" + LINES)
    assert ran(command, "docs.jsonl", cwd=tmp_path).returncode == 0
    (tmp_path / "docs.jsonl").write_bytes(b"")
    assert ran(command, "docs.jsonl", cwd=tmp_path).returncode == 0, "nothing was rejected"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["sets"], {"id": "a", "items": 5}),
        (["neighbours", "--within", "5"], {"id": "a", "vector": "x y"}),
        (["link", "--profile", "people"], {"name": "Ann"}),
    ],
)
def test_a_run_without_a_set_a_vector_or_a_record_fails(tmp_path: Path, command: list[str], line: object) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(line))
    run = ran(*command, "in.jsonl", cwd=tmp_path)
    assert run.returncode == 1, run.stderr


@pytest.mark.parametrize("command", [["dedup"], ["sets"], ["link", "--profile", "people"]])
def test_a_table_on_standard_input_is_rejected_with_the_format_that_was_expected(command: list[str]) -> None:
    run = ran(*command, "-", stdin=b"id,text\na,b\n")
    first, second, *_ = run.stderr.decode().splitlines()
    assert first.endswith("; standard input is read as JSON lines unless an option names another format")
    assert second.startswith("-:2: rejected (json): ")
    assert "standard input" not in second


def test_a_wrong_column_of_json_lines_fails_and_names_the_fields_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_bytes(lines_of([{"id": "a", "body": STORY, "time": 1_700_000_000_000}]))
    run = ran("dedup", "docs.jsonl", cwd=tmp_path)
    assert run.returncode == 1
    assert b"found 'id', 'body', 'time': set --text-column" in run.stderr


@pytest.mark.parametrize(
    ("command", "line", "hint"),
    [
        (
            ["dedup"],
            {"key": "a", "text": STORY},
            "rejected (id): got no field 'id', found 'key', 'text': set --id-column",
        ),
        (
            ["sets"],
            {"key": "a", "items": ["x"]},
            "got no field 'id', found 'key', 'items': set --id-column",
        ),
        (
            ["sets"],
            {"id": "a", "tags": ["x"]},
            "got no field 'items', found 'id', 'tags': set --item-column",
        ),
        (["sets", "--item-column", "x"], {"id": "a"}, "got no field 'x', found 'id': set --item-column"),
        (["neighbours", "--within", "5"], {"id": "a", "v": [1]}, "found 'id', 'v': set --vector-column"),
        (["neighbours", "--within", "5"], {}, "got no field 'id', found none: set --id-column"),
    ],
)
def test_the_option_for_a_missing_field_is_named(tmp_path: Path, command: list[str], line: object, hint: str) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(line))
    run = ran(*command, "in.jsonl", cwd=tmp_path)
    assert hint in run.stderr.decode()
    assert run.returncode == 1


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that cannot be listed, also by root."""
    inner = tmp_path / "texts" / "inner"
    inner.mkdir(parents=True)
    (inner / "c.txt").write_text(STORY)
    listed = os.scandir

    def scandir(path: str) -> Any:
        if Path(path) == inner:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    return inner


def test_a_folder_that_cannot_be_listed_is_rejected(locked: Path) -> None:
    (locked.parent / "a.txt").write_text(STORY)
    (locked.parent / "b.txt").write_text(STORY)
    run = ran("dedup", locked.parent)
    assert (run.returncode, len(run.stdout.splitlines())) == (0, 1)
    assert f"{locked}: rejected (file): it cannot be read: " in run.stderr.decode()
    alone = ran("dedup", locked)
    assert (alone.returncode, alone.stdout) == (1, b"")
    assert "rejected (file)" in alone.stderr.decode()
    assert ran("dedup", "--strict", locked.parent).returncode == 1


def test_a_folder_of_sources_that_cannot_be_listed_fails(locked: Path) -> None:
    (locked.parent / "a.py").write_text("def f(x):\n    return x\n")
    run = ran("clones", locked.parent)
    assert run.returncode == 1
    assert str(locked) in run.stderr.decode()


@pytest.mark.parametrize("command", ["dedup", "allpairs", "plagiarism"])
@pytest.mark.parametrize("name", ["folder", "a.jsonl", "a.json", "a.csv", "a.tsv", "a.jsonl.gz", "b.jsonl.gz", "-"])
def test_an_input_without_documents_is_a_success(tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / "folder").mkdir()
    for empty in ("a.jsonl", "a.json", "a.csv", "a.tsv", "a.jsonl.gz"):
        (tmp_path / empty).touch()
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b""))
    done = ran(command, name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith((b"0 documents", b"0 texts"))
