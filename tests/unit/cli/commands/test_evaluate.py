"""`stream-lsh evaluate`: pairs, clusters and rows in all formats, against hand-worked scores and each other."""

import json
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.runs import Run, ran, stream_lsh

MATCHES = [("a", "b", 0.9), ("b", "c", 0.75), ("d", "e", 0.6), ("x", "y", 0.5)]
TRUTH = [("a", "b"), ("d", "e"), ("f", "g"), ("e", "h")]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pairs = [dict(zip(("left", "right", "similarity"), one, strict=True)) for one in MATCHES]
    (tmp_path / "matches.jsonl").write_text(lines(pairs))
    (tmp_path / "truth.csv").write_text("one,other\n" + "".join(f"{one},{other}\n" for one, other in TRUTH))
    return tmp_path


def evaluate(folder: Path, *arguments: str) -> Run:
    return stream_lsh("evaluate", *arguments, "--format", "json", cwd=folder)


def test_scores_of_a_hand_worked_example(folder: Path) -> None:
    """2 of 4 pairs are right, and 2 of 4 are found; of the clusters abc, de, xy and ab, deh, fg none is equal."""
    run = evaluate(folder, "matches.jsonl", "truth.csv")
    (found,) = run.out
    assert run.code == 0
    assert found["pairs"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "found": 4, "true": 4, "both": 2}
    assert found["clusters"] == {"precision": 0, "recall": 0, "f1": 0, "found": 3, "true": 3, "both": 0}
    # Items a b c | d e | x | y | f | g | h: a, b 2/3; c 1/3; d, e 1; x, y 1/2; f, g, h 1.
    assert found["bcubed"]["precision"] == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 2 + 1 + 3) / 10)
    # a, b, c 1; d, e 2/3; h 1/3; f, g 1/2; x, y 1.
    assert found["bcubed"]["recall"] == pytest.approx((3 + 4 / 3 + 1 / 3 + 1 + 2) / 10)
    assert found["items"] == 10
    # From 0.6 on 2 of 3 pairs are right, F1 4/7; from 0.9 on 1 of 1, F1 2/5.
    at = {one["threshold"]: one["pairs"]["f1"] for one in found["thresholds"]}
    assert (found["best_threshold"], at[0.6], at[0.9]) == (0.6, pytest.approx(4 / 7), pytest.approx(2 / 5))
    assert "10 ids" in run.err


def test_the_text_has_the_numbers_of_the_json(folder: Path) -> None:
    shown = ran("evaluate", "matches.jsonl", "truth.csv", cwd=folder).stdout.decode()
    assert "pairs        0.5000  0.5000  0.5000           4           4           2\n" in shown
    assert "      0.6            3     0.6667  0.5000  0.5714          0.0000         0.8136  best\n" in shown


CLUSTERS = {"a": "abc", "d": "de", "x": "xy"}


def as_rows(name: str) -> list[dict[str, Any]]:
    return [{"id": one, name: cluster, "text": "..."} for cluster, members in CLUSTERS.items() for one in members]


