"""`--method exact`: the matches that the commands find with it, and the options that they reject beside it."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.runs import DOCUMENTS, EDITED, EXPECTED, STORY, dedup, lines_of, stream_lsh

SWAPPED = lines_of([{"id": str(n), "text": f"{STORY if n % 2 else EDITED} and {n // 2}"} for n in range(60)])


def test_dedup_finds_the_same_pairs_by_either_method_whatever_the_number_of_jobs(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_bytes(SWAPPED)
    exact = [dedup(file, "--threshold", "0.8", "--method", "exact", "--jobs", jobs) for jobs in ("1", "2")]
    bands = dedup(file, "--threshold", "0.8", "--max-candidates", "0", "--recall", "0.999")
    assert [one.code for one in exact] == [0, 0]
    assert exact[0].pairs == exact[1].pairs == bands.pairs
    assert len(bands.pairs) > 60


def test_the_documents_of_the_other_tests_give_their_pairs() -> None:
    found = dedup("-", "--threshold", "0.5", "--method", "exact", stdin=lines_of(DOCUMENTS))
    assert found.pairs == EXPECTED


@pytest.mark.parametrize("command", ["dedup", "news", "mirrors"])
def test_options_of_bands_are_rejected_beside_it(command: str) -> None:
    options = ("--method", "exact", "--recall", "0.5", "--max-candidates", "7")
    refused = stream_lsh(command, "-", *options, stdin=lines_of(DOCUMENTS))
    assert (refused.code, refused.out) == (2, [])
    assert "--recall: got 0.5, expected none, as the method is exact" in refused.err
    assert "--max-candidates: got 7, expected none" in refused.err


def test_news_and_mirrors_take_it_too() -> None:
    copies = lines_of([{"id": id, "text": STORY * 3, "url": f"http://{id}.org/p"} for id in ("one", "two")])
    for command in ("news", "mirrors"):
        found = stream_lsh(command, "-", "--method", "exact", "--min-characters", "0", "--json", stdin=copies)
        assert found.code == 0, found.err
    stories = stream_lsh("news", "-", "--method", "exact", "--min-characters", "0", "--json", stdin=copies).out
    assert len(stories) == 1, json.dumps(stories)
