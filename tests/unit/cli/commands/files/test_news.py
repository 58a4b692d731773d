"""`stream-lsh news`: the stories in folders, JSON lines and CSV; the same pairs as `dedup --preset news`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stream_lsh.wire.message import as_iso
from tests.unit.cli.runs import dedup, lines_of, ran, stream_lsh

FACTS = (
    "The council met on Monday and voted to repair the old bridge before winter comes, after a debate in which nine of "
    "the eleven members spoke. Engineers had warned in spring that two of the four piers were not safe for lorries."
)
MORE = "The work is to cost four million and to last until March, held the mayor, who hopes for help from the region."
PAGE = (
    '<html><head><title>Old bridge will be repaired</title><meta property="article:published_time" '
    'content="2026-03-01T07:00:00Z"></head><body><nav>Home News Sport</nav><article><p>{}</p></article></body></html>'
)
RAIN = "Rain is expected in the north, with some sun later in the week. " * 5
HOUR_MS = 3_600_000
EIGHT_MS = 1_772_352_000_000  # 2026-03-01T08:00:00Z


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    """Four articles on one thing and one on another, each in the folder of its outlet, an hour between two."""
    folder = tmp_path / "articles"
    texts = {
        "agency/bridge.txt": f"Council votes to repair old bridge\n{FACTS} {MORE}",
        "herald/town/17.txt": f"Bridge repair agreed\n{FACTS}",
        "herald/18.txt": f"Bridge: the facts\n{FACTS} {MORE[:40]}",
        "gazette/bridge.html": PAGE.format(FACTS),
        "gazette/rain.txt": RAIN,
        "gazette/flash.txt": FACTS[:150],
    }
    for hour, (name, text) in enumerate(texts.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        os.utime(folder / name, (0, EIGHT_MS / 1000 + 3600 * hour))
    return folder


def shown(*arguments: str | Path) -> list[str]:
    done = ran("news", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().splitlines()


def test_a_folder_of_articles_shows_its_stories(articles: Path) -> None:
    assert shown(articles) == [
        "Council votes to repair old bridge",
        "  4 documents: herald/18.txt, herald/town/17.txt, agency/bridge.txt, gazette/bridge.html",
        "  3 outlets: gazette, agency +1:00:00, herald +2:00:00",
        "  from 2026-03-01T07:00:00Z to 2026-03-01T10:00:00Z",
    ]


def test_a_line_of_json_has_the_fields_of_a_message_of_clusters(articles: Path) -> None:
    run = stream_lsh("news", articles, "--json")
    seven = EIGHT_MS - HOUR_MS
    assert run.out == [
        {
            "cluster": run.out[0]["cluster"],
            "headline": "Council votes to repair old bridge",
            "size": 4,
            "representative": "agency/bridge.txt",
            "sources": [
                {"source": "gazette", "first_time": seven, "documents": 1},
                {"source": "agency", "first_time": EIGHT_MS, "documents": 1},
                {"source": "herald", "first_time": EIGHT_MS + HOUR_MS, "documents": 2},
            ],
            "source_count": 3,
            "first": {"id": "gazette/bridge.html", "source": "gazette", "time": seven},
            "first_time": seven,
            "last_time": EIGHT_MS + 2 * HOUR_MS,
            "members": ["herald/18.txt", "herald/town/17.txt", "agency/bridge.txt", "gazette/bridge.html"],
        }
    ]
    assert run.err.startswith("6 documents, ")


def test_the_pairs_are_those_of_dedup_with_the_preset(articles: Path, tmp_path: Path) -> None:
    shown(articles, "--matches", tmp_path / "pairs")
    found = {(one["left"], one["right"]) for one in map(json.loads, (tmp_path / "pairs").read_text().splitlines())}
    assert found == dedup(articles, "--preset", "news").pairs.keys()
    assert len(found) == 6
    # What is set beside a preset holds, wherever it stands.
    assert dedup("--threshold", "0.99", articles, "--preset=news").pairs == {}
    assert "gazette/flash.txt" in {
        id for pair in dedup(articles, "--preset", "news", "--min-characters", "0").pairs for id in pair
    }


def test_pairs_that_are_further_apart_than_three_days_are_none(articles: Path) -> None:
    old = articles / "agency/bridge.txt"
    os.utime(old, (0, EIGHT_MS / 1000 - 4 * 86_400))
    (story,) = stream_lsh("news", articles, "--json").out
    assert "agency/bridge.txt" not in story["members"]
    (story,) = stream_lsh("news", articles, "--json", "--retention", "5d").out
    assert story["first"]["id"] == "agency/bridge.txt"


def test_json_lines_and_csv_have_title_outlet_and_address(tmp_path: Path) -> None:
    lines = [
        {"id": 1, "text": FACTS, "time": as_iso(5), "title": "First", "source": "Agency"},
        {"id": 2, "text": f"<p>{FACTS}</p>", "time": as_iso(9), "url": "https://www.herald.example/1"},
    ]
    expected = [("Agency", 5, 1), ("herald.example", 9, 1)]
    path = tmp_path / "articles.jsonl"
    path.write_bytes(lines_of(lines))
    (story,) = stream_lsh("news", path, "--json").out
    assert [tuple(outlet.values()) for outlet in story["sources"]] == expected
    assert story["headline"] == "First"
    table = tmp_path / "articles.csv"
    rows = [
        ["1", FACTS, as_iso(5), "First", "Agency", ""],
        ["2", f"<p>{FACTS}</p>", as_iso(9), "", "", "https://herald.example/"],
    ]
    table.write_text(
        "".join(
            f"{','.join(f'{chr(34)}{field}{chr(34)}' for field in row)}\n"
            for row in [["no", "body", "at", "head", "by", "link"], *rows]
        )
    )
    names = {"--id-column": "no", "--text-column": "body", "--time-column": "at", "--title-column": "head"}
    names |= {"--source-column": "by", "--url-column": "link"}
    (same,) = stream_lsh("news", table, "--json", *(word for pair in names.items() for word in pair)).out
    assert same == story


def test_control_characters_of_a_title_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "articles.jsonl"
    lines = [{"id": id, "text": FACTS, "title": "\x1b[2Jgone", "source": f"\x9b{id}"} for id in "ab"]
    path.write_bytes(lines_of(lines))
    printed = "\n".join(shown(path))
    assert printed.replace("\n", "").isprintable()
    assert printed.startswith(r"\x1b[2Jgone")


def test_text_needs_no_library_for_html_and_a_page_names_the_missing_one(articles: Path) -> None:
    without = (
        "import sys; sys.modules['resiliparse'] = None; from stream_lsh.cli.main import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", without, "news", "--jobs", "1"]
    text = subprocess.run([*command, articles / "herald"], capture_output=True, check=False, text=True)  # noqa: S603
    assert (text.returncode, len(text.stdout.splitlines())) == (0, 4)
    page = subprocess.run([*command, articles], capture_output=True, check=False, text=True)  # noqa: S603
    assert page.returncode == 2
    assert 'pip install "stream_lsh[html]"' in page.stderr


def test_pages_in_other_encodings_are_read(articles: Path) -> None:
    page = '<meta charset="iso-8859-1"><title>Brücke</title><p>' + FACTS.replace("bridge", "Brücke")
    (articles / "gazette/latin.html").write_bytes(page.encode("latin1"))
    (articles / "gazette/utf8.html").write_text(page.replace("iso-8859-1", "utf-8"))
    (story,) = (
        one
        for one in stream_lsh("news", articles, "--json", "--threshold", "0.9").out
        if one["size"] == 2 and "latin" in str(one)
    )
    assert story["headline"] == "Brücke"
