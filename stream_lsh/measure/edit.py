"""Edit distance by insertions and deletions, computed from the longest common subsequence.

    E = |x| + |y| - 2 C      C: length of the longest common subsequence

The computation is bit-parallel: each bit of a machine word represents one symbol.

Reference: Needleman and Wunsch, 1970; Hyyrö, Bit-parallel LCS-length computation revisited, 2004; Leskovec, Rajaraman
and Ullman, Mining of Massive Datasets, section 3.5.5.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stream_lsh.arrays import F64


def places(symbols: Sequence[Hashable]) -> dict[Hashable, int]:
    """The positions of each symbol, as the bits of a number.

    Example:
        >>> {symbol: bin(bits) for symbol, bits in places("aba").items()}
        {'a': '0b101', 'b': '0b10'}
    """
    positions: dict[Hashable, int] = {}
    for place, symbol in enumerate(symbols):
        positions[symbol] = positions.get(symbol, 0) | 1 << place
    return positions


def common(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """C, the length of the longest common subsequence of two strings of characters, or of any symbols.

    Cost:
        |one| |other| / 30 steps of integer arithmetic, in C.

    Example:
        >>> common("abcde", "acfdeg"), common(["to", "be"], ["or", "be"])
        (4, 1)
    """
    if len(left) < len(right):
        left, right = right, left
    # A zero bit is a symbol of `left` at which the longest common subsequence up to there grows by one.
    whole = (1 << len(left)) - 1
    at, row = places(left), whole
    for symbol in right:
        matched = row & at.get(symbol, 0)
        row = ((row + matched) | (row - matched)) & whole
    return len(left) - row.bit_count()


@dataclass(frozen=True, slots=True)
class Edit:
    """The distance `edit`: the least number of insertions and deletions that turn one string into the other.

    Example:
        >>> Edit()("abcde", "acfdeg")
        3.0
    """

    name: ClassVar[str] = "edit"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "edits"

    def __call__(self, left: Sequence[Hashable], right: Sequence[Hashable], /) -> float:
        """The distance of two strings, or sequences of any symbols."""
        return float(len(left) + len(right) - 2 * common(left, right))

    def many(self, left: Sequence[Sequence[Hashable]], right: Sequence[Sequence[Hashable]], /) -> F64:
        """The distances of the strings of both sides, pair by pair: float64[n]."""
        return np.array(
            [self(left_item, right_item) for left_item, right_item in zip(left, right, strict=True)], np.float64
        )


@dataclass(frozen=True, slots=True)
class EditShare:
    """The distance `edit_share`: E / (C + E), edits as a share of all symbols of both strings.

    Strings of distinct symbols in one fixed order are sets, and this is their Jaccard distance: C symbols are shared,
    and C + E are in the union.  It is a metric for all strings, the Steinhaus transform of E towards the empty one.
    The empty string has the distance 1 from every string, itself included.

    Example:
        >>> EditShare()("acde", "abde"), EditShare()("", "")
        (0.4, 1.0)
    """

    name: ClassVar[str] = "edit_share"
    metric: ClassVar[bool] = True
    unit: ClassVar[str] = "share"

    def __call__(self, left: Sequence[Hashable], right: Sequence[Hashable], /) -> float:
        """The distance of two strings, or sequences of any symbols."""
        shared = common(left, right)
        together = len(left) + len(right) - shared
        return (together - shared) / together if shared else 1.0

    def many(self, left: Sequence[Sequence[Hashable]], right: Sequence[Sequence[Hashable]], /) -> F64:
        """The distances of the strings of both sides, pair by pair: float64[n]."""
        return np.array(
            [self(left_item, right_item) for left_item, right_item in zip(left, right, strict=True)], np.float64
        )
