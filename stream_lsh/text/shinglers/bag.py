"""Bags of shingles: every occurrence of a shingle is a different element.

So the Jaccard similarity of the results is that of the bags, by their greatest union: the sum of the lesser counts over
the sum of the greater ones.  A refrain then counts once for each repetition.

Source: J. Leskovec, A. Rajaraman and J. Ullman, Mining of Massive Datasets, exercise 3.1.2 for similarities of bags.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.hashing import GOLDEN, fmix64
from stream_lsh.text.shingles import Shingler, Shingles, Units


def bag(hashes: U64) -> U64:
    """The set of (hash, number of earlier occurrences): ascending, without repetitions, one element for each hash.

    The first occurrence of a hash is the hash itself, so a document without repetitions is its own bag.

    Guarantees:
        independent of the order of the hashes; exact except for accidental collisions of 64-bit hashes.

    Example:
        >>> from stream_lsh.measure.jaccard import jaccard
        >>> left, right = bag(np.array([1, 2, 3, 3], np.uint64)), bag(np.array([1, 1, 3, 3, 3, 3], np.uint64))
        >>> jaccard(left, right) == 3 / 7
        True
    """
    ordered = np.sort(hashes)
    if ordered.size < 2:
        return ordered
    first = _changes(ordered)
    if first.all():
        return ordered
    _number(ordered, first)
    ordered.sort()
    return ordered


def bags(shingles: Shingles) -> Shingles:
    """The shingles of every document, each repetition as a separate shingle; in the order of the texts.

    They are those of `bag` for each document, in another order.

    Cost:
        a sort: some 300 ns a shingle.

    Example:
        >>> batch = Shingles(np.array([7, 7, 9, 7], dtype=np.uint64), np.array([0, 3, 4]))
        >>> numbered = bags(batch).hashes.tolist()
        >>> numbered[0] == numbered[3] == 7 != numbered[1], numbered[2]
        (True, 9)
    """
    hashes, counts = shingles.hashes, shingles.counts
    if hashes.size < 2:
        return shingles
    # A stable sort, so the first of equal hashes in the text stays the first.
    order = np.argsort(hashes, kind="stable")
    first = np.ones(hashes.size, np.bool_)
    if counts.size > 1:
        documents = np.repeat(np.arange(counts.size), counts)
        order = order[np.argsort(documents[order], kind="stable")]
        first = _changes(documents[order])
        first |= _changes(hashes[order])
    else:
        first = _changes(hashes[order])
    if first.all():
        return shingles
    ordered = hashes[order]
    _number(ordered, first)
    numbered = np.empty_like(hashes)
    numbered[order] = ordered
    return Shingles(numbered, shingles.offsets)


def _changes(ordered: U64 | I64) -> Bools:
    """Whether each value differs from the previous one."""
    first = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def _number(ordered: U64, first: Bools) -> None:
    """Replace each hash that is not the first of its run by a hash of it and its number in the run."""
    positions = np.arange(ordered.size)
    occurrence = positions - np.maximum.accumulate(np.where(first, positions, 0))
    repeated = ~first
    ordered[repeated] = fmix64(ordered[repeated] + occurrence[repeated].astype(np.uint64) * GOLDEN)


class BagShingler:
    """The shingles of another shingler with their counts: each occurrence of a shingle has a different hash.

    Args:
        inner: makes the shingles.

    Guarantees:
        the Jaccard similarity of two documents is Σ min / Σ max of their counts, except for accidental collisions; the
        first occurrence of a shingle keeps its hash.
    Cost:
        some 300 ns a shingle beside the inner shingler's.

    Example:
        >>> from stream_lsh.text.shinglers.char import CharShingler
        >>> once, twice = BagShingler(CharShingler(1))(["ab", "abab"]).counts.tolist()
        >>> twice, len({*BagShingler(CharShingler(1))(["abab"]).hashes.tolist()})
        (4, 4)
    """

    def __init__(self, inner: Shingler) -> None:
        self._inner = inner
        self.spec = f"bag:{inner.spec}"
        self.version = inner.version
        self.k = inner.k
        self.library = inner.library

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        return bags(self._inner(texts))

    def units(self, text: str) -> Units:
        """The units of the inner shingler."""
        return self._inner.units(text)
