"""`stream-lsh mirrors`: sites by the pairs of their pages, and which one contains which, from files and folders."""

import json
import random
from pathlib import Path

import pytest

from stream_lsh.wire.message import as_iso
from tests.unit.cli.runs import dedup, lines_of, ran, stream_lsh

WORDS = [f"w{number}" for number in range(400)]


def page(seed: int, words: int = 120) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


FRAME = "menu of the mirror " + page(99, 20)
PAGES = [
    {"id": "1", "url": "https://www.full.org/1", "text": page(1), "time": as_iso(1000)},
    {"id": "2", "url": "https://full.org/2", "text": page(2), "time": as_iso(1000)},
    {"id": "3", "url": "https://full.org:443/3", "text": page(3), "time": as_iso(1000)},
    {"id": "4", "url": "http://MIRROR.net/a", "text": f"<body><p>{FRAME}</p><p>{page(1)}</p>", "time": as_iso(90_000)},
    {"id": "5", "url": "http://mirror.net/b", "text": f"{FRAME} {page(2)}", "time": as_iso(60_000)},
    {"id": "6", "source": "excerpt.com", "text": " ".join(page(3).split()[:70])},
    {"id": "7", "source": "excerpt.com", "text": page(7)},
    {"id": "8", "text": page(1)},
]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(lines_of(PAGES))
    return path


def test_sites_have_shares_a_direction_and_a_first_time(pages: Path) -> None:
    run = stream_lsh("mirrors", pages, "--json")
    assert run.out == [
        {
            "left": "full.org",
            "right": "mirror.net",
            "left_pages": 3,
            "right_pages": 2,
            "left_mirrored": 2,
            "right_mirrored": 2,
            "left_share": 2 / 3,
            "right_share": 1.0,
            "direction": "both",
            "first_time": 60_000,
        },
        {
            "left": "excerpt.com",
            "right": "full.org",
            "left_pages": 2,
            "right_pages": 3,
            "left_mirrored": 1,
            "right_mirrored": 0,
            "left_share": 0.5,
            "right_share": 0.0,
            "direction": "left_in_right",
            "first_time": 1000,
        },
    ]
    assert stream_lsh("mirrors", pages, "--json", "--min-share", "0.6").out == run.out[:1]


def test_mirrors_are_printed_in_lines(pages: Path) -> None:
    assert ran("mirrors", pages, "--min-share", "0.9").stdout.decode().splitlines() == [
        "full.org ~ mirror.net",
        "   66.7%: 2 of 3 pages of full.org are in mirror.net",
        "  100.0%: 2 of 2 pages of mirror.net are in full.org",
        "  since 1970-01-01T00:01:00Z",
    ]


def test_the_pairs_are_those_of_dedup_with_the_preset(pages: Path, tmp_path: Path) -> None:
    stream_lsh("mirrors", pages, "--json", "--matches", tmp_path / "pairs")
    found = {(one["left"], one["right"]) for one in map(json.loads, (tmp_path / "pairs").read_text().splitlines())}
    assert found == dedup(pages, "--preset", "mirrors").pairs.keys()
    assert found == {("1", "4"), ("1", "8"), ("2", "5"), ("3", "6"), ("4", "8")}


def test_a_page_that_goes_takes_its_site_along(pages: Path) -> None:
    with pages.open("ab") as file:
        file.write(lines_of([{"id": "4", "deleted": True}, {"id": "5", "deleted": True}]))
    assert [one["left"] for one in stream_lsh("mirrors", pages, "--json").out] == ["excerpt.com"]


def test_the_folder_within_the_folder_is_the_site(tmp_path: Path) -> None:
    for name, text in {"one/a.html": f"<p>{page(1)}", "two/sub/b.html": f"<p>{page(1)}", "two/c.html": page(2)}.items():
        (tmp_path / "sites" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sites" / name).write_text(text)
    (found,) = stream_lsh("mirrors", tmp_path / "sites", "--json").out
    assert (found["left"], found["left_share"], found["right"], found["right_share"]) == ("one", 1.0, "two", 0.5)


def test_with_jaccard_both_pages_of_a_pair_are_mirrored(pages: Path) -> None:
    (found,) = stream_lsh("mirrors", pages, "--json", "--measure", "jaccard", "--threshold", "0.7").out
    assert (found["left"], found["left_mirrored"], found["right_mirrored"]) == ("full.org", 2, 2)


def test_pages_without_sites_are_reported(pages: Path) -> None:
    without = [{"id": one["id"], "text": one["text"]} for one in PAGES]
    message = "no document has a source, a URL or a subfolder"
    run = stream_lsh("mirrors", "-", "--json", stdin=lines_of(without))
    assert (run.code, run.out, message in run.err) == (0, [], True)
    assert message not in stream_lsh("mirrors", pages, "--json").err
