"""Files of records: rows and objects, ids and sources, and the rejected ones."""

import gzip
import subprocess
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, ClassVar

import pytest
import zstandard

from stream_lsh.cli.commands.kafka.feed import make_parser
from stream_lsh.cli.input.record_reader import RecordReader, RecordsInMemory, keep
from stream_lsh.cli.options.parser import ascii_encoding
from stream_lsh.cli.output.atomic_files import Output
from stream_lsh.config.load import parse
from stream_lsh.errors import ConfigError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.record.files import find_record_inputs, read_records, source_names
from stream_lsh.kinds.record.messages import MAX_RECORD_BYTES
from stream_lsh.kinds.record.rows import RecordMaker, RecordNames
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import AUTO, DEFAULT_RULES
from tests.evaluation.record_corpora import dblp_acm, febrl, senzing
from tests.unit.cli.runs import lines_of

PROFILE = Profile(name="x", fields=(), comparisons=(), id_columns=("id", "rec_id", "record_id"))


def read(
    *paths: Path,
    encoding: str = "utf-8",
    max_bytes: int = 1000,
    id_column: str | None = None,
    source_column: str | None = None,
) -> tuple[list[Record], list[str]]:
    """The records of files, and the rejected ones with their reasons."""
    inputs = find_record_inputs([str(path) for path in paths], None)
    names = RecordNames.of(PROFILE, id_column, source_column)
    parts = list(read_records(inputs, names, max_bytes=max_bytes, encoding=encoding))
    assert all(len(part.records) == len(part.lines) for part in parts)
    rejected = [f"{Path(one.path).name}:{one.at} {one.reason}" for part in parts for one in part.refused]
    return [record for part in parts for record in part.records], rejected


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


TABLE = 'id,name, city\n1,Ann, Bonn\n\n2,"Bob, jr",\n'
ROWS = [Record("1", {"name": "Ann", "city": "Bonn"}), Record("2", {"name": "Bob, jr", "city": ""})]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", TABLE.encode()),
        ("x.csv", b"\xef\xbb\xbf" + TABLE.replace("\n", "\r\n").encode()),
        ("x.tsv", b'id\tname\tcity\n1\tAnn\tBonn\n2\t"Bob, jr"\t\n'),
        ("x.csv.gz", gzip.compress(TABLE.encode(), mtime=0)),
        ("x.csv.zst", zstandard.compress(TABLE.encode())),
        ("x.jsonl", b'{"id": 1, "name": "Ann", "city": "Bonn"}\n\n{"id": "2", "name": "Bob, jr", "city": ""}'),
    ],
)  # fmt: skip
def test_a_record_is_the_same_in_every_format(tmp_path: Path, name: str, content: bytes) -> None:
    assert read(written(tmp_path / name, content)) == (ROWS, [])


def test_columns_of_id_and_source_are_found_or_named_and_are_no_fields(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "name,REC ID,Data-Source,ref\nAnn,1,crm,a\nBob,2,,b\n")
    assert read(path)[0] == [
        Record("crm/1", {"name": "Ann", "ref": "a"}, "crm"),
        Record("2", {"name": "Bob", "ref": "b"}),
    ]
    assert read(path, id_column="ref", source_column="name")[0] == [
        Record("Ann/a", {"REC ID": "1", "Data-Source": "crm"}, "Ann"),
        Record("Bob/b", {"REC ID": "2", "Data-Source": ""}, "Bob"),
    ]


def test_several_files_are_sources_by_their_names_and_a_source_goes_before_the_id(tmp_path: Path) -> None:
    one = written(tmp_path / "one.csv.gz", gzip.compress(b"id,name\n7,Ann\n"))
    two = written(tmp_path / "two.jsonl", '{"id": 7, "name": "Bob"}\n{"id": 8, "source": "a/b", "name": "Cem"}\n')
    records, _ = read(one, two)
    assert [(record.id, record.source) for record in records] == [
        ("one/7", "one"), ("two/7", "two"), ("a%2Fb/8", "a/b"),
    ]  # fmt: skip
    assert [(record.id, record.source) for record in read(two)[0]] == [("7", ""), ("a%2Fb/8", "a/b")]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a.csv"], [""]),
        (["a/dump.2024.csv.zst", "-"], ["dump.2024", "stdin"]),
        (["x/a.csv", "y/a.jsonl", "b.parquet"], ["x/a.csv", "y/a.jsonl", "b"]),
        ([".csv", "b.csv"], [".csv", "b"]),
    ],
)
def test_sources_of_files(paths: list[str], names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in filter("-".__ne__, paths):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).touch()
    assert source_names(find_record_inputs(paths, None)) == names


