"""`stream-lsh clones`: groups of similar functions as text and as JSON; files without source are ignored."""

from pathlib import Path

import pytest

from tests.unit.applications.test_duplicate_code import OTHER, RENAMED, TOTAL
from tests.unit.cli.runs import Run, ran, stream_lsh

LEAST = ("--min-tokens", "20")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src" / ".hidden").mkdir(parents=True)
    (tmp_path / "src" / "node_modules").mkdir()
    for name in ("a.py", ".hidden/b.py", "node_modules/c.py", "notes.txt"):
        (tmp_path / "src" / name).write_text(TOTAL)
    (tmp_path / "src" / "d.py").write_text(RENAMED)
    (tmp_path / "src" / "e.py").write_text(OTHER)
    return tmp_path / "src"


def clones(*arguments: str | Path) -> Run:
    return stream_lsh("clones", *arguments)


def test_programs_get_a_line_for_each_group(folder: Path) -> None:
    run = clones(folder, "--json", *LEAST)
    members = [
        {"path": f"{folder}/a.py", "name": "total", "line": 1, "last_line": 7},
        {"path": f"{folder}/d.py", "name": "Sums.add_up", "line": 5, "last_line": 11},
    ]
    assert run.out == [{"similarity": 1.0, "members": members}]
    assert (run.code, run.err) == (0, "3 files, 3 functions, 1 pair, 1 group\n")


def test_the_text_has_places_in_the_form_of_editors(folder: Path) -> None:
    done = ran("clones", folder, *LEAST)
    assert done.returncode == 0
    assert bytes(done.stdout).decode().splitlines() == [
        "2 functions, similarity 1.00 or more",
        f"  {folder}/a.py:1-7 total",
        f"  {folder}/d.py:5-11 Sums.add_up",
    ]


def test_a_named_file_is_read_once_under_any_name(folder: Path) -> None:
    run = clones(folder / "a.py", folder, folder / "notes.txt", "--language", "python", "--json", "-q", *LEAST)
    assert [len(group["members"]) for group in run.out] == [3]
    assert run.err == ""


def test_whole_files_and_names_as_they_are(folder: Path) -> None:
    assert clones(folder, "--names", "--json", *LEAST).out == []
    (folder / "f.py").write_text(f"# a copy\n{OTHER}")
    run = clones(folder, "--files", "--names", "--json", *LEAST)
    assert [[one["name"] for one in group["members"]] for group in run.out] == [["", ""]]


def test_binary_and_too_large_files_are_rejected(folder: Path) -> None:
    (folder / "binary.py").write_bytes(b"\0\1\2")
    (folder / "made.py").write_text("x = 1\n" * 200_000)
    run = clones(folder, "--json", *LEAST)
    assert len(run.out) == 1
    assert "binary.py: rejected (binary): is not text" in run.err
    assert "made.py: rejected (size): is larger than" in run.err
    assert "2 rejected: binary 1, size 1" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "FILE"),
        (("no-such-folder",), "there is no such file"),
        (("/dev/null",), "has no known language"),
        ((".", "--threshold", "2"), "above 0 and up to 1"),
        ((".", "--run", "65"), "k from 1 to 64"),
        ((".", "--treshold", "0.5"), "did you mean `--threshold`"),
        ((".", "--language", "pyton"), "python"),
    ],
)
def test_wrong_use_is_reported_with_exit_code_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(folder)
    run = clones(*arguments)
    assert (run.code, run.out) == (2, [])
    assert message in run.err


def test_a_folder_without_sources_is_reported(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no code")
    run = clones(tmp_path)
    assert (run.code, "no sources of a known language" in run.err) == (2, True)
