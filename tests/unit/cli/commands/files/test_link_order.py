"""The command `link`: the order of rows has no effect, the type of link, and the doubts about weights."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.config import parse
from stream_lsh.kinds.record.profiles import load_profile
from tests.unit.cli.runs import Run, lines_of, stream_lsh

Row = dict[str, object]


def people(seed: int, count: int = 120) -> list[Row]:
    """People, most of them twice, the second time with a mistake; frequent and rare names."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for number in range(count):
        given = rng.choice(("ann", "ann", "bob", "cem", "dan", "eva"))
        surname = rng.choice(("smith", "jones", "lee", *("".join(rng.choices("abcdefgh", k=6)) for _ in range(3))))
        row = {"first_name": given, "last_name": surname, "dob": f"19{rng.randint(50, 99)}-0{rng.randint(1, 9)}-11"}
        rows.append({"id": f"{number}a", **row, "city": rng.choice(("leeds", "york"))})
        if number % 3:
            rows.append({"id": f"{number}b", **row, "last_name": surname[:-1] if number % 2 else surname})
    return rows


def link(folder: Path, *arguments: str, stdin: bytes = b"") -> Run:
    return stream_lsh("link", *arguments, stdin=stdin, cwd=folder)


def results(folder: Path, rows: list[Row], *options: str) -> tuple[Any, ...]:
    """The matches, the reviews and the entities of some rows."""
    names = [f"--{name}={folder / name}" for name in ("matches", "reviews", "entities")]
    run = link(folder, "-", *options, *names, "--quiet", stdin=lines_of(rows))
    assert run.code == 0, run.err
    found = [(folder / name).read_text().splitlines() for name in ("matches", "reviews", "entities")]
    return tuple(map(sorted, found))


@pytest.mark.parametrize("options", [["--profile", "people"], ["--profile", "learned.toml"]])
def test_any_order_of_rows_gives_the_same_results(tmp_path: Path, seed: int, options: list[str]) -> None:
    rows = people(seed)
    (tmp_path / "people.jsonl").write_bytes(lines_of(rows))
    if "learned.toml" in options:
        trained = ["train", "people.jsonl", "--profile", "people", "--output", "learned.toml", "--quiet"]
        assert stream_lsh(*trained, cwd=tmp_path).code == 0
    expected = results(tmp_path, rows, *options)
    assert len(expected[0]) >= 20
    rng = random.Random(seed)
    for _ in range(2):
        rng.shuffle(rows)
        assert results(tmp_path, rows, *options) == expected


def test_a_capped_block_does_not_depend_on_the_order_of_rows(tmp_path: Path, seed: int) -> None:
    rows: list[Row] = [
        {"id": f"{number:03}", "first_name": "ann", "last_name": "lee", "dob": f"1980-01-{1 + number % 9:02}"}
        for number in range(90)
    ]
    expected = results(tmp_path, rows, "--profile", "people", "--max-candidates", "12")
    random.Random(seed).shuffle(rows)
    assert results(tmp_path, rows, "--profile", "people", "--max-candidates", "12") == expected


SHOPS = b"""\
id,source,title
1,a,Sharp Over The Counter Microwave Oven R1214
2,a,Bose Acoustimass 5 Series III Speaker System
3,b,Sharp Over The Counter Microwave Oven R1214
4,a,Bose Acoustimass 5 Series III Speaker System
"""


@pytest.mark.parametrize(
    ("type", "pairs"),
    [
        (None, {("a/1", "b/3")}),
        ("link", {("a/1", "b/3")}),
        ("both", {("a/1", "b/3")}),  # one to one: the source a has no duplicates
        ("dedupe", {("a/1", "b/3"), ("a/2", "a/4")}),
    ],
)
def test_the_type_of_link_replaces_that_of_the_profile(
    tmp_path: Path, type: str | None, pairs: set[tuple[str, str]]
) -> None:
    options = [] if type is None else ["--link-type", type]
    run = link(tmp_path, "-", "--format", "csv", "--profile", "products", *options, "--matches", "-", stdin=SHOPS)
    assert run.code == 0, run.err
    assert {(one["left"], one["right"]) for one in run.out} == pairs


def test_a_review_threshold_of_zero_lists_every_compared_pair(tmp_path: Path) -> None:
    run = link(
        tmp_path, "-", "--format", "csv", "--profile", "products", "--review-threshold", "0",
        "--matches", "m", "--reviews", "r", stdin=SHOPS,
    )  # fmt: skip
    assert run.code == 0, run.err
    pairs = [json.loads(line) for name in "mr" for line in (tmp_path / name).read_text().splitlines()]
    sources = {(one["left"][0], one["right"][0]) for one in pairs}
    assert sources == {("a", "b")}  # pairs of one source are not compared


def test_a_trained_profile_carries_its_doubts(tmp_path: Path) -> None:
    rows = lines_of([{"id": number, "email": f"{number // 2}@mail.example"} for number in range(20)])
    trained = stream_lsh("train", "-", "--profile", "people", "--output", "p.toml", stdin=rows, cwd=tmp_path)
    doubts = load_profile(tmp_path / "p.toml").doubts
    assert any("20 records are few" in doubt and "train on more records" in doubt for doubt in doubts)
    assert any("email is the only compared field" in doubt and "compare more fields" in doubt for doubt in doubts)
    assert all(f"warning: {doubt}" in trained.err for doubt in doubts)
    learned = link(tmp_path, "-", "--profile", "people", stdin=rows)
    assert all(f"warning: {doubt}" in learned.err for doubt in doubts)
    linked = link(tmp_path, "-", "--profile", "p.toml", stdin=rows)
    assert all(f"warning: profile 'people': {doubt}" in linked.err for doubt in doubts)
    (tmp_path / "stream.toml").write_text(
        f'[kafka]\nbrokers = ["localhost:9092"]\n[[pipeline]]\nname = "people"\nkind = "record"\nsource = "people"\n'
        f'profile = "{tmp_path / "p.toml"}"\n'
    )
    (pipeline,) = parse((tmp_path / "stream.toml").read_text(), "stream.toml", {}).pipelines
    warnings = [*pipeline.kind.warnings()]
    assert all(any(warning.endswith(doubt) for warning in warnings) for doubt in doubts)