def test_objects_within_objects_are_fields_side_by_side(tmp_path: Path) -> None:
    path = written(
        tmp_path / "x.jsonl",
        '{"RECORD_ID": "1", "FEATURES": [{"NAME_LAST": "Smith"}, {"PHONE": "1"}, {"PHONE": "2", "KIND": null},'
        ' {"PHONE": ["3"]}], "address": {"city": "Bonn", "geo": {"lat": 50.7}}, "tags": ["a", ["b", null]],'
        ' "none": []}',
    )
    (record,), _ = read(path)
    assert record == Record(
        "1",
        {
            "NAME_LAST": "Smith", "PHONE": ["1", "2", "3"], "KIND": None, "address_city": "Bonn",
            "address_geo_lat": 50.7, "tags": ["a", "b"],
        },
    )  # fmt: skip


def test_an_unusable_record_is_rejected_with_its_line_and_the_others_are_read(tmp_path: Path) -> None:
    lines = [
        b'{"id": 1, "a": "x"}', b"{", b"[1]", b'{"a": "no id"}', b'{"id": true}', b'{"id": ""}',
        b'{"id": 2, "a": "\xff"}', b'{"id": 3, "a": "' + b"x" * 1000 + b'"}',
        b'{"id": "' + b"y" * 900 + b'"}', b'{"id": 1.5}', b'{"id": 4.0}',
        b'{"id": 5, "a": ' + b"[" * 400 + b"]" * 400 + b"}", b'{"id": "\\ud800"}', b'{"id": 6}',
    ]  # fmt: skip
    records, rejected = read(written(tmp_path / "x.jsonl", b"\n".join(lines)))
    assert [record.id[:3] for record in records] == ["1", "yyy", "4", "5", "6"]
    assert rejected == [
        "x.jsonl:2 json", "x.jsonl:3 json", "x.jsonl:4 id", "x.jsonl:5 id", "x.jsonl:6 id", "x.jsonl:7 encoding",
        "x.jsonl:8 size", "x.jsonl:10 id", "x.jsonl:13 json",
    ]  # fmt: skip
    rows = (
        b'id,a\n1,x\n2\n3,y,z\n,w\n4,\xff\n5,"'
        + b"x" * 1001
        + '"\n6,"two\nlines"\n7,{}\n8,{}\n'.format("é" * 500, "é" * 499).encode()
    )
    records, rejected = read(written(tmp_path / "y.csv", rows))
    assert [record.id for record in records] == ["1", "6", "8"]
    assert rejected == ["y.csv:3 csv", "y.csv:4 csv", "y.csv:5 id", "y.csv:6 encoding", "y.csv:7 size", "y.csv:10 size"]


def test_another_encoding_can_be_named(tmp_path: Path) -> None:
    table = written(tmp_path / "x.csv", "id,name\n1,Çetin\n".encode("latin-1"))
    lines = written(tmp_path / "x.jsonl", '{"id": 1, "name": "Çetin"}\n'.encode("cp1252"))
    assert read(table, encoding="latin-1")[0] == read(lines, encoding="cp1252")[0] == [Record("1", {"name": "Çetin"})]
    assert ascii_encoding("Latin-1") == "iso8859-1"
    for name in ("utf-16", "klingon", "hex", "cp500"):
        with pytest.raises(ArgumentTypeError, match="such as utf-8, latin-1"):
            ascii_encoding(name)


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("", {}, "x.csv: got nothing, expected a header"),
        (
            "name,city\n",
            {},
            "x.csv: got no column 'id' or 'rec_id' or 'record_id' for the id, found 'name', 'city': ",
        ),
        ("id,name\n", {"id_column": "nr"}, "got no column 'nr' for the id"),
        ("id,name\n", {"source_column": "s"}, "got no column 's' for the source, found 'id', 'name'"),
        ("id,name,name\n", {}, "x.csv: got the column 'name' 2 times, expected once"),
        (b"id,n\xe4me\n", {}, "x.csv: got bytes that are not UTF-8: set --encoding"),
    ],
)
def test_a_table_with_an_invalid_header_is_rejected(
    tmp_path: Path, content: str | bytes, columns: dict[str, str], message: str
) -> None:
    path = written(tmp_path / "x.csv", content)
    with pytest.raises(ConfigError) as raised:
        read(path, id_column=columns.get("id_column"), source_column=columns.get("source_column"))
    assert message in str(raised.value)


