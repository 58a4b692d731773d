"""Files of sets and vectors: JSON lines and tables hold the same, and unreadable lines are reported."""

import gzip
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.errors import ConfigError
from stream_lsh.files.chunks import Part
from stream_lsh.files.column_names import AS_NAMED
from stream_lsh.files.discover import TABLES, find_inputs
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.single_field import Form
from stream_lsh.kinds.single_field_files import of_values, read_values
from stream_lsh.kinds.vector.messages import VectorForm


def options(**given: Any) -> Namespace:
    plain = {**dict.fromkeys(AS_NAMED), "format": None, "encoding": "utf-8", "max_bytes": 1 << 20}
    plain["time_unit"] = "auto"
    return Namespace(**plain | given)


def read(paths: list[Path], form: Form, **given: Any) -> list[Part]:
    chosen = options(**given)
    of_values(chosen, form)
    return [*read_values(find_inputs([*map(str, paths)], chosen.format, TABLES), chosen, form, fallback_time_ms=3)]


def documents_of(parts: list[Part]) -> list[tuple[str, str | None, int]]:
    return [(one.id, one.text, one.time_ms) for part in parts for one in part.documents]


LINES = b'{"id": "a", "items": ["milk", "tea"]}\n{"id": "b", "items": [], "time": 9}\n'
SETS = [("a", "milk\ntea\n", 3), ("b", "", 9)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", LINES),
        ("a.jsonl.gz", gzip.compress(LINES, mtime=0)),
        ("a.csv", b"id,items,time\na,milk|tea,\nb,,9\n"),
        ("a.tsv", b'id\ttime\titems\na\t\t["milk", "tea"]\nb\t9\t[]\n'),
    ],
)
def test_sets_are_the_same_in_every_format(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert documents_of(read([tmp_path / name], ItemsForm(), time_unit="ms")) == SETS
    in_seconds = [("a", "milk\ntea\n", 3), ("b", "", 9_000)]
    assert documents_of(read([tmp_path / name], ItemsForm(), time_unit="s")) == in_seconds
    assert [(one.at, one.reason) for part in read([tmp_path / name], ItemsForm()) for one in part.refused] == [
        (3 if name.endswith("sv") else 2, "time")
    ]


def test_columns_can_be_named_and_several_files_are_read_in_order(tmp_path: Path) -> None:
    one, other = tmp_path / "a.csv", tmp_path / "b.jsonl"
    one.write_text("key,at\nx,1 2\n")
    other.write_text('{"key": "y", "at": [2, 1]}\n')
    form = VectorForm(2, "cosine")
    parts = read([one, other], form, id_column="key", text_column="at")
    assert documents_of(parts) == [("x", form.text([1, 2], "at"), 3), ("y", form.text([2, 1], "at"), 3)]
    assert parts[-1].position == one.stat().st_size + other.stat().st_size


def test_an_unreadable_line_is_reported_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,vector\na,1 2\nb,1\nc,0 0\nd,1 x\n")
    (part,) = read([path], VectorForm(2, "cosine"))
    assert [one.id for one in part.documents] == ["a"]
    assert [(one.at, one.reason) for one in part.refused] == [(3, "vector"), (4, "vector"), (5, "vector")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"title_column": "t"}, "--title-column: applies to documents only"),
        (
            {"format": "folder"},
            "--format: got folder, expected one of jsonl, json, csv, tsv, parquet, arrow: files with items",
        ),
        ({"encoding": "latin-1"}, "--encoding: applies to records only"),
    ],
)
def test_options_of_documents_and_records_are_rejected(given: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        of_values(options(**given), ItemsForm())
    assert message in str(caught.value)


def test_a_folder_of_texts_has_no_sets(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(
        ConfigError, match=r"is a folder, expected a file, or a folder of such files only; it has .*a.txt"
    ):
        read([tmp_path], ItemsForm())
