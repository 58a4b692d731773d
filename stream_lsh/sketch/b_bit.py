"""b-bit signatures: they store b bits of every slot, and the estimate corrects for accidental agreement.

    kept[j]   = lowest b bits of fmix32(signature[j])
    P(agree)  = C1 + (1 - C2) J
    estimate  = (share of slots that agree - C1) / (1 - C2),    variance P (1 - P) / (slots (1 - C2)²)

For sets that are small compared with the universe of their elements, such as 64-bit hashes, C1 = C2 = 2^-b.  For
explicit permutations of a small universe, `accidental_agreement` computes the general constants.

Reference: Li and König, b-Bit minwise hashing, WWW 2010, theorem 1 and equation 11.  They store the lowest bits of the
rank itself.  This module first applies a bijective mixer: the lowest bits of an affine hash depend on the lowest bits
of the shingle alone, and would agree in all slots together.

The bits of a slot are adjacent in a byte, the first slot lowest; the last byte is padded with 0.
"""

import math
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import F64, I64, U8, U32, Bools
from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.hashing import fmix32
from stream_lsh.sketch.scheme import EMPTY_SLOT

WIDTHS = (1, 2, 4, 8, 16)
"""The possible numbers of bits of a slot."""

_LOWEST = {1: 0xFF, 2: 0x55, 4: 0x11, 8: 0x01}
"""The lowest bit of every slot in a byte."""
_PAIRS = 512  # compared at once


@dataclass(frozen=True, slots=True, eq=False)
class BBitSignatures:
    """Signatures of b bits a slot.

    Attributes:
        bits: b, of a slot.
        slots: of a signature.
        packed: uint8[n, bytes], `packed_bytes` of them for each.
        filled: bool[n], whether the document has shingles; b bits have no value for an empty slot.
    """

    bits: int
    slots: int
    packed: U8
    filled: Bools

    def __len__(self) -> int:
        return len(self.packed)

    def take(self, rows: I64) -> "BBitSignatures":
        """The signatures of some rows, in this order."""
        return BBitSignatures(self.bits, self.slots, self.packed[rows], self.filled[rows])


