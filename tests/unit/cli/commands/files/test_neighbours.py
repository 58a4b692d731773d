"""`stream-lsh neighbours`: pairs and neighbours as of every two measured, whatever form the vectors come in."""

import io
import json
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from stream_lsh.cli.commands.files.neighbours import _MEASURES, _SLOTS
from stream_lsh.kinds.vector.metric import VECTOR_MEASURES
from stream_lsh.kinds.vector.scheme import SLOTS
from tests.unit.cli.runs import Run, lines_of, stream_lsh
from tests.unit.kinds.test_nearest_neighbours import BETWEEN, SETTINGS, TOLERANCE, Distances, Vectors, all_pairs, clouds

SIMILARITY: dict[str, Callable[[float, int], float]] = {
    "cosine": lambda far, _: 1 - far / 180,
    "euclidean": lambda far, _: 1 / (1 + far),
    "hamming": lambda far, dimension: 1 - far / dimension,
}


def neighbours(*arguments: str | float | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    return stream_lsh("neighbours", *map(str, arguments), stdin=stdin, cwd=cwd)


def distances(run: Run) -> Distances:
    return {(one["left"], one["right"]): one["distance"] for one in run.out}


def as_lines(of: Vectors) -> bytes:
    return lines_of([{"id": id, "vector": vector} for id, vector in of.items()])


def as_table(of: Vectors, between: str = ",") -> bytes:
    """The id is the second of the columns."""
    size = len(next(iter(of.values())))
    rows = [["c0", "id", *(f"c{number}" for number in range(1, size))]]
    rows += [[repr(first), id, *map(repr, rest)] for id, (first, *rest) in of.items()]
    return "".join(between.join(row) + "\n" for row in rows).encode()


def as_array(of: Vectors) -> bytes:
    kept = io.BytesIO()
    np.save(kept, np.array([*of.values()]))
    return kept.getvalue()


def hold(found: Distances, wanted: Distances, measure: str, recall: float = 0.989) -> None:
    """Nothing is wrong, and no more is missed than chance allows: six standard deviations."""
    assert found.keys() <= wanted.keys()
    assert all(abs(found[pair] - wanted[pair]) <= TOLERANCE[measure] for pair in found)
    assert len(wanted) >= 30
    assert len(found) >= recall * len(wanted) - 6 * math.sqrt(recall * (1 - recall) * len(wanted))


@pytest.fixture
def chance(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("measure", "dimension", "within"), SETTINGS)
def test_pairs_are_those_of_every_two_with_their_exact_distance(
    chance: np.random.Generator, measure: str, dimension: int, within: float
) -> None:
    of = clouds(measure, chance, 150, dimension)
    run = neighbours("-", "--measure", measure, "--within", within, stdin=as_lines(of))
    assert run.code == 0
    hold(distances(run), all_pairs(of, measure, within), measure)
    assert all(
        abs(one["similarity"] - SIMILARITY[measure](one["distance"], dimension)) < 1e-12
        and (one["pipeline"], one["measure"]) == ("neighbours", measure)
        for one in run.out
    )
    assert f"150 vectors, {len(run.out)} pairs" in run.err


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("in.jsonl", as_lines),
        ("in.csv", as_table),
        ("in.csv.gz", lambda of: zlib.compress(as_table(of), wbits=31)),
        ("in.tsv", lambda of: as_table(of, "\t")),
        ("in.npy", as_array),
    ],
)
def test_the_form_of_a_file_makes_no_difference(
    tmp_path: Path, chance: np.random.Generator, name: str, write: Callable[[Vectors], bytes]
) -> None:
    of = {str(number): vector for number, vector in enumerate(clouds("cosine", chance, 60, 8).values())}
    (tmp_path / name).write_bytes(write(of))
    run = neighbours(tmp_path / name, "--within", 15)
    assert distances(run) == distances(neighbours("-", "--within", 15, stdin=as_lines(of)))
    hold(distances(run), all_pairs(of, "cosine", 15), "cosine")


def test_a_query_returns_all_within_the_distance_of_each_nearest_first(
    tmp_path: Path, chance: np.random.Generator
) -> None:
    of = clouds("euclidean", chance, 120, 16)
    asked = {f"q{id}": (np.array(of[id]) + 0.02).tolist() for id in [*of][:20]} | {"far": [99.0] * 16}
    (tmp_path / "asked.csv").write_bytes(as_table(asked))
    options = ("--measure", "euclidean", "--within", 1.2, "--query", tmp_path / "asked.csv")
    run = neighbours("-", *options, stdin=as_lines(of))
    kept: Vectors = {id: np.array(vector, np.float32).tolist() for id, vector in (of | asked).items()}
    wanted = {(q, id): far for q in asked for id in of if (far := math.dist(kept[q], kept[id])) <= 1.2}
    hold({(one["query"], one["id"]): one["distance"] for one in run.out}, wanted, "euclidean")
    order = [([*asked].index(one["query"]), one["distance"]) for one in run.out]
    assert order == sorted(order)
    assert f"120 vectors, 21 queries, 20 of them with a match, {len(run.out)} matches" in run.err


