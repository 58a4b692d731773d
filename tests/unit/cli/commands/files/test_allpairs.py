"""The command `allpairs`: answers as those of `dedup`, and wrong use."""

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.unit.cli.runs import EXPECTED, LINES, LOW, Run, a_few_thousand, dedup, stream_lsh


def allpairs(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    return stream_lsh("allpairs", *arguments, stdin=stdin, cwd=cwd)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES)
    return path


def test_pairs_are_written_as_dedup_writes_them(file: Path) -> None:
    run, other = allpairs(file, *LOW), dedup(file, *LOW)
    assert (run.code, run.pairs) == (0, EXPECTED)
    assert run.out == [one | {"pipeline": "allpairs"} for one in other.out]
    assert run.err.startswith("3 documents, 1 candidate, 1 pair, 1 cluster, ")


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_pairs_and_groups_of_many_documents_are_those_of_dedup(tmp_path: Path, measure: str) -> None:
    (tmp_path / "docs.jsonl.gz").write_bytes(gzip.compress(a_few_thousand(600)))
    options = ["docs.jsonl.gz", "--measure", measure, "--threshold", "0.6", "--clusters"]
    run = allpairs(*options, "groups", "--memory", "64MB", "--jobs", "1", cwd=tmp_path)
    other = dedup(*options, "others", "--max-candidates", "0", "--recall", "0.9999", cwd=tmp_path)
    assert run.code == other.code == 0
    assert run.out == [one | {"pipeline": "allpairs"} for one in other.out]
    groups, others = (
        {tuple(sorted(json.loads(line)["members"])) for line in (tmp_path / name).read_text().splitlines()}
        for name in ("groups", "others")
    )
    assert groups == others
    assert len(groups) > 100


def test_standard_input_columns_and_rejects_are_as_of_dedup(tmp_path: Path) -> None:
    table = "id,body\n1,one two three four\n2,one two three four\n,no id\n"
    rejects = tmp_path / "rejects"
    options = ("--format", "csv", "--text-column", "body", "--strict", "--quiet")
    run = allpairs("-", *options, "--rejects", rejects, stdin=table.encode())
    assert (run.code, run.pairs, run.err) == (1, {("1", "2"): 1.0}, "stream-lsh: 1 rejected: id 1\n")
    assert json.loads(rejects.read_text())["line"] == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.jsonl", "neither"], "nothing.jsonl: there is no such file"),
        ([], "required: FILE"),
        (["docs.jsonl", "--threshold", "1.5"], "expected a number above 0 and up to 1"),
        (["docs.jsonl", "--shingles", "words:3"], "did you mean 'word:3'"),
        (["docs.jsonl", "--recall", "0.9"], "got the option '--recall', which does not exist"),
        (["docs.jsonl", "--size-ratio", "3"], "--size-ratio: got 3, expected none"),
        (["docs.jsonl", "--memory", "much"], "--memory: got 'much', expected a size such as 512MB or 2GB"),
        (["docs.jsonl", "--memory", "1MB"], "--memory: got 1,048,576 bytes, expected at least 67,108,864"),
        (["docs.jsonl", "--matches", "docs.jsonl"], "is an input"),
        (["docs.jsonl", "--matches", "x", "--clusters", "x"], "two outputs cannot be one file"),
    ],
)
def test_wrong_use_is_reported_and_ends_with_2(file: Path, arguments: list[str], words: str) -> None:
    run = stream_lsh("allpairs", *arguments, cwd=file.parent)
    assert (run.code, run.out) == (2, [])
    assert words in run.err
    assert os.listdir(file.parent) == ["docs.jsonl"]
