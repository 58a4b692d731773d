"""Hashes of tokens that are strings, found or changed by a library; each distinct token is processed once."""

from collections.abc import Callable, Sequence

import numpy as np
from mmh3 import hash64

from stream_lsh.arrays import U64
from stream_lsh.hashing import odd_constants

MOST_KEPT = 1 << 24
"""Characters of all cached tokens, each token counted as 64 more: some 260,000 tokens, 40 MB."""
_OF_AN_ENTRY = 64
_SEED_BITS = 0xFFFFFFFF


class Vocabulary:
    """A cache of the hashes of reduced tokens.

    Args:
        seed: of the hashes.
        reduced: returns the hashed form of tokens, such as their stems; by default the tokens themselves.
        most_kept: characters in the cache, each token counted as 64 more; the cache is cleared when it exceeds them.

    Guarantees:
        the hash of a token depends on the token, the seed and `reduced` alone, not on the cache.
    Cost:
        some 0.1 us for a cached token, 1 us and `reduced` for a new one.
    """

    def __init__(
        self, seed: int, reduced: Callable[[list[str]], Sequence[str]] | None = None, most_kept: int = MOST_KEPT
    ) -> None:
        self._seed = int(odd_constants(1, 4 * seed + 2)[0]) & _SEED_BITS
        self._reduced = reduced
        self._most_kept = most_kept
        self._known: dict[str, int] = {}
        self._kept = 0

    def __call__(self, tokens: Sequence[str]) -> U64:
        """The hash of each token: uint64[tokens]."""
        numbers = self._known
        new = list(set(tokens).difference(numbers))
        if new:
            numbers.update(zip(new, map(self._hash, self._reduced(new) if self._reduced else new), strict=True))
            self._kept += sum(map(len, new)) + _OF_AN_ENTRY * len(new)
            if self._kept > self._most_kept:
                self._known, self._kept = {}, 0
        return np.fromiter(map(numbers.__getitem__, tokens), np.uint64, len(tokens))

    def _hash(self, token: str) -> int:
        return hash64(token.encode("utf-8", "surrogatepass"), self._seed, signed=False)[0]