def packed_bytes(slots: int, bits: int) -> int:
    """Bytes of one signature.

    Example:
        >>> [packed_bytes(250, bits) for bits in (1, 2, 4, 8, 16, 32)]
        [32, 63, 125, 250, 500, 1000]
    """
    return -(-slots * bits // 8)


def pack(signatures: U32, bits: int) -> BBitSignatures:
    """The b-bit signatures of signatures of any scheme.

    Args:
        signatures: uint32[n, slots].
        bits: 1, 2, 4, 8 or 16 of each slot.

    Raises:
        ConfigError: another number of bits.

    Example:
        >>> two = pack(np.array([[1, 2, 3, 4], [1, 2, 3, 5]], np.uint32), bits=4)
        >>> two.packed.shape, matching_b_bit_slots(two.take(np.array([0])), two.take(np.array([1]))).tolist()
        ((2, 2), [3])
    """
    _check(bits)
    count, slots = signatures.shape
    kept = fmix32(signatures) & np.uint32((1 << bits) - 1)
    filled = signatures[:, :1].ravel() != EMPTY_SLOT
    width = packed_bytes(slots, bits)
    if bits >= 8:
        packed = kept.astype("<u2", order="C").view(np.uint8) if bits == 16 else kept.astype(np.uint8)
        return BBitSignatures(bits, slots, packed.reshape(count, width), filled)
    in_byte = 8 // bits
    padded = np.zeros((count, width * in_byte), np.uint8)
    padded[:, :slots] = kept
    parts = padded.reshape(count, width, in_byte) << np.arange(0, 8, bits, dtype=np.uint8)
    return BBitSignatures(bits, slots, np.bitwise_or.reduce(parts, axis=2), filled)


def matching_b_bit_slots(left: BBitSignatures, right: BBitSignatures) -> I64:
    """The number of agreeing slots of each pair, including accidental agreement: int64[n].

    Returns:
        0 if a document has no shingles.

    Raises:
        InvariantError: other bits, slots or numbers of signatures on the two sides.
    """
    if (left.bits, left.slots, len(left)) != (right.bits, right.slots, len(right)):
        raise InvariantError(
            f"b-bit signatures: got {len(left)} of {left.slots} slots of {left.bits} bits and {len(right)} of "
            f"{right.slots} slots of {right.bits} bits, expected the same"
        )
    matching = np.empty(len(left), np.int64)
    for start in range(0, matching.size, _PAIRS):
        piece = slice(start, start + _PAIRS)
        matching[piece] = left.slots - _differing(left.packed[piece], right.packed[piece], left.bits)
    matching[~(left.filled & right.filled)] = 0
    return matching


def accidental_agreement(bits: int, left_share: float = 0.0, right_share: float = 0.0) -> tuple[float, float]:
    """The constants C1 and C2 of the estimate.

    Args:
        bits: b.
        left_share: the size of the left set as a share of the universe, 0 to 1; 0 is the limit for a large universe.
        right_share: the same for the right set.

    Example:
        >>> accidental_agreement(2)
        (0.25, 0.25)
        >>> [round(c, 4) for c in accidental_agreement(2, left_share=0.5, right_share=0.1)]
        [0.1878, 0.0909]
    """
    _check(bits)
    if not (0 <= left_share <= 1 and 0 <= right_share <= 1):
        raise ConfigError(f"shares of the universe: got {left_share} and {right_share}, expected 0 to 1")
    total = left_share + right_share
    if total == 0:
        return 2.0**-bits, 2.0**-bits
    of_left, of_right = _last_rest(left_share, bits), _last_rest(right_share, bits)
    return (
        (of_left * right_share + of_right * left_share) / total,
        (of_left * left_share + of_right * right_share) / total,
    )


def estimate_b_bit(matching: I64, slots: int, bits: int, left_share: float = 0.0, right_share: float = 0.0) -> F64:
    """The similarities estimated from the numbers of agreeing slots: float64[n].

    Args:
        matching: agreeing slots, int64[n], from `matching_b_bit_slots`.
        slots: of a signature.
        bits: b.
        left_share: see `accidental_agreement`.
        right_share: the same for the right set.

    Guarantees:
        unbiased, and therefore sometimes negative for pairs that share little; clip it at 0 only for display.

    Example:
        >>> estimate_b_bit(np.array([128, 96, 60]), slots=128, bits=1).tolist()
        [1.0, 0.5, -0.0625]
    """
    first, second = accidental_agreement(bits, left_share, right_share)
    return np.asarray((matching / slots - first) / (1 - second), np.float64)


def b_bit_standard_error(similarity: float, slots: int, bits: int) -> float:
    """The standard error of the estimate from independent slots, in a large universe.

    Example:
        >>> round(b_bit_standard_error(0.5, 128, bits=16), 4), round(b_bit_standard_error(0.5, 128, bits=1), 4)
        (0.0442, 0.0765)
    """
    accident, _ = accidental_agreement(bits)
    agree = accident + (1 - accident) * similarity
    return math.sqrt(agree * (1 - agree) / slots) / (1 - accident)


def _last_rest(share: float, bits: int) -> float:
    """A of theorem 1: the probability that the least rank of a set of this share is 2^b - 1 modulo 2^b."""
    if share == 0:
        return 2.0**-bits
    if share == 1:
        return 0.0
    # 1 - share would lose a small share, so both powers use the logarithm.
    log_rest = math.log1p(-share)
    return share * math.exp(((1 << bits) - 1) * log_rest) / -math.expm1((1 << bits) * log_rest)


def _differing(left: U8, right: U8, bits: int) -> I64:
    """The number of slots in which the packed signatures differ."""
    different = left ^ right
    if bits == 16:
        return np.asarray(np.count_nonzero(different.view("<u2"), axis=1), np.int64)
    shift = bits // 2
    while shift:
        different |= different >> np.uint8(shift)
        shift //= 2
    different &= np.uint8(_LOWEST[bits])
    return np.asarray(np.bitwise_count(different).sum(axis=1), np.int64)


def _check(bits: int) -> None:
    if bits not in WIDTHS:
        raise ConfigError(f"bits: got {bits}, expected one of {', '.join(map(str, WIDTHS))}")
