"""`stream-lsh plagiarism`: pairs with their passages as text, as JSON and as a page; wrong use ends at once."""

import html
import json
import re
from pathlib import Path

import pytest

from tests.unit.applications.test_partial_copies import own, with_passage
from tests.unit.cli.runs import Run, lines_of, ran, stream_lsh

PASSAGE = own(99, 100)


@pytest.fixture
def essays(tmp_path: Path) -> Path:
    folder = tmp_path / "essays"
    folder.mkdir()
    for name, text in (("ann", with_passage(1, PASSAGE)), ("bob", with_passage(2, PASSAGE)), ("eve", own(3))):
        (folder / f"{name}.txt").write_text(text)
    return folder


def plagiarism(*arguments: str | Path, stdin: bytes = b"") -> Run:
    return stream_lsh("plagiarism", *arguments, stdin=stdin)


def shown(*arguments: str | Path) -> str:
    done = ran("plagiarism", *arguments)
    assert done.returncode == 0
    return bytes(done.stdout).decode()


def test_programs_get_shares_counts_and_the_places_of_passages(essays: Path) -> None:
    run = plagiarism(essays, "--json")
    (found,) = run.out
    assert (run.code, found["left"], found["right"]) == (0, "ann.txt", "bob.txt")
    assert found["left_share"] == found["shared"] / found["left_shingles"]
    assert found["right_share"] == found["shared"] / found["right_shingles"]
    (passage,) = found["passages"]
    for side in ("left", "right"):
        text = (essays / found[side]).read_text()
        assert text[passage[f"{side}_start"] : passage[f"{side}_end"]] == PASSAGE
    assert "3 texts, 1 pair" in run.err


def test_people_get_the_shares_and_how_the_passages_begin(essays: Path) -> None:
    first, second, *_ = shown(essays).splitlines()
    assert re.fullmatch(r" \d\d% of ann\.txt, \d\d% of bob\.txt", first)
    assert second.startswith(f"      100 words: {PASSAGE[:40]}")
    assert len(second) <= 100


def test_units_are_called_what_they_are(essays: Path) -> None:
    of_characters = shown(essays, "--shingles", "char:9").splitlines()
    assert any(re.match(r"      \d+ characters: ", line) for line in of_characters)
    assert not any(" words: " in line for line in of_characters)


