"""Partial copies in memory: pairs of texts that share passages, however short, and the positions of these.

Near-duplicates are similar as a whole.  A text that copies two paragraphs out of ten pages is not: its Jaccard
similarity, and the estimate of every signature, is a few per cent.  Containment detects it: the share of the rare
shingles of one text that occur in the other one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.errors import ConfigError, UnusableDocument
from stream_lsh.kinds.shingled.scheme import ShingledTexts
from stream_lsh.measure.uncommon import Sharing, sharing
from stream_lsh.model import Document
from stream_lsh.text.catalog import DEFAULT
from stream_lsh.text.passages.copied import Copied, TracedText
from stream_lsh.wire.arguments import validate_document

LEAST_SHARED = 4
"""Shingles; texts of one subject share fewer by chance, however short they are."""
MOST_HOLDERS = 10
"""Texts that may share something that still counts; more, and it is a menu, a licence, a saying."""
_RECENT_SHINGLES = 1 << 22
"""Of the texts whose shingles and their places are kept for further pairs; 32 bytes each."""
_CHANCE = 3
_CHANCE_SHARE = 0.035
"""By chance, texts of one subject share fewer shingles than `_CHANCE` and this share of the shorter text."""
_TYPICAL = 1000
_MOST_TIMES = 4
"""The chance share grows with the square root of the longer text's shingles, from `_TYPICAL` on, up to this factor."""


@dataclass(frozen=True, slots=True)
class PartialCopy:
    """Two texts that share passages: `left` < `right` by UTF-8 bytes.

    Attributes:
        left, right: their ids.
        shared: shingles that both have and few others.
        left_shingles, right_shingles: how many of these each of them has.
        source: the source from which both copied their shared passages; None: no source explains the pair.
    """

    left: str
    right: str
    shared: int
    left_shingles: int
    right_shingles: int
    source: str | None = None

    @property
    def left_share(self) -> float:
        """The share of the left text that is in the right one."""
        return self.shared / self.left_shingles

    @property
    def right_share(self) -> float:
        """The share of the right text that is in the left one."""
        return self.shared / self.right_shingles

    @property
    def share(self) -> float:
        """The greater one of both."""
        return self.shared / min(self.left_shingles, self.right_shingles)

    @property
    def similarity(self) -> float:
        """The Jaccard similarity, in the same shingles: what near-duplicates are known by."""
        return self.shared / (self.left_shingles + self.right_shingles - self.shared)


class _Common(NamedTuple):
    """Shingles that do not count, ascending: for pairs of texts, and for pairs with a source."""

    texts: U64
    with_source: U64


