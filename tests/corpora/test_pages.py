"""The pages of the corpus with tags again: their main text is found, and pages stay as near as their articles are.

The corpus has, of each page, all its text and the text of its body, and no tags.  They are put back as Sphinx sets them
around navigation, body and footer.
"""

import gzip
import json
import random
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

import pytest

from stream_lsh.text.page import read_page
from tests.evaluation.oracles import jaccard, word_windows

pytestmark = pytest.mark.corpus

PAGES = 60
VERSIONS = 2
_SENTENCE = re.compile(r"(?<=[.:?]) (?=[A-Z])")


class Source(NamedTuple):
    """A page of the corpus in one version."""

    page: str
    text: str
    main: str

    @property
    def html(self) -> str:
        """The page with tags."""
        before, _, after = self.text.partition(self.main)
        head, _, body = self.main.partition(" ¶ ")
        paragraphs = "".join(f"<p>{escape(one)}</p>\n" for one in _SENTENCE.split(body))
        return (
            f"<html><head><title>{escape(head)}</title></head><body>"
            f'<div class="related" role="navigation">{escape(before)}</div>'
            f'<div class="document"><div class="documentwrapper"><div class="body" role="main">'
            f"<section><h1>{escape(head)} ¶</h1>{paragraphs}</section></div></div></div>"
            f'<div class="footer" role="contentinfo">{escape(after)}</div></body></html>'
        )


@pytest.fixture(scope="module")
def sources(data_dir: Path) -> list[list[Source]]:
    """Some pages, each in two versions."""
    versions: dict[str, list[Source]] = {}
    with gzip.open(data_dir / "llvm_docs_pages" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        for one in map(json.loads, file):
            if one["main"] and " ¶ " in one["main"] and len(one["text"]) < 30_000:
                versions.setdefault(one["page"], []).append(Source(one["page"], one["text"], one["main"]))
    pages = [found[:VERSIONS] for _, found in sorted(versions.items()) if len(found) >= VERSIONS]
    return random.Random(1).sample(pages, PAGES)


def shingles(text: str) -> set[tuple[str, ...]]:
    return set(word_windows(text.lower(), 3))


def test_the_main_text_is_that_of_the_body(sources: list[list[Source]]) -> None:
    near = [jaccard(shingles(read_page(one.html).text), shingles(one.main)) for page in sources for one in page]
    before = [jaccard(shingles(one.text), shingles(one.main)) for page in sources for one in page]
    assert sum(near) / len(near) > 0.98
    assert sum(before) / len(before) < 0.6


def test_the_text_of_the_page_is_all_of_it(sources: list[list[Source]]) -> None:
    assert [one.page for page in sources for one in page if read_page(one.html, "page").text != one.text] == []


def test_pages_are_as_near_to_each_other_as_their_bodies(sources: list[list[Source]]) -> None:
    found = [[shingles(read_page(one.html).text) for one in page] for page in sources]
    truth = [[shingles(one.main) for one in page] for page in sources]
    for at, (one, true) in enumerate(zip(found, truth, strict=True)):
        assert jaccard(*one) == pytest.approx(jaccard(*true), abs=0.05)
        assert jaccard(one[0], found[at - 1][1]) == pytest.approx(jaccard(true[0], truth[at - 1][1]), abs=0.05)
