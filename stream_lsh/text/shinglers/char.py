"""Character shingles: every run of k code points.

They are code points, not bytes: outside ASCII k bytes are not k characters; five bytes of Chinese are not even two.
Reference: Broder 1997; Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, section 3.2.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import I64
from stream_lsh.hashing import odd_constants
from stream_lsh.text.hashing.groups import GROUP, groups
from stream_lsh.text.hashing.windows import drop_straddling, hash_windows, polynomial_base
from stream_lsh.text.shingles import FULL, Shingles, Units, join_shingles, offsets_of, runs_of

_PADDING = 0x110000  # the first number that is no code point: no text contains it


class CharShingler:
    """Every run of k code points of a text, hashed; a shorter text is padded to one shingle, an empty one has none.

    Choose k large enough for a given shingle to be rare: 5 for mails, 9 for long documents.  With 27 symbols there are
    27^5 = 14,348,907 shingles of 5.

    Args:
        k: code points in a shingle, 1 to 64.
        seed: chooses the multiplier and the salt of the hash.
        full: a text of fewer than k characters has no shingle.

    Guarantees:
        equal shingles have equal hashes in every text, batch and script; different ones collide with a probability of
        some 2^-64 a pair.
    Cost:
        some 4 ns a character; besides the result at most a few megabytes for any length of a text.

    Example:
        >>> shingles = CharShingler(3)(["abeabe", "ab", ""])
        >>> shingles.counts.tolist(), len(set(shingles.document(0).tolist()))
        ([4, 1, 0], 3)
    """

    version = 1
    library = ""

    def __init__(self, k: int, seed: int = 1, *, full: bool = False) -> None:
        self.k = k
        self.seed = seed
        self.full = full
        self.spec = f"char:{k}{FULL if full else ''}"
        self._base = polynomial_base(4 * seed)
        self._salt = int(odd_constants(1, 4 * seed + 1)[0])

    def __call__(self, texts: Sequence[str]) -> Shingles:
        """The shingles of every text, in order."""
        if self.full:
            texts = [text if len(text) >= self.k else "" for text in texts]
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        if lengths.size == 1 and lengths[0] > GROUP:
            return self._long(texts[0])
        if lengths.size <= 1 or lengths.sum() <= GROUP:
            return self._group(texts, lengths)
        return join_shingles([self(texts[group]) for group in groups(texts)])

    def units(self, text: str) -> Units:
        """The characters of a text."""
        places = np.arange(len(text) + 1)
        return runs_of(places[:-1], places[1:], self.k, full=self.full)

    def _group(self, texts: Sequence[str], lengths: I64) -> Shingles:
        codes = code_points("".join(texts))
        short = ((lengths > 0) & (lengths < self.k)).nonzero()[0]
        if short.size:
            ends = np.cumsum(lengths)[short]
            codes = np.insert(codes.astype(np.uint32), np.repeat(ends, self.k - lengths[short]), _PADDING)
            lengths[short] = self.k
        hashes = hash_windows(codes, self.k, self._base, self._salt)
        return Shingles(drop_straddling(hashes, lengths, self.k), offsets_of(np.maximum(lengths - (self.k - 1), 0)))

    def _long(self, text: str) -> Shingles:
        hashes = np.empty(len(text) - self.k + 1, np.uint64)
        for start in range(0, hashes.size, GROUP):
            codes = code_points(text[start : start + GROUP + self.k - 1])
            hashes[start : start + GROUP] = hash_windows(codes, self.k, self._base, self._salt)
        return Shingles(hashes, np.array([0, hashes.size]))


def code_points(text: str) -> npt.NDArray[np.unsignedinteger]:
    """The code points of a text, including lone surrogates, as uint8 for ASCII, else uint32; read-only.

    Example:
        >>> code_points("ab").tolist(), code_points("日本").dtype.name
        ([97, 98], 'uint32')
    """
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
