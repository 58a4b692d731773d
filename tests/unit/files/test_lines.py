"""Lines and rows of files: too long ones are rejected with their number, and take a fixed amount of memory."""

import tracemalloc
import zlib
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from stream_lsh.errors import InputError
from stream_lsh.files.column_names import AS_NAMED
from stream_lsh.files.discover import find_inputs
from stream_lsh.files.inflate import file_chunks
from stream_lsh.files.lines import table_rows
from stream_lsh.kinds.record.files import find_record_inputs, read_records
from stream_lsh.kinds.record.rows import RecordNames
from stream_lsh.kinds.text.files import read
from tests.unit.cli.runs import ran, stream_lsh

MB = 1 << 20
LONG = 256 * MB
"""Bytes of a line, far above every limit."""
BOUND = 96 * MB


def compressed(path: Path, pieces: Iterator[bytes]) -> None:
    """A file of these bytes; the memory of the test does not grow with them."""
    deflate: Any = zlib.compressobj(1, wbits=31) if path.suffix == ".gz" else zstandard.ZstdCompressor().compressobj()
    with path.open("wb") as file:
        for piece in pieces:
            file.write(deflate.compress(piece))
        file.write(deflate.flush())


def bomb(before: bytes, after: bytes, piece: bytes = b"word " * (MB // 5)) -> Iterator[bytes]:
    """A prefix, a long run of one piece, and a suffix."""
    yield before
    for _ in range(LONG // len(piece)):
        yield piece
    yield after


def peak_of(work: Callable[[], object]) -> tuple[Any, int]:
    """The result of a call, and the peak of the memory that it allocated."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def documents(path: Path) -> tuple[list[str], list[tuple[int | str, str]]]:
    named = Namespace(**AS_NAMED, max_bytes=524_288, time_unit="auto", stories=False, html="off")
    parts = [*read(find_inputs([str(path)], None), named)]
    refused = [(one.at, one.reason) for part in parts for one in part.refused]
    return [document.id for part in parts for document in part.documents], refused


def records(path: Path) -> tuple[list[str], list[tuple[int | str, str]]]:
    names = RecordNames(("id",), ("source",))
    parts = [*read_records(find_record_inputs([str(path)], None), names, max_bytes=524_288)]
    refused = [(one.at, one.reason) for part in parts for one in part.refused]
    return [record.id for part in parts for record in part.records], refused


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("reader", [documents, records])
def test_a_line_that_inflates_to_far_more_is_refused_within_the_bound(
    tmp_path: Path, reader: Callable[[Path], object], ending: str
) -> None:
    path = tmp_path / f"bomb.jsonl.{ending}"
    before = b'{"id": "a", "text": "one"}\n{"id": "b", "text": "'
    compressed(path, bomb(before, b'"}\n{"id": "c", "text": "two"}\n'))
    assert path.stat().st_size < LONG // 100
    found, peak = peak_of(lambda: reader(path))
    assert found == (["a", "c"], [(2, "size")])
    assert peak < BOUND


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("reader", [documents, records])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_field_that_inflates_to_far_more_is_refused_within_the_bound(
    tmp_path: Path, reader: Callable[[Path], object], ending: str, *, quoted: bool
) -> None:
    path = tmp_path / f"bomb.csv.{ending}"
    before, after = b"id,text\na,one\nb,", b"\nc,two\n"
    piece = b"a line, and a " + b'""quote"" ' * (MB // 10) + b"\n" if quoted else b"word " * (MB // 5)
    quote = b'"' if quoted else b""
    compressed(path, bomb(before + quote, quote + after, piece))
    found, peak = peak_of(lambda: reader(path))
    assert found == (["a", "c"], [(3 + LONG // len(piece) * quoted, "size")])
    assert peak < BOUND


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_data_come_in_chunks_that_are_bounded_and_complete(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"zeros.{ending}"
    compressed(path, iter([bytes(MB)] * 64))
    with path.open("ab") as file:  # another member behind it
        compressed(tmp_path / f"more.{ending}", iter([b"more"]))
        file.write((tmp_path / f"more.{ending}").read_bytes())
    sizes = [len(chunk.data) for chunk in file_chunks(str(path))]
    assert sum(sizes) == 64 * MB + 4
    assert max(sizes) <= 17 * MB + 1


def rows(path: Path) -> list[tuple[list[str] | str, int]]:
    found = table_rows(str(path), "csv", [0])
    return [(row.reason if isinstance(row, InputError) else row, line) for row, line in found]


def test_rows_behind_one_that_is_too_large_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(
        'id,text\n1,"a ""b"", c\nd"\n2,"' + 'looks,like\na,""row""\n' * 400_000 + '"\n3,"x"\n4,' + "y" * 9 * MB
    )
    assert rows(path) == [
        (["id", "text"], 1),
        (["1", 'a "b", c\nd'], 3),
        ("size", 800_004),
        (["3", "x"], 800_005),
        ("size", 800_006),
    ]


@pytest.mark.parametrize("reader", [documents, records])
def test_a_quote_that_is_not_closed_before_the_end_is_refused_by_all_commands(
    tmp_path: Path, reader: Callable[[Path], object]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text('id,text\na,one\nb,"two\nc,three\n')
    assert reader(path) == (["a"], [(4, "csv")])


@pytest.mark.parametrize(
    ("command", "header"), [("dedup", "id,text,text"), ("sets", "id,id,item"), ("news", "id,text,time,time")]
)
def test_a_column_that_is_there_twice_is_rejected(tmp_path: Path, command: str, header: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\n{','.join('abcd'[: header.count(',') + 1])}\n")
    run = stream_lsh(command, path)
    assert (run.code, run.out) == (2, [])
    twice = next(name for name in header.split(",") if header.split(",").count(name) == 2)
    assert run.err == f"stream-lsh: {path}: got the column '{twice}' 2 times, expected once: rename all but one\n"


def test_columns_that_are_not_used_may_be_there_twice(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,text,note,note\n1,one two three,x,y\n")
    assert documents(path) == (["1"], [])


@pytest.mark.parametrize(
    ("header", "delimiter", "columns"),
    [
        ("id,text", "", ["id", "text"]),
        ("id;text", "", ["id", "text"]),
        ("id|text", "", ["id", "text"]),
        ("id\ttext", "", ["id", "text"]),
        ('id;"last, first";text', "", ["id", "last, first", "text"]),
        ("id,a;b;c", "", ["id", "a;b;c"]),
        ("id,a;b", ";", ["id,a", "b"]),
        ("id", "", ["id"]),
    ],
)
def test_the_delimiter_of_a_table_follows_from_its_header(
    tmp_path: Path, header: str, delimiter: str, columns: list[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n{header}\n", encoding="utf-8")
    assert [*table_rows(str(path), "csv", [0], delimiter=delimiter)] == [(columns, 1), (columns, 2)]


@pytest.mark.parametrize("command", [["dedup"], ["link", "--profile", "people"]])
def test_blank_lines_before_the_header_are_skipped(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "t.csv").write_text("\n\r\n\nid;text;first_name\n\na;to be, or not;Ann\n;x;y\n")
    run = ran(*command, "t.csv", cwd=tmp_path)
    assert run.returncode == 0
    first, *_, last = run.stderr.decode().splitlines()
    assert first.startswith("t.csv:7: rejected (id): ")
    assert last == "1 rejected: id 1; --rejects lists them"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("dedup", '{"id": "1", "text": "a b c"}\n'),
        ("allpairs", '{"id": "1", "text": "a b c"}\n'),
        ("dedup --jobs 2 --format csv", "id,text\n1,a\n"),
        ("dedup --format lines", "a\nb\n"),
        ("dedup --format json", '[{"id": "1", "text": "a b c"}]'),
        ("sets", '{"id": "1", "items": ["a"]}\n'),
        ("link --profile people --format csv --encoding latin-1", "id,surname\n1,a\n"),
        ("link --profile people", '{"id": "1", "surname": "a"}\n'),
    ],
)
def test_utf_16_and_utf_32_are_named_by_their_byte_order_mark(command: str, lines: str, encoding: str) -> None:
    marked = lines if encoding in ("utf-16", "utf-32") else f"\ufeff{lines}"
    run = stream_lsh(*command.split(), "-", stdin=marked.encode(encoding))
    name = encoding[:6].upper()
    assert (run.code, run.out) == (2, [])
    assert run.err == (
        f"stream-lsh: -: got {name}, by its byte order mark, expected UTF-8: convert the file, as with "
        f"`iconv -f {name} -t UTF-8`\n"
    )


@pytest.mark.parametrize("command", ["dedup", "link --profile people", "profile infer"])
@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"id,text\r1,one two\r2,one two\r", "got a carriage return that no line feed follows, expected lines that "),
        (b"PK\3\4\r\r\0\xff\xfe", "got a carriage return that no line feed follows, expected lines that end with LF"),
        (b"\0\0\0\1" * 1000, "got zero bytes, expected a table: is the file binary?\n"),
    ],
)
def test_a_header_that_is_no_line_is_reported_with_its_cause(
    tmp_path: Path, command: str, content: bytes, cause: str
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    run = stream_lsh(*command.split(), "a.csv", cwd=tmp_path)
    assert (run.code, run.out) == (2, [])
    assert run.err.startswith(f"stream-lsh: a.csv: the header cannot be read: {cause}")
    assert "universal-newline" not in run.err


def test_a_row_with_a_lone_carriage_return_is_rejected_with_its_cause() -> None:
    run = stream_lsh("dedup", "-", "--format", "csv", stdin=b"id,text\r\n1,a\r\n2,b\rc\r\n3,d\r\n")
    assert run.code == 0
    assert "-:3: rejected (csv): got a carriage return that no line feed follows" in run.err
    assert "2 documents" in run.err