class PartialCopies:
    """Finds pairs of texts that share passages.

    Args:
        shingles: what is compared, such as `word:3`.
        least_share: of the one text, that is in the other one, above 0 and at most 1; None: more than two texts of one
            subject share by chance, which depends on their lengths: 5 % of 200 words, 3.8 % of 1,000.
        least_shared: shingles that both have, at least.
        most_holders: a shingle that more texts have does not count; 2 or more.  For pairs with a source, a shingle of
            a source counts unless more sources have it.
        normalise: the normal forms of texts.
        seed: chooses the hash functions.

    Guarantees:
        exact: every pair of texts that reaches both bounds is found, and no other one.
        deterministic: the same texts give the same pairs in any order.
    Cost:
        the texts and 8 bytes a character of them; some 5 s for 19,000 texts of 2 KB.

    Raises:
        ConfigError: invalid settings.

    Example:
        >>> copies = PartialCopies(least_shared=5)
        >>> copies.add("source", "It was the best of times, it was the worst of times, it was the age of wisdom")
        >>> copies.add("essay", "As we all know, it was the age of wisdom (and of foolishness), and of much else then")
        >>> copies.find()
        []
        >>> copies.add("thief", "I say: it was the worst of all times, it was the age of wisdom. Was it?")
        >>> for found in copies.find():
        ...     print(found.left, found.right, found.shared, f"{found.left_share:.2f} {found.right_share:.2f}")
        source thief 7 0.58 0.50
        >>> copies.passages(copies.find()[0], least_words=5)
        [Copied(left_start=26, left_end=77, right_start=7, right_end=62, units=12)]
    """

    def __init__(
        self,
        shingles: str = DEFAULT,
        *,
        least_share: float | None = None,
        least_shared: int = LEAST_SHARED,
        most_holders: int = MOST_HOLDERS,
        normalise: Sequence[str] = ("nfc",),
        seed: int = 1,
    ) -> None:
        problems = []
        if least_share is not None and not 0 < least_share <= 1:
            problems.append(f"least_share: got {least_share}, expected a number above 0 and at most 1")
        if least_shared < 1:
            problems.append(f"least_shared: got {least_shared}, expected 1 or more")
        if most_holders < 2:
            problems.append(f"most_holders: got {most_holders}, expected 2 or more: two texts share what they share")
        if problems:
            raise ConfigError(problems)
        self._least_share = least_share
        self._least_shared = least_shared
        self._most_holders = most_holders
        self._shingled = ShingledTexts(shingles, normalise=normalise, seed=seed)
        self._texts: dict[str, str] = {}
        self._sources: set[str] = set()
        self._recent: dict[str, TracedText] = {}
        self._recent_shingles = 0
        self._common: _Common | None = None  # None: something was added since they were counted

    def add(self, id: str, text: str, *, source: bool = False) -> None:
        """Add a text, or replace the one of this id.

        Args:
            id: 1 to 1,024 bytes of UTF-8.
            text: any.
            source: a text that others may have copied from; pairs of two sources are not reported.

        Raises:
            MalformedMessage, UnusableDocument: an id or a text that cannot be used.
        """
        validate_document(Document(id, text))
        self._texts[id] = text
        self._forget(id)
        (self._sources.add if source else self._sources.discard)(id)
        self._common = None

    def remove(self, id: str) -> bool:
        """Remove a text; returns whether the id was present."""
        self._sources.discard(id)
        self._forget(id)
        self._common = None
        return self._texts.pop(id, None) is not None

    def __len__(self) -> int:
        """Texts."""
        return len(self._texts)

    def __contains__(self, id: object) -> bool:
        return id in self._texts

    def is_source(self, id: str) -> bool:
        """Whether a text was added as a source."""
        return id in self._sources

    def text(self, id: str) -> str:
        """The text of an id.

        Raises:
            UnusableDocument: no such text.
        """
        if id not in self._texts:
            raise UnusableDocument("id", f"got {id!r:.60}, expected the id of a text that was added")
        return self._texts[id]

    def find(self) -> list[PartialCopy]:
        """All pairs that share enough, the greatest share first; pairs of two sources are left out.

        Two texts that share enough only because both copied from one source follow at the end, by source; both pairs
        with this source are in the list, too.
        """
        ids = sorted(self._texts)
        sets = self._shingle_sets(ids)
        found = self._sharing(ids, sets)
        self._common = _Common(found.common, found.source_common)
        pairs = list(self._pairs(ids, found))
        explained = self._explained(pairs, dict(zip(ids, sets, strict=True)))
        return sorted(explained, key=lambda pair: (pair.source or "", -pair.share, -pair.shared, pair.left, pair.right))

    def _shingle_sets(self, ids: Sequence[str]) -> list[U64]:
        return self._shingled.shingle_sets([self._texts[id] for id in ids])

    def _sharing(self, ids: Sequence[str], sets: Sequence[U64]) -> Sharing:
        is_source = np.array([id in self._sources for id in ids], np.bool_)
        return sharing(sets, self._most_holders, is_source)

    def _pairs(self, ids: Sequence[str], found: Sharing) -> Iterator[PartialCopy]:
        """The pairs that share enough, without those of two sources."""
        is_source = np.array([id in self._sources for id in ids], np.bool_)
        sources = is_source[found.left].astype(np.int64) + is_source[found.right]
        sizes = np.stack((found.sizes, found.source_sizes))
        left_sizes, right_sizes = (sizes[sources % 2, side] for side in (found.left, found.right))
        kept = np.flatnonzero((sources < 2) & self._enough(found.shared, left_sizes, right_sizes))
        columns = (found.left, found.right, found.shared, left_sizes, right_sizes)
        for left, right, *counts in zip(*(column[kept].tolist() for column in columns), strict=True):
            yield PartialCopy(ids[left], ids[right], *counts)

    def _enough(self, shared: I64, left_sizes: I64, right_sizes: I64) -> Bools:
        """Whether pairs reach both bounds."""
        shorter = np.minimum(left_sizes, right_sizes)
        if self._least_share is not None:
            return (shared >= self._least_shared) & (shared / shorter >= self._least_share)
        longer = np.maximum(left_sizes, right_sizes)
        times = np.clip(np.sqrt(longer / _TYPICAL), 1, _MOST_TIMES)
        return (shared >= self._least_shared) & (shared >= _CHANCE + _CHANCE_SHARE * times * shorter)

    def _explained(self, pairs: Sequence[PartialCopy], sets: Mapping[str, U64]) -> Iterator[PartialCopy]:
        """The pairs, those of two texts with the source that explains what they share."""
        sources_of = defaultdict[str, set[str]](set)
        for pair in pairs:
            for text, source in ((pair.left, pair.right), (pair.right, pair.left)):
                if source in self._sources:
                    sources_of[text].add(source)
        for pair in pairs:
            sources = sources_of[pair.left] & sources_of[pair.right]
            yield replace(pair, source=self._origin(pair, sorted(sources), sets)) if sources else pair

    def _origin(self, pair: PartialCopy, sources: Sequence[str], sets: Mapping[str, U64]) -> str | None:
        """The source with the most of what two texts share; None: they share enough besides all of these sources."""
        shared = np.setdiff1d(np.intersect1d(sets[pair.left], sets[pair.right], True), self._counted().texts, True)
        rest = np.setdiff1d(shared, np.concatenate([sets[source] for source in sources]))
        one, *others = (np.array([count]) for count in (rest.size, pair.left_shingles, pair.right_shingles))
        if self._enough(one, *others)[0]:
            return None
        return max(sources, key=lambda source: np.intersect1d(shared, sets[source], True).size)

    def _counted(self) -> _Common:
        """The shingles that do not count, of the present texts."""
        if self._common is None:
            ids = sorted(self._texts)
            found = self._sharing(ids, self._shingle_sets(ids))
            self._common = _Common(found.common, found.source_common)
        return self._common

    def passages(self, pair: PartialCopy, least_words: int = 8) -> list[Copied]:
        """The passages that a pair shares, in the order of the left text.

        Args:
            pair: one that `find` returned; no text was added since then.
            least_words: equal words of a passage, or characters with shingles of characters.

        Guarantees:
            those of `text.copied`; shingles of many texts do not count among the equal words.

        Raises:
            UnusableDocument: a text of the pair was removed.
        """
        common = self._counted()
        ignored = common.with_source if {pair.left, pair.right} & self._sources else common.texts
        return self._shingled.copied(self._traced(pair.left), self._traced(pair.right), ignored, least_words)

    def _traced(self, id: str) -> TracedText:
        """The shingles of a text with their places; recent ones are kept, as a text often is in several pairs."""
        traced = self._recent.get(id)
        if traced is None:
            traced = self._recent[id] = self._shingled.traced(self.text(id))
            self._recent_shingles += traced.hashes.size
            while self._recent_shingles > _RECENT_SHINGLES and len(self._recent) > 1:
                self._forget(next(iter(self._recent)))
        return traced

    def _forget(self, id: str) -> None:
        traced = self._recent.pop(id, None)
        self._recent_shingles -= traced.hashes.size if traced else 0