FORMS = {
    "clusters.jsonl": lines([{"cluster": one, "members": [*members]} for one, members in CLUSTERS.items()]),
    "entities.jsonl": lines(
        [{"entity": one, "size": 2, "members": [{"id": id} for id in members]} for one, members in CLUSTERS.items()]
    ),
    "assigned.jsonl": lines(as_rows("cluster")),
    "assigned.csv": "id,text,entity\n" + "".join(f"{row['id']},.,{row['entity']}\n" for row in as_rows("entity")),
    "own.tsv": "key\tgroup\n" + "".join(f"{row['id']}\t{row['group']}\n" for row in as_rows("group")),
    "splink.csv": "unique_id_l,unique_id_r,match_weight\na,b,1\nb,c,1\nc,a,1\nd,e,1\nx,y,1\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_clusters_have_one_score_in_every_form(folder: Path, form: str) -> None:
    (folder / form).write_text(FORMS[form])
    named = ("--id-column", "key", "--cluster-column", "group") if form == "own.tsv" else ()
    (found,) = evaluate(folder, form, "truth.csv", *named).out
    (reverse,) = evaluate(folder, "truth.csv", form, *named).out
    assert found["pairs"] == {"precision": 0.4, "recall": 0.5, "f1": pytest.approx(4 / 9), "found": 5, "true": 4,
                              "both": 2}  # fmt: skip
    for measure in ("pairs", "clusters", "bcubed"):
        assert found[measure]["precision"] == reverse[measure]["recall"]
        assert found[measure]["recall"] == reverse[measure]["precision"]


@pytest.mark.parametrize(("true", "added"), [("cluster", "entity"), ("entity", "cluster"), ("person", "entity")])
def test_rows_with_the_truth_of_the_input_are_evaluated_by_the_column_that_was_added(
    folder: Path, true: str, added: str
) -> None:
    rows = [
        {"id": id, true: cluster, added: id if id == "c" else "1"} for id, cluster in zip("abc", "xyy", strict=True)
    ]
    (folder / "assigned.jsonl").write_text(lines(rows))
    named = ("--cluster-column", true)
    (found,) = evaluate(folder, "assigned.jsonl", "assigned.jsonl", *named).out
    assert (found["pairs"]["found"], found["pairs"]["true"], found["pairs"]["both"]) == (1, 1, 0)
    (folder / "assigned.csv").write_text(
        f"id,{true},{added}\n" + "".join(f"{','.join(row.values())}\n" for row in rows)
    )
    assert evaluate(folder, "assigned.csv", "assigned.jsonl", *named).out == [found]


def test_parquet_has_the_scores_of_csv(folder: Path) -> None:
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    names = ("left", "right", "similarity")
    parquet.write_table(arrow.table(dict(zip(names, zip(*MATCHES, strict=True), strict=True))), folder / "m.parquet")
    assert evaluate(folder, "m.parquet", "truth.csv").out == evaluate(folder, "matches.jsonl", "truth.csv").out


def test_the_outputs_of_dedup_can_be_evaluated(folder: Path) -> None:
    words = " ".join(f"w{number}" for number in range(40))
    texts = {"1": f"{words} a", "2": f"{words} b", "3": "quite another text"}
    (folder / "docs.jsonl").write_text(lines([{"id": id, "text": text} for id, text in texts.items()]))
    (folder / "same.csv").write_text("id,cluster\n1,x\n2,x\n3,y\n")
    outputs = ("--clusters", "c.jsonl", "--assign", "a.csv", "-o", "m.jsonl")
    assert stream_lsh("dedup", "docs.jsonl", *outputs, cwd=folder).code == 0
    for name in ("m.jsonl", "c.jsonl", "a.csv"):
        (found,) = evaluate(folder, name, "same.csv").out
        assert [found[measure]["f1"] for measure in ("pairs", "clusters", "bcubed")] == [1.0, 1.0, 1.0], name


def test_of_labels_with_non_matches_only_labelled_pairs_count(folder: Path) -> None:
    (folder / "labels.csv").write_text("left,right,match\nb,a,1\nc,b,0\nh,e,yes\nq,r,no\n")
    run = evaluate(folder, "matches.jsonl", "labels.csv")
    (found,) = run.out
    assert found["pairs"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "found": 2, "true": 2, "both": 1}
    assert "clusters" not in found
    assert [one["pairs"]["found"] for one in found["thresholds"] if one["threshold"] in (0.7, 0.9)] == [2, 1]


def test_the_picture_shows_the_best_threshold(folder: Path) -> None:
    assert ran("evaluate", "matches.jsonl", "truth.csv", "--picture", "scores.svg", cwd=folder).returncode == 0
    texts = [one.text for one in ET.parse(folder / "scores.svg").iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
    assert any(one and one.startswith("best F1 of pairs: 0.5714 at 0.6") for one in texts)
    assert {"precision of pairs", "recall of pairs", "F1 of clusters"} <= set(texts)


REFUSED = {
    ("matches.jsonl", "nothing.csv"): "there is no such file or folder",
    ("matches.jsonl", "truth.dat"): "or .zst: rename it\n",  # --format is that of the output
    ("matches.jsonl", "other.csv"): "got no id of matches.jsonl: it has '1', '2', '3'",
    ("matches.jsonl", "wide.csv"): "got the columns 'p', 'q', 'r', expected left and right, or id and cluster",
    ("matches.jsonl", "own.csv"): "got the columns 'doc', 'cluster', expected left and right, or id and cluster",
    (
        "matches.jsonl",
        "own.csv",
        "--id-column",
        "no",
    ): "got the columns 'doc', 'cluster', expected left and right, or no",
    ("matches.jsonl", "truth.csv", "--cluster-column", "group"): "--cluster-column: got 'group', expected a column of",
    ("matches.jsonl", "twice.csv"): "got the id 'a' in two clusters",
    ("matches.jsonl", "headless.csv"): "headless.csv: got ids in the first line, expected a header such as left,right",
    ("headless.csv", "truth.csv"): "headless.csv: got ids in the first line, expected a header such as left,right",
    ("matches.jsonl", "both.csv"): "both.csv: got the pair of 'a' and 'b' as a match and as a non-match, expected one",
    ("matches.jsonl", "empty.csv"): "got nothing, expected a header",
    ("matches.jsonl", "none.csv"): "got no pairs and no clusters, expected the true ones",
    ("twice.csv", "truth.csv", "--picture", "x.svg"): "got the id 'a' in two clusters",
    ("truth.csv", "truth.csv", "--picture", "x.svg"): "has no similarities",
    ("matches.jsonl", "truth.csv", "--picture", "x.gif"): "got the ending 'gif'",
    ("matches.jsonl", "truth.csv", "-o", "truth.csv"): "is an input, and would be replaced",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_wrong_files_are_one_error_and_leave_no_output(folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "other.csv").write_text("left,right\n1,2\n3,4\n")
    (folder / "truth.dat").write_text("left,right\na,b\n")
    (folder / "wide.csv").write_text("p,q,r\n1,2,3\n")
    (folder / "own.csv").write_text("doc,cluster\na,1\nb,1\n")
    (folder / "twice.csv").write_text("id,cluster\na,1\nb,1\na,2\n")
    (folder / "headless.csv").write_text("a,b\nd,e\n")
    (folder / "both.csv").write_text("left,right,match\na,b,1\nd,e,1\nb,a,0\n")
    (folder / "empty.csv").write_text("")
    (folder / "none.csv").write_text("left,right\n")
    before = sorted(folder.iterdir())
    done = ran("evaluate", *arguments, cwd=folder)
    assert done.returncode == 2
    assert REFUSED[arguments] in done.stderr.decode()
    assert done.stdout == b""
    assert sorted(folder.iterdir()) == before


def test_wrong_rows_are_rejected_and_counted(folder: Path) -> None:
    broken = '{"left": "a", "right": "b"\n[1]\n{"left": "d", "right": null}\n{"left": "d", "right": "e"}\n{"id": 1}\n'
    (folder / "broken.jsonl").write_text(broken + '{"left": "a", "right": "b", "similarity": "high"}\n')
    run = evaluate(folder, "broken.jsonl", "truth.csv", "--rejects", "rejects.jsonl")
    assert (run.code, run.out[0]["pairs"]["found"]) == (0, 1)
    assert "5 rejected: id 1, json 2, pair 1, similarity 1" in run.err
    rejects = [json.loads(line) for line in (folder / "rejects.jsonl").read_text().splitlines()]
    assert [one["line"] for one in rejects] == [1, 2, 3, 5, 6]
    assert evaluate(folder, "broken.jsonl", "truth.csv", "--strict").code == 1


def test_a_label_without_an_answer_is_rejected(folder: Path) -> None:
    (folder / "labels.csv").write_text("left,right,match\na,b,1\nb,c,\nd,e,1\n")
    run = evaluate(folder, "matches.jsonl", "labels.csv")
    assert (run.code, run.out[0]["pairs"]["true"], run.out[0]["pairs"]["both"]) == (0, 2, 2)
    assert "labels.csv:3: rejected (match): got '' as `match`, expected 1 or 0" in run.err


@pytest.mark.parametrize("similarity", ["[1]", '"high"', '"nan"', f"1{'0' * 400}"])
def test_a_similarity_that_is_no_number_is_rejected(folder: Path, similarity: str) -> None:
    with (folder / "matches.jsonl").open("a") as file:
        file.write(f'{{"left": "e", "right": "h", "similarity": {similarity}}}\n')
    run = evaluate(folder, "matches.jsonl", "truth.csv")
    assert (run.code, run.out[0]["pairs"]["found"]) == (0, 4)
    assert "1 rejected: similarity 1" in run.err


def test_matches_of_which_all_rows_are_rejected_are_a_failure(folder: Path) -> None:
    (folder / "weird.jsonl").write_text('{"left": 1}\n[1]\n')
    run = evaluate(folder, "weird.jsonl", "truth.csv")
    assert (run.code, run.out[0]["pairs"]["found"]) == (1, 0)
    assert "2 rejected" in run.err
    (folder / "empty.jsonl").write_text("")
    assert evaluate(folder, "empty.jsonl", "truth.csv").code == 0
