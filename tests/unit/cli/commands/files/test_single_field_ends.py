"""The ends of a run of `sets` and `neighbours`: damaged input, clashing outputs; more is in `test_ends`."""

import os
from pathlib import Path

import pytest

from tests.unit.cli.runs import LINES, lines_of, stream_lsh

SETS = lines_of([{"id": str(number), "items": ["a", "b"]} for number in range(200)])
VECTORS = lines_of([{"id": str(number), "vector": [1, 2]} for number in range(200)])
both = pytest.mark.parametrize(
    ("command", "lines"), [(["sets"], SETS), (["neighbours", "--within", "5"], VECTORS)], ids=["sets", "neighbours"]
)


@both
def test_damaged_compressed_data_end_the_run(tmp_path: Path, command: list[str], lines: bytes) -> None:
    (tmp_path / "in.jsonl.gz").write_bytes(b"\x1f\x8b" + lines)
    run = stream_lsh(*command, "in.jsonl.gz", "--matches", "out", cwd=tmp_path)
    assert run.code == 1
    assert "in.jsonl.gz: the gzip data are damaged" in run.err
    assert os.listdir(tmp_path) == ["in.jsonl.gz"]


@both
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--matches", "in.jsonl"], "is an input, and would be replaced"),
        (["--query", "q.jsonl", "--matches", "q.jsonl"], "is an input, and would be replaced"),
        (["--matches", "x", "--rejects", "x"], "two outputs cannot be one file"),
        (["--matches", "no/such/folder"], "no/such/folder: cannot be written"),
    ],
)
def test_invalid_outputs_are_rejected(
    tmp_path: Path, command: list[str], lines: bytes, arguments: list[str], message: str
) -> None:
    for name in ("in.jsonl", "q.jsonl"):
        (tmp_path / name).write_bytes(lines)
    run = stream_lsh(*command, "in.jsonl", *arguments, cwd=tmp_path)
    assert (run.code, run.out) == (2, [])
    assert message in run.err
    assert (tmp_path / "in.jsonl").read_bytes() == lines


@both
def test_a_query_that_is_deleted_is_named_and_counted(tmp_path: Path, command: list[str], lines: bytes) -> None:
    (tmp_path / "q.jsonl").write_bytes(lines_of([{"id": "gone", "deleted": True}]) + lines[: lines.index(b"\n") + 1])
    run = stream_lsh(*command, "-", "--query", tmp_path / "q.jsonl", stdin=lines)
    assert len(run.out) == 200
    assert "gone: rejected (deleted)" in run.err
    assert "1 query, 1 of them with a match, 200 matches" in run.err
    assert "1 rejected: deleted 1" in run.err
    assert run.code == 0


@both
@pytest.mark.parametrize("wrong", [b"nonsense\n", lines_of([{"id": "gone", "deleted": True}])])
def test_queries_of_which_all_are_rejected_are_a_failure(
    tmp_path: Path, command: list[str], lines: bytes, wrong: bytes
) -> None:
    (tmp_path / "q.jsonl").write_bytes(wrong)
    run = stream_lsh(*command, "-", "--query", tmp_path / "q.jsonl", stdin=lines)
    assert (run.code, run.out) == (1, [])
    assert "0 queries" in run.err


def test_queries_of_dedup_of_which_all_are_rejected_are_a_failure(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_bytes(b"nonsense\n")
    run = stream_lsh("dedup", "-", "--query", tmp_path / "q.jsonl", stdin=LINES)
    assert (run.code, run.out) == (1, [])
    (tmp_path / "q.jsonl").write_bytes(b"nonsense\n" + LINES)
    assert stream_lsh("dedup", "-", "--query", tmp_path / "q.jsonl", stdin=LINES).code == 0
