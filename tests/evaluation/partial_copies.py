"""Sections of pages that are planted in other texts, and the ways to find them."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from stream_lsh import NearDuplicates, PartialCopies
from stream_lsh.model import Document
from tests.evaluation import corpora

REPLACED = (0.0, 0.05, 0.15)
"""Shares of words that are replaced in a copy."""
_COPIES = 150
_LEAST_WORDS = 300


class Planted(NamedTuple):
    """Pages, letters with a section of one of them, and which."""

    pages: list[Document]
    letters: list[Document]
    origins: dict[str, str]


def plant(data: Path, replaced: float, rng: random.Random, copies: int = _COPIES) -> Planted:
    """Pages of one version, and letters with sections of them."""
    pages = [page for page in corpora.llvm_bodies(data, version=16) if len((page.text or "").split()) >= _LEAST_WORDS]
    letters = [one.text or "" for one in corpora.newsgroups(data).documents]
    planted, origins = list[Document](), dict[str, str]()
    for number in range(copies):
        page = rng.choice(pages)
        words = (page.text or "").split()
        length = round(len(words) * rng.uniform(0.2, 0.5))
        start = rng.randrange(len(words) - length)
        section = [word if rng.random() >= replaced else "indeed" for word in words[start : start + length]]
        own = _letter(letters, round(length * rng.uniform(0.5, 3)), rng)
        at = rng.randrange(len(own) + 1)
        id = f"letter{number}"
        planted.append(Document(id, " ".join([*own[:at], *section, *own[at:]])))
        origins[id] = page.id
    return Planted(pages, planted, origins)


def _letter(letters: Sequence[str], words: int, rng: random.Random) -> list[str]:
    """`words` words out of letters."""
    found: list[str] = []
    while len(found) < words:
        found += rng.choice(letters).split()
    return found[:words]


def near_duplicates(threshold: float, **settings: object) -> Callable[[Sequence[Document]], set[frozenset[str]]]:
    """Pairs by a measure of whole texts."""

    def pairs(documents: Sequence[Document]) -> set[frozenset[str]]:
        near = NearDuplicates(threshold, max_candidates=0, **settings)  # type: ignore[arg-type]
        return {frozenset((one.left, one.right)) for one in near.add_many(documents)}

    return pairs


def partial_copies(documents: Sequence[Document]) -> set[frozenset[str]]:
    """Pairs by what is copied."""
    copies = PartialCopies()
    for one in documents:
        copies.add(one.id, one.text or "")
    return {frozenset((one.left, one.right)) for one in copies.find()}


WAYS: dict[str, Callable[[Sequence[Document]], set[frozenset[str]]]] = {
    "Jaccard .8": near_duplicates(0.8),
    "Jaccard .5": near_duplicates(0.5),
    "containment .8, size_ratio 2": near_duplicates(0.8, measure="containment"),
    "partial copies": partial_copies,
}


def measured(planted: Planted) -> list[tuple[str, int, int]]:
    """For each way the planted pairs that it finds, and the other pairs of a letter with anything."""
    rows = []
    wanted = {frozenset(pair) for pair in planted.origins.items()}
    for name, pairs_of in WAYS.items():
        found = pairs_of([*planted.pages, *planted.letters])
        others = {pair for pair in found - wanted if pair & planted.origins.keys()}
        rows.append((name, len(found & wanted), len(others)))
    return rows
