"""The table of digests, against a dict."""

import random

import numpy as np
import pytest

from stream_lsh.ledger.graph.identical import _LEAST, _PIECES, Twins
from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.model import NO_ABOUT

_CROWDED = 40  # digests that begin at the end of one piece, so that searches continue at its beginning


class _Table:
    """`Twins`, and the live documents of each digest as a list."""

    def __init__(self) -> None:
        self.nodes = Nodes()
        self.twins = Twins(self.nodes, None)
        self.expected: dict[int, list[int]] = {}
        self._count = 0

    def new(self, digest: int) -> int:
        """A document of this digest, which is not in the table yet."""
        self._count += 1
        return self.nodes.add(f"d{self._count:06}", self._count, self._count, digest, NO_ABOUT)

    def add_all(self, digests: list[int]) -> None:
        slots = [self.new(digest) for digest in digests]
        left = self.twins.add_all_alone(slots, np.array(digests, np.uint64))
        alone = [digest not in self.expected and digest not in digests[:at] for at, digest in enumerate(digests)]
        assert left == {slot for slot, is_alone in zip(slots, alone, strict=True) if not is_alone}
        for slot in sorted(left):
            self.twins.add(slot)
        for slot, digest in zip(slots, digests, strict=True):
            self.expected.setdefault(digest, []).append(slot)

    def remove(self, digest: int, slot: int) -> None:
        self.twins.remove(slot)
        self.expected[digest].remove(slot)
        if not self.expected[digest]:
            del self.expected[digest]
        self.nodes.remove(slot)
        self.nodes.release()

    def check(self) -> None:
        assert self.twins.groups == {digest: slots for digest, slots in self.expected.items() if len(slots) > 1}
        held = [entry - 1 for piece in self.twins._pieces for entry in piece if entry not in {0, 0xFFFFFFFF}]
        assert sorted(held) == sorted(slots[0] for slots in self.expected.values())
        for slots in self.expected.values():
            piece, at = self.twins._at(self.nodes.digests[slots[0]], slots[0])
            assert piece[at] == slots[0] + 1, "a search finds it"


@pytest.mark.parametrize("seed", range(6))
def test_the_table_is_that_of_a_dict(seed: int) -> None:
    rng, table = random.Random(seed), _Table()
    digests = [rng.getrandbits(64) | 1 for _ in range(2_000)]
    digests += [(1 << 40) * number + 2**16 - 1 - number % 3 for number in range(1, _CROWDED)]
    for _ in range(60):
        table.add_all([rng.choice(digests) for _ in range(rng.choice((1, 20, 150)))])
        live = [(digest, slot) for digest, slots in table.expected.items() for slot in slots]
        for digest, slot in rng.sample(live, rng.randrange(len(live) // 2 + 1)):
            table.remove(digest, slot)
        table.check()


def test_entries_of_one_piece_are_found_after_it_has_grown() -> None:
    table = _Table()
    for first in range(1, 3_000, 50):
        table.add_all([number << 20 | 0xFFFFF - number % 2 for number in range(first, first + 50)])
        table.check()


def test_removed_documents_leave_no_space_behind() -> None:
    table = _Table()
    for number in range(1, 3 * _PIECES * _LEAST):
        digest = number * 0x9E3779B97F4A7C15 % (1 << 64)
        slot = table.new(digest)
        table.twins.add(slot)
        table.twins.remove(slot)
        table.nodes.remove(slot)
        table.nodes.release()
    assert sum(map(len, table.twins._pieces)) == _PIECES * _LEAST
