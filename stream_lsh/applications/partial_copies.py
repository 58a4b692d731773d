"""Partial copies in memory: pairs of texts that share passages, however short, and the positions of these.

Near-duplicates are similar as a whole.  A text that copies two paragraphs out of ten pages is not: its Jaccard
similarity, and the estimate of every signature, is a few per cent.  Containment detects it: the share of the rare
shingles of one text that occur in the other one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.shingled.scheme import ShingledTexts
from stream_lsh.measure.uncommon import Sharing, sharing
from stream_lsh.model import Document
from stream_lsh.text.passages.copied import Copied
from stream_lsh.wire.arguments import validate_document

LEAST_SHARE = 0.2
"""Of the text that has more of it copied."""
LEAST_SHARED = 20
"""Shingles; fewer may well be chance, however short the texts are."""
MOST_HOLDERS = 10
"""Texts that may share something that still counts; more, and it is a menu, a licence, a saying."""


@dataclass(frozen=True, slots=True)
class PartialCopy:
    """Two texts that share passages: `left` < `right` by UTF-8 bytes.

    Attributes:
        left, right: their ids.
        shared: shingles that both have and few others.
        left_shingles, right_shingles: how many of these each of them has.
    """

    left: str
    right: str
    shared: int
    left_shingles: int
    right_shingles: int

    @property
    def left_share(self) -> float:
        """Which share of the left text is in the right one."""
        return self.shared / self.left_shingles

    @property
    def right_share(self) -> float:
        """Which share of the right text is in the left one."""
        return self.shared / self.right_shingles

    @property
    def share(self) -> float:
        """The greater one of both."""
        return self.shared / min(self.left_shingles, self.right_shingles)

    @property
    def similarity(self) -> float:
        """The Jaccard similarity, in the same shingles: what near-duplicates are known by."""
        return self.shared / (self.left_shingles + self.right_shingles - self.shared)


class PartialCopies:
    """Finds pairs of texts that share passages.

    Args:
        shingles: what is compared, such as `word:3`.
        least_share: of the one text, that is in the other one, above 0 and at most 1.
        least_shared: shingles that both have, at least.
        most_holders: a shingle that more texts have does not count; 2 or more.
        normalise: the normal forms of texts.
        seed: chooses the hash functions.

    Guarantees:
        exact: every pair of texts that reaches both bounds is found, and no other one.
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
        shingles: str = "word:3",
        *,
        least_share: float = LEAST_SHARE,
        least_shared: int = LEAST_SHARED,
        most_holders: int = MOST_HOLDERS,
        normalise: Sequence[str] = ("nfc",),
        seed: int = 1,
    ) -> None:
        problems = []
        if not 0 < least_share <= 1:
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
        self._common: U64 | None = None  # None: something was added since they were counted

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
        (self._sources.add if source else self._sources.discard)(id)
        self._common = None

    def remove(self, id: str) -> bool:
        """Remove a text; returns whether the id was present."""
        self._sources.discard(id)
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
        """The text of an id that was added."""
        return self._texts[id]

    def find(self) -> list[PartialCopy]:
        """All pairs that share enough, the greatest share first; pairs of two sources are left out."""
        ids = sorted(self._texts)
        hits = self._sharing(ids)
        kept = self._enough(hits)
        left, right, shared = (side[kept].tolist() for side in (hits.left, hits.right, hits.shared))
        sizes = hits.sizes.tolist()
        pairs = [
            PartialCopy(ids[left_row], ids[right_row], count, sizes[left_row], sizes[right_row])
            for left_row, right_row, count in zip(left, right, shared, strict=True)
            if not {ids[left_row], ids[right_row]} <= self._sources
        ]
        return sorted(pairs, key=lambda pair: (-pair.share, -pair.shared, pair.left, pair.right))

    def _sharing(self, ids: Sequence[str]) -> Sharing:
        sharing_pairs = sharing(self._shingled.shingle_sets([self._texts[id] for id in ids]), self._most_holders)
        self._common = sharing_pairs.common
        return sharing_pairs

    def _enough(self, pairs: Sharing) -> I64:
        least = np.minimum(pairs.sizes[pairs.left], pairs.sizes[pairs.right])
        return np.flatnonzero((pairs.shared >= self._least_shared) & (pairs.shared / least >= self._least_share))

    def passages(self, pair: PartialCopy, least_words: int = 8) -> list[Copied]:
        """The passages that a pair shares, in the order of the left text.

        Args:
            pair: one that `find` returned; no text was added since then.
            least_words: equal words of a passage, or characters with shingles of characters.

        Guarantees:
            those of `text.copied`; shingles of many texts do not count among the equal words.
        """
        common = self._sharing(sorted(self._texts)).common if self._common is None else self._common
        return self._shingled.copied(self._texts[pair.left], self._texts[pair.right], common, least_words)
