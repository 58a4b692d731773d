"""`stream-lsh link` on corpora whose truth is known, as a new user would run it."""

import json
from pathlib import Path

import pytest

from stream_lsh.cli.main import main
from tests.evaluation.linking import measured
from tests.evaluation.record_corpora import dblp_acm, febrl, pair_of

pytestmark = pytest.mark.corpus


def f1(path: Path, truth: set[tuple[str, str]]) -> float:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return measured({pair_of(row["left"], row["right"]) for row in rows}, truth)["f1"]


def test_five_thousand_people_without_a_label(data_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "matches"
    assert main(["link", str(data_dir / "febrl" / "dataset3.csv"), "--profile", "people", "--matches", str(out)]) == 0
    assert f1(out, febrl(data_dir, 3).truth) >= 0.998


def test_two_bibliographies_become_entities_of_one_record_of_each(data_dir: Path, tmp_path: Path) -> None:
    folder, out = data_dir / "leipzig_dblp_acm", tmp_path / "entities"
    files = [str(folder / name) for name in ("DBLP2.csv", "ACM.csv")]
    options = ["--profile", "bibliography", "--encoding", "latin-1", "--entities", str(out)]
    assert main(["link", *files, *options]) == 0
    entities = [json.loads(line)["members"] for line in out.read_text().splitlines()]
    assert all(sorted(member["source"] for member in members) == ["ACM", "DBLP2"] for members in entities)
    found = {pair_of(*(member["id"].replace("/", " ", 1) for member in members)) for members in entities}
    assert measured(found, dblp_acm(data_dir).truth)["f1"] >= 0.987
