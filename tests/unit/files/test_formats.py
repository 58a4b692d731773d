"""The same rows in every format give the results of JSON lines; damaged files are an error, and nothing is written."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import MalformedMessage
from stream_lsh.files.json_array import ArraySplitter
from tests.unit.cli.runs import EDITED, LOW, OTHER, STORY, lines_of, ran, stream_lsh

pa: Any = import_module("pyarrow")
pq: Any = import_module("pyarrow.parquet")
feather: Any = import_module("pyarrow.feather")
pl: Any = import_module("polars")

ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": STORY, "stars": 1.5, "tags": ["x", "y"]},
    {"id": "b", "text": EDITED, "stars": None, "tags": []},
    {"id": "c", "text": OTHER, "stars": 2.0, "tags": None},
    {"id": "a", "text": STORY + " and more", "stars": 3.0, "tags": ["z"]},
]
TABLE = pa.Table.from_pylist(ROWS)


def ipc(stream: bool, rows: int | None = None, table: Any = TABLE) -> bytes:
    sink = pa.BufferOutputStream()
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return bytes(sink.getvalue())


def of_feather(compression: str) -> bytes:
    sink = io.BytesIO()
    feather.write_feather(TABLE, sink, compression=compression)
    return sink.getvalue()


def of_polars() -> bytes:
    sink = io.BytesIO()
    pl.DataFrame(ROWS).write_ipc(sink, compression="zstd")
    return sink.getvalue()


def of_parquet(table: Any = TABLE) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def table(delimiter: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([["id", "text"], *([row["id"], row["text"]] for row in ROWS)])
    return text.getvalue().encode()


FILES: Mapping[str, Callable[[], bytes]] = {
    "array.json": lambda: json.dumps(ROWS).encode(),
    "pretty.json": lambda: b"\xef\xbb\xbf\n\n " + json.dumps(ROWS, indent=2).encode() + b"\n",
    "lines.json": lambda: lines_of(ROWS),
    "array.json.gz": lambda: gzip.compress(json.dumps(ROWS, indent=1).encode()),
    "array.json.zst": lambda: zstandard.compress(json.dumps(ROWS).encode()),
    "rows.ndjson.zst": lambda: zstandard.compress(lines_of(ROWS)),
    "rows.csv.gz": lambda: gzip.compress(table(",")),
    "rows.tsv.zst": lambda: zstandard.compress(table("\t")),
    "rows.parquet": of_parquet,
    "file.arrow": lambda: ipc(stream=False),
    "batches.arrow": lambda: ipc(stream=False, rows=1),
    "stream.ipc": lambda: ipc(stream=True),
    "batches.ipc": lambda: ipc(stream=True, rows=3),
    "lz4.feather": lambda: of_feather("lz4"),
    "polars.feather": of_polars,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    path = tmp_path_factory.mktemp("lines") / "rows.jsonl"
    path.write_bytes(lines_of(ROWS))
    return stream_lsh("dedup", *LOW, path).out


@pytest.mark.parametrize("name", FILES)
def test_a_format_gives_the_pairs_of_json_lines(tmp_path: Path, expected: list[Any], name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name]())
    assert stream_lsh("dedup", *LOW, name, cwd=tmp_path).out == expected != []


@pytest.mark.parametrize("name", [name for name in FILES if "csv" not in name and "tsv" not in name])
def test_the_rows_of_a_format_are_kept_with_all_their_columns(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name]())
    for out in ("clean.jsonl", "clean.parquet"):
        ran("dedup", *LOW, name, "--keep", "first", "--output", out, cwd=tmp_path)
    kept = [ROWS[1], ROWS[2]]
    assert [json.loads(line) for line in (tmp_path / "clean.jsonl").read_bytes().splitlines()] == kept
    assert pq.read_table(tmp_path / "clean.parquet").to_pylist() == kept


@pytest.mark.parametrize("name", ["array.json", "file.arrow", "stream.ipc", "lz4.feather"])
def test_records_and_sets_are_read_from_every_format(tmp_path: Path, name: str) -> None:
    rows = [{"id": id, "name": "Ann Lee", "dob": "1980-02-03", "items": ["x", "y", "z"]} for id in "ab"]
    data = (
        json.dumps(rows).encode()
        if name.endswith("json")
        else ipc(name == "stream.ipc", None, pa.Table.from_pylist(rows))
    )
    (tmp_path / name).write_bytes(data)
    linked = stream_lsh("link", name, "--profile", "people", cwd=tmp_path)
    assert [entity["size"] for entity in linked.out] == [2]
    assert list(stream_lsh("sets", name, cwd=tmp_path).pairs) == [("a", "b")]
    vectors = [{"id": id, "vector": [1.0, 2.0]} for id in "ab"]
    data = (
        json.dumps(vectors).encode()
        if name.endswith("json")
        else ipc(name == "stream.ipc", None, pa.Table.from_pylist(vectors))
    )
    (tmp_path / name).write_bytes(data)
    assert list(stream_lsh("neighbours", "--within", "0.1", name, cwd=tmp_path).pairs) == [("a", "b")]


def test_the_files_of_a_folder_have_one_source(tmp_path: Path) -> None:
    (tmp_path / "crm").mkdir()
    for id in "ab":
        (tmp_path / "crm" / f"{id}.json").write_text(json.dumps([{"id": id, "name": "Ann Lee", "dob": "1980-02-03"}]))
    linked = stream_lsh("link", "crm", "--profile", "people", cwd=tmp_path)
    assert [entity["members"] for entity in linked.out] == [[{"id": "b", "source": ""}, {"id": "a", "source": ""}]]


WRONG: Mapping[str, tuple[bytes, str]] = {
    "cut.json": (json.dumps(ROWS).encode()[:-1], "cut.json: the JSON array ends too early, after "),
    "open.json": (b'[{"id": "a", "text": "never en', "open.json: the JSON array ends too early"),
    "two.json": (json.dumps(ROWS).encode() * 2, "two.json: got data behind the end of the JSON array"),
    "cut.json.gz": (gzip.compress(json.dumps(ROWS).encode())[:-9], "cut.json.gz: the gzip data end too early"),
    "empty.arrow": (b"", "empty.arrow: cannot be read as Arrow"),
    "cut.arrow": (ipc(stream=False)[:-30], "cut.arrow: cannot be read as Arrow"),
    "cut.ipc": (ipc(stream=True)[:-300], "cut.ipc: cannot be read as Arrow"),
    "text.feather": (STORY.encode(), "text.feather: cannot be read as Arrow"),
    "old.feather": (b"FEA1" + b"\0" * 100, "old.feather: got Feather of version 1, expected version 2"),
    "empty.parquet": (b"", "empty.parquet: cannot be read as Parquet"),
    "cut.parquet": (of_parquet()[:-30], "cut.parquet: cannot be read as Parquet"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_damaged_file_is_an_error_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    data, words = WRONG[name]
    (tmp_path / name).write_bytes(data)
    run = ran("dedup", name, "--keep", "first", "-o", "out.parquet", "--matches", "pairs.jsonl", cwd=tmp_path)
    assert words in run.stderr.decode()
    assert run.returncode in (1, 2)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("seed", range(200))
def test_altered_arrow_bytes_never_crash(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    data = bytearray(ipc(stream=bool(seed % 2)))
    for _ in range(random.randint(1, 4)):
        data[random.randrange(len(data))] = random.randrange(256)
    (tmp_path / "x.arrow").write_bytes(data)
    assert ran("dedup", "-q", "x.arrow", "-o", "out.jsonl", cwd=tmp_path).returncode in (0, 1, 2)


def test_rejected_rows_of_an_array_have_the_numbers_of_their_elements(tmp_path: Path) -> None:
    text = '[{"id": "a", "text": "x"}, 5, , {"id": null, "text": "y"}, {"text": {"no": 1}}, {"id": "b", "text": "%s"},]'
    (tmp_path / "x.json").write_text(text % ("long " * 200))
    ran("dedup", "--max-bytes", "500", "x.json", "--keep", "first", "-o", "out.jsonl", "--rejects", "r", cwd=tmp_path)
    rejects = [json.loads(line) for line in (tmp_path / "r").read_bytes().splitlines()]
    assert [(reject["line"], reject["reason"]) for reject in rejects] == [
        *((2, "json"), (3, "json"), (4, "id"), (5, "text"), (6, "size"), (7, "json"))
    ]
    assert (tmp_path / "out.jsonl").read_text() == '{"id": "a", "text": "x"}\n'


@pytest.mark.parametrize("stream", [False, True])
def test_null_ids_and_nested_texts_of_arrow_are_rejected_rows(tmp_path: Path, stream: bool) -> None:
    rows = [
        {"id": "a", "text": STORY},
        {"id": None, "text": STORY},
        {"id": "b", "text": None},
        {"id": "c", "text": EDITED},
    ]
    (tmp_path / "x.arrow").write_bytes(ipc(stream, 2, pa.Table.from_pylist(rows)))
    run = stream_lsh("dedup", *LOW, "x.arrow", cwd=tmp_path)
    assert list(run.pairs) == [("a", "c")]
    assert "x.arrow:2: rejected (id)" in run.err
    assert "x.arrow:3: rejected (text)" in run.err
    (tmp_path / "y.arrow").write_bytes(ipc(stream, None, pa.table({"id": ["a"], "text": [{"inner": "x"}]})))
    nested = ran("dedup", "y.arrow", cwd=tmp_path)
    assert nested.returncode == 1
    assert b"y.arrow:1: rejected (text)" in nested.stderr
    (tmp_path / "z.arrow").write_bytes(ipc(stream, None, pa.table([["a"], ["x"], ["y"]], names=["id", "text", "text"])))
    twice = ran("dedup", "z.arrow", cwd=tmp_path)
    assert twice.returncode == 2
    assert b"got the column 'text' 2 times" in twice.stderr
    (tmp_path / "n.arrow").write_bytes(ipc(stream, None, pa.table({"id": ["a"], "body": ["x"]})))
    assert b"found 'id', 'body': set --text-column" in ran("dedup", "n.arrow", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("command", "column"),
    [("dedup --time-column", "at"), ("allpairs --time-column", "at"), ("news --title-column", "head")],
)
@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_a_table_has_each_column_that_an_option_names(tmp_path: Path, command: str, column: str, name: str) -> None:
    (tmp_path / "in.csv").write_text(f'id,text,at,head\na,"{STORY}",2026-01-01,News\n')
    (tmp_path / "in.parquet").write_bytes(
        of_parquet(pa.table({"id": ["a"], "text": [STORY], "at": ["2026-01-01"], "head": ["News"]}))
    )
    missing = ran(*command.split(), "when", name, cwd=tmp_path)
    found = f"stream-lsh: {name}: got no column 'when', found 'id', 'text', 'at', 'head': set {command.split()[1]}\n"
    assert (missing.returncode, missing.stderr.decode()) == (2, found)
    assert ran(*command.split(), column, name, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("command", "option"), [(["sets"], "--item-column"), (["neighbours", "--within", "5"], "--vector-column")]
)
def test_the_option_for_a_missing_column_of_sets_and_vectors_is_named(
    tmp_path: Path, command: list[str], option: str
) -> None:
    (tmp_path / "in.parquet").write_bytes(of_parquet(pa.table({"id": ["a"], "tags": [["x"]]})))
    missing = ran(*command, "in.parquet", cwd=tmp_path)
    assert missing.returncode == 2
    assert missing.stderr.decode().endswith(f"found 'id', 'tags': set {option}\n")


TYPES: Mapping[str, tuple[dict[str, Any], str]] = {
    "null ids": ({"id": pa.nulls(2)}, "id"),
    "fractions as ids": ({"id": [1.5, 2.5]}, "id"),
    "objects as ids": ({"id": [{"a": 1}, {"a": 2}]}, "id"),
    "numbers as texts": ({"text": [1, 2]}, "text"),
    "lists as texts": ({"text": [[STORY], [EDITED]]}, "text"),
    "bytes as texts": ({"text": pa.array([b"\xff", b"\xfe"], pa.binary())}, "utf8"),
}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("wrong", TYPES)
def test_columns_of_a_wrong_type_give_rejected_rows_and_an_output_without_rows(
    tmp_path: Path, wrong: str, ending: str
) -> None:
    columns, reason = TYPES[wrong]
    table = pa.table({"id": ["a", "b"], "text": [STORY, EDITED], **columns})
    file = tmp_path / f"x.{ending}"
    file.write_bytes(of_parquet(table) if ending == "parquet" else ipc(False, None, table))
    run = ran("dedup", file.name, "--keep", "first", "-o", "out.parquet", cwd=tmp_path)
    assert (run.returncode, run.stderr.decode().splitlines()[-2]) == (
        1,
        f"2 rejected: {reason} 2; --rejects lists them",
    )
    written = pq.read_table(tmp_path / "out.parquet")
    assert (written.num_rows, written.schema) == (0, table.schema)


def test_views_of_parquet_are_read_and_written_as_texts(tmp_path: Path) -> None:
    texts = pa.array([STORY, EDITED, "another text", None], pa.string_view())
    table = pa.table(
        {"id": ["a", "b", "c", "d"], "text": texts, "tags": pa.array([["x"]] * 4, pa.list_(pa.string_view()))}
    )
    (tmp_path / "x.parquet").write_bytes(of_parquet(table))
    ran("dedup", *LOW, "x.parquet", "--keep", "first", "-o", "out.parquet", cwd=tmp_path)
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [table.to_pylist()[at] for at in (0, 2)]


def test_a_text_with_a_document_in_each_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(
        b"\xef\xbb\xbf" + f"{STORY}\r\n\n{EDITED}\n".encode() + b"\xff\xfe\n" + OTHER.encode()
    )
    run = stream_lsh("dedup", *LOW, "--format", "lines", "a.txt", cwd=tmp_path)
    assert list(run.pairs) == [("1", "3")]
    assert "3 documents" in run.err
    assert "a.txt:4: rejected (utf8)" in run.err
    hint = "a text is one document; with --format lines each of its lines is one"
    assert hint not in run.err
    (tmp_path / "b.txt").write_text(STORY)
    assert hint in stream_lsh("dedup", "b.txt", cwd=tmp_path).err
    both = ("--format", "lines", "a.txt", "b.txt")
    assert ("a.txt:1", "b.txt:1") in stream_lsh("dedup", *LOW, *both, cwd=tmp_path).pairs
    assert stream_lsh("dedup", *LOW, "--format", "lines", "-", stdin=(tmp_path / "a.txt").read_bytes()).out == run.out
    kept = stream_lsh("dedup", *LOW, *both, "--keep", "first", cwd=tmp_path).out
    assert kept == [{"id": "a.txt:1", "text": STORY}, {"id": "a.txt:5", "text": OTHER}]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(json_values, max_size=6),
    st.sampled_from([None, 0, 3]),
    st.booleans(),
    st.lists(st.integers(1, 9), min_size=1),
)
def test_an_array_in_pieces_has_the_elements_of_the_whole(
    values: list[Any], indent: int | None, ascii_only: bool, sizes: list[int]
) -> None:
    data = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    splitter, found, at, turn = ArraySplitter("x", 1 << 20), list[bytes](), 0, 0
    while at < len(data):
        elements, errors = splitter.split(data[at : at + sizes[turn % len(sizes)]])
        found += elements
        assert not errors
        at, turn = at + sizes[turn % len(sizes)], turn + 1
    splitter.end()
    assert all(b"\n" not in element for element in found)
    assert [json.loads(element.decode("utf-8", "surrogatepass")) for element in found] == values
    with pytest.raises(MalformedMessage, match="behind the end"):
        splitter.split(b" ,")


def test_a_long_element_is_rejected_without_being_kept() -> None:
    splitter = ArraySplitter("x", 1000)
    splitter.split(b'[{"a": "')
    for _ in range(100):
        assert splitter.split(b'\\"] ' * 250) == ([], [])
        assert sum(map(len, splitter._pieces)) <= 1000
    elements, errors = splitter.split(b'"}, 7]')
    assert elements == [b"", b"7"]
    assert [(at, error.reason) for at, error in errors] == [(0, "size")]


@pytest.mark.parametrize("stream", [None, False, True])
def test_bytes_that_are_not_utf8_are_rejected_rows_or_an_error(tmp_path: Path, stream: bool | None) -> None:
    data = pa.array([STORY.encode(), b"\xff\xfe", EDITED.encode()], pa.binary())
    text = pa.Array.from_buffers(pa.string(), 3, data.buffers())
    table = pa.table({"id": ["a", "b", "c"], "text": text})
    if stream is None:
        pq.write_table(table, tmp_path / "x.parquet")
        run = stream_lsh("dedup", *LOW, "x.parquet", cwd=tmp_path)
        assert list(run.pairs) == [("a", "c")]
        assert "x.parquet:2: rejected (utf8)" in run.err
    else:
        (tmp_path / "x.arrow").write_bytes(ipc(stream, None, table))
        failed = ran("dedup", "x.arrow", cwd=tmp_path)
        assert failed.returncode == 1
        assert b"x.arrow: cannot be read as Arrow" in failed.stderr


@pytest.mark.parametrize("limit", [60, 300, 3000])
def test_rejected_rows_of_columns_are_those_of_json_lines(tmp_path: Path, limit: int) -> None:
    random = Random(limit)
    ids = ["x", "", "é", "a\nb", "i" * 2000, *map(str, range(20))]
    rows = [{"id": random.choice(ids), "text": random.choice('aé \n"') * random.randrange(400)} for _ in range(600)]
    (tmp_path / "x.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    found = {}
    for name in ("x.jsonl", "x.parquet"):
        arguments = ("--max-bytes", str(limit), "--keep", "last", "-o", "out.jsonl", "--rejects", "r.jsonl")
        assert ran("dedup", "-q", *LOW, name, *arguments, cwd=tmp_path).returncode == 0
        rejects = [json.loads(line) for line in (tmp_path / "r.jsonl").read_bytes().splitlines()]
        rejected = [(reject["line"], reject["reason"]) for reject in rejects]
        found[name] = rejected, (tmp_path / "out.jsonl").read_bytes()
    assert found["x.parquet"] == found["x.jsonl"]
    assert found["x.jsonl"][0]


@pytest.mark.parametrize("command", ["dedup", "sets", "link --profile people"])
@pytest.mark.parametrize(
    ("name", "content", "program"),
    [
        ("a.json", '{\n  "id": "1",\n  "text": "a"\n}\n', "."),
        ("a.jsonl", '{\r\n  "id": "1",\r\n  "text": "a"\r\n}\r\n', "."),
        ("a.jsonl", '\ufeff[\n  {"id": "1", "text": "a"}\n]\n', "'.[]'"),
    ],
)
def test_json_over_several_lines_is_reported_with_the_remedy(
    tmp_path: Path, command: str, name: str, content: str, program: str
) -> None:
    (tmp_path / name).write_text(content, newline="")
    run = stream_lsh(*command.split(), name, cwd=tmp_path)
    assert (run.code, run.out) == (2, [])
    assert run.err == (
        f"stream-lsh: {name}: got JSON over several lines, expected one object per line: convert it, as with "
        f"`jq -c {program}`\n"
    )
