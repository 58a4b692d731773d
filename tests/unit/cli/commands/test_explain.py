"""The command `explain` over files, run as a user runs it."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.wire.message import as_iso
from tests.evaluation.oracles import jaccard, word_windows
from tests.patience import PATIENCE
from tests.unit.cli.runs import DOCUMENTS, EDITED, LINES, LOW, OTHER, SIMILARITY, STORY, lines_of, ran

DAY = 86_400_000
WORDS = "one two three four five six seven eight nine".split()
CHAIN = [{"id": id, "text": " ".join(WORDS[at : at + 5]), "time": as_iso(at)} for at, id in enumerate("abcd", 1)]
CHAINED = ("--threshold", "0.6", "--shingles", "word:1")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "stream_lsh", "explain", *map(str, arguments)]


def run(*arguments: object, stdin: bytes = LINES, code: int = 0) -> str:
    """The output of the command: its standard error if it fails."""
    done = ran("explain", *map(str, arguments), stdin=stdin)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert done.returncode == code, done.stderr.decode()
    if code:
        assert done.stdout == b""
    return (done.stderr if code else done.stdout).decode()


def value(*arguments: object, stdin: bytes = LINES) -> Any:
    (line,) = run(*arguments, "--json", stdin=stdin).splitlines()
    return json.loads(line)


# -- output


def test_a_match_is_explained_as_text() -> None:
    lines = run("a", "b", "-", *LOW).splitlines()
    assert lines[:3] == [
        "a: 98 characters, 17 shingles, 1970-01-01T00:00:01Z, cluster a",
        "b: 99 characters, 17 shingles, 1970-01-01T00:00:05Z, cluster a",
        "In the same cluster: they match.",
    ]
    assert "similarity  0.7000: 14 of 20 shingles are shared; the threshold is 0.5" in lines
    assert "path        0.7000  a  b" in lines
    shown = lines[lines.index("a:") :]
    assert shown == ["a:", STORY.replace("monday", "[-monday-]"), "", "b:", EDITED.replace("tuesday", "{+tuesday+}")]


def test_a_match_is_explained_as_json() -> None:
    found = value("b", "a", "-", *LOW)
    assert (found["together"], found["reason"], found["threshold"], found["under_way"]) == (True, "match", 0.5, 0)
    compared = found["comparison"]
    assert compared["similarity"] == SIMILARITY == compared["shared"] / compared["union"]
    assert compared["estimate"] == compared["matching_slots"] / compared["slots"]
    assert 0 < compared["bands_met"] <= compared["bands"]
    assert 0.99 < compared["probability"] < 1
    assert found["path"] == [{"left": "b", "right": "a", "similarity": SIMILARITY}]
    b, a = found["documents"]
    assert [(one["id"], one["time"], one["cluster"], one["text"]) for one in (a, b)] == [
        ("a", 1000, "a", STORY),
        ("b", 5000, "a", EDITED),
    ]
    parts = [(EDITED[one["start"] : one["end"]], one["shared"]) for one in b["passages"]]
    assert parts == [
        ("the minister held on", True),
        ("tuesday", False),
        (EDITED.partition("tuesday ")[2], True),
    ]


def test_a_chain_is_explained_by_its_path() -> None:
    found = value("a", "d", "-", *CHAINED, stdin=lines_of(CHAIN))
    assert (found["together"], found["reason"]) == (True, "chain")
    first, last = (word_windows(str(CHAIN[at]["text"]), 1) for at in (0, 3))
    assert found["comparison"]["similarity"] == jaccard(first, last)
    assert [(step["left"], step["right"]) for step in found["path"]] == [("a", "b"), ("b", "c"), ("c", "d")]
    text = run("a", "d", "-", *CHAINED, stdin=lines_of(CHAIN))
    assert "In the same cluster: 3 matches connect them, the weakest with a similarity of 0.6667." in text
    assert "            0.6667  b  c\n" in text


def test_identical_documents_are_steps() -> None:
    texts = [WORDS[:5], WORDS[1:6], WORDS[1:6][::-1], WORDS[2:7]]
    documents = [
        {"id": id, "text": " ".join(text), "time": as_iso(5 * at)}
        for at, (id, text) in enumerate(zip("abcd", texts, strict=True), 1)
    ]
    found = value("a", "d", "-", *CHAINED, "--retention", "7ms", stdin=lines_of(documents))
    assert [step["similarity"] == 1 for step in found["path"]] == [False, True, False]
    assert [step["right"] for step in found["path"]] == ["b", "c", "d"]
    found = value("c", "b", "-", *CHAINED, "--retention", "7ms", stdin=lines_of(documents))
    assert (found["reason"], found["comparison"]["identical"]) == ("match", True)


def test_long_paths_are_shortened() -> None:
    texts = [" ".join(f"w{at + n}" for n in range(8)) for at in range(40)]
    documents = lines_of([{"id": f"{at:02}", "text": text, "time": as_iso(at)} for at, text in enumerate(texts)])
    options = ("00", "39", "-", "--threshold", "0.7", "--shingles", "word:1")
    lines = run(*options, stdin=documents).splitlines()
    assert [line for line in lines if "steps more" in line] == ["            ... 27 steps more, --full shows them"]
    assert sum(line.startswith("            0.7778  ") for line in lines) == 11
    assert "steps more" not in run(*options, "--full", stdin=documents)


@pytest.mark.parametrize(
    ("documents", "options", "reason", "words"),
    [
        (DOCUMENTS, [], "below", "they are less similar than the threshold, 0.8"),
        (
            [{"id": "a", "text": STORY}, {"id": "b", "text": STORY[:40]}],
            ["--measure", "containment"],
            "sizes",
            "their numbers of shingles differ by more than the size ratio allows",
        ),
        (
            [{"id": "a", "text": STORY, "time": as_iso(0)}, {"id": "b", "text": STORY, "time": as_iso(3 * DAY)}],
            ["--retention", "1d"],
            "apart",
            "their times are 3 days, 0:00:00 apart, which is more than the retention",
        ),
        ([{"id": "a", "text": STORY}, {"id": "b", "text": "?!"}], [], "empty", "no shingles, so no match: b"),
        ([{"id": "a", "text": ""}, {"id": "b", "text": ""}], [], "empty", "no shingles, so no match: a and b"),
        ([*DOCUMENTS, {"id": "b", "deleted": True}], LOW, "deleted", "deleted: b"),
        (
            [{"id": "new", "text": OTHER, "time": as_iso(9 * DAY)}] * 200
            + [
                {"id": "a", "text": STORY, "time": as_iso(DAY)},
                {"id": "b", "text": STORY, "time": as_iso(17 * DAY // 2)},
            ],
            ["--retention", "8d"],
            "match",
            "they have the same shingles",
        ),
        (
            [{"id": "new", "text": OTHER, "time": as_iso(20 * DAY)}] * 200
            + [
                {"id": "a", "text": STORY, "time": as_iso(DAY)},
                {"id": "b", "text": STORY + " a", "time": as_iso(2 * DAY)},
            ],
            ["--retention", "8d"],
            "expired",
            "one of them has expired, or had when the other one came",
        ),
    ],
)
def test_every_reason_is_reported(documents: list[Any], options: list[str], reason: str, words: str) -> None:
    found = value("a", "b", "-", *options, stdin=lines_of(documents))
    assert (found["reason"], found["said"]) == (reason, words)
    assert found["together"] == (reason == "match")
    assert f"luster: {words}.\n" in run("a", "b", "-", *options, stdin=lines_of(documents))


def test_a_pair_that_met_in_no_band_is_explained() -> None:
    one, other = unlucky(TextScheme(0.7, recall=0.6))
    documents = lines_of([{"id": "a", "text": one}, {"id": "b", "text": other}])
    options = ("a", "b", "-", "--threshold", "0.7", "--recall")
    found = value(*options, "0.6", stdin=documents)
    assert found["comparison"]["similarity"] >= 0.7
    assert 0 < found["comparison"]["probability"] < 1
    assert (found["comparison"]["bands_met"], found["reason"]) == (0, "no-band")
    assert value(*options, "0.999", stdin=documents)["reason"] == "match"


def test_with_the_method_exact_nothing_is_estimated_and_what_bands_miss_is_a_match() -> None:
    one, other = unlucky(TextScheme(0.7, recall=0.6))
    documents = lines_of([{"id": "a", "text": one}, {"id": "b", "text": other}])
    options = ("a", "b", "-", "--threshold", "0.7", "--method", "exact")
    found = value(*options, stdin=documents)
    assert found["reason"] == "match"
    assert (found["comparison"]["slots"], found["comparison"]["bands"]) == (0, 0)
    assert found["comparison"]["bands_met"] > 0
    assert "method      exact: two texts that reach the threshold share a bucket" in run(*options, stdin=documents)


def unlucky(scheme: TextScheme) -> tuple[str, str]:
    """Two texts that are similar enough and meet in no band."""
    for number in range(1000):
        one = " ".join(f"w{number}-{n}" for n in range(60))
        other = one.replace(f"{number}-5 ", "x ").replace(f"{number}-25 ", "y ").replace(f"{number}-45 ", "z ")
        found = scheme.explain(one, other).comparison
        assert found is not None
        if not found.met and found.matching >= scheme.least_matching(0.7):
            return one, other
    raise AssertionError


def test_a_pair_that_a_cap_left_out_is_explained() -> None:
    story = " ".join(f"w{n}" for n in range(60))
    documents = lines_of([{"id": f"{n:03}", "text": f"{story} {n}", "time": as_iso(n)} for n in range(120)])
    guarded = ("000", "119", "-", "--representative-similarity", "0.9")
    found = value(*guarded, "--max-candidates", "32", stdin=documents)
    assert (found["together"], found["reason"], len(found["path"]) > 1) == (False, "guard", True)
    assert value(*guarded, stdin=documents)["reason"] == "match"


@pytest.mark.parametrize(
    ("option", "together"),
    [([], True), (["--max-size", "2"], False), (["--max-diameter", "2"], False), (["--strong-links"], False)],
)
def test_a_guard_that_keeps_them_apart_is_named_with_what_connects_them(option: list[str], together: bool) -> None:
    found = value("a", "d", "-", *CHAINED, *option, stdin=lines_of(CHAIN))
    assert found["together"] == together
    assert found["reason"] == ("chain" if together else "guard")
    assert len(found["path"]) == 3
    direct = value("b", "c", "-", *CHAINED, "--max-size", "2", stdin=lines_of(CHAIN))
    assert direct["said"] == "1 match connects them, but not as closely as the guards require"


# -- input


def test_the_latest_version_of_an_id_counts() -> None:
    again = lines_of([*DOCUMENTS, {"id": "b", "text": OTHER}, {"id": "x", "text": STORY}, {"id": "x", "text": EDITED}])
    assert not value("a", "b", "-", *LOW, stdin=again)["together"]
    found = value("c", "b", "-", *LOW, stdin=again)
    assert (found["together"], found["said"]) == (True, "they have the same shingles")
    assert value("a", "x", "-", *LOW, stdin=again)["documents"][1]["text"] == EDITED


def test_ids_can_be_anything(tmp_path: Path) -> None:
    odd = ["with space", '"quoted"', "日本", "tab\there", "-dash", "\x1b[31mred"]
    documents = lines_of([{"id": id, "text": STORY} for id in odd])
    text = run("--json", *LOW, "--", "with space", "-dash", "-", stdin=documents)
    assert json.loads(text)["together"]
    text = run("tab\there", "\x1b[31mred", "-", stdin=documents)
    assert text.startswith('"tab\\there": 98 characters')
    assert '"\\u001b[31mred": 98 characters' in text
    assert run('"quoted"', "日本", "-", stdin=documents).splitlines()[1].startswith("日本: ")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(STORY)
    os.link(tmp_path / "in" / "a.txt", os.fsencode(tmp_path) + b"/in/\xff")
    assert json.loads(run("a.txt", "\udcff", tmp_path / "in", "--json"))["together"]


def test_control_characters_are_escaped() -> None:
    documents = lines_of([{"id": "a", "text": STORY + "\x1b[2J\r\n"}, {"id": "b", "text": EDITED + "\x9b\x07\ud800"}])
    text = run("a", "b", "-", stdin=documents)
    assert STORY.partition("monday")[2] + "\\x1b[-[2J-]\n" in text or "\\x1b" in text
    assert not {"\x1b", "\x07", "\x9b", "\r"} & set(text)
    assert "\\x9b\\x07" in text
    assert value("a", "b", "-", stdin=documents)["documents"][1]["text"] == EDITED + "\x9b\x07\ud800"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a", "a", "-"], "got the id 'a' twice, expected two of them"),
        (["a", "bb", "-"], "got the id 'bb', which no document has"),
        (["y", "z", "-"], "got the id 'z', which no document has"),
        (["a"], "required: B"),
        (["a", "b"], "got neither files nor --config nor --url, expected one of them"),
        (["a", "b", "no.jsonl"], "no.jsonl: there is no such file"),
        (["a", "b", "-", "--config", "x.toml"], "got --config and -, expected one of them"),
        (
            ["a", "b", "-", "--pipeline", "x"],
            "--pipeline: got it without --config or --url, expected one of them: it names a running pipeline",
        ),
        (
            ["a", "b", "--config", "x", "--max-size", "3"],
            "--max-size: applies to files only; the configuration of the worker defines it",
        ),
        (["a", "b", "--config", "no.toml"], "no.toml"),
        (["a", "b", "-", "--treshold", "0.5"], "did you mean `--threshold`?"),
        (["a", "b", "-", "--representative-similarity", "0.5"], "expected at least the threshold, 0.8"),
    ],
)
def test_wrong_use_is_reported_ends_with_2_and_prints_nothing_else(arguments: list[str], words: str) -> None:
    assert words in run(*arguments, code=2)


def test_nothing_at_all_has_no_such_document() -> None:
    assert run("a", "b", "-", stdin=b"", code=2).count("which no document has") == 2


def test_the_nearest_id_is_suggested_for_an_unknown_one() -> None:
    documents = lines_of([{"id": "news-1235", "text": STORY}, {"id": "5", "text": EDITED}])
    errors = run("news-1234", "99", "-", stdin=documents, code=2)
    assert "got the id 'news-1234', which no document has; did you mean 'news-1235'?\n" in errors
    assert "got the id '99', which no document has\n" in errors


def test_rejected_documents_are_reported() -> None:
    errors = run("a", "x", "-", stdin=LINES + b'{"id": "x", "txt": "1"}\n', code=2)
    assert "<stdin>:4: rejected (text)" in errors or "-:4: rejected (text)" in errors
    assert "got the id 'x', which no document has" in errors


# -- long texts


def big(different: range) -> str:
    return " ".join("different" if n in different else f"word{n}" for n in range(50_000))


def test_long_texts_are_shortened_around_what_differs_and_shown_in_full_on_request() -> None:
    one, other = big(range(0)), big(range(20_000, 20_003))
    assert 480_000 < len(one) < 524_000
    documents = lines_of([{"id": "a", "text": one}, {"id": "b", "text": other}])
    text = run("a", "b", "-", stdin=documents)
    assert len(text) < 3000
    assert "word19999 [-word20000 word20001 word20002-] word20003 " in text
    assert "word19999 {+different different different+} word20003 " in text
    assert text.count(" characters ...]") == 4
    full = run("a", "b", "-", "--full", stdin=documents)
    assert one.replace("word20000 word20001 word20002", "[-word20000 word20001 word20002-]") in full
    assert "characters ...]" not in full
    assert len(full) > 900_000


@pytest.mark.slow
@pytest.mark.parametrize("shingles", ["word:3", "char:5"])
def test_long_texts_that_have_nothing_or_everything_in_common_stay_readable(shingles: str) -> None:
    one = big(range(0))
    other = one.translate(str.maketrans("word0123456789", "кирилицабвгдеж"))[:80_000]
    scattered = " ".join(word if n % 7 else "change" for n, word in enumerate(one.split()))
    documents = lines_of(
        [{"id": str(n), "text": text} for n, text in enumerate([one, one, other, scattered[:500_000]])]
    )
    for right in "123":
        text = run("0", right, "-", "--shingles", shingles, stdin=documents)
        assert len(text) < 12_000
    assert "characters more, --full shows them]" in run("0", "3", "-", "--shingles", shingles, stdin=documents)


# -- where it is shown


def test_a_terminal_gets_colours_unless_they_are_not_wanted(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_bytes(LINES)
    assert "on \x1b[33mmonday\x1b[0m that" in on_terminal(file)
    assert "on \x1b[32mtuesday\x1b[0m that" in on_terminal(file)
    assert "on [-monday-] that" in on_terminal(file, NO_COLOR="1")
    assert "on [-monday-] that" in on_terminal(file, TERM="dumb")


def on_terminal(file: Path, **variables: str) -> str:
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen(  # noqa: S603 - our own command
        command("a", "b", file, *LOW), stdin=subprocess.DEVNULL, stdout=theirs, env=environment | variables
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        assert process.wait(20) == 0
    os.close(ours)
    return shown.decode()


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_bytes(lines_of([{"id": "a", "text": big(range(0))}, {"id": "b", "text": big(range(5))}]))
    line = f"{sys.executable} -m stream_lsh explain a b {file} --full | head -c 10; echo; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, check=False)  # noqa: S603
    assert done.stdout.splitlines()[1] == b"0"
    assert done.stderr == b""


def test_an_interruption_ends_with_130_and_a_message(tmp_path: Path) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    with subprocess.Popen(command("a", "b", endless), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        with endless.open("wb") as feeder:  # waits until it reads
            feeder.write(LINES)
            feeder.flush()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"stream-lsh: interrupted")
