"""`stream-lsh sets`: pairs as of every two compared, in any input format; unusable lines are reported."""

import gzip
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from stream_lsh.kinds.set.grid_scheme import GridScheme
from tests.evaluation.oracles import bag_jaccard, containment, jaccard
from tests.unit.cli.runs import Run, lines_of, stream_lsh

Sets = dict[str, list[str]]
Pairs = dict[tuple[str, str], float]


def sets(*arguments: str | Path, stdin: bytes = b"") -> Run:
    return stream_lsh("sets", *arguments, stdin=stdin)


def baskets(chance: random.Random, count: int = 150) -> Sets:
    """Customers in groups of three with similar baskets, some items several times."""
    found = {}
    for number in range(0, count, 3):
        usual = [f"product {chance.randrange(2_000)}" for _ in range(chance.choice((4, 12, 30)))]
        for copy in range(3):
            kept = [item for item in usual if chance.random() < 0.85] or usual
            found[f"customer {number + copy:03}"] = kept + chance.choices(kept, k=chance.randrange(4))
    return found


def all_pairs(of: Sets, threshold: float, similarity: Callable[[Any, Any], float] = jaccard) -> Pairs:
    return {
        (left, right): found
        for left in of
        for right in of
        if left < right and (found := similarity(of[left], of[right])) >= threshold
    }


def turned(of: Sets) -> Sets:
    found: Sets = {}
    for id, items in of.items():
        for item in items:
            found.setdefault(item, []).append(id)
    return found


def as_lines(of: Sets) -> bytes:
    return lines_of([{"id": id, "items": items} for id, items in of.items()])


def as_pairs(of: Sets, between: str = ",") -> bytes:
    """A row for each item, those of one set far from each other."""
    rows = [f"{id}{between}{item}\n" for id, items in of.items() for item in items]
    return f"id{between}item\n{''.join(random.Random(1).sample(rows, len(rows)))}".encode()


def as_rows(of: Sets) -> bytes:
    return ("id,items\n" + "".join(f"{id},{' ; '.join(items)};\n" for id, items in of.items())).encode()


def hold(found: Pairs, wanted: Pairs, recall: float = 0.989) -> None:
    """Nothing is wrong, and no more is missed than chance allows: six standard deviations."""
    assert found.items() <= wanted.items()
    assert len(wanted) >= 30
    assert len(found) >= recall * len(wanted) - 6 * math.sqrt(recall * (1 - recall) * len(wanted))


