"""`stream-lsh train`: learning from files, the report, and wrong input."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stream_lsh.cli.main import main
from stream_lsh.kinds.record.profiles import bundled, load_profile, parse_profile
from tests.patience import PATIENCE

PROFILE = """\
name = "people"
rules = ["surname", "born"]

[[field]]
name = "surname"
type = "name"

[[field]]
name = "born"
type = "date"

[[field]]
name = "shoes"

[[comparison]]
field = "surname"
comparator = "exact"

[[comparison]]
field = "born"
comparator = "exact"

[[comparison]]
field = "shoes"
comparator = "exact"
"""
ENTITIES = 300


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everybody twice: of the second ones a fifth have another name, a tenth another day."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(11)
    lines = ["id,surname,born"]
    for number in range(ENTITIES):
        name = "".join(rng.choices("abcdefghijklmnop", k=6))
        born = f"19{rng.randint(10, 99)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        other = "".join(rng.choices("qrstuvwxyz", k=6)) if number % 5 == 0 else name
        lines += [f"{number}a,{name},{born}", f"{number}b,{other},{'1905-05-05' if number % 10 == 1 else born}"]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "p.toml").write_text(PROFILE)
    pairs = "".join(f"{number}b,{number}a\n" for number in range(ENTITIES))
    (tmp_path / "same.csv").write_text(f"id_l,id_r\n{pairs}999a,1a\n")
    return tmp_path


def test_a_profile_learns_and_what_it_learned_is_shown(people: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "people.csv", "--profile", "p.toml", "--output", "learned.toml"]) == 0
    out, err = capfd.readouterr()
    profile = load_profile("learned.toml")
    assert out == ""
    assert profile.learned
    assert profile.prior == pytest.approx(300 / (600 * 599 / 2), rel=0.2)
    assert profile.comparisons[0].m[0] == pytest.approx(0.8, abs=0.1)
    assert profile.comparisons[1].m[0] == pytest.approx(0.9, abs=0.06)
    table = err.splitlines()
    assert table[0].split() == ["comparison", "level", "m", "u", "bits"]
    m, u = profile.comparisons[0].m[0], profile.comparisons[0].u[0]
    assert table[1].split()[:4] == ["surname", "(exact)", "equal", f"{m:.4f}"]
    assert u < m
    assert sum(line.startswith("shoes") for line in table) == 0
    assert "warning: shoes: no estimate, no two records have a value: the weights are meaningless" in table
    matches = round((profile.prior or 0) * 179_700)
    assert f"prior {profile.prior:.3g}: about {matches} matches among 179,700 pairs of records" in table
    assert any("iterations over" in line and "u from these and 179,700 pairs at random" in line for line in table)
    assert table[-1].startswith("600 records, ")


def test_labels_give_m_by_counting(people: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "people.csv", "--profile", "p.toml", "--labels", "same.csv", "--quiet"]) == 0
    out, err = capfd.readouterr()
    profile = parse_profile(out, "out")
    assert err == ""
    # 240 of 300 have the name, 270 the day; the initial m, .8 and .2, counts for twenty pairs.
    assert profile.comparisons[0].m == pytest.approx((256 / 320, 64 / 320), abs=0.005)
    assert profile.comparisons[1].m == pytest.approx((286 / 320, 34 / 320), abs=0.005)
    # A labelled match does not count towards u; the 435 pairs of records born on one wrong day do.
    day = sum(1 for _ in range(30)) * 29 / 2
    assert profile.comparisons[1].u[0] == pytest.approx((day + 0.5) / (179_400 + 1), rel=0.1)


def test_json_is_printed_in_full_on_standard_output(people: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", "people.csv", "--profile", "p.toml", "--json", "--labels", "same.csv"]
    assert main(arguments) == 2
    assert "got --json without --output" in capfd.readouterr().err
    assert main([*arguments, "--output", "learned.toml"]) == 0
    out, err = capfd.readouterr()
    found = json.loads(out)
    assert list(found) == [
        "profile",
        "prior",
        "pairs",
        "expected",
        "iterations",
        "comparisons",
        "reliability",
        "warnings",
    ]
    surname, _, shoes = found["comparisons"]
    assert surname["matches"] == pytest.approx(300, rel=0.1)
    assert (shoes["matches"], shoes["others"]) == (0, 0)
    assert [level["level"] for level in surname["levels"]] == ["equal", "else"]
    profile = load_profile("learned.toml")
    assert [level["u"] for level in surname["levels"]] == list(profile.comparisons[0].u)
    assert found["prior"] == profile.prior
    assert found["expected"] == pytest.approx(300, rel=0.1)
    assert found["pairs"]["blocked"] >= 300
    assert "comparison  " not in err
    assert "1 of 301 pairs of same.csv have an id that no record has" in err


def test_deleted_and_replaced_records_are_not_learned_from(people: Path) -> None:
    header, *rows = [line.split(",") for line in (people / "people.csv").read_text().splitlines()]
    records = [dict(zip(header, row, strict=True)) for row in rows]
    changes: list[dict[str, object]] = [{**record, "surname": "x"} for record in records[:50]]
    changes += [{**records[50], "id": f"copy {number}"} for number in range(200)]
    changes += [{**change, "deleted": True} for change in changes[50:]]
    for name, lines in (("plain", records), ("changed", [*records[50:], *changes, *records[:50]])):
        ordered = sorted(lines, key=lambda line: str(line["id"])) if name == "plain" else lines
        (people / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in ordered))
    learned = []
    for name in ("plain", "changed"):
        assert main(["train", f"{name}.jsonl", "--profile", "p.toml", "--output", "x.toml", "-q"]) == 0
        learned.append(load_profile("x.toml"))
    assert learned[1].prior == pytest.approx(learned[0].prior, rel=1e-3)
    assert learned[1].comparisons[0].m == pytest.approx(learned[0].comparisons[0].m, rel=1e-3)


def test_labels_name_records_of_several_sources_with_the_source_or_without(
    people: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (people / "one.csv").write_text("id,surname,born\n1,Ann,1980-01-01\n2,Bob,1990-01-01\n3,Cem,1970-01-01\n")
    (people / "two.csv").write_text("id,surname,born\n1,Ann,1980-01-01\nx/9,Bob,1990-01-01\n")
    train = ["train", "one.csv", "two.csv", "--profile", "p.toml", "-q", "--labels", "labels.csv"]
    (people / "labels.csv").write_text("note,right,left\n,two/1,one/1\n,2,x/9\n")
    assert main(train) == 0
    assert parse_profile(capfd.readouterr().out, "out").comparisons[0].m[0] >= 2 / 3
    (people / "labels.csv").write_text("left,right\n1,2\n")
    assert main(train) == 2
    assert (
        "labels.csv:2: got the id '1', which records of several sources have, expected source/1"
        in capfd.readouterr().err
    )


@pytest.mark.parametrize(
    ("labels", "code", "message"),
    [
        ("", 2, "got the columns none, expected `left` and `right`, or two columns"),
        ("a,b,c\n", 2, "got the columns 'a', 'b', 'c', expected"),
        ("a,b\n1a,1b\n1a,1b,1c\n", 2, "got a row of 3 fields, expected 2 as in the header"),
        ('a,b\n1a,1b\n1a,"1b\n', 2, "got a quote that nothing closes before the file ends"),
        ("1a,1b\n2a,2b\n", 2, "got ids of records in the first line, expected a header such as left,right"),
        ("a,b\n1a,1a\n", 1, "got 1 pair, none of them with two known records"),
        ("a,b\nx,y\n", 1, "got 1 pair, none of them with two known records"),
        ("left,right,match\n1a,1b,1\n1b,1a,0\n", 2, "got the pair of '1b' and '1a' as a match and as a non-match"),
        ("left,right,match\n1a,1b,1\n1a,1b,perhaps\n", 2, "got 'perhaps' in the column `match`, expected 1 or 0"),
    ],
)
def test_unusable_labels_are_rejected(
    people: Path, capfd: pytest.CaptureFixture[str], labels: str, code: int, message: str
) -> None:
    (people / "same.csv").write_text(labels)
    assert main(["train", "people.csv", "--profile", "p.toml", "--labels", "same.csv", "--output", "x.toml"]) == code
    place = "same.csv:3" if labels.count("\n") == 3 else "same.csv"
    assert f"{place}: {message}" in capfd.readouterr().err
    assert not (people / "x.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.csv", "--profile", "p.toml"], 2, "none.csv: there is no such file or folder"),
        (["empty.csv", "--profile", "p.toml"], 2, "empty.csv: got nothing, expected a header"),
        (["empty.jsonl", "--profile", "p.toml"], 1, "empty.jsonl: got 0 records that can be used, expected many"),
        (["people.csv", "--profile", "p.toml", "--id-column", "nr"], 2, "people.csv: got no column 'nr' for the id"),
        (["people.csv", "--profile", "peeple"], 2, "did you mean 'people'?"),
        (["people.csv", "--profile", "none.toml"], 2, "none.toml: got No such file or directory"),
        (["lines.jsonl", "--profile", "bibliography"], 2, "expected two or more: the profile 'bibliography' compares"),
        (["people.csv", "--profile", "products"], 2, "got no value for any field of the profile 'products'"),
        (["people.csv", "--profile", "p.toml", "--output", "people.csv"], 2, "people.csv: is an input, and would be"),
        (["people.csv", "--profile", "p.toml", "--output", "no/x.toml"], 2, "no/x.toml: cannot be written"),
        (["people.csv"], 2, "required: --profile"),
        (["people.csv", "--profile", "p.toml", "--label", "x"], 2, "did you mean `--labels`?"),
    ],
)
def test_wrong_input_is_reported_and_no_file_is_written(
    people: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    (people / "empty.csv").touch()
    (people / "empty.jsonl").touch()
    (people / "lines.jsonl").write_text('{"id": 1, "title": "a"}\n{"id": 2, "title": "b"}\n')
    before = (people / "people.csv").read_text()
    assert main(["train", *arguments]) == code
    out, err = capfd.readouterr()
    assert message in err
    assert out == ""
    assert (people / "people.csv").read_text() == before
    assert not list(people.glob(".*.part"))


def test_all_three_mistakes_of_a_profile_are_reported(people: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = PROFILE.replace('"surname", "born"', '"sirname"').replace('type = "date"', 'type = "day"')
    (people / "p.toml").write_text(text.replace('"exact"', '"exakt"', 1))
    assert main(["train", "people.csv", "--profile", "p.toml"]) == 2
    messages = capfd.readouterr().err.removeprefix("stream-lsh: ").splitlines()
    assert [line.split(": ")[0] for line in messages] == ["p.toml:2", "p.toml:10", "p.toml:17"]


def test_unusable_lines_are_counted_and_strict_is_exit_code_1(people: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with (people / "people.csv").open("a") as file:
        file.write("x\n1a,Other,1999-09-09\n")
    train = ["train", "people.csv", "--profile", "p.toml", "--output", "x.toml", "--rejects", "rejects.jsonl"]
    assert main(train) == 0
    err = capfd.readouterr().err
    assert "people.csv:602: rejected (csv): got a row of 1 fields, expected 3 as in the header" in err
    assert "people.csv:603: the id '1a' is repeated" in err
    assert "1 rejected: csv 1\n" in err
    assert json.loads((people / "rejects.jsonl").read_text())["line"] == 602
    assert main([*train, "--strict"]) == 1


@pytest.mark.parametrize("command", [["train", "people.csv", "--profile", "people"], ["profile", "show", "people"]])
@pytest.mark.parametrize("library", ["rapidfuzz", "jellyfish"])
def test_a_missing_extra_is_reported_with_what_to_install(people: Path, library: str, command: list[str]) -> None:
    run = f"from stream_lsh.cli.main import main; sys.exit(main({command!r}))"
    code = f"import sys; sys.modules[{library!r}] = None; {run}"
    done = subprocess.run([sys.executable, "-c", code], cwd=people, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 2
    assert done.stderr == f'stream-lsh: comparing records needs {library}: pip install "stream_lsh[records]"\n'


def test_ctrl_c_leaves_no_file_behind(people: Path) -> None:
    with (people / "people.csv").open("a") as file:
        file.writelines(f"n{number},name{number},1950-01-01\n" for number in range(400_000))
    command = [sys.executable, "-m", "stream_lsh", "train", "people.csv", "--profile", "p.toml", "--output", "x.toml"]
    process = subprocess.Popen(command, cwd=people, stderr=subprocess.PIPE)  # noqa: S603
    deadline = time.monotonic() + PATIENCE
    while not list(people.glob(".x.toml.*")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(2)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"interrupted" in err
    assert not list(people.glob("*x.toml*")) + list(people.glob(".x.toml*"))


@pytest.mark.corpus
def test_the_matches_of_febrl_3_are_estimated_without_labels(
    data_dir: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = data_dir / "febrl"
    arguments = [
        "train",
        str(folder / "dataset3.csv"),
        "--profile",
        "people",
        "-q",
        "--output",
        str(tmp_path / "x.toml"),
    ]
    assert main(arguments) == 0
    learned = load_profile(tmp_path / "x.toml")
    assert learned.prior == pytest.approx(6538 / (5000 * 4999 / 2), rel=0.02)
    assert main([*arguments, "--labels", str(folder / "truth_febrl3.csv")]) == 0
    counted = load_profile(tmp_path / "x.toml")
    for one, other in zip(learned.comparisons[:10], counted.comparisons[:10], strict=True):
        assert one.m[0] == pytest.approx(other.m[0], abs=0.02)
    assert counted.names == bundled("people").names
    assert capfd.readouterr().err == ""