def test_missing_files_and_folders_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        find_record_inputs([f"{tmp_path}/none.csv"], None)
    with pytest.raises(ConfigError, match=r"is a folder, expected a file"):
        find_record_inputs([str(tmp_path)], "parquet")
    with pytest.raises(ConfigError, match=r"there is no such file or folder\n-: is a pipe, and Parquet"):
        find_record_inputs([f"{tmp_path}/none.csv", "-"], "parquet")


# -- Parquet


class _Schema(tuple[str, ...]):
    """The part of `pyarrow.parquet.ParquetSchema` that the reader uses."""

    def column(self, at: int) -> Namespace:
        return Namespace(path=self[at], max_repetition_level=0, physical_type="BYTE_ARRAY", length=0)


class _File:
    """The part of `pyarrow.parquet.ParquetFile` that the reader uses, with three rows in two row groups."""

    sizes = (100, 8 << 20)
    """Of the largest column in each row group."""
    rows_at_once: ClassVar[list[int]] = []

    def __init__(self, path: str, *, buffer_size: int, pre_buffer: bool) -> None:
        assert buffer_size
        assert not pre_buffer
        if Path(path).read_bytes() != b"PAR1":
            raise _Error("Parquet magic bytes not found in footer.\nMore")
        self.metadata = Namespace(num_rows=3, num_row_groups=2, row_group=self._row_group)
        self.schema_arrow = Namespace(names=["id", "born", "paid", "raw", "more"])
        self.schema = _Schema(("born", "id"))

    def _row_group(self, number: int) -> Namespace:
        text = {"physical_type": "BYTE_ARRAY", "encodings": ["DELTA_BYTE_ARRAY"], "has_dictionary_page": False}
        columns = [
            Namespace(path_in_schema=name, total_uncompressed_size=self.sizes[number], **text) for name in self.schema
        ]
        return Namespace(
            num_columns=2, column=columns.__getitem__, total_byte_size=2 * self.sizes[number], num_rows=2 - number
        )

    def __enter__(self) -> "_File":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def iter_batches(self, batch_size: int, row_groups: list[int], columns: None) -> Iterator[Any]:
        self.rows_at_once.append(batch_size)
        first = {"id": 1.0, "born": date(1980, 1, 2), "paid": Decimal("1.50"), "raw": b"ab", "more": {"city": ["Bonn"]}}
        last = {"id": "x", "born": datetime(2020, 1, 2, tzinfo=UTC)}
        assert columns is None
        groups: list[list[object]] = [[first, {"id": None}], [last]]
        rows = groups[row_groups[0]]
        yield Namespace(num_rows=len(rows), to_pylist=lambda: rows)


class _Error(Exception):
    pass


