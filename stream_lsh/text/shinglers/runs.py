"""Every run of k tokens, for all shinglers whose units are tokens.

Equal runs of tokens have equal hashes for every tokeniser; different ones collide with a probability of some 2^-64 a
pair.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.hashing import odd_constants
from stream_lsh.text.hashing.groups import GROUP, groups
from stream_lsh.text.hashing.tokens import Tokeniser, token_hashes, token_places
from stream_lsh.text.hashing.windows import drop_straddling, hash_windows, polynomial_base
from stream_lsh.text.shingles import FULL, Shingles, Units, join_shingles, offsets_of, runs_of

_PADDING = 0  # the hash of a token with a probability of 2^-64 only


class Runs:
    """The runs of k tokens of a text, hashed.

    Args:
        k: tokens in a shingle, 1 to 64.
        seed: chooses the multipliers and the salts of the hashes, those of the tokens as well.
        full: fewer than k tokens have no shingle; otherwise they are padded to one.  No token, no shingle.
    """

    def __init__(self, k: int, seed: int, *, full: bool) -> None:
        self.k = k
        self.full = full
        self.token_base = polynomial_base(4 * seed + 2)
        self.salt = int(odd_constants(1, 4 * seed + 1)[0])
        self._base = polynomial_base(4 * seed + 3)

    def __call__(self, tokens: U64, starts: I64) -> Shingles:
        """The shingles of texts, from their tokens' hashes and where each text's tokens start: int64[texts + 1]."""
        lengths = starts[1:] - starts[:-1]
        short = ((lengths > 0) & (lengths < self.k)).nonzero()[0]
        if short.size and self.full:
            tokens = tokens[np.repeat(lengths >= self.k, lengths)]
            lengths[short] = 0
        elif short.size:
            tokens = np.insert(tokens, np.repeat(starts[short + 1], self.k - lengths[short]), _PADDING)
            lengths[short] = self.k
        hashes = drop_straddling(self.windows(tokens), lengths, self.k)
        return Shingles(hashes, offsets_of(np.maximum(lengths - (self.k - 1), 0)))

    def windows(self, tokens: U64) -> U64:
        """The hashes of all runs of k of these tokens, whatever texts they are of: uint64[max(0, m - k + 1)]."""
        return hash_windows(tokens, self.k, self._base, self.salt)

    def units(self, starts: I64, ends: I64) -> Units:
        """The units of a text whose tokens are there."""
        return runs_of(starts, ends, self.k, full=self.full)


class TokenShingler:
    """Every run of k tokens of a text, hashed, in columns; a subclass defines the tokens and its name.

    Args:
        k: tokens in a shingle, 1 to 64.
        seed: chooses the multipliers and the salts of the hashes.
        full: fewer than k tokens have no shingle; otherwise they are padded to one.
        first: tokens are those of version 1, for a state that was built with them.

    Attributes:
        tokeniser: of a class, the present one.
        first_tokeniser: that of version 1, if it differs.
    """

    library = ""
    kind: ClassVar[str]
    tokeniser: ClassVar[Tokeniser]
    first_tokeniser: ClassVar[Tokeniser | None] = None

    def __init__(self, k: int, seed: int = 1, *, full: bool = False, first: bool = False) -> None:
        self.k = k
        self.seed = seed
        self.version = 1 if first or self.first_tokeniser is None else 2
        self._tokeniser = self.first_tokeniser if first and self.first_tokeniser else self.tokeniser
        self.spec = f"{self.kind}:{k}{FULL if full else ''}"
        self._runs = Runs(k, seed, full=full)

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        if len(texts) > 1 and sum(map(len, texts)) > GROUP:
            return join_shingles([self(texts[group]) for group in groups(texts)])
        return self._runs(*self.tokens(texts))

    def tokens(self, texts: Sequence[str]) -> tuple[U64, I64]:
        """The hashes of the tokens of all texts, and where each text's tokens start: uint64[m], int64[texts + 1]."""
        return token_hashes(texts, self._runs.token_base, self._runs.salt, self._tokeniser)

    def windows(self, tokens: U64) -> U64:
        """The hashes of all runs of k of these tokens, whatever texts they are of: uint64[max(0, m - k + 1)]."""
        return self._runs.windows(tokens)

    def units(self, text: str) -> Units:
        """The tokens of a text."""
        return self._runs.units(*self.places(text))

    def places(self, text: str) -> tuple[I64, I64]:
        """The start and the end of each token of a text: int64[tokens] each."""
        return token_places(text, self._tokeniser)
