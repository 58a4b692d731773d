"""Stop-word shingles: a stop word and the two words after it.

Menus, headings and advertisements have few stop words, prose has many.  So the shingles of a page come mostly from its
article, not from the text around it.

Source: M. Theobald, J. Siddharth and A. Paepcke, SpotSigs: robust and efficient near duplicate detection in large web
collections, SIGIR 2008; A. Rajaraman and J. Ullman, Mining of Massive Datasets, section 3.2.4.
"""

from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.text.hashing.groups import GROUP, groups
from stream_lsh.text.shinglers.stopwords import STOP_WORDS
from stream_lsh.text.shinglers.word import WordShingler
from stream_lsh.text.shingles import Shingles, Units, join_shingles, offsets_of

K = 3
"""Words in a shingle, including the stop word."""
_LAST_BITS = np.uint64((1 << 14) - 1)


class StopwordShingler:
    """Each stop word of a text with the two words after it, hashed; texts without any have no shingles.

    Args:
        language: of the list, such as `en`; see `STOP_WORDS`.
        seed: chooses the multipliers and the salts of the hashes.
        first: marks separate words, as in version 1.

    Guarantees:
        the shingles and their hashes are those of `word:3` for three words that begin with a stop word.
    Cost:
        some third more than `word:3`.

    Example:
        >>> shingles = StopwordShingler("en")(["Buy Sudzo.", "I recommend that you buy Sudzo for your laundry."])
        >>> shingles.counts.tolist()
        [0, 4]
    """

    library = ""

    def __init__(self, language: str, seed: int = 1, *, first: bool = False) -> None:
        self.k = K
        self.language = language
        self.seed = seed
        self.spec = f"stopword:{language}"
        self._words = WordShingler(K, seed, first=first)
        self.version = self._words.version
        self._stop_words = np.sort(self._words.tokens([" ".join(STOP_WORDS[language])])[0])
        self._last_bits = np.zeros(int(_LAST_BITS) + 1, np.bool_)
        self._last_bits[(self._stop_words & _LAST_BITS).astype(np.int64)] = True

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        if len(texts) > 1 and sum(map(len, texts)) > GROUP:
            return join_shingles([self(texts[group]) for group in groups(texts)])
        tokens, starts = self._words.tokens(texts)
        chosen = self._found(tokens[: max(0, tokens.size - K + 1)])
        ends = starts[1:]
        chosen = chosen[chosen + K <= ends[np.searchsorted(ends, chosen, side="right")]]
        counts = np.diff(np.searchsorted(chosen, starts))
        return Shingles(self._words.windows(tokens)[chosen], offsets_of(counts))

    def units(self, text: str) -> Units:
        """The tokens of a text; few of them begin a shingle, and many are in none."""
        tokens, _ = self._words.tokens([text])
        return Units(*self._words.places(text), self._found(tokens[: max(0, tokens.size - K + 1)]))

    def _found(self, tokens: U64) -> I64:
        """The positions of stop words.  Their last bits exclude nearly all other tokens."""
        maybe = self._last_bits[(tokens & _LAST_BITS).astype(np.int64)].nonzero()[0]
        asked = tokens[maybe]
        at = np.searchsorted(self._stop_words, asked)
        at[at == self._stop_words.size] = 0
        stop_words: I64 = maybe[self._stop_words[at] == asked]
        return stop_words
