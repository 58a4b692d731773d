"""`stream-lsh profile`: proposed from files with reasons, shown as it stands, checked as a whole."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stream_lsh.cli.main import main
from stream_lsh.kinds.record.profiles import BUNDLED, bundled, bundled_text, load_profile, parse_profile, profile_text
from stream_lsh.records.compare.catalog import comparator
from stream_lsh.records.infer import inferred
from stream_lsh.records.model import Record


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rows: int = 200) -> str:
    lines = [
        f"{n},{'Ann Bob Carl Dora'.split()[n % 4]} Sur{chr(97 + n % 26)},19{10 + n % 80}-0{1 + n % 9}-1{n % 10},"
        f"u{n}@x.org,{'mf'[n % 2]},,same,{n * 7919 % 100_000:05d},{1000 + n}"
        for n in range(rows)
    ]
    return "\n".join(["nr,Full Name,dob,mail,sex,empty,same,code,line", *lines]) + "\n"


def test_a_profile_is_proposed_with_the_reason_for_each_type(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("crm.csv").write_text(table())
    assert main(["profile", "infer", "crm.csv", "--id-column", "nr"]) == 0
    out, err = capfd.readouterr()
    profile = parse_profile(out, "crm.toml")
    assert (profile.name, profile.id_columns) == ("crm", ("nr",))
    found = {field.columns[0]: field.type for field in profile.fields}
    assert found == {"Full Name": "name", "dob": "date", "mail": "email", "sex": "category", "code": "identifier"}
    assert out.startswith("# Proposed from 200 records of crm.csv.\n")
    left_out = [
        "left out: empty (nearly no values)",
        "left out: same (one value only)",
        "left out: line (it numbers the records)",
    ]
    assert "".join(f"# {line}\n" for line in left_out) in out
    assert "# predicted for mail: 0 candidates\n" in out
    for name, why in [
        ("full_name", "its name, and few words without digits; 100% filled, 52 different values"),
        ("dob", "most values can be read as dates"),
        ("mail", "most values are words around an @; 100% filled, 200 different values"),
        ("sex", "a few values repeat often; 100% filled, 2 different values"),
        ("code", "most values are digits of one length"),
    ]:
        comment = out.split(f'\n[[field]]\nname = "{name}"\n')[0].splitlines()[-1]
        assert comment.startswith(f"# {why}")
    *choices, work, total = err.splitlines()
    assert choices == left_out
    assert work.startswith("blocking: at most ")
    assert total == "200 records, 5 fields"


def test_every_type_has_its_reason() -> None:
    columns = {
        "phone": ["0228 1234", "0228 1235"], "year": ["1990", "2001"], "plz": ["1234", "9999"], "len": ["1.5", "22"],
        "ref": ["AB-1234", "CD-9876"], "note": ["one thing", "another thing"], "street": ["Am Hof", "Markt"],
    }  # fmt: skip
    records = [Record(str(n), {name: values[n] for name, values in columns.items()}) for n in range(2)]
    found = inferred(records)
    assert {field.name: (field.type, found.why[field.name].partition(";")[0]) for field in found.profile.fields} == {
        "phone": ("phone", "its name, and most values have digits"),
        "year": ("number", "most values can be read as years"),
        "plz": ("postcode", "most values are four digits"),
        "len": ("number", "most values are numbers"),
        "ref": ("identifier", "most values are one word with digits"),
        "note": ("text", "no other type fits"),
        "street": ("address", "its name"),
    }


def test_a_small_source_is_seen_beside_a_large_one(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("large.csv").write_text("id,name\n" + "".join(f"{n},Name {n}\n" for n in range(6000)))
    Path("small.csv").write_text("id,mail\n" + "".join(f"{n},m{n}@x.org\n" for n in range(200)))
    assert main(["profile", "infer", "large.csv", "small.csv", "--name", "both", "--output", "both.toml"]) == 0
    profile = load_profile("both.toml")
    assert (profile.name, profile.names) == ("both", ("name", "mail"))
    lines = capfd.readouterr().err.splitlines()
    assert lines[0].startswith("not linked one to one: too few near-equal records of different sources")
    assert lines[1].startswith("blocking: at most 0 candidates, 0.0 a record; no records are near-equal")
    assert lines[2:] == ["6,200 records, 2 fields"]


@pytest.mark.parametrize("name", BUNDLED)
def test_a_profile_of_the_package_is_shown_with_its_comments(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "show", name]) == 0
    out, err = capfd.readouterr()
    assert out == bundled_text(name)
    assert out.startswith("# ")
    assert err == ""


def test_a_profile_is_proposed_from_the_last_record_of_each_id(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": at, "name": f"n{at * 7919 % 977}", "code": f"c{at}"} for at in range(60)]
    Path("last.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    first = [{**row, "code": "c"} for row in rows]
    gone = [{"id": f"gone {at}", "name": "n", "size": str(at)} for at in range(60)]
    changes = [*first, *gone, *rows, *({"id": row["id"], "deleted": True} for row in gone)]
    Path("all.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in changes))
    for name in ("last", "all"):
        assert main(["profile", "infer", f"{name}.jsonl", "--name", "x", "--output", f"{name}.toml"]) == 0
    assert load_profile("all.toml").fields == load_profile("last.toml").fields
    assert "60 records of all.jsonl" in Path("all.toml").read_text()


def test_a_profile_that_has_learned_is_shown_with_what_it_learned(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    profile = bundled("bibliography")
    sizes = [len(comparator(one.comparator, one.levels).levels) for one in profile.comparisons]
    comparisons = [
        replace(one, m=(0.5, *[0.5 / (size - 1)] * (size - 1)), u=(0.125, *[0.875 / (size - 1)] * (size - 1)))
        for one, size in zip(profile.comparisons, sizes, strict=True)
    ]
    path = tmp_path / "mine.toml"
    path.write_text("# mine\n" + profile_text(replace(profile, prior=0.01, comparisons=tuple(comparisons))))
    assert main(["profile", "show", str(path)]) == 0
    out, err = capfd.readouterr()
    assert out == path.read_text()
    assert err.splitlines()[1].split() == ["title", "(qgram-cosine)", "equal", "0.5000", "0.1250", "+2.00"]
    assert len(err.splitlines()) == 1 + sum(sizes)
    assert main(["profile", "check", str(path), "people"]) == 0
    first, second = capfd.readouterr().out.splitlines()
    assert first.startswith(f"{path}: bibliography: 6 fields, 6 comparisons, 2 rules, 1 block by LSH; it has weights")
    assert second.startswith("people: people: 17 fields, ")
    assert "it has no weights yet" in second


def test_all_mistakes_of_all_profiles_are_reported_with_their_lines(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("one.toml").write_text(bundled_text("products").replace('link = "link"', 'link = "lnk"') + "\nweight = 0\n")
    Path("two.toml").write_text("name = \n")
    assert main(["profile", "check", "one.toml", "people", "two.toml", "three"]) == 2
    out, err = capfd.readouterr()
    messages = err.removeprefix("stream-lsh: ").splitlines()
    line = bundled_text("products").splitlines().index('link = "link"') + 1
    assert messages[0].startswith(f"one.toml:{line}: link: got 'lnk', expected dedupe, link or both")
    assert messages[1].startswith("one.toml:")
    assert "weight: got" in messages[1]
    assert any(one.startswith("two.toml:1: not TOML") for one in messages)
    assert messages[-1].startswith(
        "profile: got 'three', expected people, companies, products, bibliography or the path"
    )
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["infer", "none.csv"], 2, "none.csv: there is no such file"),
        (["infer", "empty.csv"], 2, "empty.csv: got nothing, expected a header"),
        (["infer", "bare.csv"], 2, "bare.csv: got no column 'id' or 'rec_id' or 'record_id' or 'unique_id' for the id"),
        (["infer", "same.csv"], 1, "same.csv: got 2 records without two values to compare in any column"),
        (["infer", "head.csv"], 1, "head.csv: got 0 records that can be used, expected many"),
        (["infer", "same.csv", "--output", "same.csv"], 2, "same.csv: is an input, and would be replaced"),
        (["show", "people", "products"], 2, "got 2 profiles, expected one to show"),
        (["shaw", "people"], 2, "invalid choice: 'shaw'"),
        (["check"], 2, "required: FILE"),
    ],
)
def test_wrong_input_is_reported(
    folder: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    Path("empty.csv").touch()
    Path("head.csv").write_text("id,name\n")
    Path("bare.csv").write_text("name\nAnn\n")
    Path("same.csv").write_text("id,name\n1,Ann\n2,Ann\n")
    assert main(["profile", *arguments]) == code
    out, err = capfd.readouterr()
    assert message in err
    assert out == ""
