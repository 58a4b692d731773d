"""The command `dedup`, run as a stranger runs it: in a process of its own, on files that are fine and that are not."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard

from tests.oracles import jaccard, word_windows

STORY = "the minister said on monday that the bridge would be closed for repairs until the end of the month"
EDITED = STORY.replace("monday", "tuesday")
OTHER = "quarterly figures of the shipping company were better than analysts had expected in spring"


class Run:
    """What a run of the command left behind."""

    def __init__(self, done: "subprocess.CompletedProcess[bytes]") -> None:
        self.code = done.returncode
        self.out = [json.loads(line) for line in done.stdout.splitlines()]
        self.err = done.stderr.decode()
        assert "Traceback" not in self.err, self.err

    @property
    def pairs(self) -> dict[tuple[str, str], float]:
        return {(one["left"], one["right"]): one["similarity"] for one in self.out}


def stream_lsh(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    command = [sys.executable, "-m", "stream_lsh", *map(str, arguments)]
    return Run(subprocess.run(command, input=stdin, capture_output=True, check=False, cwd=cwd))  # noqa: S603


def dedup(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Run:
    return stream_lsh("dedup", *arguments, stdin=stdin, cwd=cwd)


def lines_of(documents: Sequence[object]) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


DOCUMENTS = [
    {"id": "a", "text": STORY, "time": 1000},
    {"id": "b", "text": EDITED, "time": "1970-01-01T00:00:05Z", "more": {"unknown": [1]}},
    {"id": "c", "text": OTHER},
]
LINES = lines_of(DOCUMENTS)
SIMILARITY = jaccard(word_windows(STORY, 3), word_windows(EDITED, 3))
EXPECTED = {("a", "b"): SIMILARITY}
LOW = ("--threshold", "0.5")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES)
    return path


def a_few_thousand(count: int = 4000) -> bytes:
    words = [f"w{number}" for number in range(500)]
    return lines_of(
        [
            {"id": str(n), "text": " ".join(words[(n // 2 * 7 + i * i) % 500] for i in range(150)) + f" {n % 2}"}
            for n in range(count)
        ]
    )


# -- what comes out


def test_a_match_line_is_the_public_one_and_a_cluster_line_names_its_members(file: Path, tmp_path: Path) -> None:
    run = dedup(file, *LOW, "--clusters", tmp_path / "clusters.jsonl")
    assert run.code == 0
    assert [list(one) for one in run.out] == [
        "pipeline left right similarity measure shared union left_time right_time confirmed_at".split()
    ]
    (one,) = run.out
    assert one["similarity"] == SIMILARITY == one["shared"] / one["union"]
    assert (one["measure"], one["left_time"], one["right_time"], one["confirmed_at"]) == ("jaccard", 1000, 5000, 5000)
    assert json.loads((tmp_path / "clusters.jsonl").read_text()) == {"cluster": "a", "members": ["b", "a"]}
    assert "3 documents, 1 candidates, 1 pairs, 1 clusters" in run.err
    assert sorted(os.listdir(tmp_path)) == ["clusters.jsonl", "docs.jsonl"]


def test_matches_go_to_a_file_if_one_is_named_and_quiet_says_nothing(file: Path, tmp_path: Path) -> None:
    run = dedup(file, *LOW, "--matches", tmp_path / "m.jsonl", "--quiet")
    assert (run.code, run.out, run.err) == (0, [], "")
    assert json.loads((tmp_path / "m.jsonl").read_text())["left"] == "a"


@pytest.mark.parametrize("jobs", ["1", "2", "3"])
def test_the_number_of_jobs_does_not_change_the_answer(tmp_path: Path, jobs: str) -> None:
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(gzip.compress(a_few_thousand()))
    run = dedup(path, *LOW, "--jobs", jobs, "--clusters", tmp_path / "clusters")
    assert run.code == 0
    assert len(run.out) >= 2000
    reference = dedup(path, *LOW, "--jobs", "1", "--clusters", tmp_path / "reference")
    assert run.out == reference.out
    assert (tmp_path / "clusters").read_bytes() == (tmp_path / "reference").read_bytes()


# -- what goes in


CSV = f'more,text,id,time\r\n1,"{STORY}",a,1000\r\n2,"{EDITED}\n",b,\r\n3,{OTHER},c,1970-01-01\r\n'.encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("docs.jsonl", LINES),
        ("docs.json", LINES.rstrip()),
        ("docs.ndjson", b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\r\n\r\n")),
        ("docs.jsonl.gz", gzip.compress(LINES[:100]) + gzip.compress(LINES[100:])),
        ("zipped", gzip.compress(LINES) + b"\0" * 64),
        ("docs.jsonl.zst", zstandard.compress(LINES) + zstandard.compress(b"\n")),
        ("docs.csv", CSV),
        ("docs.csv.gz", gzip.compress(b"\xef\xbb\xbf" + CSV)),
        ("docs.tsv", CSV.replace(b",", b"\t")),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_format_gives_the_same_pairs(tmp_path: Path, name: str, content: bytes, jobs: str) -> None:
    (tmp_path / name).write_bytes(content)
    run = dedup(tmp_path / name, *LOW, "--jobs", jobs)
    assert (run.code, run.pairs) == (0, EXPECTED)
    assert "3 documents" in run.err
    assert "aside" not in run.err


def test_a_folder_is_read_with_relative_paths_as_ids(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").write_text(STORY)
    (tmp_path / "in" / "deep" / "b.txt.gz").write_bytes(gzip.compress(EDITED.encode()))
    os.link(tmp_path / "in" / "a.txt", os.fsencode(tmp_path) + b"/in/\xff")
    run = dedup(tmp_path / "in", *LOW, "--clusters", tmp_path / "clusters")
    assert run.code == 0
    assert run.pairs[("a.txt", "deep/b.txt.gz")] == SIMILARITY
    assert run.pairs[("a.txt", "\udcff")] == 1.0
    assert len(json.loads((tmp_path / "clusters").read_text())["members"]) == 3


def test_files_of_two_folders_do_not_replace_each_other(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(STORY)
    assert dedup("one", "two", cwd=tmp_path).pairs == {("one/a.txt", "two/a.txt"): 1.0}


def test_several_inputs_and_standard_input_are_one_collection(file: Path, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text(f"id,text\nd,{EDITED}\n")
    run = dedup(file, "-", tmp_path / "more.csv", *LOW, stdin=gzip.compress(lines_of([{"id": "e", "text": STORY}])))
    assert run.pairs.keys() == {("a", "b"), ("a", "d"), ("a", "e"), ("b", "d"), ("b", "e"), ("d", "e")}


def test_standard_input_can_be_csv_and_columns_can_be_named(tmp_path: Path) -> None:
    data = CSV.replace(b"text,id,time", b"body,key,date")
    run = dedup("-", *LOW, "--format=csv", "--text-column=body", "--id-column=key", "--time-column=date", stdin=data)
    assert run.pairs == EXPECTED
    run = dedup("-", *LOW, "--text-column=body", stdin=LINES.replace(b'"text"', b'"body"'))
    assert run.pairs == EXPECTED


def test_an_id_that_comes_again_replaces_and_a_delete_deletes() -> None:
    again = [*DOCUMENTS, {"id": "b", "text": OTHER}, {"id": "x", "text": STORY}, {"id": "x", "deleted": True}]
    run = dedup("-", *LOW, stdin=lines_of(again))
    assert run.pairs == {("b", "c"): 1.0}
    assert "1 ids came again" in run.err
    assert "1 deletes" in run.err


def test_the_retention_parts_what_is_far_apart_and_keeps_what_was_found(tmp_path: Path) -> None:
    day = 86_400_000
    documents = [{"id": str(n), "text": STORY, "time": n * day} for n in (0, 1, 40, 41, 42)]
    run = dedup("-", "--retention", "1d", "--clusters", tmp_path / "c", stdin=lines_of(documents))
    assert run.pairs.keys() == {("0", "1"), ("40", "41"), ("41", "42")}
    clusters = [json.loads(line) for line in (tmp_path / "c").read_text().splitlines()]
    assert clusters == [{"cluster": "0", "members": ["1", "0"]}, {"cluster": "40", "members": ["42", "41", "40"]}]


def test_caps_are_told_and_lifted(tmp_path: Path) -> None:
    documents = lines_of([{"id": str(n), "text": f"{STORY} number {n}"} for n in range(100)])
    capped = dedup("-", stdin=documents)
    assert "capped:" in capped.err
    assert len(capped.out) < 4950
    lifted = dedup("-", "--max-candidates", "0", stdin=documents)
    assert "capped" not in lifted.err
    assert len(lifted.out) == 4950


# -- what is put aside


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{not json", "json"),
        (b'["an", "array"]', "json"),
        (b'{"id": "x", "text": "\xff\xfe"}', "utf8"),
        (b'{"text": "no id"}', "id"),
        (b'{"id": "", "text": "empty id"}', "id"),
        (b'{"id": ["x"], "text": "wrong type"}', "id"),
        (b'{"id": "' + b"x" * 1025 + b'", "text": "long id"}', "id"),
        (b'{"id": "x"}', "text"),
        (b'{"id": "x", "text": null}', "text"),
        (b'{"id": "x", "text": 7}', "text"),
        (b'{"id": "x", "text": "t", "time": "next week"}', "time"),
        (b'{"id": "x", "text": "t", "time": 1e300}', "time"),
        (b'{"id": "x", "text": "t", "time": "2999-01-01"}', "time"),
        (b'{"id": "x", "text": "' + b"word " * 4_000_000 + b'"}', "size"),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_line_that_cannot_be_used_is_named_and_the_run_goes_on(
    tmp_path: Path, line: bytes, reason: str, jobs: str
) -> None:
    path, rejects = tmp_path / "docs.jsonl", tmp_path / "rejects.jsonl"
    first, rest = LINES.split(b"\n", 1)
    path.write_bytes(first + b"\n" + line + b"\n" + rest)
    run = dedup(path, *LOW, "--rejects", rejects, "--jobs", jobs)
    assert (run.code, run.pairs) == (0, EXPECTED)
    assert f"{path}:2: put aside ({reason}): " in run.err
    assert f"1 put aside: {reason} 1" in run.err
    refused = json.loads(rejects.read_text())
    assert (refused["file"], refused["line"], refused["reason"]) == (str(path), 2, reason)
    assert refused["message"].startswith("got ")
    assert len(refused["message"]) < 300
    assert dedup(path, *LOW, "--strict").code == 1


def test_only_the_first_few_are_shown_and_all_are_counted() -> None:
    run = dedup("-", stdin=b"nonsense\n" * 100)
    assert run.code == 0
    assert run.err.count("put aside (json)") == 5
    assert "100 put aside: json 100; --rejects lists them" in run.err


def test_a_large_text_is_taken_if_the_limit_is_raised() -> None:
    texts = ["word " * 4_000_000 + ending for ending in ("a b", "a c")]
    documents = lines_of([{"id": str(n), "text": text} for n, text in enumerate(texts)])
    run = dedup("-", "--max-document-bytes", "30_000_000", "--threshold", "0.1", stdin=documents)
    assert len(run.out) == 1
    assert "aside" not in run.err


def test_what_is_odd_and_can_be_used_is_used() -> None:
    documents = [
        {"id": "nul", "text": STORY.replace(" ", " \0 ")},
        {"id": "nul2", "text": STORY.replace(" ", " \0 ")},
        {"id": "surrogate", "text": "\ud800 " + OTHER},
        {"id": "surrogate2", "text": "\ud800 " + OTHER},
        {"id": 7, "text": "one two"},
        {"id": 8, "text": "One, two"},
        {"id": "empty", "text": ""},
        {"id": "empty2", "text": ""},
    ]
    run = dedup("-", stdin=lines_of(documents))
    assert run.code == 0
    assert run.pairs == {("nul", "nul2"): 1.0, ("surrogate", "surrogate2"): 1.0, ("7", "8"): 1.0}
    assert "aside" not in run.err


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"too,few", "csv"),
        (b'1,"\xff",x,', "utf8"),
        (b"1,text,,", "id"),
        (b"1,text,x,next week", "time"),
        (b"1," + b"word " * 200_000 + b",x,", "size"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_the_run_goes_on(tmp_path: Path, row: bytes, reason: str) -> None:
    path = tmp_path / "docs.csv"
    path.write_bytes(CSV + row + b"\r\n")
    run = dedup(path, *LOW)
    assert (run.code, run.pairs) == (0, EXPECTED)
    assert f"{path}:6: put aside ({reason}): got " in run.err


def test_a_file_of_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\xff")
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"text" * 100)[:-20])
    (tmp_path / "large.txt").write_bytes(b"x" * 600_000)
    (tmp_path / "fine.txt").write_text(STORY)
    run = dedup(tmp_path)
    assert run.code == 0
    assert "1 documents" in run.err
    for name, reason in (("bad.txt", "utf8"), ("bad.gz", "gzip"), ("large.txt", "size")):
        assert f"{tmp_path}/{name}: put aside ({reason}): " in run.err


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.csv", "folder"])
def test_an_empty_input_is_fine(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.mkdir() if name == "folder" else path.write_bytes(b"")
    run = dedup(path)
    assert (run.code, run.out) == (0, [])
    assert "0 documents" in run.err


# -- what ends a run


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("docs.jsonl.gz", gzip.compress(a_few_thousand(400))[:-3000], "gzip data end too early"),
        ("docs.jsonl.gz", gzip.compress(a_few_thousand(400))[:3000] + b"\xff" * 9000, "gzip data are damaged"),
        ("docs.jsonl.gz", b"not gzip at all", "is not; rename it"),
        ("docs.jsonl.zst", zstandard.compress(a_few_thousand(400))[:-3000], "zstd data end too early"),
    ],
)
def test_damaged_compressed_data_end_the_run(tmp_path: Path, jobs: str, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    run = dedup(tmp_path / name, "--jobs", jobs, "--matches", tmp_path / "matches")
    assert run.code == 1
    assert words in run.err
    assert str(tmp_path / name) in run.err
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.jsonl", "neither"], "nothing.jsonl: there is no such file"),
        ([], "required: FILE"),
        (["docs.jsonl", "--treshold", "0.5"], "did you mean `--threshold`"),
        (["docs.jsonl", "--threshold", "1.5"], "expected a number above 0 and below 1"),
        (["docs.jsonl", "--threshold", "0.0001"], "raise the threshold"),
        (["docs.jsonl", "--shingles", "words:3"], "did you mean 'word:3'"),
        (["docs.jsonl", "--retention", "3 days"], "such as 3d"),
        (["docs.jsonl", "--max-candidates", "-1"], "a whole number from 0 on"),
        (["docs.jsonl", "--jobs", "0"], "a whole number from 1 on"),
        (["docs.jsonl", "--jobs", "2", "--shingles", "char:0"], "did you mean 'char:1'"),
        (["docs.jsonl", "--matches", "no/such/folder"], "no/such/folder: cannot be written"),
        (["docs.jsonl", "--matches", "docs.jsonl"], "is an input"),
        (["docs.jsonl", "--matches", "x", "--clusters", "x"], "two outputs cannot be one file"),
        (["docs.jsonl", "--clusters", "-"], "two outputs cannot be one file"),
        (["docs.csv"], "got no column 'text', there are 'id', 'body': name it with --text-column"),
    ],
)
def test_wrong_use_is_told_and_ends_with_2(file: Path, arguments: list[str], words: str) -> None:
    (file.parent / "docs.csv").write_text("id,body\n1,x\n")
    run = dedup(*arguments, cwd=file.parent)
    assert (run.code, run.out) == (2, [])
    assert words in run.err
    assert sorted(os.listdir(file.parent)) == ["docs.csv", "docs.jsonl"]


@pytest.mark.parametrize("output", ["--matches", "--clusters", "--rejects"])
def test_a_full_disk_ends_with_1_and_a_sentence(file: Path, output: str) -> None:
    with file.open("ab") as more:
        more.write(b"nonsense\n")
    run = dedup(file, *LOW, output, "/dev/full")
    assert run.code == 1
    assert "/dev/full: cannot be written: No space left on device" in run.err


def test_a_full_disk_behind_standard_output_ends_with_1(file: Path) -> None:
    command = [sys.executable, "-m", "stream_lsh", "dedup", str(file), *LOW]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603
    assert done.returncode == 1
    assert b"standard output: cannot be written: No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    path, clusters = tmp_path / "docs.jsonl", tmp_path / "clusters"
    path.write_bytes(lines_of([{"id": str(n), "text": STORY} for n in range(3000)]))
    command = f"{sys.executable} -m stream_lsh dedup {path} --clusters {clusters} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, check=False)  # noqa: S603
    line, code = done.stdout.splitlines()
    assert json.loads(line)["similarity"] == 1.0
    assert code == b"0"
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr
    assert len(json.loads(clusters.read_text())["members"]) == 3000


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_leaves_nothing_behind(tmp_path: Path, jobs: int, number: signal.Signals, code: int) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    command = [sys.executable, "-m", "stream_lsh", "dedup", str(endless), "--jobs", str(jobs), "--matches", "out"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=tmp_path, start_new_session=True)  # noqa: S603
    with endless.open("wb") as feeder:
        feeder.write(a_few_thousand(1000))
        feeder.flush()
        deadline = time.monotonic() + 20
        while len(children_of(process.pid)) < (0 if jobs == 1 else 2) or not list(tmp_path.glob(".out.*")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        children = children_of(process.pid)
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert os.listdir(tmp_path) == ["endless"]
    while any(map(alive, children)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_parent_that_is_killed_takes_its_children_with_it(tmp_path: Path) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    command = [sys.executable, "-m", "stream_lsh", "dedup", str(endless), "--jobs", "3"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603
    with endless.open("wb") as feeder:
        feeder.write(a_few_thousand(1000))
        feeder.flush()
        deadline = time.monotonic() + 20
        while len(children_of(process.pid)) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        children = children_of(process.pid)
        process.kill()
        process.wait()
    while any(map(alive, children)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
