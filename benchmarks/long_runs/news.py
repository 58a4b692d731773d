"""A stream without an end: documents of 1 KB, near-duplicates of recent ones, updates and deletes, in event time."""

import json

import numpy as np

START_MS = 1_700_000_000_000
STEP_MS = 1_000
"""Event time between two messages."""

_VOCABULARY = 50_000
_WORDS = 190
_CHANGED = 6  # words in a row: of 188 shingles of three words 8 are others, so the similarity is some .92
_POOL = 5_000

KeyValue = tuple[bytes, bytes | None]


class News:
    """Makes messages, block by block.

    Words follow Zipf's law, and nothing is similar to anything but a near-duplicate to its original.

    Args:
        reach: how many messages back an original, an update or a delete may lie; less than what is retained.
        near: share of near-duplicates among the messages.
        updated: share of updates; one half are corrections, the other new texts.
        deleted: share of deletes.
        seed: of everything that is drawn.

    Attributes:
        made: how many messages there were.
        pairs: numbers of the two documents of each near-duplicate, the newer one first.
    """

    def __init__(
        self, reach: int, *, near: float = 0.075, updated: float = 0.05, deleted: float = 0.02, seed: int = 1
    ) -> None:
        self._reach, self._random = reach, np.random.default_rng(seed)
        self._until = np.cumsum((near, updated / 2, updated / 2, deleted)).tolist()
        self._words = np.array([f"w{number:x}" for number in range(_VOCABULARY)], object)
        weights = 1 / np.arange(10, _VOCABULARY + 10)
        self._bounds = np.cumsum(weights / weights.sum())
        self._pool: list[tuple[int, list[str]]] = []  # those that have no near-duplicate yet
        self.made = 0
        self.pairs: list[tuple[int, int]] = []

    def block(self, count: int) -> list[KeyValue]:
        """The next messages: key and value as the source of a pipeline takes them."""
        drawn = np.searchsorted(self._bounds, self._random.random((count, _WORDS)), side="right")
        chances, picks = self._random.random(count).tolist(), self._random.random(count).tolist()
        return [
            self._message(words, chance, pick)
            for words, chance, pick in zip(self._words[drawn].tolist(), chances, picks, strict=True)
        ]

    def _message(self, words: list[str], chance: float, pick: float) -> KeyValue:
        number, self.made = self.made, self.made + 1
        near, corrected, rewritten, deleted = self._until
        if corrected <= chance < deleted:
            other = max(0, number - 1 - int(pick * self._reach))
            return self._document(other, words) if chance < rewritten else (_key(other), None)
        if chance < corrected and self._pool:
            other, text = self._pool[int(pick * len(self._pool))]
            if number - other <= self._reach:
                if chance >= near:
                    return self._document(other, changed(text, words))
                self.pairs.append((number, other))
                return self._document(number, changed(text, words))
        self._remember(number, words, pick)
        return self._document(number, words)

    def _remember(self, number: int, words: list[str], pick: float) -> None:
        if len(self._pool) < min(_POOL, self._reach // 2):
            self._pool.append((number, words))
        else:
            self._pool[int(pick * len(self._pool))] = number, words

    def _document(self, number: int, words: list[str]) -> KeyValue:
        value = {"text": " ".join(words), "time": START_MS + self.made * STEP_MS}
        return _key(number), json.dumps(value).encode()


def _key(number: int) -> bytes:
    return b"%09d" % number


def changed(text: list[str], words: list[str]) -> list[str]:
    """A text with a few words of another one in its middle."""
    at = len(text) // 2
    return [*text[:at], *words[:_CHANGED], *text[at + _CHANGED :]]
