r"""Word shingles: every run of k tokens.

A token is a run of `\w` of the lower-cased text: letters, digits and the underscore of every script.  Scripts that
write without spaces give long tokens; character shingles suit them better.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.hashing import odd_constants
from stream_lsh.text.groups import GROUP, groups
from stream_lsh.text.shingles import Shingles, Units, join_shingles, offsets_of, runs_of
from stream_lsh.text.tokens import token_hashes, token_places
from stream_lsh.text.windows import drop_straddling, hash_windows, polynomial_base

_PADDING = 0  # the hash of no token but for a chance of 2^-64


class WordShingler:
    """Every run of k tokens of a text, hashed; fewer than k tokens are padded to one shingle, none give none.

    Args:
        k: tokens in a shingle, 1 to 64.
        seed: chooses the multipliers and the salts of the hashes.

    Guarantees:
        equal runs of tokens have equal hashes, whatever stands between the tokens; different ones differ but for a
        chance of some 2^-64 a pair.
    Cost:
        some 5 ns a character; beside the result a few megabytes and the lower-cased text.

    Example:
        >>> shingles = WordShingler(2)(["The cat, the cat!", "the CAT", "...", "cat"])
        >>> shingles.counts.tolist(), bool(shingles.hashes[0] == shingles.document(1)[0])
        ([3, 1, 0, 1], True)
    """

    version = 1

    def __init__(self, k: int, seed: int = 1) -> None:
        self.k = k
        self.seed = seed
        self.spec = f"word:{k}"
        self._token_base = polynomial_base(4 * seed + 2)
        self._base = polynomial_base(4 * seed + 3)
        self._salt = int(odd_constants(1, 4 * seed + 1)[0])

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        if len(texts) > 1 and sum(map(len, texts)) > GROUP:
            return join_shingles([self(texts[group]) for group in groups(texts)])
        tokens, starts = self.tokens(texts)
        lengths = starts[1:] - starts[:-1]
        short = ((lengths > 0) & (lengths < self.k)).nonzero()[0]
        if short.size:
            tokens = np.insert(tokens, np.repeat(starts[short + 1], self.k - lengths[short]), _PADDING)
            lengths[short] = self.k
        hashes = drop_straddling(self.windows(tokens), lengths, self.k)
        return Shingles(hashes, offsets_of(np.maximum(lengths - (self.k - 1), 0)))

    def tokens(self, texts: Sequence[str]) -> tuple[U64, I64]:
        """The hashes of the tokens of all texts, and where each text's tokens start: uint64[m], int64[texts + 1]."""
        return token_hashes(texts, self._token_base, self._salt)

    def windows(self, tokens: U64) -> U64:
        """The hashes of all runs of k of these tokens, whatever texts they are of: uint64[max(0, m - k + 1)]."""
        return hash_windows(tokens, self.k, self._base, self._salt)

    def units(self, text: str) -> Units:
        """The tokens of a text."""
        return runs_of(*token_places(text), self.k)