def test_hashes_of_images_are_one_column_of_hexadecimal_digits() -> None:
    rows = b"id,hash\noriginal,f0e4c2d7a1b30598\nresized,f0e4c2d7a1b3059b\nother,0000000000000000\n"
    run = neighbours("-", "--format", "csv", "--measure", "hamming", "--within", 6, stdin=rows)
    assert distances(run) == {("original", "resized"): 2.0}
    assert run.out[0]["similarity"] == 1 - 2 / 64


@pytest.mark.parametrize("cells", [("3 4", "6 8", "4 -3"), ("[3, 4]", "[6,8]", "[4,-3]"),
                                   ("AABAQAAAgEA=", "AADAQAAAAEE=", "AACAQAAAQMA=")])  # fmt: skip
def test_a_vector_may_be_in_one_column(cells: tuple[str, ...]) -> None:
    rows = "when\tid\tv\n" + "".join(f"now\t{number}\t{cell}\n" for number, cell in enumerate(cells))
    run = neighbours("-", "--format", "tsv", "--vector-column", "v", "--within", 1, stdin=rows.encode())
    assert distances(run) == {("0", "1"): 0.0}


def test_one_number_is_a_vector() -> None:
    options = ("--format", "csv", "--measure", "euclidean", "--within", 1)
    run = neighbours("-", *options, stdin=b"id,age\na,30\nb,30.5\nc,32\n")
    assert distances(run) == {("a", "b"): 0.5}


def test_unusable_rows_are_reported_counted_and_listed(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,x,y\na,1,0\nb,nan,1\nc,0,0\nd,one,1\ne,,1\nf,1\n,1,1\ng,1e60,1\nh,2,0\n")
    run = neighbours(table, "--within", 5, "--rejects", tmp_path / "rejected")
    assert distances(run) == {("a", "h"): 0.0}
    rejected = [json.loads(line) for line in (tmp_path / "rejected").read_text().splitlines()]
    assert [(one["file"], one["line"], one["reason"]) for one in rejected] == [
        (str(table), line, reason)
        for line, reason in ((3, "vector"), (4, "vector"), (5, "vector"), (6, "vector"), (7, "csv"), (8, "id"),
                             (9, "vector"))
    ]  # fmt: skip
    assert "7 rejected: csv 1, id 1, vector 5" in run.err
    assert "t.csv:4: rejected (vector): got only zeros" in run.err
    assert "t.csv:5: rejected (vector): got 'one' in the column 'x', expected a number" in run.err
    assert neighbours(table, "--within", 5, "--strict", "--quiet").code == 1


def test_zeros_are_a_point_where_lengths_are_measured() -> None:
    run = neighbours("-", "--measure", "euclidean", "--within", 1, stdin=as_lines({"a": [0, 0], "b": [0, 1]}))
    assert distances(run) == {("a", "b"): 1.0}


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (None, "got no `vector`"),
        ([1, 2, 3], "got 3 values as `vector`, expected 2"),
        ([], "got 0 values"),
        ([1, "x"], "got 'x' in `vector`, expected numbers"),
        ([1, True], "expected numbers"),
        ([[1, 2]], "expected numbers"),
        ("north", "not base64"),
        (7, "expected a list of numbers or a string"),
    ],
)
@pytest.mark.parametrize("place", [0, 2])
def test_lines_without_a_vector_of_the_dimension_are_rejected(vector: object, message: str, place: int) -> None:
    lines: list[Any] = [{"id": "a", "vector": [1, 0]}, {"id": "b", "vector": [2, 0]}]
    lines.insert(place, {"id": "x", "vector": vector})
    dimension = ("--dimension", 2) if place == 0 else ()
    run = neighbours("-", "--within", 5, *dimension, stdin=lines_of(lines))
    assert (run.code, distances(run)) == (0, {("a", "b"): 0.0})
    assert f"-:{place + 1}: rejected (vector): got" in run.err
    assert message in run.err


def test_a_rejected_line_does_not_determine_the_dimension() -> None:
    lines = [{"id": "x", "vector": vector} for vector in (None, ["x"], [], [0, 0, 0], [math.nan], 7)]
    run = neighbours("-", "--within", 5, stdin=lines_of(lines) + as_lines({"a": [1, 0], "b": [2, 0]}))
    assert distances(run) == {("a", "b"): 0.0}
    assert "6 rejected" in run.err


