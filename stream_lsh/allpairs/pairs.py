"""All pairs of documents whose exact similarity reaches a threshold: what the way over signatures is held against.

    documents ─▶ sets of shingles ─▶ (element, document) in the engine ─▶ three rounds ─▶ pairs

The pairs are made for some left documents at a time, so that neither the memory nor the disk has to take all rows at
once on the way; the sums of what each left document needs at most say how many.
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

MEMORY = 1 << 30
"""Bytes for the engine, unless it is given another bound."""

_BYTES_A_ROW = 64
"""Memory of a row in a join and the aggregation after it, at most."""
_AT_ONCE = 200
"""Texts that are shingled together."""
_APPENDED = 1 << 20
"""Elements that go to the engine together."""
_ROUNDING = 1 - 1e-12
"""A quotient that reaches the threshold only as it was rounded up belongs to the answer."""


def all_pairs(
    documents: Iterable[Document],
    threshold: float,
    shingles: str = "word:3",
    *,
    measure: Measure = JACCARD,
    memory: int = MEMORY,
) -> Iterator[Match]:
    """All pairs of documents that reach the threshold, ascending.

    Args:
        documents: with a text each; an id that comes again replaces the document before it, one without a text
            deletes it.
        threshold: least similarity, above 0 and at most 1.
        shingles: such as `word:3` or `char:5`.
        measure: what the threshold is about.
        memory: bytes for the engine; what does not fit goes to a temporary folder.  Ids and times are held besides.

    Guarantees:
        exact, to accidental collisions of 64-bit hashes; the same numbers as every other way to a pair.

    Cost:
        for every pair that meets in a rare shingle, the size of its left document; see `stream_lsh.allpairs.rounds`.

    Raises:
        ConfigError: DuckDB is not installed, the memory is too little, a threshold or shingles that are none.

    Example:
        >>> texts = {"a": "to be or not to be", "b": "to be or not to live", "c": "that is the question"}
        >>> [pair] = all_pairs([Document(*one) for one in texts.items()], 0.5)
        >>> pair
        Match(left='a', right='b', similarity=0.6, shared=3, union=5, left_time_ms=0, right_time_ms=0)
    """
    with AllPairs(threshold, shingles, measure=measure, memory=memory) as pairs:
        pairs.add(documents)
        yield from pairs.matches()


class AllPairs:
    """Documents, and then all pairs of them.

    Args:
        threshold: as of `all_pairs`.
        shingles: likewise.
        measure: likewise.
        min_characters: a text that has fewer matches nothing.
        memory: as of `all_pairs`.
        folder: where what does not fit is kept meanwhile; None for the temporary folder of the system.
        threads: of the engine; None for one a core.
        rows: that a join makes at once, about; None for what the memory is enough for.

    Attributes:
        candidates: pairs that were counted, once `matches` is through.
    """

    def __init__(
        self,
        threshold: float,
        shingles: str = "word:3",
        *,
        measure: Measure = JACCARD,
        min_characters: int = 0,
        memory: int = MEMORY,
        folder: str | None = None,
        threads: int | None = None,
        rows: int | None = None,
    ) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold: got {threshold}, expected a number above 0 and at most 1")
        self._scheme = ShingledTexts(shingles, min_characters=min_characters)
        self._threshold, self._measure = threshold, measure
        self._terms = terms_of(measure, threshold)
        self._rows = rows or memory // _BYTES_A_ROW
        self._taken: dict[str, tuple[int, int]] = {}  # by id: the number under which it was taken in, and its time
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
        """Forget everything."""
        self._engine.close()

    def add(self, documents: Iterable[Document]) -> None:
        """Take in documents, before the pairs are asked for."""
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
        """Give the engine what waits for it."""
        if self._waiting:
            numbers = np.arange(self._appended, len(self._sizes), dtype=np.uint32)
            sizes = [elements.size for elements in self._waiting]
            self._engine.append(
                "elements", {"element": np.concatenate(self._waiting), "taken": np.repeat(numbers, sizes)}
            )
            self._appended, self._waiting = len(self._sizes), []

    def matches(self) -> Iterator[Match]:
        """All pairs, ascending; to be asked for once."""
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
        """Runs of documents, first and last, that together make no more rows than may be, or of a single document."""
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
