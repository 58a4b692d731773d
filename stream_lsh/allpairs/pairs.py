"""All pairs of documents whose exact similarity reaches a threshold: the reference for results of signatures.

    documents ─▶ sets of shingles ─▶ (element, document) in the engine ─▶ three rounds ─▶ pairs

The pairs are computed for groups of left documents, so that neither memory nor disk has to hold all intermediate rows
at once; an upper bound of the rows of each left document determines the size of a group.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from stream_lsh.allpairs.engine import Engine
from stream_lsh.allpairs.rounds import (
    CANDIDATES,
    COUNTS,
    PAIR_COUNTS,
    PAIRS,
    POSTINGS,
    RAREST,
    SYMBOLS,
    TABLES,
    terms_of,
)
from stream_lsh.arrays import I64, U64
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.shingled.scheme import ShingledTexts
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.model import Document, Match
from stream_lsh.text.catalog import DEFAULT

MEMORY = 1 << 30
"""The default memory limit of the engine, in bytes."""

_BYTES_A_ROW = 64
"""Memory of a row in a join and the aggregation after it, at most."""
_AT_ONCE = 200
"""Texts per batch of the shingler."""
_APPENDED = 1 << 20
"""Elements per append to the engine."""
_ROUNDING = 1 - 1e-12
"""A quotient that reaches the threshold only by rounding is a result."""


def all_pairs(
    documents: Iterable[Document],
    threshold: float,
    shingles: str = DEFAULT,
    *,
    normalise: Sequence[str] = ("nfc",),
    measure: Measure = JACCARD,
    memory: int = MEMORY,
) -> Iterator[Match]:
    """All pairs of documents that reach the threshold, ascending.

    Args:
        documents: a document replaces an earlier one with the same id, and without a text deletes it.
        threshold: least similarity, above 0 and at most 1.
        shingles: such as `word:3` or `char:5`.
        normalise: the normal forms of texts.
        measure: of the threshold.
        memory: bytes for the engine, which spills to a temporary folder.  Ids and times are not included.

    Guarantees:
        exact, except for collisions of 64-bit hashes; the same numbers as all other methods.

    Cost:
        for every pair with a common rare shingle, the size of its left document; see `stream_lsh.allpairs.rounds`.

    Raises:
        ConfigError: DuckDB is not installed, too little memory, an invalid threshold or invalid shingles.

    Example:
        >>> texts = {"a": "to be or not to be", "b": "to be or not to live", "c": "that is the question"}
        >>> [pair] = all_pairs([Document(*one) for one in texts.items()], 0.5)
        >>> pair
        Match(left='a', right='b', similarity=0.6, shared=3, union=5, left_time_ms=0, right_time_ms=0)
    """
    with AllPairs(threshold, shingles, normalise=normalise, measure=measure, memory=memory) as pairs:
        pairs.add(documents)
        yield from pairs.matches()


class AllPairs:
    """Documents, and then all pairs of them.

    Args:
        threshold: as of `all_pairs`.
        shingles: likewise.
        normalise: the normal forms of texts.
        measure: likewise.
        min_characters: shorter texts match nothing.
        memory: as of `all_pairs`.
        folder: for data that exceed the memory; None for the temporary folder of the system.
        threads: of the engine; None for one per core.
        rows: approximate number of rows of one join; None derives it from the memory.

    Attributes:
        candidates: the number of counted pairs, after `matches` has ended.
    """

    def __init__(
        self,
        threshold: float,
        shingles: str = DEFAULT,
        *,
        normalise: Sequence[str] = ("nfc",),
        measure: Measure = JACCARD,
        min_characters: int = 0,
        memory: int = MEMORY,
        folder: str | None = None,
        threads: int | None = None,
        rows: int | None = None,
    ) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold: got {threshold}, expected a number above 0 and at most 1")
        self._scheme = ShingledTexts(shingles, normalise=normalise, min_characters=min_characters)
        self._threshold, self._measure = threshold, measure
        self._terms = terms_of(measure, threshold)
        self._rows = rows or memory // _BYTES_A_ROW
        self._taken: dict[str, tuple[int, int]] = {}  # by id: the number in the order of arrival, and the time
        self._sizes: list[int] = []
        self._waiting: list[U64] = []
        self._appended = 0  # documents whose elements are with the engine
        self.candidates = 0
        self._engine = Engine(memory, folder, threads)
        self._engine.run(TABLES)

    def __len__(self) -> int:
        """Documents."""
        return len(self._taken)

    def __enter__(self) -> "AllPairs":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the engine and delete its data."""
        self._engine.close()

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents; all of them before `matches`."""
        some: list[Document] = []
        for document in documents:
            some.append(document)
            if len(some) == _AT_ONCE:
                self._add(some)
                some = []
        self._add(some)

    def _add(self, documents: Sequence[Document]) -> None:
        for document, elements in zip(
            documents, self._scheme.shingle_sets([document.text or "" for document in documents]), strict=True
        ):
            self._taken.pop(document.id, None)
            if document.text is not None:
                self._taken[document.id] = len(self._sizes), document.time_ms
                self._sizes.append(elements.size)
                self._waiting.append(elements)
        if sum(elements.size for elements in self._waiting) >= _APPENDED:
            self._append()

    def _append(self) -> None:
        """Append the waiting elements to the tables of the engine."""
        if self._waiting:
            numbers = np.arange(self._appended, len(self._sizes), dtype=np.uint32)
            sizes = [elements.size for elements in self._waiting]
            self._engine.append(
                "elements", {"element": np.concatenate(self._waiting), "taken": np.repeat(numbers, sizes)}
            )
            self._appended, self._waiting = len(self._sizes), []

    def matches(self) -> Iterator[Match]:
        """All pairs, ascending; can be called once."""
        engine, terms, ids = self._engine, self._terms, sorted(self._taken)
        self._append()
        self._place(ids)
        for statement in (SYMBOLS, POSTINGS, RAREST):
            engine.run(statement)
        for first, last in self._ranges(engine.columns(PAIR_COUNTS)):
            engine.run(CANDIDATES.format(sizes=terms.sizes), first=first, last=last, **terms.values)
            self.candidates += int(engine.columns("SELECT count(*) AS pairs FROM met")["pairs"][0])
            for least, most in self._ranges(engine.columns(COUNTS)):
                columns = engine.columns(
                    PAIRS.format(similarity=terms.similarity), first=least, last=most, threshold=self._threshold
                )
                yield from self._matches(ids, columns)

    def _place(self, ids: Sequence[str]) -> None:
        """Store the documents to compare in the engine, in the order of their ids."""
        taken = np.array([self._taken[id][0] for id in ids], np.uint32)
        sizes = np.array(self._sizes, np.int64)[taken]
        shared = np.ceil(self._threshold * self._terms.least * sizes * _ROUNDING).clip(1)
        looked_at = (sizes - shared + 1).clip(0)
        self._engine.append(
            "documents",
            {
                "taken": taken,
                "document": np.arange(taken.size, dtype=np.uint32),
                "size": sizes.astype(np.uint32),
                "looked_at": looked_at.astype(np.uint32),
            },
        )

    def _ranges(self, columns: dict[str, I64]) -> Iterator[tuple[int, int]]:
        """Runs of documents, first and last, with at most `rows` rows together, or a single document."""
        documents, before = columns["document"], np.concatenate(([0], np.cumsum(columns["work"])))
        start = 0
        while start < documents.size:
            end = max(start + 1, int(np.searchsorted(before, before[start] + self._rows, side="right")) - 1)
            yield int(documents[start]), int(documents[end - 1])
            start = end

    def _matches(self, ids: Sequence[str], columns: dict[str, I64]) -> Iterator[Match]:
        with_sizes = self._measure.reports_sizes
        names = ("one", "other", "shared", "size", "other_size", "similarity")
        for one, other, shared, size, other_size, similarity in zip(
            *(columns[name].tolist() for name in names), strict=True
        ):
            left, right = ids[one], ids[other]
            yield Match(
                left,
                right,
                similarity,
                shared,
                size + other_size - shared,
                self._taken[left][1],
                self._taken[right][1],
                *((size, other_size) if with_sizes else ()),
            )
