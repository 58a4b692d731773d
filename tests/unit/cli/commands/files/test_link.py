"""The command `link`, run as a user runs it: inputs, outputs, errors."""

import csv
import gzip
import json
import os
import random
import re
from pathlib import Path

import pytest

from tests.unit.cli.runs import Run, lines_of, ran, stream_lsh

PROFILE = """\
name = "people"
prior = 0.01
match = 0.85
review = 0.1
bridge = 0
rules = ["surname", "born", "phone"]
[[field]]
name = "given"
type = "name"
columns = ["first name"]
[[field]]
name = "surname"
type = "name"
[[field]]
name = "born"
type = "date"
[[field]]
name = "phone"
[[comparison]]
field = "given"
comparator = "exact"
m = [0.8, 0.2]
u = [0.02, 0.98]
[[comparison]]
field = "surname"
comparator = "exact"
m = [0.9, 0.1]
u = [0.01, 0.99]
[[comparison]]
field = "born"
comparator = "exact"
m = [0.9, 0.1]
u = [0.001, 0.999]
[[comparison]]
field = "phone"
comparator = "exact"
m = [0.9, 0.1]
u = [0.001, 0.999]
"""
"""Bits: prior -6.629; given 5.322, -2.293; surname 6.492, -3.307; born and phone 9.814, -3.321."""
UNLEARNED = re.sub(r"^(m|u|prior) = .*\n", "", PROFILE, flags=re.MULTILINE)

