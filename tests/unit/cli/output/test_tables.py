"""Results as tables: what other readers find in CSV, TSV and Parquet equals the JSON lines of the same command."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.unit.cli.runs import DOCUMENTS, EDITED, LINES, LOW, STORY, lines_of, ran

pq: Any = import_module("pyarrow.parquet")
PEOPLE = [
    {"id": id, "name": "Ann Lee" if id < "c" else "Bob Ray", "dob": "1980-02-03", "city": "Leeds"} for id in "abcd"
]
ARTICLES = [
    {
        "id": id,
        "text": f"{STORY} {EDITED} {STORY}",
        "source": source,
        "url": f"https://{source}/{id}",
        "time": "2024-05-06T07:08:09Z",
    }
    for id, source in [("a", "a.org"), ("b", "b.org")]
]
SETS = [{"id": id, "items": [*"xyz", id]} for id in "ab"]
VECTORS = [{"id": id, "vector": [1.0, 2.0, number]} for number, id in enumerate("ab")]
COMMANDS: Mapping[str, tuple[Sequence[object], Sequence[str], Sequence[str]]] = {
    "dedup": (DOCUMENTS, LOW, ("--output", "--clusters")),
    "dedup --measure containment": (DOCUMENTS, LOW, ("--matches",)),
    "dedup --query in.jsonl": (DOCUMENTS, LOW, ("--output",)),
    "allpairs": (DOCUMENTS, LOW, ("--output", "--clusters")),
    "sets": (SETS, LOW, ("--output", "--clusters")),
    "sets --query in.jsonl": (SETS, LOW, ("--output",)),
    "neighbours --within 45": (VECTORS, (), ("--output", "--clusters")),
    "neighbours --within 45 --query in.jsonl": (VECTORS, (), ("--output",)),
    "news": (ARTICLES, (), ("--output", "--matches", "--clusters")),
    "mirrors --min-characters 1": (ARTICLES, (), ("--output", "--matches")),
    "link --profile people": (PEOPLE, (), ("--matches", "--reviews")),
}
CASES = [(command, option) for command, (_, _, options) in COMMANDS.items() for option in options]
EMPTY = {"link --profile people": ["--reviews"]}


def plain(value: Any) -> Any:
    """A value of Parquet as JSON has it: without fields that are missing, and maps as objects."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return dict(value)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if inner is not None}
    return value


@pytest.mark.parametrize(("command", "option"), CASES)
def test_a_table_has_the_rows_and_columns_of_json_lines(tmp_path: Path, command: str, option: str) -> None:
    rows, more, _ = COMMANDS[command]
    (tmp_path / "in.jsonl").write_bytes(lines_of(rows))

    def output(name: str) -> Path:
        run = ran(*command.split(), *more, "-q", "in.jsonl", option, name, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
        return tmp_path / name

    expected = [json.loads(line) for line in output("out.jsonl").read_bytes().splitlines()]
    assert bool(expected) == (option not in EMPTY.get(command, []))
    table = pq.read_table(output("out.parquet"))
    assert [plain(row) for row in table.to_pylist()] == expected
    for name, dialect in (("out.csv", "excel"), ("out.tsv", "excel-tab")):
        with output(name).open(newline="") as file:
            reader = csv.DictReader(file, dialect=dialect)
            cells = [{name: cell for name, cell in row.items() if cell} for row in reader]
            assert reader.fieldnames == table.column_names
        assert cells == [
            {
                name: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
                for name, value in row.items()
            }
            for row in expected
        ]
    if expected:
        assert [*expected[0]] == table.column_names


@pytest.mark.parametrize("name", ["out.jsonl", "out", "out.csv"])
def test_the_extension_of_an_output_compresses_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "in.jsonl").write_bytes(LINES)
    for ending in ("", ".gz", ".zst"):
        assert ran("dedup", *LOW, "-q", "in.jsonl", "-o", name + ending, cwd=tmp_path).returncode == 0
    written = (tmp_path / name).read_bytes()
    assert written
    assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()) == written
    assert zstandard.ZstdDecompressor().decompressobj().decompress((tmp_path / f"{name}.zst").read_bytes()) == written


def test_the_input_without_its_copies_is_compressed(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(LINES)
    for name in ("out.jsonl", "out.jsonl.gz", "out.csv", "out.csv.zst"):
        assert ran("dedup", *LOW, "-q", "in.jsonl", "--keep", "first", "-o", name, cwd=tmp_path).returncode == 0
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == (tmp_path / "out.jsonl").read_bytes()
    inflate = zstandard.ZstdDecompressor().decompressobj()
    assert inflate.decompress((tmp_path / "out.csv.zst").read_bytes()) == (tmp_path / "out.csv").read_bytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("out.parquet.gz", b"Parquet has its own compression, expected a name without .gz"),
        ("none/out.csv", b"none/out.csv: cannot be written: No such file"),
    ],
)
def test_an_output_that_cannot_be_made_is_an_error(tmp_path: Path, name: str, words: bytes) -> None:
    (tmp_path / "in.jsonl").write_bytes(LINES)
    run = ran("dedup", "in.jsonl", "-o", name, cwd=tmp_path)
    assert run.returncode == 2
    assert words in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_value_that_parquet_cannot_store_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    documents = [{"id": id, "text": STORY} for id in ("a", "b\ud800")]
    (tmp_path / "in.jsonl").write_bytes(lines_of(documents))
    run = ran("dedup", "in.jsonl", "-o", "out.parquet", "--clusters", "out.csv", cwd=tmp_path)
    assert run.returncode == 2
    assert b"got values that Parquet cannot store" in run.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_rejected_rows_are_a_table(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b"no JSON\n" + LINES)
    assert ran("dedup", *LOW, "-q", "in.jsonl", "--rejects", "r.parquet", cwd=tmp_path).returncode == 0
    (row,) = pq.read_table(tmp_path / "r.parquet").to_pylist()
    assert (row["file"], row["line"], row["reason"]) == ("in.jsonl", 1, "json")
