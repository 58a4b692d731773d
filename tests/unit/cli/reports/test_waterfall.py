"""Why two records match: lines, JSON and a picture; and the command that shows them."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from stream_lsh.cli.output.terminal import Screen, columns
from stream_lsh.cli.reports.waterfall import Pair, as_json, as_text, bar
from stream_lsh.cli.reports.waterfall_svg import WIDTH, as_svg
from stream_lsh.records.explained import explain_pair
from stream_lsh.records.model import SEVERAL, Values
from stream_lsh.records.profile import Comparison, Field, Profile
from stream_lsh.records.score import Scorer
from tests.unit.cli.runs import ran

PROFILE = Profile(
    name="people",
    fields=tuple(Field(name=name) for name in ("surname", "born", "city", "phone")),
    comparisons=(
        Comparison(
            field="surname", comparator="jaro-winkler", levels=(0.85,), term_frequency=True,
            m=(0.8, 0.15, 0.05), u=(0.01, 0.04, 0.95),
        ),
        Comparison(field="born", comparator="exact", m=(0.9, 0.1), u=(0.001, 0.999)),
        Comparison(field="city", comparator="exact", m=(0.9, 0.1), u=(0.3, 0.7)),
        Comparison(field="phone", comparator="exact", m=(0.9, 0.1), u=(0.3, 0.7)),
    ),
    rules=("surname", "born + city"),
    prior=0.01,
    match=0.9,
    review=0.2,
)  # fmt: skip
SMITH: Values = ("smith", "1978-11-12", "leeds", "")
OTHER: Values = ("smith", "1980-01-01", "", "")
FAR: Values = ("nguyen", "1980-01-01", "york", "")
UNLEARNED = replace(PROFILE, prior=None)
SVG = "{http://www.w3.org/2000/svg}"


def pair(one: Values, other: Values, profile: Profile = PROFILE, ids: tuple[str, str] = ("a", "b")) -> Pair:
    return Pair(ids, explain_pair((one, other), profile, Scorer(profile)))


def lines(found: Pair, *, full: bool = False) -> list[str]:
    return [line.rstrip() for line in as_text(found, Screen(), full=full)]


# -- lines


def test_lines_show_the_weight_of_each_field() -> None:
    # log2 of 1/99, 80, 0.1 / 0.999; the last bars are 5.3, 7.6 and 4.0 of 8 columns
    assert lines(pair(SMITH, OTHER)) == [
        "a and b: no match, -3.63 bits, a probability of 0.0748.",
        "They share 1 of 2 blocks: surname.",
        "",
        "prior    -6.63  ████████│",
        "surname  +6.32          │███████▌  equal     smith       smith",
        "born     -3.32      ████│          else      1978-11-12  1980-01-01",
        "city                    │          no value  leeds       -",
        "total    -3.63",
        "",
        "Match from 0.9 (+3.17 bits), review from 0.2 (-2.00 bits).",
        "No value in either record: phone.",
    ]


def test_lines_state_that_two_records_share_no_block() -> None:
    assert lines(pair(SMITH, FAR))[1] == ("They share none of 2 blocks: they are never compared.")
    link = replace(PROFILE, link="link")
    evidence = explain_pair((SMITH, SMITH), link, Scorer(link), sources=("x", "x"))
    assert "they are of one source" in lines(Pair(("a", "b"), evidence))[1].lower()


def test_lines_show_the_weight_of_a_rare_and_of_a_frequent_value() -> None:
    scorer = Scorer(PROFILE)
    scorer.count([("smith", "", "", "")] * 502 + [("garski", "", "", "")] * 2 + [("jones", "", "", "")] * 1496)
    shown = [
        next(line for line in as_text(Pair(("a", "b"), explain_pair((one, one), PROFILE, scorer)), Screen(), full=False)
             if line.startswith("surname"))
        for one in (("smith", "", "", ""), ("garski", "", "", ""))
    ]  # fmt: skip
    common, rare = (log2(0.01 * 3000 / others) for others in (510, 10))
    assert f"equal, frequent {common:+.1f}" in shown[0]
    assert f"equal, rare {rare:+.1f}" in shown[1]
    assert f"{log2(80) + common:+.2f}" in shown[0]


def test_lines_of_a_mean_show_how_much_a_field_could_add() -> None:
    found = lines(pair(SMITH, OTHER, UNLEARNED))
    assert found[0] == "a and b: review, a weighted mean of 0.500, as the profile has no weights."
    assert any(line.startswith("born     0.000 of 0.500") for line in found)
    assert not any(line.startswith("prior") for line in found)
    assert "Match from 0.9, review from 0.2." in found


def test_the_full_form_shows_every_level_and_value() -> None:
    found = Pair(
        ("a", "b"),
        explain_pair(
            (SMITH, SMITH), PROFILE, Scorer(PROFILE),
            raw_values=(
                {"name": " Smith", "born": "12 Nov 1978", "town": "leeds"},
                {"name": "smith", "born": "1978-11-12", "town": "leeds"},
            ),
        ),
    )  # fmt: skip
    shown = lines(found, full=True)
    at = next(number for number, line in enumerate(shown) if line.startswith("born"))
    assert shown[at + 1].split() == ["as", "given", "12", "Nov", "1978"]
    assert shown[-2:] == ["shared    surname", "shared    born + city"]
    assert not any("as given" in line for line in lines(found))
    long = "x" * 300
    assert long in "\n".join(lines(pair((long, *SMITH[1:]), OTHER), full=True))


@pytest.mark.parametrize("value", ["x" * 300, "北京市朝阳区" * 30, "Дмитриевская" * 20, "e\u0301" * 200])
def test_lines_keep_their_width(value: str) -> None:
    found = list(as_text(pair((value, "1", "2", "3"), (value[::-1] + "z", "1", "2", value)), Screen(), full=False))
    assert max(map(columns, found)) <= 100
    starts = {line.index("│") for line in found if "│" in line}
    assert len(starts) == 1


def test_values_do_not_move_the_cursor() -> None:
    found = "\n".join(
        as_text(pair(("a\x1b[2Jb\n", "", "", ""), ("\u202ec", "", "", ""), ids=("\x1b", "b")), Screen(), full=True)
    )
    assert "\x1b" not in found
    assert "\u202e" not in found
    assert "a\\x1b[2Jb\\x0a" in found


@pytest.mark.parametrize(("adds", "drawn"), [(8, "│████████"), (-8, "████████│"), (0.4, "│▌"), (-0.6, "▐│"), (0, "│")])
def test_bars_grow_from_the_centre(adds: float, drawn: str) -> None:
    assert bar(adds, 8).strip() == drawn
    assert len(bar(adds, 8)) == 17
    assert bar(adds, 8)[8] == "│"


# -- JSON


def test_json_has_everything() -> None:
    found = json.loads(as_json(pair((f"ann{SEVERAL}jones", *SMITH[1:]), OTHER)))
    assert (found["records"], found["verdict"], found["compared"], found["learned"]) == (
        ["a", "b"],
        "no match",
        False,
        True,
    )
    assert found["total"] == pytest.approx(found["prior"] + sum(step["adds"] for step in found["steps"]))
    assert found["steps"][0]["values"] == [["ann", "jones"], ["smith"]]
    assert (found["steps"][2]["level"], found["steps"][2]["values"]) == (None, [["leeds"], []])
    assert found["blocks"] == [
        {"name": "surname", "shared": 0, "keys": [2, 1]},
        {"name": "born + city", "shared": 0, "keys": [1, 0]},
    ]
    same = json.loads(as_json(pair(SMITH, SMITH)))
    assert same["steps"][0]["frequency"] == {"adds": 0.0, "records": 0, "of": 0}
    assert as_json(pair(SMITH, SMITH, ids=("\ud800", "ü"))).isascii()


# -- the picture


def drawn(found: Pair) -> ElementTree.Element:
    return ElementTree.fromstring(as_svg(found))  # noqa: S314 - our own


def bars(svg: ElementTree.Element) -> list[tuple[float, float]]:
    """The left and right ends of all bars, from top to bottom."""
    found = [rect for rect in svg.iter(f"{SVG}rect") if "bar" in rect.attrib["class"]]
    return [(float(one.attrib["x"]), float(one.attrib["x"]) + float(one.attrib["width"])) for one in found]


def texts(svg: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in svg.iter(f"{SVG}text")]


@pytest.mark.parametrize(("one", "other"), [(SMITH, OTHER), (SMITH, SMITH), (SMITH, FAR)], ids=["mixed", "up", "down"])
def test_each_bar_begins_where_the_one_before_it_ends(one: Values, other: Values) -> None:
    found = pair(one, other)
    steps = [step for step in found.evidence.steps if not step.missing]
    prior, *middle, total = bars(drawn(found))
    assert len(middle) == len(steps)
    zero = prior[1]  # a prior below 0 ends there
    a_bit = (prior[1] - prior[0]) / -found.evidence.prior
    at = prior[0]
    for (left, right), step in zip(middle, steps, strict=True):
        assert (left if step.adds > 0 else right) == pytest.approx(at, abs=0.05)
        assert right - left == pytest.approx(abs(step.adds) * a_bit, abs=0.05)
        at = right if step.adds > 0 else left
    end = total[1] if found.evidence.total > 0 else total[0]
    assert end == pytest.approx(at, abs=0.05)
    assert end - zero == pytest.approx(found.evidence.total * a_bit, abs=0.1)


def test_thresholds_stand_where_they_are() -> None:
    found = pair(SMITH, OTHER)
    svg = drawn(found)
    prior = bars(svg)[0]
    a_bit = (prior[1] - prior[0]) / -found.evidence.prior
    places = [float(line.attrib["x1"]) for line in svg.iter(f"{SVG}line") if line.attrib["class"] == "threshold"]
    assert places == pytest.approx([prior[1] + a_bit * log2(0.2 / 0.8), prior[1] + a_bit * log2(0.9 / 0.1)], abs=0.1)
    assert {"review", "match"} <= set(texts(svg))
    endless = Pair(found.ids, replace(found.evidence, match=1.0, review=0.0))
    assert not [line for line in drawn(endless).iter(f"{SVG}line") if line.attrib["class"] == "threshold"]


def test_a_mean_is_drawn_from_0_to_1() -> None:
    found = pair(SMITH, ("smith", "1978-11-12", "york", "1"), UNLEARNED)
    *middle, total = bars(drawn(found))
    # Two of three fields are equal: 2 / 3 of the length of a scale from 0 to 1.
    assert [right - left for left, right in middle[:2]] == pytest.approx([(total[1] - total[0]) / 2] * 2, abs=0.1)
    assert "of 0.333" in texts(drawn(found))


HARD = [
    "<b>&\"'</b>]]><!--",
    "\x00\x1b\ufffe\uffff\u202e",
    "x" * 5000,
    "北京市" * 900,
    "e\u0301" * 900,
    "\u0301" * 900,
]


@pytest.mark.parametrize("value", HARD, ids=["marks", "controls", "long", "wide", "accents", "only accents"])
def test_any_value_makes_a_picture_that_can_be_read(value: str) -> None:
    found = pair((value, value, "leeds", "1"), ("smith", f"{value}x", "leeds", "2"), ids=(value, f"\ud800{value}"))
    text = as_svg(found)
    svg = ElementTree.fromstring(text.encode())  # noqa: S314 - our own
    assert len(text) < 40_000
    assert [element.tag for element in svg.iter() if element.tag.endswith(("script", "b"))] == []
    for element in svg.iter(f"{SVG}text"):
        if element.attrib["class"].startswith("value"):
            assert columns("".join(element.itertext())) <= 26
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ufffe\uffff]", text)


def test_a_picture_stands_alone_and_has_both_appearances() -> None:
    text = as_svg(pair(SMITH, OTHER))
    assert "prefers-color-scheme: dark" in text
    assert re.findall(r"(?:href|src|url)\b", text) == []
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert drawn(pair(SMITH, OTHER)).find(f"{SVG}title") is not None


def test_everything_stays_within_the_picture() -> None:
    many = 40
    fields = tuple(f"a_field_with_a_name_that_is_too_long_{number}" for number in range(many))
    profile = Profile(
        name="many",
        fields=tuple(Field(name=name) for name in fields),
        comparisons=tuple(Comparison(field=name, comparator="exact", m=(0.9, 0.1), u=(0.1, 0.9)) for name in fields),
        rules=fields,
        prior=0.001,
    )
    one, other = ("1",) * many, ("1", "2") * (many // 2)
    svg = drawn(pair(one, other, profile))
    height = float(svg.attrib["height"])
    assert len(bars(svg)) == many + 2
    for left, right in bars(svg):
        assert 0 < left < right < WIDTH
    ends = [float(text.attrib["y"]) for text in svg.iter(f"{SVG}text")]
    assert 0 < min(ends) < max(ends) < height
    assert max(map(columns, texts(svg))) <= 140


# -- the command


TOML = """\
name = "people"
prior = 0.01
rules = ["surname", "born + city"]
[[field]]
name = "surname"
type = "name"
[[field]]
name = "born"
type = "date"
[[field]]
name = "city"
[[comparison]]
field = "surname"
comparator = "jaro-winkler"
levels = [0.85]
term_frequency = true
m = [0.8, 0.15, 0.05]
u = [0.01, 0.04, 0.95]
[[comparison]]
field = "born"
comparator = "date"
m = [0.8, 0.1, 0.02, 0.02, 0.02, 0.02, 0.02]
u = [0.001, 0.001, 0.001, 0.001, 0.01, 0.2, 0.786]
"""
PEOPLE = "id, Surname, Born, city\n1, Smith, 12.11.1978, Leeds\n2, SMITH, 1978-11-12,\n3, Nguyen, 1980-01-01, York\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "people.toml").write_text(TOML)
    rows = [
        {"id": "1", "surname": ["Smith", "Jones"]},
        {"id": 2, "surname": "Jones", "source": "b"},
        {"id": "x", "born": {"year": "1980"}, "deleted": True},
    ]
    (tmp_path / "people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


class Done(NamedTuple):
    """The output of a run of `explain`."""

    stdout: str
    stderr: str


def run(folder: Path, *arguments: str, code: int = 0) -> Done:
    done = ran("explain", *arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    return Done(done.stdout.decode(), done.stderr.decode())


def problems_of(folder: Path, arguments: Sequence[str]) -> Iterator[str]:
    done = run(folder, *arguments, code=2)
    assert done.stdout == ""
    yield from done.stderr.splitlines()


def test_two_records_of_a_file_are_explained(folder: Path) -> None:
    done = run(folder, "1", "2", "people.csv", "--profile", "people.toml", "--picture", "why.svg")
    assert done.stderr == ""
    assert done.stdout.splitlines()[0].startswith("1 and 2: match, ")
    assert "They share 1 of 2 blocks: surname." in done.stdout
    svg = ElementTree.fromstring((folder / "why.svg").read_text())  # noqa: S314 - our own
    assert "1 and 2" in texts(svg)
    found = json.loads(run(folder, "1", "3", "people.csv", "--profile", "people.toml", "--json").stdout)
    assert (found["verdict"], found["compared"]) == ("no match", False)
    assert found["steps"][1]["given"] == ["12.11.1978", "1980-01-01"]


def test_frequencies_are_those_of_the_file(folder: Path) -> None:
    found = json.loads(run(folder, "1", "2", "people.csv", "--profile", "people.toml", "--json").stdout)
    frequency = found["steps"][0]["frequency"]
    # No other record of the three has the name: of a thousand and three, 10 would be expected to.
    assert (frequency["records"], frequency["of"]) == (2, 3)
    assert frequency["adds"] == pytest.approx(log2(0.01 * 1003 / 10))


def test_json_lines_are_read_and_unusable_ones_rejected(folder: Path) -> None:
    with (folder / "people.jsonl").open("a") as file:
        file.write('{"surname": "Jones"}\n[7]\n')
    done = run(folder, "1", "b/2", "people.jsonl", "--profile", "people.toml", "--json")
    assert json.loads(done.stdout)["steps"][0]["level"] == "equal"
    first, second = done.stderr.splitlines()
    assert first.startswith("people.jsonl:4: rejected (id): got no `id`")
    assert second.startswith("people.jsonl:5: rejected (json): got [7]")
    assert "which no record has" in run(folder, "1", "x", "people.jsonl", "--profile", "people.toml", code=2).stderr


def test_each_of_several_files_is_a_source_and_part_of_the_ids(folder: Path) -> None:
    (folder / "shop.csv").write_bytes("id,surname\n1,Sm\xefth\n".encode("latin-1"))
    asked = ["people.csv", "shop.csv", "--profile", "people.toml", "--encoding", "latin-1"]
    assert run(folder, "people/1", "shop/1", *asked).stdout.startswith("people/1 and shop/1: ")
    assert "did you mean 'shop/1'" in run(folder, "people/1", "shp/1", *asked, code=2).stderr
    without = "got the id '1', which no record has; the id of a record with a source is SOURCE/ID\n"
    assert without in run(folder, "1", "2", *asked, code=2).stderr


def test_invalid_arguments_are_rejected(folder: Path) -> None:
    asked = ["people.csv", "--profile", "people.toml"]
    for arguments, problem in (
        (["1", "7", *asked], "got the id '7', which no record has"),
        (["1", "1", *asked], "got the id '1' twice"),
        (["1", "2", *asked, "--threshold", "0.5"], "--threshold: applies to documents only"),
        (["1", "2", *asked, "--id-column", "key"], "got no column 'key' for the id"),
        (["1", "2", *asked, "--picture", "nowhere/x.svg"], "nowhere/x.svg: cannot be written"),
        (["1", "2", *asked, "--picture", "-"], "--picture: got -, expected a file with the ending svg"),
        (["1", "2", *asked, "--picture", "x.png"], "--picture: got x.png, expected a file with the ending svg"),
        (["1", "2", *asked, "-o", "people.csv"], "people.csv: is an input, and would be replaced"),
        (["1", "2", *asked, "-o", "people.toml"], "people.toml: is an input, and would be replaced"),
        (["1", "2", ".", "--profile", "people.toml"], ".: is a folder, expected a file"),
        (["1", "2", "people.csv", "--profile", "peple"], "did you mean 'people'?"),
        (["1", "2", "people.csv", "--profile", "none.toml"], "none.toml: got No such file"),
        (["1", "2", "people.csv", "--picture", "x.svg"], "--picture: applies to records only"),
        (["1", "2", "people.csv", "--encoding", "latin-1"], "--encoding: applies to records only"),
        (["1", "2", "--config", "x.toml", "--profile", "people"], "--profile: applies to files only"),
    ):
        assert problem in "\n".join(problems_of(folder, arguments))
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "people.jsonl", "people.toml"]


def test_a_profile_without_weights_learns_the_scores_of_link_in_any_order_of_rows(folder: Path) -> None:
    (folder / "new.toml").write_text(re.sub(r"^(m|u|prior) = .*\n", "", TOML, flags=re.MULTILINE))
    chance = random.Random(1)
    born = [f"19{chance.randint(70, 99)}-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}" for _ in range(600)]
    people = [f"{chance.choice(('smith', 'jones', 'brown'))},{one},York" for one in born]
    rows = [f"{number:03d},{one}\n" for number, one in enumerate(people + people[:200])]
    scores = []
    for ordered in (rows, sorted(rows, key=lambda row: row[1:])):
        (folder / "many.csv").write_text("id,surname,born,city\n" + "".join(ordered))
        found = run(folder, "000", "600", "many.csv", "--profile", "new.toml", "--json").stdout
        linked = ran("link", "many.csv", "--profile", "new.toml", "--matches", "-", cwd=folder)
        pairs = {
            frozenset((one["left"], one["right"])): one["score"] for one in map(json.loads, linked.stdout.splitlines())
        }
        scores += [round(json.loads(found)["total"], 3), pairs[frozenset(("000", "600"))]]
    assert len(set(scores)) == 1


@pytest.mark.corpus
def test_a_profile_that_has_learned_nothing_learns_from_the_file(data_dir: Path, tmp_path: Path) -> None:
    asked = (str(data_dir / "febrl" / "dataset3.csv"), "--profile", "people")
    done = run(tmp_path, "rec-1312-dup-0", "rec-1312-org", *asked)
    first, *doubts = done.stderr.splitlines()
    assert first == "profile 'people' has no weights; estimated them, without labels, from these 5,000 records"
    assert [doubt.split(": ")[:2] for doubt in doubts] == [
        ["warning", "142 pairs agree in all their known fields, but chance explains 76"],
        ["warning", "passport, drivers_license, email, phone, gender, occupation"],
    ]
    # Given name and surname have changed places, the address is missing from one; date of birth and number are equal.
    assert "rec-1312-dup-0 and rec-1312-org: match" in done.stdout
    assert "They share 6 of 22 blocks: national_id, " in done.stdout
    other = run(tmp_path, "rec-1496-org", "rec-552-dup-3", *asked).stdout
    assert "rec-1496-org and rec-552-dup-3: no match" in other
    missed = json.loads(run(tmp_path, "rec-102-dup-2", "rec-102-dup-3", *asked, "--json").stdout)
    assert (missed["verdict"], missed["compared"]) == ("match", False)


def test_a_mean_is_shown_if_no_weights_can_be_learned(folder: Path) -> None:
    (folder / "two.csv").write_text("id,source,surname\n1,a,Smith\n2,a,Smith\n")
    text = TOML.replace('name = "people"\nprior = 0.01', 'name = "people"\nlink = "link"')
    (folder / "new.toml").write_text(re.sub(r"^[mu] = .*\n", "", text, flags=re.MULTILINE))
    done = run(folder, "a/1", "a/2", "two.csv", "--profile", "new.toml")
    assert "cannot be estimated: got 2 records of which no two may be compared" in done.stderr
    assert "a weighted mean of 1.000" in done.stdout
    assert "They are of one source" in done.stdout
