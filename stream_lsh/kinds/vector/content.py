"""Encodes vectors as texts, base64 of their bytes, because tables and frames store texts.

    float32      little-endian, in order; a negative zero is encoded as a positive one
    bits         eight to a byte, the first one highest; the last byte padded with zeros

Vectors with equal bytes have equal texts and equal digests: they are twins.
"""

from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from mmh3 import hash64

from stream_lsh.arrays import U8, U64
from stream_lsh.errors import InvariantError

F32: TypeAlias = npt.NDArray[np.float32]
"""Vectors."""

_SEED = 0x56454354


def vector_text(vector: F32) -> str:
    """The text of a vector: float32[d].

    Example:
        >>> vector_text(np.array([1, -0.0], np.float32)), vectors_of(["AACAPwAAAAA="], 2).tolist()
        ('AACAPwAAAAA=', [[1.0, 0.0]])
    """
    return b2a_base64((vector + np.float32(0)).astype("<f4").tobytes(), newline=False).decode()


def bits_text(bits: npt.NDArray[np.uint8]) -> str:
    """The text of bits: uint8[d] of 0 and 1.

    Example:
        >>> bits_text(np.array([1, 0, 1], np.uint8)), bits_of(["oA=="], 3).tolist()
        ('oA==', [[1, 0, 1]])
    """
    return b2a_base64(np.packbits(bits).tobytes(), newline=False).decode()


def vectors_of(texts: Sequence[str], dimension: int) -> F32:
    """The vectors of texts: float32[n, dimension].

    Raises:
        InvariantError: a text of another length.
    """
    vectors = np.frombuffer(_bytes(texts, 4 * dimension), "<f4")
    return vectors.reshape(len(texts), dimension).astype(np.float32, copy=False)


def bits_of(texts: Sequence[str], dimension: int) -> U8:
    """The bits of texts, 0 and 1: uint8[n, dimension].

    Raises:
        InvariantError: a text of another length.
    """
    size = -(-dimension // 8)
    packed = np.frombuffer(_bytes(texts, size), np.uint8).reshape(len(texts), size)
    return np.unpackbits(packed, axis=1, count=dimension)


def _bytes(texts: Sequence[str], size: int) -> bytes:
    try:
        parts = [a2b_base64(text) for text in texts]
    except (Error, ValueError):
        raise InvariantError("got a text that is not a vector, expected base64") from None
    if any(len(part) != size for part in parts):
        raise InvariantError(f"got a vector of another dimension, expected {size} bytes")
    return b"".join(parts)


def vector_digests(texts: Sequence[str]) -> U64:
    """A digest of each text, never 0: uint64[n]; two different vectors have equal ones with a probability of 2^-64."""
    digests = (hash64(text.encode(), _SEED, signed=False)[0] or 1 for text in texts)
    return np.fromiter(digests, np.uint64, len(texts))