def test_sources_are_compared_with_texts_and_not_with_each_other(essays: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources.jsonl"
    books = [{"id": f"book{number}", "text": with_passage(number, PASSAGE)} for number in (7, 8)]
    sources.write_bytes(lines_of(books))
    pairs = plagiarism(essays / "..", "--json", "--sources", sources).out
    assert pairs, "the folder holds the file of sources as well"
    pairs = plagiarism(essays, "--json", "--sources", sources).out
    named = {(one["left"], one["right"]) for one in pairs}
    assert ("book7", "book8") not in named
    assert {("ann.txt", "book7"), ("ann.txt", "book8"), ("bob.txt", "book7"), ("ann.txt", "bob.txt")} <= named


def test_texts_that_copied_from_one_source_are_listed_under_it(essays: Path, tmp_path: Path) -> None:
    sources, report = tmp_path / "sources.jsonl", tmp_path / "report.html"
    sources.write_bytes(lines_of([{"id": "<book>", "text": PASSAGE}]))
    run = plagiarism(essays, "--json", "--sources", sources, "--report", report)
    assert [(one["left"], one["right"], one.get("source")) for one in run.out] == [
        ("<book>", "ann.txt", None),
        ("<book>", "bob.txt", None),
        ("ann.txt", "bob.txt", "<book>"),
    ]
    assert "4 texts, 3 pairs, 1 of texts that copied from one source" in run.err
    assert "Both texts copied from &lt;book&gt;." in report.read_text(encoding="utf-8")
    pairs, _, under = shown(essays, "--sources", sources).partition("both copied from <book>:\n\n")
    assert ("bob.txt" in pairs, under.splitlines()[0].strip()) == (True, " 25% of ann.txt, 25% of bob.txt".strip())


def test_a_source_that_many_texts_copied_is_found(tmp_path: Path) -> None:
    texts, sources = tmp_path / "texts.jsonl", tmp_path / "sources.jsonl"
    texts.write_bytes(lines_of([{"id": f"essay{n:02}", "text": with_passage(n, PASSAGE)} for n in range(15)]))
    sources.write_bytes(lines_of([{"id": "book", "text": PASSAGE}]))
    found = plagiarism(texts, "--json", "--sources", sources).out
    assert [(one["left"], one["right"], one["left_share"]) for one in found] == [
        ("book", f"essay{n:02}", 1.0) for n in range(15)
    ]


def test_a_short_answer_that_was_revised_is_found_without_options(tmp_path: Path) -> None:
    source = own(1, 200).split()
    revised = [word if place % 12 < 4 else f"x{place}" for place, word in enumerate(source)]
    texts = tmp_path / "texts.jsonl"
    texts.write_bytes(lines_of([{"id": "a", "text": " ".join(source)}, {"id": "b", "text": " ".join(revised)}]))
    (found,) = plagiarism(texts, "--json").out
    assert found["shared"] == 34
    assert 0.1 < found["left_share"] < 0.2


def test_a_source_called_like_a_text_is_refused(essays: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources.jsonl"
    sources.write_bytes(lines_of([{"id": "ann.txt", "text": PASSAGE}]))
    run = plagiarism(essays, "--sources", sources)
    assert (run.code, run.out) == (2, [])
    assert "'ann.txt'" in run.err


def test_the_report_marks_each_passage_in_both_texts_and_links_them(essays: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert plagiarism(essays, "--json", "--report", report).code == 0
    page = report.read_text(encoding="utf-8")
    marks = re.findall(r'<mark id="(\w+-\d+)" class="h\d"><a class="number" href="#([\w-]+)">1</a>(.*?)</mark>', page)
    assert [(place, to) for place, to, _ in marks] == [("l1-1", "r1-1"), ("r1-1", "l1-1")]
    assert [html.unescape(text) for *_, text in marks] == [PASSAGE, PASSAGE]
    assert "characters …]" in page
    assert "<script" not in page
    assert plagiarism(essays, "--json", "--report", report, "--full").code == 0
    assert "characters …]" not in report.read_text(encoding="utf-8")


def test_texts_and_ids_cannot_put_anything_into_the_report(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>&amp; \x1b[2J " + PASSAGE
    lines = lines_of([{"id": "<b>a", "text": evil}, {"id": '"><i>', "text": f"{PASSAGE} <img src=x>"}])
    report = tmp_path / "report.html"
    assert plagiarism("-", "--json", "--report", report, stdin=lines).code == 0
    page = report.read_text(encoding="utf-8")
    assert not any(tag in page for tag in ("<script", "<b>", "<i>", "<img", "\x1b"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp; \\x1b[2J" in page


def test_bounds_can_be_set(essays: Path) -> None:
    assert plagiarism(essays, "--json", "--min-share", "0.9").out == []
    assert plagiarism(essays, "--json", "--min-shared", "1000").out == []
    (found,) = plagiarism(essays, "--json", "--min-words", "101").out
    assert found["passages"] == []


def test_rejected_documents_are_reported_and_fail_under_strict(essays: Path) -> None:
    lines = lines_of([{"id": "a", "text": 7}, {"id": "b", "text": PASSAGE}])
    run = plagiarism("-", stdin=lines)
    assert (run.code, "rejected" in run.err, "--rejects" in run.err) == (0, True, True)
    assert plagiarism("-", "--strict", stdin=lines).code == 1


def test_a_repeated_id_replaces_the_text_and_is_counted() -> None:
    texts = [{"id": id, "text": text} for id, text in (("a", PASSAGE), ("b", PASSAGE), ("b", own(3)))]
    run = plagiarism("-", stdin=lines_of(texts))
    assert run.err.splitlines() == ["2 texts, 0 pairs", "1 repeated id: the last text of each counts"]


def test_a_deleted_text_is_gone() -> None:
    texts = [{"id": "a", "text": PASSAGE}, {"id": "b", "text": PASSAGE}]
    assert len(plagiarism("-", "--json", stdin=lines_of(texts)).out) == 1
    assert plagiarism("-", "--json", stdin=lines_of([*texts, {"id": "a", "deleted": True}])).out == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "FILE"),
        (("no-such-file",), "there is no such file"),
        (("-", "--sources", "-"), "standard input can be read once only"),
        (("-", "--min-share", "0"), "above 0"),
        (("-", "--min-share", "much"), "above 0"),
        (("-", "--common", "1"), "from 2 on"),
        (("-", "--shingles", "words:3"), "did you mean"),
        (("-", "--report", "-"), "expected a file"),
        (("-", "--full"), "--report"),
        (("-", "--min-shar", "0.5"), "did you mean `--min-share`"),
        (("-", "--report", "no-such-folder/report.html"), "cannot be written"),
    ],
)
def test_wrong_use_is_reported_with_exit_code_2(arguments: tuple[str, ...], message: str) -> None:
    run = plagiarism(*arguments)
    assert run.code == 2
    assert message in run.err


def test_an_input_is_not_replaced_by_the_report(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(lines_of([{"id": "a", "text": PASSAGE}]))
    before = path.read_bytes()
    assert plagiarism(path, "--report", path).code == 2
    assert path.read_bytes() == before


def test_lines_of_names_that_are_not_utf_8_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in (b"caf\xe9", b"other"):
        Path(bytes(folder).decode() + "/" + name.decode("utf-8", "surrogateescape")).write_text(PASSAGE)
    run = plagiarism(folder, "--json")
    assert [json.dumps(one["left"]) for one in run.out] == ['"caf\\udce9"']
    assert run.code == 0
