"""Stop-word shingles: a stop word and the two words after it.

Menus, headings and advertisements have few stop words, prose has many.  So what is compared of a page is mostly its
article, whatever stands around it.

Source: M. Theobald, J. Siddharth and A. Paepcke, SpotSigs: robust and efficient near duplicate detection in large web
collections, SIGIR 2008; A. Rajaraman and J. Ullman, Mining of Massive Datasets, section 3.2.4.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.hashing import odd_constants
from stream_lsh.text.groups import GROUP, groups
from stream_lsh.text.shingles import Shingles, Units, join_shingles, offsets_of
from stream_lsh.text.stopwords import STOP_WORDS
from stream_lsh.text.tokens import token_hashes, token_places
from stream_lsh.text.windows import hash_windows, polynomial_base

K = 3
"""Words in a shingle, the stop word included."""
_LAST_BITS = np.uint64((1 << 14) - 1)


class StopwordShingler:
    """Each stop word of a text with the two words after it, hashed; texts without any have no shingles.

    Args:
        language: of the list, such as `en`; see `STOP_WORDS`.
        seed: chooses the multipliers and the salts of the hashes.

    Guarantees:
        the shingles are those of `word:3` that begin with a stop word, with hashes of their own.
    Cost:
        some third more than `word:3`.

    Example:
        >>> shingles = StopwordShingler("en")(["Buy Sudzo.", "I recommend that you buy Sudzo for your laundry."])
        >>> shingles.counts.tolist()
        [0, 4]
    """

    version = 1

    def __init__(self, language: str, seed: int = 1) -> None:
        self.k = K
        self.language = language
        self.seed = seed
        self.spec = f"stopword:{language}"
        self._token_base = polynomial_base(4 * seed + 2)
        self._base = polynomial_base(4 * seed + 3)
        self._salt = int(odd_constants(1, 4 * seed + 1)[0])
        words = sorted(STOP_WORDS[language])
        self._stop_words = np.sort(token_hashes([" ".join(words)], self._token_base, self._salt)[0])
        self._last_bits = np.zeros(int(_LAST_BITS) + 1, np.bool_)
        self._last_bits[(self._stop_words & _LAST_BITS).astype(np.int64)] = True

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        if len(texts) > 1 and sum(map(len, texts)) > GROUP:
            return join_shingles([self(texts[group]) for group in groups(texts)])
        tokens, starts = token_hashes(texts, self._token_base, self._salt)
        chosen = self._found(tokens[: max(0, tokens.size - K + 1)])
        ends = starts[1:]
        chosen = chosen[chosen + K <= ends[np.searchsorted(ends, chosen, side="right")]]
        counts = np.diff(np.searchsorted(chosen, starts))
        return Shingles(hash_windows(tokens, K, self._base, self._salt)[chosen], offsets_of(counts))

    def units(self, text: str) -> Units:
        """The tokens of a text; few of them begin a shingle, and many are in none."""
        tokens, _ = token_hashes([text], self._token_base, self._salt)
        return Units(*token_places(text), self._found(tokens[: max(0, tokens.size - K + 1)]))

    def _found(self, tokens: U64) -> I64:
        """Where the tokens are stop words.  One look at the last bits is enough for nearly all that are none."""
        maybe = self._last_bits[(tokens & _LAST_BITS).astype(np.int64)].nonzero()[0]
        asked = tokens[maybe]
        at = np.searchsorted(self._stop_words, asked)
        at[at == self._stop_words.size] = 0
        found: I64 = maybe[self._stop_words[at] == asked]
        return found
