"""`stream-lsh tune`: its choice, its report, and the options that it rejects."""

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.cli.input.sampling import Sample
from stream_lsh.cli.reports.scurve import HEIGHT, drawn
from stream_lsh.config import parse
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.lsh.solver import banding_of, choose_banding
from stream_lsh.model import Document
from tests.patience import PATIENCE
from tests.unit.cli.runs import LINES, Run, dedup, lines_of, ran, stream_lsh


def tune_json(*arguments: str | Path, stdin: bytes = b"") -> dict[str, Any]:
    run = stream_lsh("tune", "--json", *arguments, stdin=stdin)
    assert (run.code, run.err) == (0, "")
    (one,) = run.out
    return dict(one)


def tune_text(*arguments: str | Path) -> str:
    done = ran("tune", *arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    return bytes(done.stdout).decode()


def collection(documents: int = 300) -> bytes:
    """Themes of 40 words out of 60; every tenth document is a copy of the one before it with a word changed."""
    rng, lines = random.Random(3), list[dict[str, str]]()
    for number in range(documents):
        theme = number % 6
        words = rng.sample([f"w{theme}x{n}" for n in range(60)], 40)
        if number % 10 == 9:
            words = [*lines[-1]["text"].split()[:-1], "changed"]
        lines.append({"id": str(number), "text": " ".join(words)})
    return lines_of(lines)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(collection())
    return path


WORDS = ("--shingles", "word:1")


# -- by the theory


def test_without_files_the_theory_chooses_what_the_solver_does() -> None:
    for threshold in (0.5, 0.8, 0.9):
        report, chosen = tune_json("--threshold", str(threshold)), choose_banding(threshold)
        assert (report["chosen"]["bands"], report["chosen"]["rows"]) == (chosen.bands, chosen.rows)
        assert report["chosen"]["recall"] == chosen.probability_at_threshold
        assert (report["corpus"], report["chosen"]["true_candidates"], report["chosen"]["mean_recall"]) == (
            None,
            None,
            None,
        )


def test_the_text_explains_the_choice() -> None:
    text = tune_text()
    for part in (
        "16 bands of 6 rows: 96 of 128 slots; a pair of similarity 0.8 is found with probability 0.9923",
        "Reason: it has the fewest false candidates of all bandings with a recall of 0.99.",
        "Another row would need 140 slots.",
        ">     16     6     96  0.9923     0.59  0.0002  0.219",
        "-     14     9    126  0.8670",
        "Memory: about 852 bytes per document besides its text, 0.85 GB per million: 512 of signature",
        "`stream-lsh tune FILE...` estimates the candidates of your documents.",
        "  bands = 16\n  rows = 6\n",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 100


def test_alternatives_come_by_rows_and_show_whether_they_reach_the_recall() -> None:
    report = tune_json("--recall", "0.95", "--slots", "64")
    rows = [one["rows"] for one in report["alternatives"]]
    assert rows == sorted(set(rows))
    assert report["chosen"] in report["alternatives"]
    for one in report["alternatives"]:
        assert one["feasible"] == (one["recall"] >= 0.949)
        assert one["slots_used"] == one["bands"] * one["rows"] <= 64
    assert {one["feasible"] for one in report["alternatives"]} == {True, False}


def test_of_containment_the_bands_see_the_least_jaccard_similarity() -> None:
    report = tune_json("--measure", "containment", "--size-ratio", "1.5")
    assert (report["measure"], report["size_ratio"], round(report["jaccard"], 3)) == ("containment", 1.5, 0.471)
    assert (report["chosen"]["bands"], report["chosen"]["rows"]) == (42, 3)
    assert "a containment of 0.8 is a Jaccard similarity of 0.3636 or more" in " ".join(
        tune_text("--measure", "containment").split()
    )


def test_weights_choose_by_the_areas_and_promise_nothing() -> None:
    report = tune_json("--weights", "1:1")
    assert (report["chosen"]["bands"], report["chosen"]["rows"], report["weights"]) == (9, 13, [1, 1])
    text = tune_text("--weights", "1:1")
    assert "No recall is guaranteed." in text
    assert re.search(r"^> +9 +13 ", text, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments",
    [(), ("--threshold", "0.7"), ("--weights", "3:1"), ("--measure", "containment"), ("--slots", "300", *WORDS)],
)
def test_the_printed_keys_configure_a_pipeline_with_these_bands(arguments: tuple[str, ...]) -> None:
    lines = tune_text(*arguments).partition("For a pipeline:\n")[2]
    chosen = tune_json(*arguments)["chosen"]
    (pipeline,) = parse(f'[[pipeline]]\nsource = "documents"\n{lines}', "c.toml", {}).pipelines
    banding = as_kind(pipeline.kind, TextKind).scheme().banding
    assert banding is not None
    assert (banding.bands, banding.rows) == (chosen["bands"], chosen["rows"])


# -- by documents


def test_candidates_are_those_that_dedup_counts(file: Path) -> None:
    report = tune_json(file, *WORDS)
    counted = re.search(r"300 documents, ([\d,]+) candidates", dedup(file, *WORDS, "--max-candidates", "0").err)
    assert counted is not None
    candidates = int(counted[1].replace(",", ""))
    assert candidates > 200
    assert report["corpus"]["candidates_per_document_of_seed_1"] == pytest.approx(candidates / 300)
    expected = report["chosen"]["false_candidates"] + report["chosen"]["true_candidates"]
    assert expected == pytest.approx(candidates / 300, rel=0.4)  # one choice of hash functions of many
    assert report["corpus"]["matches_per_document"] == pytest.approx(0.1, abs=0.03)
    assert report["chosen"]["mean_recall"] > 0.99


def test_more_documents_have_more_candidates_each(file: Path) -> None:
    few, many = tune_json(file, *WORDS), tune_json(file, *WORDS, "--documents", "59801")
    for key in ("false_candidates", "true_candidates"):
        assert many["chosen"][key] == pytest.approx(200 * few["chosen"][key])
    assert (many["corpus"]["documents"], many["corpus"]["sampled"]) == (59_801, 300)
    text = " ".join(tune_text(file, *WORDS, "--documents", "59801").split())
    assert "59,801 documents, of which 300 were examined (a sample)" in text
    assert "- a threshold higher by 0.1 leaves" in text
    assert "- a recall of 0.95 leaves" in text


def test_few_candidates_need_no_change(file: Path) -> None:
    text = tune_text(file, *WORDS)
    assert "300 documents, of which 300 were examined (all)" in text
    assert "other settings would save little" in text


def test_a_sample_estimates_the_number_of_documents(file: Path) -> None:
    report = tune_json(file, *WORDS, "--sample", "100")
    assert report["corpus"]["sampled"] == 100
    assert report["corpus"]["documents"] == pytest.approx(300, rel=0.4)  # four times the error of 1 / sqrt(100)


def test_inputs_are_those_of_dedup(file: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for number, line in enumerate(file.read_bytes().splitlines()[:40]):
        (tmp_path / "folder" / f"{number}.txt").write_text(json.loads(line)["text"])
    assert tune_json(tmp_path / "folder")["corpus"]["sampled"] == 40
    assert tune_json("-", stdin=LINES)["corpus"]["sampled"] == 3


def test_rejected_documents_are_reported_and_the_others_count(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(b"no json\n" + LINES)
    run = stream_lsh("tune", tmp_path / "d.jsonl", "--json")
    assert (run.code, run.out[0]["corpus"]["sampled"]) == (0, 3)
    assert "d.jsonl:1: rejected (json)" in run.err
    assert "1 rejected: json 1; --rejects lists them\n" in run.err


# -- the sample


def test_a_sample_does_not_depend_on_order_and_repetition(seed: int) -> None:
    rng = random.Random(seed)
    documents = [Document(str(n), f"text {n}") for n in range(500)]
    one, other = Sample(50), Sample(50)
    one.take(documents)
    for _ in range(3):
        rng.shuffle(documents)
        other.take(documents)
    assert sorted(one.texts) == sorted(other.texts)
    assert (len(one.texts), one.whole) == (50, False)
    assert one.documents == pytest.approx(500, rel=0.6)  # four times 1 / sqrt(50)


def test_deleted_and_replaced_documents_are_not_in_the_sample() -> None:
    sample = Sample(10)
    sample.take([Document("a", "old"), Document("b", "gone"), Document("a", "new"), Document("b", None)])
    sample.take([Document("\udcff", "a name that is not UTF-8")])
    assert sorted(sample.texts) == ["a name that is not UTF-8", "new"]
    assert (sample.documents, sample.whole) == (2, True)


def test_documents_come_into_a_sample_with_equal_chance(seed: int) -> None:
    sample = Sample(1000)
    sample.take(Document(f"{seed} {n}", "even" if n % 2 == 0 else "odd") for n in range(8000))
    assert sample.texts.count("even") == pytest.approx(500, abs=4.5 * (1000 / 4) ** 0.5)


# -- the curve on a terminal


@pytest.mark.parametrize("width", [0, 36, 80, 500])
@pytest.mark.parametrize("braille", [True, False])
def test_the_curve_fits_and_rises(width: int, braille: bool) -> None:
    lines = list(drawn(choose_banding(0.8), width, braille=braille))
    assert len(lines) == HEIGHT + 2
    assert max(map(len, lines)) <= min(max(width, 36), 78)
    assert all(line.isascii() for line in lines) != braille
    starts = [re.search("[*\u2800-\u28ff]", line[6:]) for line in lines[:HEIGHT]]
    places = [found.start() for found in starts if found is not None]
    assert len(places) == HEIGHT
    assert places == sorted(places, reverse=True)
    assert lines[0].startswith(" 1.0")


def test_a_steep_curve_has_no_gap_and_the_threshold_stands_where_it_is() -> None:
    lines = list(drawn(banding_of(0.5, 1 << 60, 60), 56, braille=False))
    assert all("*" in line for line in lines[:HEIGHT])
    lines = list(drawn(choose_banding(0.5), 56, braille=False))
    assert {line.index(":") - 6 for line in lines[1:HEIGHT]} == {25}


@pytest.mark.parametrize(
    ("env", "encoding", "braille"),
    [
        ({"PYTHONIOENCODING": "utf-8", "TERM": "xterm"}, "utf-8", True),
        ({"PYTHONIOENCODING": "utf-8", "TERM": "linux"}, "utf-8", False),
        ({"PYTHONIOENCODING": "latin-1", "TERM": "xterm"}, "ascii", False),
    ],
)
def test_plain_characters_stand_where_there_are_no_others(env: dict[str, str], encoding: str, braille: bool) -> None:
    command = [sys.executable, "-m", "stream_lsh", "tune"]
    done = subprocess.run(command, capture_output=True, check=True, env=os.environ | env)  # noqa: S603
    assert ("⣀" in done.stdout.decode(encoding)) == braille


# -- pictures


def test_a_picture_is_drawn_beside_the_text(file: Path, tmp_path: Path) -> None:
    assert tune_json("--picture", tmp_path / "a.png")["chosen"]["bands"] == 16
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "all pairs" not in (tmp_path / "a.png").read_bytes().decode("latin-1")
    tune_json(file, *WORDS, "--picture", tmp_path / "b.svg")
    svg = (tmp_path / "b.svg").read_text()
    assert svg.endswith("</svg>\n")
    assert "all pairs: 44,850" in svg
    assert sorted(os.listdir(tmp_path)) == ["a.png", "b.svg", "docs.jsonl"]


def test_without_matplotlib_the_extra_is_named_before_anything_is_read(tmp_path: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from stream_lsh.cli.main import main; sys.exit(main())"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code, "tune", "--picture", tmp_path / "a.svg"], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b'stream-lsh: drawing needs matplotlib: pip install "stream_lsh[plots]"\n'
    assert os.listdir(tmp_path) == []


# -- rejected options


EMPTY = "got {} with shingles, expected two or more: there are no pairs to learn from"


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"", EMPTY.format("0 documents")), (b'{"id": "a", "text": "one"}\n', EMPTY.format("1 document")),
     (b'{"id": "a", "text": ""}\n{"id": "b", "text": "  "}\n', EMPTY.format("0 documents"))],
)  # fmt: skip
def test_documents_without_pairs_teach_nothing(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "d.jsonl").write_bytes(content)
    run = stream_lsh("tune", tmp_path / "d.jsonl")
    assert (run.code, run.out) == (2, [])
    assert problem in run.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nothing.jsonl"], "nothing.jsonl: there is no such file or folder"),
        (["--threshold", "1.5"], "expected a number above 0 and up to 1"),
        (["--threshold", "0.02"], "no banding of 128 slots finds a pair of similarity 0.02"),
        (["--slots", "0"], "expected a whole number from 1 on"),
        (["--slots", "2"], "raise slots to 3"),
        (["--size-ratio", "3"], "--size-ratio: got 3, expected none"),
        (["--shingles", "wrd:3"], "did you mean"),
        (["--weights", "3"], "got '3', expected two numbers of 0 or more with a colon"),
        (["--weights", "0:0"], "expected two numbers"),
        (["--weights=-1:3"], "expected two numbers"),
        (["--documents", "9"], "--documents: needs files"),
        (["--picture", "-"], "--picture: got -, expected a file"),
        (["--picture", "curve.pdf"], "curve.pdf: got the ending 'pdf', expected png or svg"),
        (["--picture", "no/folder/a.svg"], "no/folder/a.svg: cannot be written"),
        (["--sampel", "9"], "did you mean `--sample`"),
        (["--max-candidates", "9"], "--max-candidates"),
    ],
)
def test_wrong_use_is_refused_with_what_would_be_right(tmp_path: Path, arguments: list[str], problem: str) -> None:
    refused(stream_lsh("tune", *arguments, cwd=tmp_path), problem)
    assert os.listdir(tmp_path) == []


def refused(run: Run, problem: str) -> None:
    assert (run.code, run.out) == (2, [])
    assert problem in run.err


def test_a_picture_does_not_replace_an_input(file: Path, tmp_path: Path) -> None:
    before, link = file.read_bytes(), tmp_path / "curve.svg"
    link.symlink_to(file)
    refused(stream_lsh("tune", file, "--picture", link), "is an input, and would be replaced")
    assert file.read_bytes() == before


# -- ends


def test_an_interruption_ends_with_130_and_leaves_no_picture(tmp_path: Path) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    command = [sys.executable, "-m", "stream_lsh", "tune", str(endless), "--picture", str(tmp_path / "a.svg")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        with endless.open("wb") as feeder:  # waits until it reads
            feeder.write(LINES)
            feeder.flush()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"stream-lsh: interrupted")
    assert os.listdir(tmp_path) == ["endless"]
