"""The command `link` with `--keep` and `--assign`: one record of each entity, and the entity of each record."""

import csv
import gzip
import json
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stream_lsh.kinds.record.profiles import bundled_text
from tests.unit.cli.runs import lines_of, ran, stream_lsh

pa: Any = import_module("pyarrow")
pq: Any = import_module("pyarrow.parquet")
Rows = list[dict[str, Any]]

PEOPLE: Rows = [
    {"id": 1, "first_name": "Robert", "last_name": "Garski", "dob": "1978-11-12", "city": "Leeds", "score": 1.5},
    {"id": 2, "first_name": "Ann", "last_name": "Smith", "dob": "1990-05-02", "city": "York", "score": 9.0},
    {"id": 3, "first_name": "Robert", "last_name": "GARSKI", "dob": "1978-11-12", "city": None, "score": 7.25},
    {"id": 4, "first_name": "Zoe", "last_name": "Quinn", "dob": "1955-01-30", "city": "Hull", "score": None},
    {"id": 5, "first_name": "Robert", "last_name": "Garski", "dob": "1978-11-12", "city": "Leeds", "score": 7.25},
    {"id": 6, "first_name": "Ann", "last_name": "Smith", "dob": "1990-05-02", "city": "", "score": 2.0},
]
for number, row in enumerate(PEOPLE):
    row |= {"tags": [f"t{number % 2}"], "extra": {"n": number // 3}}
PROFILE = ("--profile", "people", "-q")


def write(folder: Path, name: str, rows: Rows) -> None:
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(rows), folder / name)
    elif name.endswith("arrow"):
        with pa.ipc.new_file(folder / name, pa.Table.from_pylist(rows).schema) as writer:
            writer.write_table(pa.Table.from_pylist(rows), max_chunksize=4)
    elif name.endswith("json"):
        (folder / name).write_text(json.dumps(rows, indent=1))
    elif name.endswith("gz"):
        (folder / name).write_bytes(gzip.compress(lines_of(rows)))
    else:
        (folder / name).write_bytes(lines_of(rows))


def read(path: Path) -> Rows:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("name", ["in.jsonl", "in.json", "in.parquet", "in.arrow", "in.jsonl.gz"])
@pytest.mark.parametrize("out", ["out.jsonl", "out.parquet"])
def test_each_record_has_its_entity_in_the_order_and_with_all_columns_of_the_input(
    tmp_path: Path, name: str, out: str
) -> None:
    write(tmp_path, name, PEOPLE)
    run = stream_lsh("link", name, *PROFILE, "--entities", "-", "--assign", out, cwd=tmp_path)
    found = {frozenset(member["id"] for member in entity["members"]): entity["entity"] for entity in run.out}
    assert found.keys() == {frozenset("135"), frozenset("26")}
    entity_of = {id: entity for members, entity in found.items() for id in members}
    assert read(tmp_path / out) == [{**row, "entity": entity_of.get(str(row["id"]), str(row["id"]))} for row in PEOPLE]


@pytest.mark.parametrize("name", ["in.jsonl", "in.parquet", "in.arrow"])
@pytest.mark.parametrize("out", ["out.jsonl", "out.parquet"])
def test_the_golden_records_have_all_columns(tmp_path: Path, name: str, out: str) -> None:
    write(tmp_path, name, PEOPLE)
    run = stream_lsh("link", name, *PROFILE, "--entities", "-", "--keep", "golden", "--output", out, cwd=tmp_path)
    robert, ann, zoe = read(tmp_path / out)
    assert zoe == PEOPLE[3], "it matches no other record"
    assert [robert["id"], ann["id"]] == [int(entity["entity"]) for entity in run.out]
    expected = {"first_name": "Robert", "last_name": "Garski", "dob": "1978-11-12", "city": "Leeds", "score": 7.25}
    assert {column: robert[column] for column in expected} == expected
    assert ann["city"] == "York"
    assert robert["tags"] == ["t0"]
    assert robert["extra"] == {"n": 0}
    assert robert.keys() == PEOPLE[0].keys()
    streamed = {entity["entity"]: entity["golden"] for entity in run.out}[str(robert["id"])]
    assert (streamed["given_name"], streamed["surname"]) == (robert["first_name"], robert["last_name"])


@pytest.mark.parametrize(("rule", "kept"), [("first", [0, 1, 3]), ("last", [3, 4, 5]), ("column:score", [1, 2, 3])])
def test_a_rule_keeps_one_record_of_each_entity(tmp_path: Path, rule: str, kept: list[int]) -> None:
    write(tmp_path, "in.jsonl", PEOPLE)
    run = stream_lsh("link", "in.jsonl", *PROFILE, "--keep", rule, cwd=tmp_path)
    assert run.out == [PEOPLE[index] for index in kept]


def test_sources_encodings_repeated_ids_and_rejected_rows(tmp_path: Path) -> None:
    lines = [
        "id , name,dob,note",
        "1, Jos\xe9 Vega,1970-01-02,first",
        ",No Id,1970-01-02,",
        "1,Jose Vega,1970-01-02,second",
        "2,Lu Chen",
    ]
    (tmp_path / "crm.csv").write_bytes("\n".join(lines).encode("latin-1"))
    (tmp_path / "shop.csv").write_text("id,name,dob\n1,Jose Vega,1970-01-02\n9,Kim Park,1999-09-09\n")
    arguments = ("link", "crm.csv", "shop.csv", *PROFILE, "--encoding", "latin-1")
    out = stream_lsh(*arguments, "--assign", "-", "--rejects", "r.jsonl", cwd=tmp_path).out
    assert [(row["id"], row.get("note"), row["entity"]) for row in out] == [
        *(("1", "first", out[0]["entity"]), ("1", "second", out[0]["entity"])),
        *(("1", None, out[0]["entity"]), ("9", None, "shop/9")),
    ]
    assert out[0]["name"] == "Jos\xe9 Vega"
    kept = stream_lsh(*arguments, "--keep", "first", cwd=tmp_path).out
    assert [(row["id"], row.get("note")) for row in kept] == [("1", "second"), ("9", None)], "the last row of an id"
    assert len(read(tmp_path / "r.jsonl")) == 2
    assert ran(*arguments, "--assign", "a.csv", cwd=tmp_path).returncode == 0
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [row["entity"] for row in csv.DictReader(file)] == [row["entity"] for row in out]


def test_on_a_corpus_kept_records_and_entities_add_up(tmp_path: Path) -> None:
    random = Random(7)
    names = [(random.choice("ABCDEFG") + "na", f"Sur{number}ov") for number in range(40)]
    rows = [
        {"id": str(number), "first_name": first, "last_name": last, "dob": f"19{int(last[3:-2]) + 10}-01-02"}
        for number, (first, last) in enumerate(random.choices(names, k=120))
    ]
    write(tmp_path, "in.parquet", rows)
    arguments = ("link", "in.parquet", *PROFILE, "--keep", "golden", "-o", "kept.parquet", "--assign", "all.jsonl")
    run = stream_lsh(*arguments, "--entities", "-", cwd=tmp_path)
    assigned, kept = read(tmp_path / "all.jsonl"), read(tmp_path / "kept.parquet")
    assert [row["id"] for row in assigned] == [row["id"] for row in rows]
    assert len(kept) == len({row["entity"] for row in assigned}) == len(rows) - sum(one["size"] - 1 for one in run.out)
    assert {row["id"] for row in kept} >= {one["entity"] for one in run.out}


@pytest.mark.parametrize("name", ["e.parquet", "e.csv", "g.tsv", "g.jsonl"])
def test_entities_and_golden_records_are_tables(tmp_path: Path, name: str) -> None:
    write(tmp_path, "in.jsonl", PEOPLE)
    option = "-o" if name.startswith("e") else "--golden"
    assert ran("link", "in.jsonl", *PROFILE, option, name, cwd=tmp_path).returncode == 0
    if name == "e.parquet":
        first = read(tmp_path / name)[0]
        assert (first["size"], dict(first["golden"])["given_name"]) == (3, "Robert")
    elif name == "g.jsonl":
        assert [row["given_name"] for row in read(tmp_path / name)] == ["Robert", "Ann"]
    else:
        with (tmp_path / name).open(newline="") as file:
            found = [*csv.DictReader(file, delimiter="\t" if name == "g.tsv" else ",")]
        assert [row["size"] for row in found] == ["3", "2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["in.jsonl", "--output", "a", "--entities", "b"], "--entities, --output: without --keep both name the file"),
        (["in.jsonl", "--keep", "longest"], "expected golden, first, last or column:NAME"),
        (["in.jsonl", "--keep", "golden", "-o", "x.txt"], "--output: got x.txt, expected a name that ends in .jsonl"),
        (["in.jsonl", "--assign", "in.jsonl"], "in.jsonl: is an input, and would be replaced"),
        (["in.jsonl", "-o", "mine.toml", "--profile", "mine.toml"], "mine.toml: is an input, and would be replaced"),
        (["-", "--keep", "golden"], "because --keep and --assign read the input twice"),
        (["in.jsonl", "--keep", "column:none"], "--keep: got the column 'none', expected one of 'id'"),
        (["in.jsonl", "--keep", "column:city"], "in the column 'city'"),
        (["taken.jsonl", "--assign", "x.csv"], "the input already has a column 'entity'"),
    ],
)
def test_wrong_use_is_an_error_and_nothing_is_written(tmp_path: Path, arguments: list[str], words: str) -> None:
    write(tmp_path, "in.jsonl", PEOPLE)
    write(tmp_path, "taken.jsonl", [{**row, "entity": 5} for row in PEOPLE])
    (tmp_path / "mine.toml").write_text(bundled_text("people"))
    run = ran("link", *PROFILE, *arguments, cwd=tmp_path)
    assert run.returncode == 2, run.stderr
    assert words in run.stderr.decode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "mine.toml", "taken.jsonl"]