@pytest.fixture
def chance(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.mark.parametrize(
    ("name", "write", "arguments"),
    [
        ("in.jsonl", as_lines, ()),
        ("in.jsonl.gz", lambda of: gzip.compress(as_lines(of)), ()),
        ("in.csv.zst", lambda of: zstandard.compress(as_pairs(of)), ()),
        ("in.tsv", lambda of: as_pairs(of, "\t"), ()),
        ("in.csv", as_rows, ("--separator", ";")),
    ],
)
def test_pairs_are_those_of_every_two_in_whatever_form_they_come(
    tmp_path: Path, chance: random.Random, name: str, write: Callable[[Sets], bytes], arguments: tuple[str, ...]
) -> None:
    of = baskets(chance)
    (tmp_path / name).write_bytes(write(of))
    run = sets(tmp_path / name, "--threshold", "0.6", *arguments)
    assert run.code == 0
    hold(run.pairs, all_pairs(of, 0.6))
    assert f"{len(of)} sets, {len(run.out)} pairs" in run.err


def test_a_line_is_that_of_dedup() -> None:
    (line,) = sets("-", "--threshold", "0.5", stdin=as_lines({"a": ["x", "y", "z"], "b": ["z", "y"]})).out
    assert line == {
        "pipeline": "sets", "left": "a", "right": "b", "similarity": 2 / 3, "measure": "jaccard",
        "shared": 2, "union": 3, "left_time": 0, "right_time": 0, "confirmed_at": 0,
    }  # fmt: skip


def test_rows_of_several_tables_are_put_together(tmp_path: Path) -> None:
    (tmp_path / "may.csv").write_text("id,item\na,x\nb,x\n")
    (tmp_path / "june.csv").write_text("item,id\ny,a\nz,a\ny,b\nz,b\n")
    run = sets(tmp_path / "may.csv", tmp_path / "june.csv")
    assert run.pairs == {("a", "b"): 1.0}
    assert run.out[0]["shared"] == 3


def test_with_counts_sets_are_bags(chance: random.Random) -> None:
    of = baskets(chance)
    run = sets("-", "--threshold", "0.6", "--counts", "--format", "csv", stdin=as_pairs(of))
    hold(run.pairs, all_pairs(of, 0.6, bag_jaccard))
    assert run.pairs.items() - all_pairs(of, 0.6).items(), "repetitions make a difference"


def test_containment_finds_small_sets_in_larger_ones(chance: random.Random) -> None:
    of = baskets(chance)
    options = ("--measure", "containment", "--size-ratio", "3", "--threshold", "0.8")
    run = sets("-", *options, stdin=as_lines(of))
    hold(run.pairs, all_pairs(of, 0.8, lambda one, other: containment(one, other, 3)))
    (left, right), line = min(run.pairs), run.out[0]
    assert (line["left_shingles"], line["right_shingles"]) == (len(set(of[left])), len(set(of[right])))


@pytest.mark.parametrize("counts", [(), ("--counts",)])
def test_swapped_items_are_compared_by_their_sets(chance: random.Random, counts: tuple[str, ...]) -> None:
    of = baskets(chance, 60)
    options = ("--threshold", "0.7", "--max-candidates", "0", *counts)
    run = sets("-", "--swap", *options, stdin=as_lines(of))
    assert run.out == sets("-", *options, stdin=as_lines(turned(of))).out
    hold(run.pairs, all_pairs(turned(of), 0.7, bag_jaccard if counts else jaccard))


def test_groups_are_the_connected_components_of_the_pairs(tmp_path: Path, chance: random.Random) -> None:
    run = sets("-", "--threshold", "0.6", "--clusters", tmp_path / "groups", stdin=as_lines(baskets(chance)))
    groups = [set(json.loads(line)["members"]) for line in (tmp_path / "groups").read_text().splitlines()]
    near: dict[str, set[str]] = {}
    for left, right in run.pairs:
        near.setdefault(left, set()).add(right)
        near.setdefault(right, set()).add(left)
    assert sorted(one for group in groups for one in group) == sorted(near)
    for group in groups:
        reached, todo = set[str](), [min(group)]
        while todo:
            one = todo.pop()
            reached.add(one)
            todo += near[one] - reached
        assert reached == group
    assert f"{len(groups)} clusters" in run.err


def test_a_query_returns_the_matches_of_its_sets_only(tmp_path: Path, chance: random.Random) -> None:
    of, asked = baskets(chance), baskets(chance, 30)
    for name in [*asked][:20]:
        asked[name] = [item for item in of[name] if chance.random() < 0.9]
    asked["alone"] = ["an item of no other set"]
    (tmp_path / "asked.csv").write_bytes(as_rows(asked))
    run = sets("-", "--threshold", "0.5", "--query", tmp_path / "asked.csv", "--separator", ";", stdin=as_lines(of))
    found = {(one["query"], one["id"]): one["similarity"] for one in run.out}
    hold(found, {(q, id): j for q in asked for id in of if (j := jaccard(asked[q], of[id])) >= 0.5})
    assert [one["query"] for one in run.out] == sorted((one["query"] for one in run.out), key=[*asked].index)
    assert f"150 sets, 31 queries, {len({q for q, _ in found})} of them with a match, {len(found)} m" in run.err


def prints(chance: random.Random, count: int) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Fingers of 200 of 1,000 squares, and another print of each, in which 80 % of them are again."""
    first = {f"finger {number}": sorted(chance.sample(range(1_000), 200)) for number in range(count)}
    again = {id: [square for square in of if chance.random() < 0.8] + chance.sample(range(1_000), 40)
             for id, of in first.items()}  # fmt: skip
    return first, again


def test_fingerprints_are_found_one_against_many_as_often_as_promised(tmp_path: Path, chance: random.Random) -> None:
    first, again = prints(chance, 150)
    (tmp_path / "again.jsonl").write_bytes(lines_of([{"id": id, "items": of} for id, of in again.items()]))
    on_file = lines_of([{"id": id, "items": of} for id, of in first.items()])
    run = sets("-", "--squares", "1000", "--threshold", "0.4", "--query", tmp_path / "again.jsonl", stdin=on_file)
    promised = GridScheme(1_000).promise(occupied=0.2, agreement=0.8)
    true = {id for id in first if jaccard(first[id], again[id]) >= 0.4}
    assert len(true) > 140
    assert {one["query"] for one in run.out} <= true
    assert all(one["query"] == one["id"] for one in run.out), "no other finger is so similar"
    assert len(run.out) >= promised * len(true) - 6 * math.sqrt(promised * (1 - promised) * len(true))


def test_fingerprints_are_found_many_against_many(chance: random.Random) -> None:
    first, again = prints(chance, 100)
    both = {f"{id} {time}": of for time, all in enumerate((first, again)) for id, of in all.items()}
    rows = "id,item\n" + "".join(f"{id},{square}\n" for id, of in both.items() for square in of)
    run = sets("-", "--format", "csv", "--squares", "1000", "--threshold", "0.4", stdin=rows.encode())
    true = all_pairs({id: [*map(str, of)] for id, of in both.items()}, 0.4)
    assert (run.code, run.err.count("pairs")) == (0, 1)
    hold(run.pairs, true, GridScheme(1_000).promise(occupied=0.2, agreement=0.8))


def test_unusable_rows_are_reported_counted_and_listed(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b"id,item\na,x\na\nb,\n,x\nb,\xff\nb,x\n" + b"c," + b"y" * 1025 + b"\n")
    run = sets(table, "--rejects", tmp_path / "rejected")
    assert run.pairs == {("a", "b"): 1.0}
    rejected = [json.loads(line) for line in (tmp_path / "rejected").read_text().splitlines()]
    assert [(one["file"], one["line"], one["reason"]) for one in rejected] == [
        (str(table), 3, "csv"), (str(table), 4, "items"), (str(table), 5, "id"), (str(table), 6, "utf8"),
        (str(table), 8, "items"),
    ]  # fmt: skip
    assert "5 rejected: csv 1, id 1, items 2, utf8 1" in run.err
    assert "t.csv:4: rejected (items): got no item of 'b'" in run.err
    assert sets(table, "--strict", "--quiet").code == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"id": "x"}, "items"),
        ({"id": "x", "items": "milk"}, "items"),
        ({"id": "x", "items": [1.5]}, "items"),
        ({"id": "x", "items": [True]}, "items"),
        ({"items": ["a"]}, "id"),
        (["a"], "json"),
    ],
)
def test_unusable_lines_are_rejected(line: object, reason: str) -> None:
    run = sets("-", stdin=as_lines({"a": ["1"]}) + lines_of([line]))
    assert run.code == 0
    assert f"-:2: rejected ({reason})" in run.err
    assert f"1 rejected: {reason} 1" in run.err


@pytest.mark.parametrize("square", ["1000", "-1", "3.5", "north"])
def test_squares_that_there_are_not_are_rejected(square: str) -> None:
    run = sets("-", "--format", "csv", "--squares", "1000", stdin=f"id,item\na,999\na,{square}\n".encode())
    assert (run.code, "-:3: rejected (items)" in run.err) == (0, True)


def test_a_later_set_replaces_the_one_of_its_id_and_a_deleted_one_is_gone() -> None:
    lines = [{"id": 1, "items": ["x"]}, {"id": 2, "items": ["y"]}, {"id": 1, "items": ["y"]}]
    run = sets("-", stdin=lines_of(lines))
    assert run.pairs == {("1", "2"): 1.0}
    assert "1 repeated id: the last one of each counts" in run.err
    for more in ((), ("--swap",)):
        assert sets("-", *more, stdin=lines_of([*lines, {"id": 2, "deleted": True}])).out == []


def test_an_item_without_a_name_is_rejected_when_swapped() -> None:
    run = sets("-", "--swap", stdin=lines_of([{"id": "a", "items": ["", "x", "y"]}]))
    assert run.pairs == {("x", "y"): 1.0}
    assert "rejected (id): got an empty item" in run.err


def test_caps_are_counted_and_can_be_lifted() -> None:
    lines = as_lines({f"s{number}": ["x", "y", str(number % 2)] for number in range(60)})
    capped, whole = sets("-", "--max-candidates", "5", "--threshold", "0.6", stdin=lines), Counter[bool]()
    assert "capped: " in capped.err
    lifted = sets("-", "--max-candidates", "0", "--threshold", "0.6", stdin=lines)
    whole.update(similarity == 1 for similarity in lifted.pairs.values())
    assert (whole, "capped" in lifted.err) == ({True: 2 * 30 * 29 // 2}, False)


@pytest.mark.parametrize("content", ["", "id,item\n"])
def test_an_empty_file_has_no_sets(tmp_path: Path, content: str) -> None:
    (tmp_path / "empty.csv").write_text(content)
    run = sets(tmp_path / "empty.csv")
    assert (run.code, run.out) == (0, [])
    assert "0 sets, 0 pairs, 0 clusters" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "FILE"),
        (("no-such-file",), "there is no such file"),
        (("-", "--query", "no-such-file"), "there is no such file"),
        (("-", "--query", "-"), "standard input can be read once only"),
        (("t.csv", "--item-column", "product"), "got no column 'product', found 'id', 'item', 'n'"),
        (("t.csv", "--id-column", "who"), "set --id-column"),
        (("t.csv", "--separator", ";"), "got no column 'items'"),
        (("t.csv", "--separator", " "), "expected a separator such as ;"),
        (("t.csv", "--threshold", "1.5"), "above 0 and up to 1"),
        (("t.csv", "--treshold", "0.5"), "did you mean `--threshold`"),
        (("t.csv", "--size-ratio", "2"), "--size-ratio: got 2, expected none"),
        (("t.csv", "--squares", "2"), "--squares: got 2, expected at least the 3 squares"),
        (("t.csv", "--squares", "9", "--swap"), "--swap: "),
        (("t.csv", "--squares", "9", "--counts"), "--counts: "),
        (("t.csv", "--squares", "9", "--measure", "containment"), "--measure: got containment"),
        (("t.csv", "--query", "t.csv", "--max-candidates", "3"), "--max-candidates: "),
        (("t.csv", "--query", "t.csv", "--clusters", "c"), "--clusters: "),
        (("none/*.csv",), "no file matches this pattern"),
        (("t.csv", "--format", "npy"), "invalid choice"),
    ],
)
def test_wrong_use_is_reported_with_exit_code_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "t.csv").write_text("id,item,n\na,x,1\n")
    run = stream_lsh("sets", *arguments, cwd=tmp_path)
    assert (run.code, run.out) == (2, [])
    assert message in run.err
    assert [one.name for one in tmp_path.iterdir()] == ["t.csv"]