TABLE = """\
id,First Name,surname,born,time
1,Ann,Smith,1980-01-02,1970-01-01T00:00:01Z
2,Ann,SMITH,2 Jan 1980,
3,Anne,Smith,1980-01-02,1970-01-01T00:00:05Z
4,Bob,Smith,,
5,Cem,Ode,1990-05-06,
"""
PAIRS = {("1", "2"): 15.0, ("1", "3"): 7.384, ("2", "3"): 7.384}
REVIEWED = {("1", "4"), ("2", "4"), ("3", "4")}
"""Surname 6.492, given -2.293, prior: -2.43 bits, a probability of 0.157."""
CHAIN = [
    {"id": "p", "surname": "Lee", "given": "Ann"},
    {"id": "q", "surname": "Lee", "given": "Ann", "born": "1980-01-02"},
    {"id": "r", "born": "1980-01-02", "phone": 7},
    {"id": "s", "phone": "7", "given": "Zoe"},
]
"""Each record matches its neighbour, q and r with 0.9007, and no other: two others have nothing in common."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.toml").write_text(PROFILE)
    (tmp_path / "new.toml").write_text(UNLEARNED)
    (tmp_path / "people.csv").write_text(TABLE)
    return tmp_path


def link(folder: Path, *arguments: str, stdin: bytes = b"") -> Run:
    return stream_lsh("link", *arguments, stdin=stdin, cwd=folder)


def groups(run: Run) -> list[set[str]]:
    return [{member["id"] for member in entity["members"]} for entity in run.out]


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# -- output


def test_entities_are_printed_with_their_members_and_golden_records(folder: Path) -> None:
    run = link(folder, "people.csv", "--profile", "p.toml")
    assert run.code == 0
    (entity,) = run.out
    assert list(entity) == ["entity", "size", "members", "golden"]
    assert (entity["entity"], entity["size"]) == ("2", 3)  # the oldest: the one without a time
    assert entity["members"] == [{"id": id, "source": ""} for id in ("3", "1", "2")]
    assert entity["golden"]["given"] == "Ann"
    assert run.err.startswith("5 records, 6 candidates, 3 matches, 3 to review, 1 entity, ")
    assert sorted(os.listdir(folder)) == ["new.toml", "p.toml", "people.csv"]


def test_a_match_line_is_the_public_one(folder: Path) -> None:
    run = link(folder, "people.csv", "--profile", "p.toml", "--matches", "-", "--reviews", "look", "--quiet")
    assert (run.code, run.err) == (0, "")
    assert {(one["left"], one["right"]): one["score"] for one in run.out} == pytest.approx(PAIRS, abs=0.01)
    assert list(run.out[1]) == (
        "pipeline left right similarity measure score weights rules left_time right_time confirmed_at".split()
    )
    second = run.out[1]
    assert (second["pipeline"], second["measure"], second["rules"]) == ("link", "fellegi-sunter", ["surname", "born"])
    assert second["similarity"] == pytest.approx(1 / (1 + 2 ** -second["score"]), abs=1e-5)
    assert second["weights"] == pytest.approx({"given": -2.293, "surname": 6.492, "born": 9.814}, abs=0.01)
    assert (second["left_time"], second["right_time"], second["confirmed_at"]) == (1000, 5000, 5000)
    reviews = lines(folder / "look")
    assert {(one["left"], one["right"]) for one in reviews} == REVIEWED
    assert all(list(one) == list(second) for one in reviews)


def test_golden_records_are_a_table(folder: Path) -> None:
    run = link(folder, "people.csv", "--profile", "p.toml", "--golden", "golden.csv")
    assert (run.code, run.out) == (0, [])
    with (folder / "golden.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert {**row, "born": ""} == {
        "entity": "2", "size": "3", "given": "Ann", "surname": row["surname"], "born": "", "phone": "",
    }  # fmt: skip
    assert row["surname"].lower() == "smith"


@pytest.mark.parametrize(
    ("options", "pairs", "reviews"),
    [
        (["--threshold", "0.999"], {("1", "2")}, {("1", "3"), ("2", "3")} | REVIEWED),
        (["--review-threshold", "0.5"], set(PAIRS), set()),
        (["--threshold", "0.15"], {*PAIRS} | REVIEWED, set()),
        (["--threshold", "0.999", "--review-threshold", "0.9999"], None, None),
    ],
)
def test_probabilities_of_the_options_take_the_place_of_the_profiles(
    folder: Path, options: list[str], pairs: set[tuple[str, str]] | None, reviews: set[tuple[str, str]] | None
) -> None:
    run = link(folder, "people.csv", "--profile", "p.toml", *options, "--matches", "-", "--reviews", "look")
    if pairs is None or reviews is None:
        assert run.code == 2
        assert (
            "--threshold: got 0.999, expected at least that of reviews, 0.9999; --review-threshold sets it" in run.err
        )
        return
    assert {(one["left"], one["right"]) for one in run.out} == pairs
    assert {(one["left"], one["right"]) for one in lines(folder / "look")} == reviews


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], [{"p", "q", "r", "s"}]),
        (["--strong-links"], [{"p", "q"}, {"r", "s"}]),
        (["--bridge-similarity", "0.95"], [{"p", "q"}, {"r", "s"}]),
        (["--bridge-similarity", "0.9"], [{"p", "q", "r", "s"}]),
        (["--max-diameter", "2"], [{"p", "q", "r"}]),
        (["--max-size", "2"], [{"p", "q"}, {"r", "s"}]),
    ],
)
def test_guards_part_a_chain(folder: Path, options: list[str], found: list[set[str]]) -> None:
    run = link(folder, "-", "--profile", "p.toml", *options, stdin=lines_of(CHAIN))
    assert run.code == 0, run.err
    assert groups(run) == found


def test_caps_are_reported_with_their_rules_and_lifted(folder: Path) -> None:
    same = lines_of([{"id": str(n), "surname": "Lee", "given": "Ann"} for n in range(100)])
    assert "capped" not in link(folder, "-", "--profile", "p.toml", stdin=same).err
    capped = link(folder, "-", "--profile", "p.toml", "--max-candidates", "32", stdin=same)
    assert re.search(r"^6\d blocks were not followed to their end \(surname 6\d\)$", capped.err, re.M)
    assert f"capped: {4950 - 32 * 68 - 31 * 16:,} candidates" in capped.err
    assert "--max-candidates 0 lifts the caps" in capped.err
    few = link(folder, "-", "--profile", "p.toml", "--max-candidates", "10", "--matches", "-", stdin=same)
    assert "candidates were not compared" in few.err
    assert len(few.out) == 10 * 90 + 45
    lifted = link(folder, "-", "--profile", "p.toml", "--max-candidates", "0", "--matches", "-", stdin=same)
    assert "capped" not in lifted.err
    assert len(lifted.out) == 4950


# -- input


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.tsv", TABLE.replace(",", "\t").encode()),
        ("x.csv.gz", gzip.compress(TABLE.encode())),
        ("x.jsonl", lines_of([*csv.DictReader(TABLE.splitlines())])),
    ],
)
def test_every_format_gives_the_same_entities(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    run = link(folder, name, "--profile", "p.toml")
    assert groups(run) == [{"1", "2", "3"}]
    assert "rejected" not in run.err


def test_of_several_files_each_is_a_source(folder: Path) -> None:
    (folder / "shop.jsonl").write_bytes(
        lines_of([{"id": 1, "first_name": "Ann", "surname": "Smith", "born": "1980-01-02"}])
    )
    text = PROFILE.replace('name = "people"', 'name = "people"\nlink = "link"', 1)
    (folder / "link.toml").write_text(text)
    run = link(folder, "people.csv", "shop.jsonl", "--profile", "link.toml", "--matches", "-", "--entities", "e")
    assert [(one["left"], one["right"]) for one in run.out] == [
        ("people/1", "shop/1"), ("people/2", "shop/1"), ("people/3", "shop/1"),
    ]  # fmt: skip
    (entity,) = lines(folder / "e")
    assert entity["members"] == [
        {"id": "people/3", "source": "people"},
        {"id": "people/1", "source": "people"},
        {"id": "shop/1", "source": "shop"},
        {"id": "people/2", "source": "people"},
    ]
    alone = link(folder, "people.csv", "--profile", "link.toml")
    assert alone.code == 2
    assert "people.csv: got records of one source, expected two or more" in alone.err


@pytest.mark.parametrize("profile", ["p.toml", "new.toml"])
def test_a_later_record_replaces_and_a_deleted_one_is_gone(folder: Path, profile: str) -> None:
    ann = {"surname": "Smith", "given": "Ann", "born": "1980-01-02"}
    rows: list[dict[str, object]] = [{"id": id, **ann} for id in "abcd"]
    rows += [{"id": "a", "surname": "Ode"}, {"id": "b", "deleted": True}, {"id": "x", "deleted": True}]
    run = link(folder, "-", "--profile", profile, stdin=people() + lines_of(rows))
    assert [group for group in groups(run) if group & {*"abcd"}] == [{"c", "d"}]
    assert "-:605: the id 'a' is repeated: this record replaces the one before it" in run.err
    assert "\n1 deletes\n" in run.err


def test_columns_and_fields_that_do_not_meet_are_named(folder: Path) -> None:
    table = "id,surname,BORN,shoe size,time\n1,Smith,1980-01-02,42,1970-01-01\n2,Smith,1980-01-02,43,1970-01-01\n"
    run = link(folder, "-", "--profile", "p.toml", "--format", "csv", stdin=table.encode())
    assert run.code == 0, run.err
    assert (
        "\ncolumns that the profile does not read: shoe size\ncompared fields without a column: given, phone\n"
        in run.err
    )


def test_unusable_records_are_reported_and_the_others_are_linked(folder: Path) -> None:
    rows = [
        "6,Ann,Smith,1980-01-02,soon", "7,Ann,Smith,1980-01-02,2999-01-01", "8,Ann", ",Ann,Smith,,",
    ]  # fmt: skip
    (folder / "more.csv").write_text(TABLE + "\n".join(rows) + "\n")
    run = link(folder, "more.csv", "--profile", "p.toml", "--rejects", "rejects")
    assert (run.code, groups(run)) == (0, [{"1", "2", "3"}])
    assert [(one["line"], one["reason"]) for one in lines(folder / "rejects")] == [
        (7, "time"), (8, "time"), (9, "csv"), (10, "id"),
    ]  # fmt: skip
    assert "more.csv:8: rejected (time): got a time in the future" in run.err
    assert "4 rejected: csv 1, id 1, time 2\n" in run.err
    assert link(folder, "more.csv", "--profile", "p.toml", "--strict").code == 1
    other = link(folder, "more.csv", "--profile", "p.toml", "--time-column", "born")
    assert "3 rejected: csv 1, id 1, time 1; --rejects lists them" in other.err  # 2 Jan 1980 is no time


@pytest.mark.parametrize("value", ["x" * 140_000, ["é" * 700] * 100, 1 << 4_000], ids=["long", "list", "number"])
def test_a_record_that_is_too_large_is_rejected_and_the_others_are_linked(folder: Path, value: object) -> None:
    rows = [{"id": str(number), "given": "Ann", "surname": "Lee", "born": "1980-01-02"} for number in range(3)]
    stored = isinstance(value, int)  # such a number is no value
    run = link(
        folder,
        "-",
        "--profile",
        "p.toml",
        "--strict",
        stdin=lines_of([*rows, {**rows[0], "id": "large", "phone": value}]),
    )
    (entity,) = run.out
    assert {one["id"] for one in entity["members"]} == {"0", "1", "2", *(["large"] if stored else [])}
    assert run.code == (0 if stored else 1)
    assert ("-:4: rejected (size): got 14" in run.err) is not stored
    assert ("1 rejected: size 1" in run.err) is not stored


# -- learning


def people(count: int = 300) -> bytes:
    """Everybody twice: of the second ones a fifth have another name."""
    rng, rows = random.Random(11), []
    for number in range(count):
        name = "".join(rng.choices("abcdefghijklmnop", k=6))
        born = f"19{rng.randint(10, 99)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        given = rng.choice(("ann", "bob", "cem", "dan", "eva"))
        rows.append({"id": f"{number}a", "given": given, "surname": name, "born": born})
        rows.append(rows[-1] | {"id": f"{number}b"} | ({"surname": name[::-1]} if number % 5 == 0 else {}))
    return lines_of(rows)


def test_a_profile_that_has_learned_nothing_learns_from_the_files(folder: Path) -> None:
    run = link(folder, "-", "--profile", "new.toml", "--matches", "-", stdin=people())
    assert "profile 'people' has no weights; estimated them, without labels, from these 600 records\n" in run.err
    found = {(one["left"], one["right"]) for one in run.out}
    truth = {(f"{number}a", f"{number}b") for number in range(300)}
    assert len(found & truth) >= 298
    assert len(found - truth) <= 2
    assert {one["measure"] for one in run.out} == {"fellegi-sunter"}


def test_a_profile_with_some_weights_learns_all_and_names_the_fields_without(folder: Path) -> None:
    weighted, last = PROFILE.rstrip().rsplit("\nm = ", 1)
    (folder / "some.toml").write_text(f"{weighted}\n")
    assert last.startswith("[0.9, 0.1]\nu = ")
    checked = ran("profile", "check", "some.toml", cwd=folder)
    assert checked.stdout.endswith(b"it has no weights for phone yet: `stream-lsh train` estimates them\n")
    run = link(folder, "-", "--profile", "some.toml", "--matches", "-", stdin=people())
    assert "has no weights for phone; estimated all weights, without labels, from these 600 records\n" in run.err


def test_few_records_are_warned_of_and_one_record_is_not(folder: Path) -> None:
    rows = [{"id": 1, "source": "a", "surname": "Lee"}, {"id": 2, "source": "b", "surname": "Lee", "given": "Ann"}]
    run = link(folder, "-", "--profile", "new.toml", "--matches", "-", stdin=lines_of(rows))
    assert "2 records are few: the weights are unreliable" in run.err
    assert link(folder, "-", "--profile", "new.toml", stdin=lines_of(rows[:1])).err.startswith("1 record, 0 candidates")


# -- errors


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nothing.csv", "neither", "--profile", "p.toml"], 2, "nothing.csv: there is no such file"),
        (["people.csv"], 2, "required: --profile"),
        (["people.csv", "--profile", "peple"], 2, "did you mean 'people'?"),
        (["people.csv", "--profile", "p.toml", "--treshold", "1"], 2, "got the option '--treshold'"),
        (["people.csv", "--profile", "p.toml", "--threshold", "1.5"], 2, "expected a number above 0 and below 1"),
        (["people.csv", "--profile", "p.toml", "--id-column", "key"], 2, "got no column 'key' for the id"),
        (["people.csv", "--profile", "p.toml", "--time-column", "key"], 2, "got no column 'key' for the time"),
        (["people.csv", "--profile", "p.toml", "--matches", "x", "--entities", "x"], 2, "x: two outputs cannot be"),
        (["people.csv", "--profile", "p.toml", "--matches", "people.csv"], 2, "people.csv: is an input"),
        (["people.csv", "--profile", "p.toml", "--matches", "no/folder"], 2, "no/folder: cannot be written"),
        (["people.csv", "--profile", "p.toml", "--representative-similarity", "0.5"], 2, "got 0.5, expected at least"),
        ([".", "--profile", "p.toml"], 2, ".: is a folder, expected a file"),
        (["empty.csv", "--profile", "p.toml"], 2, "empty.csv: got nothing, expected a header"),
        (["blank.csv", "--profile", "p.toml"], 2, "got no value for any field of the profile 'people'"),
        (["blank.csv", "--profile", "new.toml"], 2, "`stream-lsh profile infer` proposes a profile"),
        (["cut.csv.gz", "--profile", "p.toml"], 1, "gzip data end too early"),
        (["people.csv", "--profile", "p.toml", "--entities", "/dev/full"], 1, "No space left on device"),
    ],
)
def test_an_error_is_reported_and_leaves_no_file_behind(
    folder: Path, arguments: list[str], code: int, words: str
) -> None:
    (folder / "empty.csv").touch()
    (folder / "blank.csv").write_text("id,surname,shoes\n1,,9\n2,n/a,9\n")
    rng = random.Random(1)
    (folder / "cut.csv.gz").write_bytes(gzip.compress(TABLE.encode() + rng.randbytes(5000).hex().encode())[:-100])
    before = sorted(os.listdir(folder))
    run = link(folder, *arguments)
    assert (run.code, run.out) == (code, [])
    assert words in run.err
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("name", ["empty.jsonl", "head.csv"])
def test_an_empty_file_is_fine(folder: Path, name: str) -> None:
    (folder / name).write_text("id,surname\n" if name == "head.csv" else "")
    run = link(folder, name, "--profile", "people")
    assert (run.code, run.out) == (0, [])
    assert run.err.startswith("0 records, 0 candidates, 0 matches, 0 to review, 0 entities, ")
    assert run.err.count("\n") == 1  # nothing about columns: none was read
