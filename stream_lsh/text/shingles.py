"""Shingles of a batch of documents, and the interface of shinglers.

Shingles are 64-bit hashes.  n distinct shingles contain an accidental collision with a probability of about n² / 2^65:
3e-12 for ten thousand, 3e-8 for a million.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from stream_lsh.arrays import I64, U64

FULL = "/full"
"""The suffix of the name of a shingler that produces no shingles for a text of fewer than k units."""


@dataclass(frozen=True, slots=True, eq=False)
class Shingles:
    """The shingle hashes of a batch of documents, one document after the other, with repetitions.

    Attributes:
        hashes: uint64[m], in the order of the texts.
        offsets: int64[n + 1]; document i owns `hashes[offsets[i]:offsets[i + 1]]`.

    Example:
        >>> batch = Shingles(np.array([7, 7, 9], dtype=np.uint64), np.array([0, 2, 2, 3]))
        >>> len(batch), batch.counts.tolist(), batch.document(0).tolist()
        (3, [2, 0, 1], [7, 7])
    """

    hashes: U64
    offsets: I64

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def counts(self) -> I64:
        """The number of shingles of each document, with repetitions: int64[n]."""
        return self.offsets[1:] - self.offsets[:-1]

    def document(self, row: int) -> U64:
        """The hashes of one document, a view."""
        return self.hashes[self.offsets[row] : self.offsets[row + 1]]


def join_shingles(parts: Sequence[Shingles]) -> Shingles:
    """Concatenate batches; a single part is returned unchanged."""
    if len(parts) == 1:
        return parts[0]
    counts = [part.counts for part in parts]
    return Shingles(
        np.concatenate([part.hashes for part in parts]) if parts else np.empty(0, np.uint64),
        offsets_of(np.concatenate(counts) if counts else np.empty(0, np.int64)),
    )


def offsets_of(counts: I64) -> I64:
    """The start of each document, and the end of the last one: int64[n + 1]."""
    offsets = np.zeros(counts.size + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


class Units(NamedTuple):
    """The units of the shingles of a text (characters, words): their starts and ends, int64[n] ascending.

    Shingle i consists of k units starting at `firsts[i]`, or of all units if there are fewer; int64[m] ascending.
    """

    starts: I64
    ends: I64
    firsts: I64


def runs_of(starts: I64, ends: I64, k: int, *, full: bool = False) -> Units:
    """The units of a text in which every run of k is a shingle; fewer units are one shingle unless `full`."""
    least = 0 if full or not starts.size else 1
    return Units(starts, ends, np.arange(max(least, starts.size - k + 1)))


class Shingler(Protocol):
    """Texts to shingle hashes.

    A document's hashes depend on its text and on the shingler alone, never on its neighbours in the batch.
    """

    @property
    def spec(self) -> str:
        """The name in the catalog, such as `word:3`; part of the scheme's fingerprint."""

    @property
    def version(self) -> int:
        """Raised whenever the hashes of any text change; part of the scheme's fingerprint."""

    @property
    def library(self) -> str:
        """The optional library that finds the units, with its version, or ""; part of the fingerprint too."""

    @property
    def k(self) -> int:
        """Units in a shingle."""

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order; an empty text has none."""

    def units(self, text: str) -> Units:
        """The units of the shingles of one text."""
