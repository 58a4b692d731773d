"""The corpora with their truth, read from the folder of the data."""

import csv
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stream_lsh import Document
from stream_lsh.wire.message import as_iso

Pair = tuple[str, str]
MCCORMICK = (1000, 2500)
"""Of the smallest set, 100, the data have the pairs but neither the articles nor the truth."""


class Corpus(NamedTuple):
    """Documents, and what is known about them.

    Attributes:
        name: as the figures call it.
        documents: in the order of the file.
        truth: pairs that are one thing, whatever their texts.
        exact: similarity of every pair that has at least `least`, rounded to four places; runs of three words.
        least: how far down `exact` goes.
    """

    name: str
    documents: list[Document]
    truth: set[Pair]
    exact: dict[Pair, float]
    least: float


def corpora(data: Path) -> Iterator[Corpus]:
    """Every corpus of documents, one after the other."""
    yield newsgroups(data)
    yield llvm_pages(data)
    for size in MCCORMICK:
        yield mccormick(data, size)


def newsgroups(data: Path) -> Corpus:
    """Postings in the order of their dates; postings with one Message-ID are one thing."""
    folder = data / "newsgroups20"
    documents = [Document(one["id"], one["text"], one["ts"] * 1000) for one in _json_lines(folder / "docs.jsonl.gz")]
    truth = set(_pairs(folder / "truth_same_message_id.csv"))
    return Corpus("newsgroups20", documents, truth, exact_pairs(folder / "pairs_exact_jaccard.csv.gz"), 0.3)


def newsgroup_postings(data: Path) -> Iterator[dict[str, Any]]:
    """The postings with their headers."""
    return _json_lines(data / "newsgroups20" / "docs.jsonl.gz")


def llvm_pages(data: Path) -> Corpus:
    """Pages of four versions of a documentation; a page is one thing in all of them."""
    folder = data / "llvm_docs_pages"
    documents = [Document(one["id"], one["text"], one["version"]) for one in _json_lines(folder / "docs.jsonl.gz")]
    truth = set(_pairs(folder / "truth_same_page.csv"))
    return Corpus("llvm_docs_pages", documents, truth, exact_pairs(folder / "pairs_exact_jaccard.csv.gz"), 0.7)


def llvm_bodies(data: Path, version: int) -> list[Document]:
    """The bodies of the pages of one version, without menus; pages that have none are left out."""
    pages = _json_lines(data / "llvm_docs_pages" / "docs.jsonl.gz")
    return [Document(one["id"], one["main"]) for one in pages if one["version"] == version and one["main"]]


def mccormick(data: Path, size: int) -> Corpus:
    """Articles of shuffled sentences with a few planted copies."""
    folder = data / "mccormick"
    rows = (folder / f"articles_{size}.train").read_text(encoding="latin-1").split("\n")
    documents = [Document(id, text) for id, _, text in (row.partition(" ") for row in rows) if id]
    lines = (folder / f"articles_{size}.truth").read_text(encoding="ascii").split("\n")
    truth = {pair_of(*line.split()) for line in lines if line}
    exact = exact_pairs(folder / f"pairs_exact_jaccard_{size}.csv.gz")
    return Corpus(f"mccormick {size}", documents, truth, exact, 0.5)


def exact_pairs(path: Path) -> dict[Pair, float]:
    """The pairs of such a file with their similarities."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return {pair_of(row["id_l"], row["id_r"]): float(row["jaccard"]) for row in csv.DictReader(file)}


def write_json_lines(documents: Iterable[Document], path: Path) -> Path:
    """Write documents as `dedup` reads them; returns the path."""
    with path.open("w", encoding="utf-8") as out:
        for one in documents:
            out.write(json.dumps({"id": one.id, "text": one.text, "time": as_iso(one.time_ms)}) + "\n")
    return path


def pair_of(one: str, other: str) -> Pair:
    """The two, the lesser first."""
    return (one, other) if one < other else (other, one)


def _pairs(path: Path) -> Iterator[Pair]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield pair_of(row["id_l"], row["id_r"])


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
