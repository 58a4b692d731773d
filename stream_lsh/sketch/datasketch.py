"""The signatures of the library datasketch, value for value, to import an existing index of them.

Its current scheme, "affine32", the default since version 2.0:

    x            = the first 4 bytes of SHA-1 of a token, little-endian
    signature[j] = min over x of  a_j fmix32(x) + b_j  mod 2^32,    a_j odd

Its scheme up to version 1.10, "legacy" since:

    signature[j] = min over x of  ((a_j x + b_j  mod 2^64)  mod 2^61 - 1)  mod 2^32

In both, a and b come from numpy's RandomState of the seed, whose stream numpy guarantees never to change.  The second
formula differs from its intention, because the product wraps before the modulus; stored signatures have its values.

Sources: the public documentation and the observable results of datasketch 1.10 and 2.0.  Its third scheme, "affine64",
has values of 64 bits and is not read.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from stream_lsh.arrays import U32, U64
from stream_lsh.errors import ConfigError
from stream_lsh.hashing import fmix32
from stream_lsh.sketch.minima import minima_by_document
from stream_lsh.sketch.scheme import EMPTY_SLOT, check_settings
from stream_lsh.text.shingles import Shingles, offsets_of

_MERSENNE = (1 << 61) - 1
_GREATEST_SEED = (1 << 32) - 1
_MASK = np.uint64(0xFFFFFFFF)
_S32 = np.uint64(32)


class _Minima(ABC):
    """The base of both schemes: minima of hash functions whose constants a RandomState of the seed draws."""

    name: ClassVar[str]
    version = 1

    def __init__(self, slots: int = 128, seed: int = 1) -> None:
        check_settings(self.name, slots, seed=(seed, 0, _GREATEST_SEED))
        self.slots = slots
        self.seed = seed
        self._draw(np.random.RandomState(seed))

    def __call__(self, shingles: Shingles) -> U32:
        """One signature a document: uint32[n, slots]."""
        return minima_by_document(shingles, self.slots, self._minima, greatest=EMPTY_SLOT)

    @abstractmethod
    def _draw(self, draws: np.random.RandomState) -> None:
        """Draw the constants."""

    @abstractmethod
    def _minima(self, hashes: U64) -> U32:
        """The minimum of each function over the hashes of one document."""


class DatasketchMinHash(_Minima):
    """Signatures equal to those of datasketch 2: `MinHash(num_perm=slots, seed=seed)`.

    Args:
        slots: its `num_perm`.
        seed: its `seed`, 0 to 2^32 - 1.

    Guarantees:
        equal to datasketch's for shingles by `token_shingles`; hashes of 64 bits are folded to 32 before.  P(slots
        agree) = J as for classic minhashing, up to some million shingles, from where 32 bits collide.
        One weakness is kept with the values: a document with a minimum of 2^32 - 1, one in 4,000 million for each of
        its slots if it has one shingle, has the value of the empty slot there.
    Cost:
        some twice that of classic minhashing.

    Example:
        >>> tokens = token_shingles([["to", "be", "or", "not"], []])
        >>> DatasketchMinHash(slots=4)(tokens).tolist()[1]
        [4294967295, 4294967295, 4294967295, 4294967295]
    """

    name = "datasketch"

    def _draw(self, draws: np.random.RandomState) -> None:
        halves = draws.randint(0, 1 << 31, size=self.slots, dtype=np.uint32)
        self._factors = halves << np.uint32(1) | np.uint32(1)
        self._terms = draws.randint(0, 1 << 32, size=self.slots, dtype=np.uint32)

    def _minima(self, hashes: U64) -> U32:
        values = self._factors[:, None] * fmix32(_folded(hashes).astype(np.uint32))
        values += self._terms[:, None]
        return np.asarray(values.min(axis=1))


class LegacyDatasketchMinHash(_Minima):
    """Signatures equal to those of datasketch 1, and of 2 with `scheme="legacy"`: to read on, not to begin with.

    Args:
        slots: its `num_perm`.
        seed: its `seed`, 0 to 2^32 - 1.

    Guarantees:
        equal to datasketch's for shingles by `token_shingles`; hashes of 64 bits are folded to 32 before.  P(slots
        agree) = J for documents; for sets of many millions too much, as different shingles get equal values.
        A minimum of 2^32 - 1 stays what it is, as with `DatasketchMinHash`.
    Cost:
        some twelve times that of classic minhashing: products and a division of 64 bits.
    """

    name = "datasketch-legacy"

    def _draw(self, draws: np.random.RandomState) -> None:
        # The two are drawn in turns, from ranges that differ in the least value.
        pairs = [[draws.randint(least, _MERSENNE, dtype=np.uint64) for least in (1, 0)] for _ in range(self.slots)]
        self._factors, self._terms = np.array(pairs, np.uint64).T.copy()

    def _minima(self, hashes: U64) -> U32:
        values = self._factors[:, None] * _folded(hashes)
        values += self._terms[:, None]
        values %= np.uint64(_MERSENNE)
        values &= _MASK
        return np.asarray(values.min(axis=1), np.uint32)


def token_shingles(documents: Iterable[Iterable[str | bytes]]) -> Shingles:
    """Sets of tokens as datasketch hashes them by default: the first 4 bytes of SHA-1, text as UTF-8.

    Args:
        documents: the tokens of each, such as the words or the shingles that were given to `update`.

    Cost:
        one or two microseconds a token.

    Example:
        >>> token_shingles([["a", b"a"], []]).hashes.tolist()
        [937752454, 937752454]
    """
    hashes: list[int] = []
    counts: list[int] = []
    for tokens in documents:
        before = len(hashes)
        for token in tokens:
            data = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token
            hashes.append(int.from_bytes(hashlib.sha1(data, usedforsecurity=False).digest()[:4], "little"))
        counts.append(len(hashes) - before)
    return Shingles(np.array(hashes, np.uint64), offsets_of(np.array(counts, np.int64)))


def from_hashvalues(hashvalues: Sequence[npt.ArrayLike]) -> U32:
    """Signatures from the attribute `hashvalues` of datasketch's objects: uint32[n, slots].

    Args:
        hashvalues: one array an object, as many values in each; of the schemes "affine32" and "legacy".

    Raises:
        ConfigError: lengths differ, or values have more than 32 bits -> sign the texts again; "affine64" is not read.

    Example:
        >>> from_hashvalues([np.array([3, 5], np.uint64), [4, 1]]).tolist()
        [[3, 5], [4, 1]]
    """
    lengths = sorted({np.size(values) for values in hashvalues})
    if len(lengths) > 1:
        raise ConfigError(f"hashvalues: got {lengths[0]} and {lengths[-1]} values, expected as many of each object")
    columns = np.array([[int(value) for value in np.atleast_1d(values)] for values in hashvalues], object)
    if columns.size and not (columns.min() >= 0 and columns.max() <= EMPTY_SLOT):
        raise ConfigError(
            "hashvalues: got values beyond 32 bits, expected those of the schemes affine32 or legacy; affine64 is not "
            "read: sign the texts again"
        )
    return columns.astype(np.uint32).reshape(len(hashvalues), lengths[0] if lengths else 0)


def _folded(hashes: U64) -> U64:
    """To 32 bits; hashes that have no more stay what they are."""
    return (hashes ^ hashes >> _S32) & _MASK
