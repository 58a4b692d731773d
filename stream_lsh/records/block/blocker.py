"""All blocks of a profile, whose keys are the signature of a record in place of the bands of a text."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.records.block.lsh import LshBlock, lsh_block
from stream_lsh.records.block.rules import Rule
from stream_lsh.records.model import Values
from stream_lsh.records.profile import Profile

NUMBERED = 31
"""The number of blocks that keys distinguish; all further blocks share the last number."""
_NUMBER_MASK = np.uint64(0x3E)  # bit 0 is reserved for the index


@dataclass(frozen=True, slots=True)
class Blocker:
    """Computes the keys of records.

    Five bits of a key are the number of its block, so that the index can report the rule of a large bucket.

    Attributes:
        rules: blocking rules.
        lsh: LSH blocks; their columns come after those of the rules.
    """

    rules: Sequence[Rule]
    lsh: Sequence[LshBlock] = ()
    _numbers: U64 = field(init=False, repr=False)
    """The number of the block of each column of keys, in the bits of a key."""

    def __post_init__(self) -> None:
        numbers = np.minimum(self.owners, NUMBERED - 1).astype(np.uint64) + np.uint64(1)
        object.__setattr__(self, "_numbers", numbers << np.uint64(1))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each block, which is published with the pairs that it finds."""
        return (*(rule.text for rule in self.rules), *(f"lsh {number}" for number in range(1, len(self.lsh) + 1)))

    @property
    def owners(self) -> I64:
        """The block of each column of keys, as its index in `names`: int64[width]."""
        widths = [*(rule.width for rule in self.rules), *(block.width for block in self.lsh)]
        return np.repeat(np.arange(len(widths)), widths)

    def keys(self, records: Sequence[Values]) -> U64:
        """The keys of each record: uint64[n, width], 0 for none.

        Guarantees:
            a row depends on its record alone; bit 0 of a key is 0.
        """
        keys = np.zeros((len(records), self._numbers.size), np.uint64)
        start = 0
        for rule in self.rules:
            for row, values in enumerate(records):
                rule_keys = rule.keys(values)
                if rule_keys:
                    keys[row, start : start + len(rule_keys)] = rule_keys
            start += rule.width
        for block in self.lsh:
            keys[:, start : start + block.width] = block.keys(records)
            start += block.width
        numbered: U64 = np.where(keys == 0, np.uint64(0), keys & ~_NUMBER_MASK | self._numbers)
        return numbered

    def keys_of(self, values: Values) -> list[int]:
        """The distinct keys of one record by the rules, without arrays."""
        keys = dict.fromkeys(
            key & ~0x3E | min(number, NUMBERED - 1) + 1 << 1
            for number, rule in enumerate(self.rules)
            for key in rule.keys(values)
        )
        return list(keys)


def block_of(key: int) -> int:
    """The index of the block of a key.

    Example:
        >>> blocker = Blocker([Rule("name", {"name": 0}), Rule("name:soundex", {"name": 0})])
        >>> [block_of(key) for key in blocker.keys_of(("smith",))]
        [0, 1]
    """
    return (key >> 1 & NUMBERED) - 1


def blocker_of(profile: Profile) -> Blocker:
    """The blocks of a profile.

    Raises:
        ConfigError: an unreadable rule, or infeasible bands.
    """
    places = {name: place for place, name in enumerate(profile.names)}
    return Blocker([Rule(rule, places) for rule in profile.rules], [lsh_block(lsh, places) for lsh in profile.lsh])
