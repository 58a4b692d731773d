"""Every two texts compared with Python's own sets: slow, obvious, and nothing of it shared with what it judges."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

Pair = tuple[str, str]
Shingles = frozenset[tuple[str, ...]]


def word_triples(text: str) -> Shingles:
    """The runs of three words; all words where there are fewer."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text).lower())
    return frozenset(tuple(words[at : at + 3]) for at in range(max(1, len(words) - 2))) if words else frozenset()


def jaccard(left: Shingles, right: Shingles) -> float:
    """The share of the union that is shared."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


class _Sized(NamedTuple):
    size: int
    id: str
    shingles: Shingles


def all_pairs(texts: Mapping[str, str], threshold: float) -> Iterator[dict[Pair, float]]:
    """The pairs of at least this similarity, those of one text at a time: it takes seconds."""
    shingles = {id: word_triples(text) for id, text in texts.items()}
    ordered = sorted(_Sized(len(of_one), id, of_one) for id, of_one in shingles.items())
    for at, small in enumerate(ordered):
        similarities: dict[Pair, float] = {}
        for large in ordered[at + 1 :]:
            if small.size < threshold * large.size:
                break  # no set that is larger still can be similar enough
            similarity = jaccard(small.shingles, large.shingles)
            if similarity >= threshold:
                similarities[pair_of(small.id, large.id)] = similarity
        yield similarities


def pair_of(left: str, right: str) -> Pair:
    """The two in the order of the topic `matches`."""
    return min(left, right), max(left, right)