def test_parquet_is_read_with_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow, parquet = ModuleType("pyarrow"), ModuleType("pyarrow.parquet")
    arrow.ArrowException, parquet.ParquetFile = _Error, _File  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    records, rejected = read(written(tmp_path / "x.parquet", b"PAR1"))
    assert records == [
        Record("1", {"born": "1980-01-02", "paid": "1.50", "raw": "ab", "more_city": "Bonn"}),
        Record("x", {"born": "2020-01-02T00:00:00+00:00"}),
    ]
    assert rejected == ["x.parquet:2 id"]
    assert _File.rows_at_once == [256, 8], "64 MB of the largest column"
    with pytest.raises(ConfigError, match="got no column 'nr' for the id"):
        read(tmp_path / "x.parquet", id_column="nr")
    with pytest.raises(MalformedMessage, match=r"cannot be read as Parquet: Parquet magic bytes not found in footer.$"):
        read(written(tmp_path / "y.pq", b"?"))
    monkeypatch.setattr(_File, "sizes", (100, (4 << 30) + 1))
    too_large = "row group 1 has 8589934594 bytes, 4294967297 of them in the column 'id', expected at most 4294967296"
    with pytest.raises(MalformedMessage, match=too_large):
        read(tmp_path / "x.parquet")


_PEAK = """
import sys, pyarrow
from stream_lsh.kinds.record.files import find_record_inputs, read_records
from stream_lsh.kinds.record.messages import MAX_RECORD_BYTES
from stream_lsh.kinds.record.rows import RecordNames
for part in read_records(find_record_inputs(sys.argv[1:], None), RecordNames(("id",), ()), max_bytes=1000):
    assert part.records
print(pyarrow.default_memory_pool().max_memory())
"""
"""Reads a file, and prints how many bytes of it were in memory at once, but for those of the records."""


@pytest.mark.slow
def test_a_large_row_group_of_parquet_is_not_read_at_once(tmp_path: Path) -> None:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    random, rows, path = Random(1), 40_000, tmp_path / "x.parquet"
    columns = {"id": [str(row) for row in range(rows)], "text": [random.randbytes(250).hex() for _ in range(rows)]}
    parquet.write_table(arrow.table(columns), path, row_group_size=rows)
    parquet.write_table(arrow.table({"id": ["1"] * 400, "text": ["w" * 900_000] * 400}), tmp_path / "y.parquet")
    peaks = []
    for name in ("x.parquet", "y.parquet"):
        done = subprocess.run([sys.executable, "-c", _PEAK, tmp_path / name], capture_output=True, check=True)  # noqa: S603
        peaks.append(int(done.stdout) >> 20)
    assert peaks[0] < 8, "of 20 MB of random text"
    assert peaks[1] < 200, "of 360 MB of one text that is stored once"


def test_without_pyarrow_the_error_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r'needs pyarrow: pip install "stream_lsh\[parquet\]"'):
        read(written(tmp_path / "x.parquet", b"PAR1"))


# -- as the commands take them


def taken(
    paths: list[Path], rejects: Output | None = None, **options: object
) -> tuple[RecordReader, RecordsInMemory[Record]]:
    defaults = {
        "id_column": None, "source_column": None, "max_bytes": 1000, "encoding": "utf-8", "quiet": False,
        "strict": False,
    }  # fmt: skip
    inputs = find_record_inputs([str(path) for path in paths], None)
    record_reader = RecordReader(inputs, Namespace(**defaults | options), PROFILE, rejects)
    return record_reader, keep(iter(record_reader), lambda record: record)


def test_the_last_of_the_records_with_one_id_counts_and_a_warning_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "x.csv", "id,n\n" + "a,1\nb,2\n" + "".join(f"a,{n}\n" for n in range(3, 10)) + "c\n")
    record_reader, kept = taken([path], strict=True)
    assert [(record.id, record.fields["n"]) for record in kept.made] == [("a", "9"), ("b", "2")]
    assert (record_reader.records, record_reader.again, record_reader.end()) == (9, 7, 1)
    assert kept.rows == {"a": 0, "b": 1}
    printed = capsys.readouterr().err.splitlines()
    assert f"{path}:4: the id 'a' is repeated: this record replaces the one before it" in printed
    assert sum("is repeated" in line for line in printed) == 5
    assert sum("rejected (csv)" in line for line in printed) == 1
    again, rejected = record_reader.summary()
    assert again.startswith("7 repeated ids: the last record of each counts")
    assert rejected == "1 rejected: csv 1; --rejects lists them"
    taken([path], quiet=True)
    assert capsys.readouterr().err == ""


