"""`dedup` and `tune` report the scripts of the files, and the shingles that suit them."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.runs import lines_of, ran, stream_lsh

CHINESE = ["我们昨天在北京的公园里看见了一只很大的熊猫", "我们昨天在北京的小公园里看见了一只很大的熊猫"]
ENGLISH = ["the river rose by three metres overnight", "the ferries of all towns stay in port"]


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(lines_of([{"id": str(at), "text": text} for at, text in enumerate(CHINESE)]))
    return path


def test_dedup_reports_the_scripts_and_its_shingles(chinese: Path) -> None:
    run = stream_lsh("dedup", chinese, "--threshold", "0.7")
    assert len(run.pairs) == 1, "the default suits Chinese"
    assert "\nscripts of a sample: Han 100 %; shingles: mixed:3\n" in run.err
    assert "takes a clause" not in run.err


def test_dedup_names_shingles_that_suit_better(chinese: Path) -> None:
    run = stream_lsh("dedup", chinese, "--threshold", "0.7", "--shingles", "word:3")
    assert run.pairs == {}
    assert "\nword:3 takes a clause of Han as one word; use mixed:3\n" in run.err


def test_texts_in_latin_letters_need_no_report(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_bytes(lines_of([{"id": str(at), "text": text} for at, text in enumerate(ENGLISH)]))
    assert "scripts" not in stream_lsh("dedup", tmp_path / "docs.jsonl").err
    assert b"cripts" not in ran("tune", tmp_path / "docs.jsonl").stdout


def test_tune_proposes_shingles_that_suit_the_script(chinese: Path) -> None:
    (report,) = stream_lsh("tune", chinese, "--json", "--shingles", "word:2").out
    assert report["corpus"]["scripts"] == {"Han": 1.0}
    assert report["pipeline"]["shingles"] == "mixed:2"
    text = " ".join(ran("tune", chinese, "--shingles", "word:2").stdout.decode().split())
    assert "Scripts of a sample: Han 100 %; shingles: word:2." in text
    assert "word:2 takes a clause of Han as one word; use mixed:2. The counts are those of word:2" in text
    assert 'shingles = "mixed:2"' in text
    assert json.loads(ran("tune", chinese, "--json").stdout)["pipeline"]["shingles"] == "mixed:3"
