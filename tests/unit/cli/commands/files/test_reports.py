"""The pages of `--report`: their numbers are those of the other outputs, and texts and ids only show."""

import html
import json
import math
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stream_lsh import NearDuplicates
from tests.unit.cli.runs import DOCUMENTS, EDITED, LINES, LOW, STORY, Run, a_few_thousand, dedup, lines_of, stream_lsh

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>&\"' \x1b[2J \u202eabc \u05e9\u05dc\u05d5\u05dd e"
    + "\u0301" * 99
)


ELEMENTS = (
    "html head meta title style body main h1 h2 h3 dl div dt dd p table caption thead tbody tr th td svg rect bdi mark "
    "span strong"
)
ATTRIBUTES = (
    "lang charset name content class scope colspan data-label dir width height viewbox preserveaspectratio "
    "aria-hidden x fill"
)


class Elements(HTMLParser):
    """The names of all elements and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names, self.attributes = set[str](), set[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def words(seed: int, count: int = 60) -> str:
    random = Random(seed)
    return " ".join(f"w{random.randrange(2_000)}" for _ in range(count))


def hostile_documents() -> list[dict[str, object]]:
    """Near-duplicates with elements, control characters, long words and right-to-left texts in every place."""
    return [
        {
            "id": f"{HOSTILE}{'i' * 150}{n}",
            "text": f"{HOSTILE} {'long' * 300} {words(3)} {n}",
            "title": HOSTILE * 2,
            "source": f"{HOSTILE}{n}",
            "time": 10**9 + n,
        }
        for n in range(3)
    ]


def text_of(page: str) -> str:
    """The text of a page as a reader sees it, without its elements."""
    return html.unescape(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]))


def facts_of(page: str) -> dict[str, str]:
    return {
        html.unescape(name): html.unescape(value) for name, value in re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    }


def bars_of(page: str) -> dict[str, int]:
    """The rows of the distribution: their ranges with the number of matches."""
    rows = re.findall(r'<tr><th scope="row" class="number">(.*?)</th>.*?<td class="number">([\d,]+)</td></tr>', page)
    return {name: int(count.replace(",", "")) for name, count in rows}


def reported(command: str, path: Path, stdin: bytes, *options: str) -> tuple[Run, str]:
    run = stream_lsh(command, "-", "--report", path, *options, stdin=stdin)
    assert run.code == 0, run.err
    return run, path.read_text(encoding="utf-8")


def test_the_totals_and_the_distribution_are_those_of_the_matches(tmp_path: Path) -> None:
    lines = a_few_thousand(400) + b'{"id": 1, "text": 5}\n'
    run, page = reported("dedup", tmp_path / "r.html", lines, "--threshold", "0.7")
    facts = facts_of(page)
    assert (facts["documents"], facts["rejected"], facts["threshold"]) == ("400", "1", "0.7, jaccard")
    assert facts["matches"] == str(len(run.out))
    ids = {id for pair in run.pairs for id in pair}
    assert int(facts["copies: all but one of each cluster"]) + int(facts["clusters"]) == len(ids)
    bars = bars_of(page)
    assert sum(bars.values()) == len(run.out) > 100
    for name, count in bars.items():
        low, _, high = name.removesuffix(" and above").partition(" to ")
        inside = [one for one in run.pairs.values() if float(low) <= one and (not high or one < float(high))]
        assert len(inside) == count, name
    assert page.index("threshold 0.7: less similar") < page.index('<th scope="row" class="number">')


def test_matches_that_are_all_at_the_threshold_are_one_bar(tmp_path: Path) -> None:
    lines = lines_of([{"id": "a", "text": "one two three"}, {"id": "b", "text": "one two four"}])
    run, page = reported("dedup", tmp_path / "r.html", lines, "--threshold", "0.5", "--shingles", "word:1")
    assert list(run.pairs.values()) == [0.5]
    assert bars_of(page) == {"0.50": 1}


def test_the_recall_is_that_of_the_s_curve_over_the_matches(tmp_path: Path) -> None:
    base = words(1, 100).split()
    documents = [{"id": str(n), "text": " ".join([f"x{n}", *base[: 100 - 2 * n]])} for n in range(20)]
    run, page = reported("dedup", tmp_path / "r.html", lines_of(documents), "--threshold", "0.6", "--recall", "0.9")
    bands, rows = (int(number) for number in re.findall(r"(\d+) bands of (\d+) rows", page)[0])
    expected = sum(1 / (1 - (1 - s**rows) ** bands) for s in run.pairs.values())
    assert f"the estimated recall is {len(run.out) / expected:.4f}" in page
    assert "all candidates were compared" in page
    exact = reported("dedup", tmp_path / "r.html", lines_of(documents), "--threshold", "0.9", "--method", "exact")[1]
    assert "it finds every match" in exact


def test_what_the_caps_omitted_is_reported_with_the_recall(tmp_path: Path) -> None:
    documents = [{"id": str(n), "text": f"{STORY} {n % 7}"} for n in range(200)]
    run, page = reported("dedup", tmp_path / "r.html", lines_of(documents), *LOW, "--max-candidates", "5")
    (capped,) = (line for line in run.err.splitlines() if line.startswith("capped: "))
    assert capped in text_of(page)
    assert "buckets were not followed to their end" in page


def test_the_buckets_that_a_cap_cut_most_are_shown_with_an_example(tmp_path: Path) -> None:
    texts = [f"{STORY} {n}" for n in range(200)]
    near = NearDuplicates(threshold=0.5)
    signed = near.pipeline.scheme.sign(texts)
    sizes = sorted(Counter(near.pipeline.scheme.buckets(signed).ravel().tolist()).values())
    documents = lines_of([{"id": f"d{n}", "text": text} for n, text in enumerate(texts)])
    _, page = reported("dedup", tmp_path / "r.html", documents, *LOW, "--max-candidates", "5")
    found = re.findall(r'data-label="probes cut">(\d+)<.*?bucket">(\d+)<.*?newest"><bdi>(d\d+)</bdi>', page)
    assert [int(size) for _, size, _ in found] == sizes[:-6:-1]
    assert len({int(size) - int(cut) for cut, size, _ in found}) == 1  # the first probes of each are not cut
    assert {id for _, _, id in found} == {"d199"}
    _, page = reported("dedup", tmp_path / "r.html", documents, *LOW)
    assert "probes cut" not in page


def test_a_cluster_shows_its_least_similar_match_with_the_differences_marked(tmp_path: Path) -> None:
    run, page = reported("dedup", tmp_path / "r.html", LINES, *LOW)
    ((left, right),) = run.pairs
    assert (left, right) == ("a", "b")
    assert re.findall("<mark>(.*?)</mark>", page) == ["monday", "tuesday"]
    (similarity,) = run.pairs.values()
    assert f"The least similar match, {similarity:.4f}" in page
    shown = [
        html.unescape(re.sub("<.*?>", "", one)) for one in re.findall('<div class="text" dir="auto">(.*?)</div>', page)
    ]
    assert shown == [STORY, EDITED]


def test_long_texts_are_shown_around_their_first_difference(tmp_path: Path) -> None:
    base = words(2, 3_000)
    documents = [{"id": "a", "text": f"{base} left end"}, {"id": "b", "text": f"{base} right end"}]
    page = reported("dedup", tmp_path / "r.html", lines_of(documents))[1]
    assert re.findall("<mark>(.*?)</mark>", page) == ["left end", "right end"]
    assert len(re.findall(r"\[… [\d,]+ characters …\]", page)) == 2
    assert len(page) < 20_000


def test_a_page_has_a_bounded_size(tmp_path: Path) -> None:
    filler = "<\"'&>" * 700
    documents = [
        {"id": f"{'<' * 200}{group}-{n}", "text": f"{filler} {words(group, 2_000)} {n} " + f'"{n}' * 900}
        for group in range(30)
        for n in range(40)
    ]
    _, page = reported("dedup", tmp_path / "r.html", lines_of(documents), *LOW, "--matches", "/dev/null")
    assert page.count("<h3>") == 20
    assert page.count("<tr><td") == 20 * 20
    assert "The 20 largest of 30 clusters are shown." in page
    assert "40 documents, the newest 20 of them below" in page
    assert len(page.encode()) < 2_000_000


@pytest.mark.parametrize("command", ["dedup", "news"])
def test_hostile_texts_titles_and_ids_only_show(command: str, tmp_path: Path) -> None:
    options = ("--json",) if command == "news" else ()
    page = reported(command, tmp_path / "r.html", lines_of(hostile_documents()), *options)[1]
    assert facts_of(page)["clusters"] == "1"
    parsed = Elements(page)
    assert parsed.names <= set(ELEMENTS.split())
    assert parsed.attributes <= set(ATTRIBUTES.split())
    assert not any(character in page for character in "\x1b\u202e")
    assert "\u0301" * 5 not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_stories_have_headlines_and_outlets(tmp_path: Path) -> None:
    documents = [
        {
            "id": f"n{n}",
            "text": f"{words(5, 90)} {n}",
            "title": f"Bridge & tunnel {n}",
            "source": outlet,
            "time": 10**9 + n,
        }
        for n, outlet in enumerate(("Wire", "Herald", "Post"))
    ]
    run, page = reported("news", tmp_path / "r.html", lines_of(documents), "--json")
    assert re.findall("<h3>(.*?)</h3>", page) == [f"<bdi>{html.escape(run.out[0]['headline'])}</bdi>"]
    assert "3 outlets: Wire, Herald" in text_of(page)
    assert re.findall(r'data-label="outlet"><bdi>(.*?)</bdi>', page) == ["Post", "Herald", "Wire"]


def test_kept_rows_deletes_and_repeated_ids_are_reported(tmp_path: Path) -> None:
    path, clean = tmp_path / "in.jsonl", tmp_path / "clean.jsonl"
    path.write_bytes(LINES + LINES + b'{"id": "c", "deleted": true}\n')
    run = dedup(path, *LOW, "--keep", "first", "-o", clean, "--report", tmp_path / "r.html")
    page = text_of((tmp_path / "r.html").read_text(encoding="utf-8"))
    lines = [line for line in run.err.splitlines() if line.endswith(("rows kept", "counts", "deletes"))]
    assert len(lines) == 3
    assert [line for line in lines if line not in page] == []


def test_a_run_without_matches_has_a_report(tmp_path: Path) -> None:
    page = text_of(reported("dedup", tmp_path / "r.html", lines_of(DOCUMENTS[2:]))[1])
    assert "No match reaches the threshold." in page
    assert "No cluster: no two documents match." in page


# -- records


def customers(path: Path) -> Path:
    """Customers of two shops, some of them twice under other spellings."""
    random, rows = Random(3), list[list[str]]()
    for n in range(120):
        name, surname = random.choice(NAMES), random.choice(SURNAMES)
        born = f"19{random.randrange(40, 99)}-0{random.randrange(1, 10)}-1{random.randrange(10)}"
        rows.append([str(n), name, surname, born, random.choice(TOWNS)])
        if n % 3 == 0:
            rows.append([f"{n}b", name[: 1 + random.randrange(6)], f"{surname[:-1]}y", born, random.choice(TOWNS)])
    path.write_text("\n".join(map(",".join, [["id", "given_name", "surname", "dob", "city"], *rows])), encoding="utf-8")
    return path


NAMES = "Anna Robert Catherine Peter Michael Elizabeth John Maria William Thomas".split()
SURNAMES = "Garski Marlowe Petersen Nowak Smith Keller Haddad Rossi Tanaka Okafor".split()
TOWNS = "Leeds York Hull Bath".split()


@pytest.fixture
def linked(tmp_path: Path) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """The report of a run of `link`, and its other outputs."""
    outputs = {name: tmp_path / f"{name}.jsonl" for name in ("matches", "reviews", "entities")}
    named = [value for name, path in outputs.items() for value in (f"--{name}", path)]
    run = stream_lsh(
        "link", customers(tmp_path / "c.csv"), "--profile", "people", *named, "--report", tmp_path / "r.html"
    )
    assert run.code == 0, run.err
    found = {name: [json.loads(line) for line in path.read_text().splitlines()] for name, path in outputs.items()}
    return (tmp_path / "r.html").read_text(encoding="utf-8"), found


def test_the_report_of_records_has_the_numbers_of_the_outputs(linked: tuple[str, Any]) -> None:
    page, found = linked
    facts = facts_of(page)
    assert (facts["records"], facts["profile"]) == ("160", "people")
    assert facts["matches"] == str(len(found["matches"]))
    assert facts["pairs to review"] == str(len(found["reviews"]))
    assert facts["entities"] == str(len(found["entities"]))
    copies = sum(entity["size"] - 1 for entity in found["entities"])
    assert facts["copies: all but one of each entity"] == str(copies)
    pairs = [*found["matches"], *found["reviews"]]
    assert len(found["matches"]) > 20
    bars = bars_of(page)
    assert sum(bars.values()) == len(pairs)
    match = float(re.findall(r"match from a probability of ([\d.]+)<", page)[0])
    above = page.partition("match from a probability")[2]
    assert sum(bars_of(above).values()) == sum(pair["similarity"] >= match for pair in pairs)


def test_waterfalls_show_the_most_doubtful_pairs_and_add_up(linked: tuple[str, Any]) -> None:
    page, found = linked
    section = page.partition("<h2>Pairs closest to the threshold</h2>")[2].partition("<h2>")[0]
    shown = {tuple(re.findall("<bdi>(.*?)</bdi>", heading)) for heading in re.findall("<h3>(.*?)</h3>", section)}
    lowest = sorted(found["matches"], key=lambda pair: pair["score"])[:6]
    highest = sorted(found["reviews"], key=lambda pair: -pair["score"])[:6]
    limits = lowest[-1]["score"], highest[-1]["score"] if highest else 0.0
    score_of = {(pair["left"], pair["right"]): pair["score"] for pair in [*found["matches"], *found["reviews"]]}
    assert {pair for pair, score in score_of.items() if limits[1] < score < limits[0]} <= shown
    assert len(shown) == len(lowest) + len(highest)
    for heading, table in re.findall('<h3>(.*?)</h3>.*?<table class="steps">(.*?)</table>', section, re.DOTALL):
        *amounts, total = (
            float(re.sub("<.*?>", "", amount).replace("\u2212", "-"))
            for amount in re.findall('<td class="number amount">(.+?)</td>', table)
        )
        left, right = re.findall("<bdi>(.*?)</bdi>", heading)
        assert sum(amounts) == pytest.approx(total, abs=0.06)
        assert total == pytest.approx(score_of[left, right], abs=0.0051)


def test_the_weights_are_those_that_explain_reports(linked: tuple[str, Any]) -> None:
    page, found = linked
    section = page.partition("<h2>Match weights</h2>")[2].partition("<h2>")[0]
    levels = re.findall('data-label="m">(.*?)</td>.*?data-label="u">(.*?)</td>.*?data-label="bits">(.*?)</td>', section)
    assert len(levels) > 10
    for m, u, bits in levels:
        wanted = max(-30.0, min(30.0, math.log2(float(m) / float(u))))
        assert float(bits.replace("\u2212", "-")) == pytest.approx(wanted, abs=0.02)
    assert "phone" not in section.replace("phone, ", ""), "no record has a phone"
    assert "<h2>Reliability</h2>" in page
    assert found["matches"][0]["weights"].keys() <= {*re.findall(r"<bdi>(\w+) \(", section)}


def test_the_largest_entities_show_golden_record_and_members(linked: tuple[str, Any]) -> None:
    page, found = linked
    largest = min(found["entities"], key=lambda entity: (-entity["size"], entity["entity"]))
    section = page.partition("<h2>Largest entities</h2>")[2]
    rows = re.findall("<tr><td.*?</tr>", section.partition("</table>")[0])
    cells = [dict(re.findall('data-label="(.*?)">(?:<bdi>)?(.*?)(?:</bdi>)?</td>', row)) for row in rows]
    assert [row["record"] for row in cells] == ["golden record", *(member["id"] for member in largest["members"])]
    golden = {name: value for name, value in largest["golden"].items() if value}
    assert {name: cells[0][name] for name in golden} == golden


def hostile_records() -> list[dict[str, object]]:
    """Equal records that try to act in every field."""
    fields = {
        "given_name": HOSTILE,
        "surname": f"{'long' * 200}\u05e9\u05dc",
        "dob": "1970-01-02",
        "city": [f"{HOSTILE}1", "two"],
        "source": HOSTILE[:100],
    }
    return [{"id": f"{HOSTILE}{'i' * 150}{n}", **fields} for n in range(3)]


def test_hostile_records_only_show(tmp_path: Path) -> None:
    options = ("--profile", "people", "--threshold", "0.5", "--review-threshold", "0.1")
    page = reported("link", tmp_path / "r.html", lines_of(hostile_records()), *options)[1]
    assert facts_of(page)["entities"] == "1"
    parsed = Elements(page)
    assert parsed.names <= set(ELEMENTS.split())
    assert parsed.attributes <= set(ATTRIBUTES.split())
    assert not any(character in page for character in "\x1b\u202e")
    assert page.count("&lt;script&gt;") >= 10


def test_a_page_of_records_has_a_bounded_size(tmp_path: Path) -> None:
    filler = "<\"'&>" * 30
    records = [
        {"id": f"{filler}{entity}-{n}", "given_name": f"{filler} n{entity}", "surname": f"{filler} s{entity}",
         "dob": f"19{40 + entity}-02-03", "city": filler, "email": f"{entity}@{filler}", "phone": f"0113 {entity}0{n}"}
        for entity in range(20) for n in range(20)
    ]  # fmt: skip
    options = ("--profile", "people", "--max-candidates", "0", "--output", "/dev/null")
    page = reported("link", tmp_path / "r.html", lines_of(records), *options)[1]
    assert facts_of(page)["entities"] == "20"
    assert "The 12 largest of 20 entities are shown." in page
    assert "20 records, the newest 12 of them below" in page
    assert page.count("<h3>") <= 12 + 12
    assert len(page.encode()) < 2_000_000


def test_a_profile_without_weights_and_a_run_without_matches_have_a_report(tmp_path: Path) -> None:
    records = lines_of([{"id": "a", "name": "Ann Smith"}])
    page = text_of(reported("link", tmp_path / "r.html", records, "--profile", "people")[1])
    assert "The profile has no trained weights" in page
    assert "No entity: no two records match." in page
    both = lines_of([{"id": "a", "given_name": "Ann", "dob": "1980-01-02"}, {"id": "b", "given_name": "Ann"}])
    scored = reported("link", tmp_path / "r.html", both, "--profile", "people", "--threshold", "0.3")[1]
    assert "<h2>Pairs closest" in scored


@pytest.mark.parametrize(("link", "compared"), [("link", "Those of different sources"), ("both", "All of them")])
def test_a_page_states_which_candidates_are_compared(tmp_path: Path, link: str, compared: str) -> None:
    rows = [{"id": n, "source": source, "given_name": "Ann", "surname": "Lee"} for n, source in enumerate("aab")]
    page = reported("link", tmp_path / "r.html", lines_of(rows), "--profile", "people", "--link-type", link)[1]
    assert facts_of(page)["candidates"] == "3"
    assert f"{compared} are compared" in text_of(page)


# -- wrong use


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dedup", "-", "--report", "-"), "expected a file"),
        (("dedup", "-", "--query", "x.jsonl", "--report", "r.html"), "--report: needs all pairs"),
        (("news", "-", "--report", "no-such-folder/r.html"), "cannot be written"),
        (("dedup", "-", "--report", "m.jsonl", "--matches", "m.jsonl"), "two outputs cannot be one file"),
    ],
)
def test_wrong_use_is_reported_with_exit_code_2(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    run = stream_lsh(*arguments, stdin=LINES, cwd=tmp_path)
    assert run.code == 2
    assert message in run.err
