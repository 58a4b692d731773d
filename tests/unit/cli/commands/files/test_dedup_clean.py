"""The command `dedup` with `--keep` and `--assign`: the input without its copies, and the cluster of each row."""

import csv
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stream_lsh.ledger.clusters.kept import kept_rows
from tests.evaluation.oracles import jaccard, word_windows
from tests.unit.cli.runs import EDITED, OTHER, STORY, dedup, lines_of

pa: Any = import_module("pyarrow")
pq: Any = import_module("pyarrow.parquet")
THRESHOLD = 0.5
ALL = ("--method", "exact", "--threshold", str(THRESHOLD), "--shingles", "word:3")
"""A method without misses, as the oracle has none."""
Rows = list[dict[str, Any]]


def rows_of(seed: int, count: int = 60) -> Rows:
    """Rows with copies and edited copies, scores and nested values, some of them missing; a few ids occur twice."""
    random = Random(seed)
    words = [f"word{number}" for number in range(300)]
    texts = [" ".join(random.choices(words, k=random.randint(4, 30))) for _ in range(count // 3)]
    rows: Rows = []
    for number in range(count):
        text = random.choice(texts) + random.choice(["", "", " at last", f" {random.choice(words)} again é"])
        id = f"d{random.randrange(number)}" if number and random.random() < 0.1 else f"d{number}"
        score = random.choice([None, random.randint(0, 5) / 2])
        tags = random.choice([None, [], ["a", "b, c"]])
        rows.append({"id": id, "text": text, "score": score, "tags": tags, "n": number})
    return rows


def oracle_clusters(rows: Rows) -> dict[str, frozenset[str]]:
    """The members of the cluster of each id, from all pairs of the last rows of ids."""
    last = {row["id"]: set(word_windows(row["text"], 3)) for row in rows}
    group = {id: {id} for id in last}
    for left, right in combinations(last, 2):
        if group[left] is not group[right] and jaccard(last[left], last[right]) >= THRESHOLD:
            group[left] |= group[right]
            for member in group[right]:
                group[member] = group[left]
    return {id: frozenset(members) for id, members in group.items()}


RULES: Mapping[str, Callable[[int, Mapping[str, Any]], float]] = {
    "first": lambda place, _: -place,
    "last": lambda place, _: place,
    "longest": lambda _, row: len(row["text"]),
    "shortest": lambda _, row: -len(row["text"]),
    "column:score": lambda _, row: -1 if row["score"] is None else row["score"],
}


def oracle_kept(rows: Rows, rule: str) -> Rows:
    current = {row["id"]: place for place, row in enumerate(rows)}
    clusters, rank = oracle_clusters(rows), RULES[rule]
    best: dict[frozenset[str], int] = {}
    for place, row in enumerate(rows):
        if current[row["id"]] == place:
            members = clusters[row["id"]]
            if members not in best or rank(place, row) > rank(best[members], rows[best[members]]):
                best[members] = place
    return [rows[place] for place in sorted(best.values())]


ROWS = [rows_of(seed) for seed in range(3)]


def as_cell(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write(path: Path, rows: Rows) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=7)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            out = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            out.writeheader()
            out.writerows({name: as_cell(value) for name, value in row.items()} for row in rows)
    return path


def read(path: Path) -> Rows:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with path.open(newline="") as file:
        return [dict(row) for row in csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")]


def as_cells(rows: Sequence[Mapping[str, object]]) -> list[dict[str, str]]:
    """Rows as every format can hold them; a number keeps its value, not its form."""
    cells = [{name: as_cell(value) for name, value in row.items()} for row in rows]
    return [
        row | {"score": row["score"] and str(float(row["score"])), "tags": row["tags"].replace('", "', '","')}
        for row in cells
    ]


# -- compared with an oracle


@pytest.mark.parametrize("rows", ROWS, ids=["0", "1", "2"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("given", "wanted"), [(".jsonl", ".parquet"), (".parquet", ".jsonl"), (".csv", ".tsv")])
def test_each_cluster_keeps_the_row_of_the_rule(rows: Rows, rule: str, given: str, wanted: str, tmp_path: Path) -> None:
    file, clean = write(tmp_path / f"in{given}", rows), tmp_path / f"clean{wanted}"
    run = dedup(file, *ALL, "--keep", rule, "--output", clean)
    assert (run.code, run.out) == (0, []), run.err
    expected = oracle_kept(rows, rule)
    assert as_cells(read(clean)) == as_cells(expected)
    assert f"{len(expected)} of {len(rows)} rows kept" in run.err
    assert len(expected) < len(rows)


@pytest.mark.parametrize("given", [".jsonl", ".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("wanted", [".jsonl", ".csv", ".tsv", ".parquet"])
def test_every_row_gets_its_cluster_in_every_format(given: str, wanted: str, tmp_path: Path) -> None:
    rows = ROWS[0]
    file, groups = write(tmp_path / f"in{given}", rows), tmp_path / f"groups{wanted}"
    run = dedup(file, *ALL, "--assign", groups, "--clusters", tmp_path / "clusters.jsonl", "--matches", "/dev/null")
    assert run.code == 0, run.err
    found = read(groups)
    assert as_cells([{name: row[name] for name in rows[0]} for row in found]) == as_cells(rows)
    truth = oracle_clusters(rows)
    of = {row["id"]: row["cluster"] for row in found}
    assert len({*of.values()}) == len({*truth.values()})
    for left, right in combinations(truth, 2):
        assert (of[left] == of[right]) == (truth[left] == truth[right])
    for cluster in read(tmp_path / "clusters.jsonl"):
        assert {of[member] for member in cluster["members"]} == {cluster["cluster"]}


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": [1, 2, 3],
            "text": pa.array([STORY, EDITED, OTHER]).dictionary_encode(),
            "score": pa.array([1, None, 3], pa.decimal128(5, 2)),
            "at": pa.array([0, 1, 2], pa.timestamp("ns", "UTC")),
            "more": [{"x": [1, 2]}, None, {"x": []}],
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    run = dedup(tmp_path / "in.parquet", "--threshold", "0.5", "--keep", "last", "-o", tmp_path / "out.parquet")
    assert run.code == 0, run.err
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.cast(table.schema).equals(table.slice(1))
    assert found.drop(["text"]).schema == table.drop(["text"]).schema


def test_lines_of_json_are_copied_and_with_a_cluster_their_values_are(tmp_path: Path) -> None:
    lines = [
        '{"id": 1, "text": "a b c", "x": 1.50, "y": [1,  2], "z": 1e400, "\\u0061": "é", "z": 2}',
        '{"id":2,"text":"d e f"}',
    ]
    (tmp_path / "in.jsonl").write_text(f"\ufeff{lines[0]}\r\n\n {lines[1]}")
    outputs = ("-o", tmp_path / "out.jsonl", "--assign", tmp_path / "groups.jsonl")
    run = dedup(tmp_path / "in.jsonl", "--keep", "first", *outputs)
    assert run.code == 0, run.err
    assert (tmp_path / "out.jsonl").read_text() == "".join(f"{line}\n" for line in lines)
    assert (tmp_path / "groups.jsonl").read_text().splitlines() == [
        '{"id":1,"text":"a b c","x":1.50,"y":[1,  2],"z":2,"a":"é","cluster":"1"}',
        '{"id":2,"text":"d e f","cluster":"2"}',
    ]


def test_an_object_of_several_lines_becomes_one(tmp_path: Path) -> None:
    objects = [{"id": "a", "text": STORY}, {"id": "b", "text": OTHER}]
    (tmp_path / "in.json").write_text(json.dumps(objects, indent=1))
    run = dedup(tmp_path / "in.json", "--keep", "first", "-o", tmp_path / "out.jsonl")
    assert run.code == 0, run.err
    assert read(tmp_path / "out.jsonl") == objects


def test_files_of_several_formats_are_one_input(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "0.jsonl", [{"id": "0", "text": STORY, "x": 1}]),
        write(tmp_path / "1.csv", [{"id": "1", "text": OTHER, "y": "b"}]),
        write(tmp_path / "2.parquet", [{"id": "2", "text": EDITED, "z": True}]),
    ]
    (tmp_path / "4.txt").write_text(STORY)
    run = dedup(*files, tmp_path / "4.txt", "--threshold", "0.5", "--keep", "last", "-o", tmp_path / "out.csv")
    assert run.code == 0, run.err
    assert read(tmp_path / "out.csv") == [
        {"id": "1", "text": OTHER, "x": "", "y": "b", "z": ""},
        {"id": str(tmp_path / "4.txt"), "text": STORY, "x": "", "y": "", "z": ""},
    ]


def test_deleted_and_replaced_rows_are_not_kept_and_rejected_rows_are_in_no_output(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(
        lines_of([{"id": "a", "text": STORY}, {"id": "b", "text": EDITED}, {"id": None, "text": OTHER}, {"id": "c"}])
        + b"no JSON\n"
        + lines_of([{"id": "a", "deleted": True}, {"id": "d", "text": OTHER}, {"id": "d", "text": STORY}])
    )
    run = dedup(tmp_path / "in.jsonl", "--threshold", "0.5", "--keep", "last", "--assign", tmp_path / "groups.jsonl")
    assert run.out == [{"id": "d", "text": STORY}]
    assert "3 rejected: id 1, json 1, text 1" in run.err
    assert [row["id"] for row in read(tmp_path / "groups.jsonl")] == ["a", "b", "a", "d", "d"]


def test_the_result_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    file = write(tmp_path / "in.parquet", rows_of(7, 900))
    outputs = []
    for jobs in ("1", "3"):
        run = dedup(file, "--keep", "longest", "-o", tmp_path / f"{jobs}.jsonl", "--jobs", jobs)
        assert run.code == 0, run.err
        outputs.append((tmp_path / f"{jobs}.jsonl").read_bytes())
    assert outputs[0] == outputs[1]


def test_an_input_without_rows_gives_an_output_without_rows(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text,x\n")
    pq.write_table(pa.table({"id": ["a"], "text": ["b"], "x": [1]}).slice(0, 0), tmp_path / "in.parquet")
    for name in ("in.csv", "in.parquet"):
        for suffix in (".jsonl", ".parquet", ".csv"):
            run = dedup(tmp_path / name, "--keep", "column:x", "-o", tmp_path / f"out{suffix}")
            assert (run.code, read(tmp_path / f"out{suffix}")) == (0, []), run.err
    assert pq.read_schema(tmp_path / "out.parquet").names == ["id", "text", "x"]


# -- the names of outputs


def test_output_is_the_file_of_the_matches_without_keep(tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", [{"id": "a", "text": STORY}, {"id": "b", "text": STORY}])
    for option in ("-o", "--output", "--matches"):
        dedup(file, option, tmp_path / "matches.jsonl")
        assert [row["left"] for row in read(tmp_path / "matches.jsonl")] == ["a"]
    run = dedup(file, "--keep", "last", "--matches", tmp_path / "m.jsonl")
    assert (run.out, read(tmp_path / "m.jsonl")[0]["right"]) == ([{"id": "b", "text": STORY}], "b")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--keep", "best"], "got 'best', expected first, last, longest, shortest or column:NAME"),
        (["--keep", "first", "-o", "clean.xls"], "--output: got clean.xls, expected a name that ends in .jsonl"),
        (["--assign", "groups"], "--assign: got groups, expected a name that ends in .jsonl"),
        (["--keep", "first", "-o", "in.jsonl"], "in.jsonl: is an input, and would be replaced"),
        (["--keep", "first", "--assign", "x.csv", "-o", "x.csv"], "x.csv: two outputs cannot be one file"),
        (["--keep", "first", "--query", "in.jsonl"], "--keep: needs all pairs, so it cannot be used with --query"),
        (["--assign", "x.csv", "--query", "in.jsonl"], "--assign: needs all pairs, so it cannot be used with --query"),
        (["-o", "x", "--matches", "y"], "both name the file for the matches"),
        (["-", "--keep", "first"], "-: got a pipe, expected a file, because --keep and --assign read"),
        (["--keep", "column:scores"], "got the column 'scores', expected one of 'id', 'text', 'score'"),
        (["--keep", "column:text"], "in the column 'text' of 'a', expected a number"),
        (["--assign", "x.jsonl", "twice.jsonl"], "the input already has a column 'cluster'"),
        (["--assign", "x.parquet", "third.jsonl"], "the input already has a column 'cluster'"),
        (["--keep", "first", "-o", "x.parquet", "twice.jsonl"], "a column has values of different types"),
        (["--keep", "first", "-o", "x.jsonl", "names.csv"], "names.csv: got the column 'x' 2 times, expected once"),
    ],
)
def test_wrong_use_leaves_no_output(arguments: list[str], words: str, tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", [{"id": "a", "text": STORY, "score": 1}, {"id": "b", "text": OTHER, "score": 2}])
    write(tmp_path / "twice.jsonl", [{"id": "c", "text": "x y z", "cluster": 5, "score": "high"}])
    write(tmp_path / "third.jsonl", [{"id": "d", "text": "x y z", "cluster": 5}])
    (tmp_path / "names.csv").write_text("id,text,x,x\na,b,c,d\n")
    before = {path.name for path in tmp_path.iterdir()}
    run = dedup("in.jsonl", *arguments, cwd=tmp_path)
    assert (run.code, run.out) == (2, [])
    assert words in run.err
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\0" * 50 + b"PAR1"])
def test_a_damaged_parquet_file_ends_the_run(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "in.parquet").write_bytes(content)
    run = dedup(tmp_path / "in.parquet", "--keep", "first", "-o", tmp_path / "out.parquet")
    assert run.code == 1
    assert "in.parquet: cannot be read as Parquet: " in run.err
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_a_full_disk_leaves_the_earlier_output(suffix: str, tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", rows_of(5, 2000))
    out = write(tmp_path / f"out{suffix}", [{"id": "a"}])
    before = out.read_bytes()
    command = [sys.executable, "-m", "stream_lsh", "dedup", str(file), "--keep", "first", "-o", str(out)]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    # Python ignores SIGXFSZ, so that the write fails as on a full disk.
    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=limit)  # noqa: S603
    assert done.returncode == 1
    assert f"out{suffix}: cannot be written: File too large" in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert out.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {file.name, out.name}


def test_an_input_that_changes_between_two_readings_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "in.jsonl", rows_of(5, 90))

    def kept_while_a_row_is_added(*arguments: Any) -> Any:
        with file.open("a") as rows:
            rows.write('{"id": 1, "text": "x"}\n')
        return kept_rows(*arguments)

    monkeypatch.setattr("stream_lsh.cli.runs.clean.kept_rows", kept_while_a_row_is_added)
    run = dedup(file, "--keep", "first", "-o", tmp_path / "out.jsonl")
    assert run.code == 1
    assert "the input changed while it was read" in run.err
    assert not (tmp_path / "out.jsonl").exists()
