"""The command `dedup`, run as a user runs it: inputs, outputs, rejected documents."""

import gzip
import json
import os
from pathlib import Path

import pytest
import zstandard

from stream_lsh.wire.message import as_iso
from tests.evaluation.oracles import word_windows
from tests.unit.cli.runs import (
    DOCUMENTS,
    EDITED,
    EXPECTED,
    LINES,
    LOW,
    OTHER,
    SIMILARITY,
    STORY,
    a_few_thousand,
    dedup,
    lines_of,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES)
    return path


# -- output


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
    assert "3 documents, 1 candidate, 1 pair, 1 cluster" in run.err
    assert sorted(os.listdir(tmp_path)) == ["clusters.jsonl", "docs.jsonl"]


def test_matches_go_to_a_named_file_and_quiet_prints_nothing(file: Path, tmp_path: Path) -> None:
    run = dedup(file, *LOW, "--matches", tmp_path / "m.jsonl", "--quiet")
    assert (run.code, run.out, run.err) == (0, [], "")
    assert json.loads((tmp_path / "m.jsonl").read_text())["left"] == "a"


def test_the_number_of_jobs_does_not_change_the_result(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl.gz"
    path.write_bytes(gzip.compress(a_few_thousand()))
    reference, *others = (
        dedup(path, *LOW, "--jobs", jobs, "--clusters", tmp_path / f"clusters {jobs}") for jobs in "123"
    )
    assert len(reference.out) >= 2000
    for jobs, run in zip("23", others, strict=True):
        assert (run.code, run.out) == (0, reference.out)
        assert (tmp_path / f"clusters {jobs}").read_bytes() == (tmp_path / "clusters 1").read_bytes()


# -- input


CSV_TEXT = f'more,text,id,time\r\n1,"{STORY}",a,1970-01-01T00:00:01\r\n2,"{EDITED}\n",b,\r\n'
CSV = f"{CSV_TEXT}3,{OTHER},c,1970-01-01\r\n".encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("docs.jsonl", LINES),
        ("docs.json", LINES.rstrip()),
        ("docs.ndjson", b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\r\n\r\n")),
        ("docs.jsonl.gz", gzip.compress(LINES[:100]) + gzip.compress(LINES[100:])),
        ("zipped.jsonl", gzip.compress(LINES) + b"\0" * 64),
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
    assert "rejected" not in run.err


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
    assert "1 repeated id" in run.err
    assert "1 deletes" in run.err


def test_containment_finds_an_excerpt_and_reports_the_direction() -> None:
    words = STORY.split()
    lines = lines_of([{"id": "all", "text": STORY}, {"id": "part", "text": " ".join(words[: len(words) // 2 + 2])}])
    assert dedup("-", stdin=lines).out == []
    (one,) = dedup("-", "--measure", "containment", stdin=lines).out
    assert list(one) == (
        "pipeline left right similarity measure shared union left_shingles right_shingles "
        "left_time right_time confirmed_at".split()
    )
    assert (one["measure"], one["similarity"], one["right_shingles"]) == ("containment", 1.0, one["shared"])
    assert one["left_shingles"] == len(set(word_windows(STORY, 3))) == one["union"]
    assert dedup("-", "--measure", "containment", "--size-ratio", "1.5", stdin=lines).out == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--size-ratio", "3"], "--size-ratio: got 3, expected none, as the measure is jaccard: only containment uses"),
        (
            ["--measure", "containment", "--size-ratio", "500"],
            "--size-ratio: got 500.0, expected a number from 1 to 100",
        ),
        (["--measure", "containment", "--size-ratio", "half"], "got 'half', expected a number of 1 or more, such as 2"),
        (["--measure", "cosine"], "'cosine'"),
    ],
)
def test_an_invalid_measure_is_rejected(options: list[str], message: str) -> None:
    run = dedup("-", *options, stdin=LINES)
    assert run.code == 2
    assert message in run.err


@pytest.mark.parametrize(
    ("option", "groups"),
    [
        ([], [["d", "c", "b", "a"]]),
        (["--max-size", "2"], [["b", "a"], ["d", "c"]]),
        (["--max-diameter", "2"], [["c", "b", "a"], ["d"]]),
        (["--strong-links"], [["b", "a"], ["d", "c"]]),
        (["--representative-similarity", "0.6"], [["b", "a"], ["d", "c"]]),
    ],
)
def test_guards_part_a_chain(option: list[str], groups: list[list[str]], tmp_path: Path) -> None:
    words = "one two three four five six seven eight nine".split()
    chain = [{"id": id, "text": " ".join(words[at : at + 5]), "time": as_iso(at)} for at, id in enumerate("abcd")]
    settings = ("--threshold", "0.6", "--shingles", "word:1", *option)
    run = dedup("-", *settings, "--clusters", tmp_path / "c", stdin=lines_of(chain))
    assert run.code == 0, run.err
    assert [json.loads(line)["members"] for line in (tmp_path / "c").read_text().splitlines()] == groups


def test_a_guard_without_effect_is_rejected() -> None:
    run = dedup("-", "--representative-similarity", "0.5", stdin=LINES)
    assert run.code == 2
    assert "--representative-similarity: got 0.5, expected at least the threshold, 0.8: no pair is below it" in run.err


def test_the_retention_parts_what_is_far_apart_and_keeps_what_was_found(tmp_path: Path) -> None:
    day = 86_400_000
    documents = [{"id": str(n), "text": STORY, "time": as_iso(n * day)} for n in (0, 1, 40, 41, 42)]
    run = dedup("-", "--retention", "1d", "--clusters", tmp_path / "c", stdin=lines_of(documents))
    assert run.pairs.keys() == {("0", "1"), ("40", "41"), ("41", "42")}
    clusters = [json.loads(line) for line in (tmp_path / "c").read_text().splitlines()]
    assert clusters == [{"cluster": "0", "members": ["1", "0"]}, {"cluster": "40", "members": ["42", "41", "40"]}]


def test_caps_are_reported_and_lifted(tmp_path: Path) -> None:
    documents = lines_of([{"id": str(n), "text": f"{STORY} number {n}"} for n in range(100)])
    capped = dedup("-", "--max-candidates", "20", stdin=documents)
    assert len(capped.out) < 4950
    recall = len(capped.out) / 4950
    assert f"capped: {4950 - len(capped.out):,} candidates were not compared" in capped.err
    assert f"recall about {recall:.2f}" in capped.err
    for lifted in (dedup("-", stdin=documents), dedup("-", "--max-candidates", "0", stdin=documents)):
        assert "capped" not in lifted.err
        assert len(lifted.out) == 4950


# -- rejected documents


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
def test_an_unusable_line_is_reported_and_the_run_continues(
    tmp_path: Path, line: bytes, reason: str, jobs: str
) -> None:
    path, rejects = tmp_path / "docs.jsonl", tmp_path / "rejects.jsonl"
    first, rest = LINES.split(b"\n", 1)
    path.write_bytes(first + b"\n" + line + b"\n" + rest)
    run = dedup(path, *LOW, "--rejects", rejects, "--jobs", jobs)
    assert (run.code, run.pairs) == (0, EXPECTED)
    assert f"{path}:2: rejected ({reason}): " in run.err
    assert f"1 rejected: {reason} 1" in run.err
    refused = json.loads(rejects.read_text())
    assert (refused["file"], refused["line"], refused["reason"]) == (str(path), 2, reason)
    assert refused["message"].startswith("got ")
    assert len(refused["message"]) < 300
    assert dedup(path, *LOW, "--strict").code == 1


def test_only_the_first_few_are_shown_and_all_are_counted() -> None:
    run = dedup("-", stdin=b"nonsense\n" * 100)
    assert run.code == 1, "nothing could be read"
    assert run.err.count("rejected (json)") == 5
    assert "100 rejected: json 100; --rejects lists them" in run.err


@pytest.mark.slow
def test_a_large_text_is_taken_if_the_limit_is_raised() -> None:
    texts = ["word " * 4_000_000 + ending for ending in ("a b", "a c")]
    documents = lines_of([{"id": str(n), "text": text} for n, text in enumerate(texts)])
    run = dedup("-", "--max-bytes", "30_000_000", "--threshold", "0.1", stdin=documents)
    assert len(run.out) == 1
    assert "rejected" not in run.err


def test_unusual_but_valid_documents_are_used() -> None:
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
    assert "rejected" not in run.err


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
def test_an_unusable_row_is_reported_and_the_run_continues(tmp_path: Path, row: bytes, reason: str) -> None:
    path = tmp_path / "docs.csv"
    path.write_bytes(CSV + row + b"\r\n")
    run = dedup(path, *LOW)
    assert (run.code, run.pairs) == (0, EXPECTED)
    assert f"{path}:6: rejected ({reason}): got " in run.err


def test_an_unusable_file_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\xff")
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"text" * 100)[:-20])
    (tmp_path / "large.txt").write_bytes(b"x" * 600_000)
    (tmp_path / "fine.txt").write_text(STORY)
    run = dedup(tmp_path)
    assert run.code == 0
    assert "1 document" in run.err
    for name, reason in (("bad.txt", "utf8"), ("bad.gz", "gzip"), ("large.txt", "size")):
        assert f"{tmp_path}/{name}: rejected ({reason}): " in run.err


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.csv", "folder"])
def test_an_empty_input_is_fine(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.mkdir() if name == "folder" else path.write_bytes(b"")
    run = dedup(path)
    assert (run.code, run.out) == (0, [])
    assert "0 documents" in run.err


# -- queries


def test_a_query_gets_the_documents_that_dedup_would_match_with_it(tmp_path: Path) -> None:
    files = [tmp_path / "archive.jsonl", tmp_path / "incoming.jsonl"]
    documents = [json.loads(line) for line in a_few_thousand(200).splitlines()]
    for path, part in zip(files, (documents[::2], documents[1::2]), strict=True):
        path.write_bytes(lines_of(part))
    incoming = {one["id"] for one in documents[1::2]}
    pairs = {(one["left"], one["right"]): one["similarity"] for one in dedup(*files, *LOW).out}
    crossing = {
        (left, right) if left in incoming else (right, left): similarity
        for (left, right), similarity in pairs.items()
        if (left in incoming) != (right in incoming)
    }
    run = dedup(files[0], *LOW, "--query", files[1])
    assert run.code == 0
    assert {(one["query"], one["id"]): one["similarity"] for one in run.out} == crossing
    assert crossing
    assert f"100 documents, 100 queries, {len({query for query, _ in crossing})} of them with a match" in run.err


def test_a_query_that_deletes_is_rejected_and_clusters_need_all_pairs(file: Path, tmp_path: Path) -> None:
    queries = tmp_path / "q.jsonl"
    queries.write_bytes(lines_of([{"id": "gone", "deleted": True}, {"id": "q", "text": STORY}]))
    run = dedup(file, *LOW, "--query", queries)
    assert (run.code, {one["query"] for one in run.out}) == (0, {"q"})
    assert "1 rejected: deleted 1" in run.err
    wrong = dedup(file, "--query", queries, "--clusters", tmp_path / "c")
    assert (wrong.code, "--clusters: needs all pairs" in wrong.err) == (2, True)


def test_a_threshold_of_1_finds_identical_documents_only(file: Path) -> None:
    same = lines_of([{"id": "x", "text": STORY}, {"id": "y", "text": STORY}, {"id": "z", "text": EDITED}])
    assert dedup("-", "--threshold", "1", stdin=same).pairs == {("x", "y"): 1.0}
    assert dedup(file, "--threshold", "1.1").code == 2


def test_columns_may_be_separated_by_semicolons_or_by_any_character(tmp_path: Path) -> None:
    for name, separator, options in (("s.csv", ";", ()), ("x.csv", "^", ("--delimiter", "^"))):
        rows = [["id", "text"], ["a", STORY], ["b", EDITED]]
        (tmp_path / name).write_text("".join(f"{separator.join(row)}\n" for row in rows), encoding="utf-8")
        assert dedup(tmp_path / name, *LOW, *options).pairs == EXPECTED
    wrong = dedup(tmp_path / "s.csv", "--delimiter", "comma")
    assert (wrong.code, "expected one character, such as ; or tab" in wrong.err) == (2, True)
