"""Capital-letter shingles: runs of k words whose first or last word has a capital letter.

Edited text contains names and sentences, and so capitals throughout, in places that the writer chose; the surrounding
lists of links and search words mostly have none, or nothing else.  The words are compared without case.

Source: J. Leskovec, A. Rajaraman and J. Ullman, Mining of Massive Datasets, section 3.2.4, in which shingles begin at
a kind of word (stop words) for the same purpose.
"""

import functools
from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64, U64, Bools
from stream_lsh.text.hashing.groups import GROUP, groups
from stream_lsh.text.hashing.tokens import PLANE_0, UNICODE, WORDS, WORDS_1, placed_tokens, token_places
from stream_lsh.text.origins import lowered
from stream_lsh.text.shinglers.char import code_points
from stream_lsh.text.shinglers.runs import Runs
from stream_lsh.text.shingles import Shingles, Units, join_shingles, offsets_of


class CapitalShingler:
    """The runs of k words that start or end at a word with a capital letter, hashed; texts without any have none.

    A capital is a letter of upper or title case, anywhere in the word.  A text of fewer than k words has no shingles.

    Args:
        k: words in a shingle, 1 to 64.
        seed: chooses the multipliers and the salts of the hashes.
        first: marks separate words, as in version 1.

    Guarantees:
        the shingles and their hashes are those of `word:k` for these words.
    Cost:
        some twice that of `word:k`.

    Example:
        >>> shingles = CapitalShingler(2)(["we flew to Paris on Monday", "home news sport", "Paris"])
        >>> shingles.counts.tolist()
        [3, 0, 0]
    """

    library = ""

    def __init__(self, k: int, seed: int = 1, *, first: bool = False) -> None:
        self.version = 1 if first else 2
        self._tokeniser = WORDS_1 if first else WORDS
        self.k = k
        self.seed = seed
        self.spec = f"capital:{k}"
        self._runs = Runs(k, seed, full=True)

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        if len(texts) > 1 and sum(map(len, texts)) > GROUP:
            return join_shingles([self(texts[group]) for group in groups(texts)])
        tokens, starts, chosen = self._chosen(texts)
        ends = starts[1:]
        chosen = chosen[chosen + self.k <= ends[np.searchsorted(ends, chosen, side="right")]]
        counts = np.diff(np.searchsorted(chosen, starts))
        return Shingles(self._runs.windows(tokens)[chosen], offsets_of(counts))

    def units(self, text: str) -> Units:
        """The words of a text; some are in no shingle."""
        return Units(*token_places(text, self._tokeniser), self._chosen([text])[2])

    def _chosen(self, texts: Sequence[str]) -> tuple[U64, I64, I64]:
        """The hashes of the words, the start of each text's words, and the words that begin a shingle of k words.

        Runs that continue in the next text are included.
        """
        tokens, starts, places = placed_tokens(texts, self._runs.token_base, self._runs.salt, self._tokeniser)
        capital = np.zeros(tokens.size, np.bool_)
        capital[np.searchsorted(places, _capitals("\n".join(texts)), side="right") - 1] = True
        windows = max(0, tokens.size - self.k + 1)
        return tokens, starts, (capital[:windows] | capital[self.k - 1 :][:windows]).nonzero()[0]


def _capitals(text: str) -> I64:
    """The positions in the lower-cased text of the capital letters of a text; each is in a word."""
    codes = code_points(text)
    if not codes.size:
        return np.empty(0, np.int64)
    places: I64 = _is_capital(bool(codes.max() >= PLANE_0))[codes].nonzero()[0]
    if not text.isascii():
        lower, origins = lowered(text)
        if len(lower) != len(text):
            places = np.searchsorted(origins.starts, places).astype(np.int64, copy=False)
    return places


@functools.cache
def _is_capital(all_planes: bool) -> Bools:
    """For each code point, of plane 0 or of all, whether it is a letter of upper or title case."""
    characters = map(chr, range(UNICODE if all_planes else PLANE_0))
    return np.fromiter(
        (character.isalnum() and (character.isupper() or character.istitle()) for character in characters), np.bool_
    )