def test_a_later_vector_replaces_the_one_of_its_id_and_a_deleted_one_is_gone() -> None:
    lines = [{"id": 1, "deleted": True}, *({"id": id, "vector": [1, y]} for id, y in ((1, 0), (2, 9), (1, 9)))]
    run = neighbours("-", "--within", 5, stdin=lines_of(lines))
    assert distances(run) == {("1", "2"): 0.0}
    assert "1 repeated id: the last one of each counts" in run.err
    assert neighbours("-", "--within", 5, stdin=lines_of([*lines, {"id": 2, "deleted": True}])).out == []


def test_groups_are_written_on_request(tmp_path: Path) -> None:
    of: Vectors = {"a": [0], "b": [1], "c": [2], "d": [9]}
    options = ("--measure", "euclidean", "--within", 1, "--clusters", tmp_path / "groups", "--matches", tmp_path / "m")
    run = neighbours("-", *options, stdin=as_lines(of))
    assert (run.code, run.out) == (0, [])
    (group,) = map(json.loads, (tmp_path / "groups").read_text().splitlines())
    assert sorted(group["members"]) == ["a", "b", "c"]
    assert len((tmp_path / "m").read_text().splitlines()) == 2


@pytest.mark.parametrize("content", ["", "id,x\n"])
def test_an_empty_file_has_no_vectors(tmp_path: Path, content: str) -> None:
    (tmp_path / "empty.csv").write_text(content)
    for more in ((), ("--query", tmp_path / "empty.csv")):
        run = neighbours(tmp_path / "empty.csv", "--within", 5, *more)
        assert (run.code, run.out) == (0, [])
        assert "0 vectors, 0 " in run.err


def saved(array: npt.NDArray[Any]) -> bytes:
    kept = io.BytesIO()
    np.save(kept, array, allow_pickle=True)
    return kept.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"no array", saved(np.ones((9, 9)))[:-5], saved(np.array([[1, "x"]], object)), saved(np.ones(3)),
     saved(np.array([["x"]])), saved(np.ones((2, 2), complex))],
)  # fmt: skip
def test_an_array_of_another_form_ends_the_run(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    run = neighbours(tmp_path / "x.npy", "--within", 5)
    assert (run.code, run.out) == (1, [])
    assert "x.npy: " in run.err


def test_unusable_rows_of_an_array_are_rejected(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[1, 0], [np.nan, 1], [0, 0], [2, 0]]))
    run = neighbours(tmp_path / "x.npy", "--within", 5)
    assert distances(run) == {("0", "3"): 0.0}
    assert "x.npy:1: rejected (vector)" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--within", "5"), "required: FILE"),
        (("t.csv",), "required: --within"),
        (("no-such-file", "--within", "5"), "there is no such file"),
        (("t.csv", "--within", "0"), "expected a number above 0"),
        (("t.csv", "--within", "inf"), "expected a number above 0"),
        (("t.csv", "--within", "180"), "--within: got 180, expected degrees, above 0 and below 180"),
        (
            ("t.csv", "--within", "2", "--measure", "hamming"),
            "--within: got 2, expected positions, above 0 and below 2",
        ),
        (("t.csv", "--within", "2", "--measure", "manhattan"), "invalid choice"),
        (("t.csv", "--within", "5", "--width", "2"), "--width: got 2, expected none"),
        (("t.csv", "--within", "5", "--dimension", "70000"), "--dimension: got 70000"),
        (("t.csv", "--within", "179", "--slots", "8"), "raise slots"),
        (("t.csv", "--within", "5", "--id-column", "name"), "got no column 'name', found 'id', 'x', 'y'"),
        (("t.csv", "--within", "5", "--vector-column", "v"), "set --vector-column"),
        (("id.csv", "--within", "5"), "got no column but 'id'"),
        (("-", "--format", "npy", "--within", "5"), "cannot be read from a pipe"),
        (("t.csv", "--within", "5", "--querry", "x"), "did you mean `--query`"),
    ],
)
def test_wrong_use_is_reported_with_exit_code_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "t.csv").write_text("id,x,y\na,1,0\n")
    (tmp_path / "id.csv").write_text("id\na\n")
    run = neighbours(*arguments, cwd=tmp_path)
    assert (run.code, run.out) == (2, [])
    assert message in run.err


def test_options_are_those_of_the_library() -> None:
    assert _MEASURES == VECTOR_MEASURES == (*BETWEEN,)
    assert _SLOTS == SLOTS


@pytest.mark.parametrize(
    ("array", "what"),
    [
        (np.arange(5.0), "got the shape (5,) of float64, expected an array of numbers with a row per vector"),
        (np.zeros((2, 2, 3), np.float32), "got the shape (2, 2, 3) of float32, expected"),
        (np.array([["a"]]), "got the shape (1, 1) of <U1, expected"),
    ],
)
def test_an_array_without_rows_of_numbers_is_described(tmp_path: Path, array: Any, what: str) -> None:
    np.save(tmp_path / "x.npy", array)
    run = neighbours(tmp_path / "x.npy", "--within", 5)
    assert (run.code, run.out) == (1, [])
    assert f"x.npy: {what}" in run.err
