"""`stream-lsh train` with labels of both sorts, and the reliability of probabilities that it shows."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from stream_lsh.kinds.record.profiles import load_profile
from stream_lsh.measure.reliability import UNKNOWN, reliability
from tests.unit.cli.runs import Run, stream_lsh

PROFILE = """\
name = "people"
rules = ["surname", "born"]
[[field]]
name = "surname"
type = "name"
[[field]]
name = "born"
type = "date"
[[comparison]]
field = "surname"
comparator = "exact"
[[comparison]]
field = "born"
comparator = "exact"
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """300 people twice; a fifth of the second records have another name, a tenth one wrong day."""
    rng = random.Random(11)
    lines = ["id,surname,born"]
    for number in range(300):
        name = "".join(rng.choices("abcdefghijklmnop", k=6))
        born = f"19{rng.randint(10, 99)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        other = "".join(rng.choices("qrstuvwxyz", k=6)) if number % 5 == 0 else name
        lines += [f"{number}a,{name},{born}", f"{number}b,{other},{'1905-05-05' if number % 10 == 1 else born}"]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "p.toml").write_text(PROFILE)
    return tmp_path


def train(folder: Path, labels: str = "", *options: str) -> Run:
    (folder / "labels.csv").write_text(labels)
    named = ["--labels", "labels.csv"] if labels else []
    run = stream_lsh("train", "people.csv", "--profile", "p.toml", "--output", "x.toml", *named, *options, cwd=folder)
    assert run.code == 0, run.err
    return run


def wrong_days() -> str:
    """Labels: pairs of different people with the same wrong day do not match."""
    numbers = range(1, 300, 10)
    pairs = [(f"{one}b", f"{other}b") for one in numbers for other in numbers if one < other]
    return "".join(f"{left},{right},0\n" for left, right in pairs)


def test_non_matches_count_as_such(people: Path) -> None:
    train(people)
    alone = load_profile(people / "x.toml")
    everyone = "".join(f"{number}a,{number}b,yes\n" for number in range(300))
    train(people, f"left,right,match\n{everyone}{wrong_days()}")
    both = load_profile(people / "x.toml")
    assert both.prior == pytest.approx(300 / (600 * 599 / 2), rel=0.03)
    assert both.comparisons[0].m == pytest.approx((0.8, 0.2), abs=0.01)
    assert both.comparisons[1].u[0] == pytest.approx(435 / 179_400, rel=0.1)
    # Without labels the pairs of one wrong day count towards both.
    assert alone.prior is not None
    assert abs(alone.prior * 179_700 - 300) >= abs((both.prior or 0) * 179_700 - 300)


def test_a_few_labels_of_easy_matches_change_little(people: Path) -> None:
    train(people)
    alone = load_profile(people / "x.toml")
    easy = "".join(f"{number}a,{number}b\n" for number in range(300) if number % 5 and number % 10 != 1)
    train(people, f"left,right\n{easy}")
    labelled = load_profile(people / "x.toml")
    assert labelled.prior == pytest.approx(alone.prior, rel=0.25)
    for before, after in zip(alone.comparisons, labelled.comparisons, strict=True):
        assert after.m == pytest.approx(before.m, abs=0.06)  # 1 of the labels alone


@pytest.mark.parametrize("setting", ['link = "link"', "one_to_one = true"])
def test_labels_within_one_source_do_not_count_where_sources_are_linked(people: Path, setting: str) -> None:
    header, *rows = (people / "people.csv").read_text().splitlines()
    sourced = [f"{row},{row.partition(',')[0][-1]}" for row in rows]
    (people / "people.csv").write_text("\n".join([f"{header},source", *sourced]) + "\n")
    (people / "p.toml").write_text(f"{setting}\n{PROFILE}")
    labels = "left,right,match\n" + "".join(f"{number}a,{number}b,1\n" for number in range(0, 300, 3))
    assert "of one source" not in train(people, labels).err
    plain = load_profile(people / "x.toml")
    err = train(people, f"{labels}0a,1a,1\n2b,4b,0\n").err
    assert "warning: 2 of 102 pairs of labels.csv do not count: they are of one source" in err
    assert load_profile(people / "x.toml") == plain
    (people / "only.csv").write_text("left,right\n0a,1a\n")
    only = ("--labels", "only.csv", "--output", "y.toml")
    run = stream_lsh("train", "people.csv", "--profile", "p.toml", *only, cwd=people)
    assert run.code == 1
    assert "only.csv: got 1 pair, none of them with two known records of different sources" in run.err


def test_reliability_is_shown_without_labels_with_matches_and_with_both(people: Path) -> None:
    alone = train(people).err
    assert "probability       pairs  expected  labelled  matches" in alone
    assert "without labels the expected matches are estimates" in alone
    matches = "".join(f"{number}a,{number}b,1\n" for number in range(300))
    assert "label non-matches as well" in train(people, f"left,right,match\n{matches}").err
    both = train(people, f"left,right,match\n{matches}{wrong_days()}", "--json")
    rows = both.out[0]["reliability"]
    assert sum(row["matches"] for row in rows) == 300
    assert sum(row["labelled"] for row in rows) == 300 + 435
    shown = train(people, f"left,right,match\n{matches}{wrong_days()}").err
    upper = [row for row in rows if row["from"] >= 0.95]
    true, labelled = (sum(row[key] for row in upper) for key in ("matches", "labelled"))
    assert f"from 0.95 on, {true} of {labelled} labelled pairs match" in shown
    assert true >= 0.9 * labelled
    assert json.dumps(rows)


def test_bins_of_calibrated_probabilities_have_the_expected_share(seed: int) -> None:
    rng = np.random.default_rng(seed)
    probability = rng.random(50_000)
    labels = np.where(rng.random(50_000) < probability, 1, 0)
    labels[rng.random(50_000) < 0.5] = UNKNOWN
    bins = reliability(probability, labels)
    assert sum(one.pairs for one in bins) == 50_000
    assert sum(one.labelled for one in bins) == int((labels != UNKNOWN).sum())
    for one in bins:
        assert one.observed is not None
        assert one.observed == pytest.approx(one.mean, abs=4 * 0.5 / one.labelled**0.5)
        assert one.low <= one.mean <= one.high
    assert reliability(np.empty(0), np.empty(0, np.int64))[0].observed is None