def test_rejected_records_can_be_written_to_a_file(tmp_path: Path) -> None:
    out = Output(str(tmp_path / "rejects.jsonl"))
    path = written(tmp_path / "x.csv", "id\n1\n2,3\n")
    record_reader, _ = taken([path], out, quiet=True)
    out.finish()
    written_line = (tmp_path / "rejects.jsonl").read_text()
    assert written_line.startswith(f'{{"file": "{path}", "line": 3, "reason": "csv"')
    assert record_reader.summary() == ["1 rejected: csv 1"]


# -- the corpora


def plain(records: list[Record]) -> list[tuple[str, str, dict[str, object]]]:
    return [(record.id, record.source, dict(record.fields)) for record in records]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"id": 1.5}, "got 1.5 as `id`, expected a text or a whole number"),
        ({"id": True}, "got True as `id`"),
        ({"id": " "}, "got no `id`"),
        ({"id": None}, "got no `id`"),
        ({"name": "Ann"}, "got no `id` or `rec_id` or `record_id`"),
    ],
)
def test_the_rejection_of_a_record_without_a_usable_id_states_what_it_has(row: dict[str, object], found: str) -> None:
    with pytest.raises(UnusableDocument, match=found):
        RecordMaker(RecordNames.of(PROFILE), "").record(row)


def test_feed_rejects_records_that_are_too_large_for_a_worker(tmp_path: Path) -> None:
    large = MAX_RECORD_BYTES * "x"
    rows: list[dict[str, object]] = [
        {"id": "field", "surname": large},
        {"id": "other column", "notes": large},
        {"id": "deletion", "deleted": True, "surname": large},
        {"id": "no field"},
    ]
    path = written(tmp_path / "x.jsonl", lines_of(rows))
    options = make_parser().parse(["--config", "x.toml", str(path)])
    options.time_unit, options.max_bytes = AUTO, 16 << 20
    kind = parse("[[pipeline]]\nsource = 's'\nkind = 'record'\nprofile = 'people'\n", "x.toml", {}).pipelines[0].kind
    parts = [*kind.read_files(kind.find_files(options), options, FieldNames(), 0)]
    messages = [message for part in parts for message in part.messages]
    assert [(one.at, one.reason) for part in parts for one in part.refused] == [(1, "size")]
    parsed = [kind.parse(value, key, DEFAULT_RULES, 0, None).id for key, value in messages]
    assert parsed == ["other column", "deletion", "no field"]


@pytest.mark.corpus
def test_the_corpora_are_read_as_they_are(data_dir: Path) -> None:
    folder = data_dir / "febrl"
    names = ["dataset4a", "dataset4b"]
    expected = [(f"{one.source}/{one.id}", one.source, one.fields) for one in febrl(data_dir, 4).records]
    assert plain(read(*(folder / f"{name}.csv" for name in names))[0]) == expected
    folder = data_dir / "leipzig_dblp_acm"
    found, rejected = read(folder / "DBLP2.csv", folder / "ACM.csv", encoding="latin-1", max_bytes=10**6)
    expected = [(one.id.replace(" ", "/", 1), one.source, one.fields) for one in dblp_acm(data_dir).records]
    assert (len(found), rejected) == (2616 + 2294, [])
    assert {one[0] for one in plain(found)} == {one[0] for one in expected}
    ascii_only = [one for one in expected if ascii(one[2]) == repr(one[2])]
    assert [one for one in plain(found) if ascii(one[2]) == repr(one[2])] == ascii_only


@pytest.mark.corpus
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_the_senzing_records_have_a_source_in_either_form(data_dir: Path, ending: str) -> None:
    paths = [data_dir / "senzing_truthset" / f"{name}.{ending}" for name in ("customers", "reference", "watchlist")]
    found, rejected = read(*paths, max_bytes=10**5)
    assert rejected == []
    assert [record.id for record in found] == [one.id.replace(" ", "/", 1) for one in senzing(data_dir).records]
    smith = next(record for record in found if record.id == "CUSTOMERS/1001").fields
    assert smith.get("PRIMARY_NAME_LAST", smith.get("NAME_LAST")) == "Smith"
    assert smith["PHONE_NUMBER"] == "702-919-1300"
