"""The matches that connect two documents, while settle goes on."""

import asyncio
from typing import Any, cast

import pytest

from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import make_ref
from stream_lsh.worker.query.distributed.steps import Part
from stream_lsh.worker.query.resources import pairs

CHAIN = 6


def edge(left: int, similarity: float) -> Edge:
    older, newer = (End(f"d{number}", make_ref(0, number), number, 0) for number in (left, left + 1))
    return Edge(older, newer, similarity, int(10 * similarity), 10)


class _Interrupted:
    """A part of a query; settle removes a match whenever the search lets others run."""

    def __init__(self, ledger: Ledger, removed: int | None) -> None:
        self._ledger, self._removed = ledger, removed

    def states(self) -> None:
        if self._removed is not None:
            self._ledger.settle(2, edges=[edge(self._removed, 0.1)])
            self._removed = None


@pytest.mark.parametrize(
    ("removed", "expected"),
    [(None, [(f"d{number}", f"d{number + 1}", 0.9) for number in range(CHAIN - 1)]), (0, [])],
)
def test_a_path_that_settle_interrupts_is_not_returned(
    monkeypatch: pytest.MonkeyPatch, removed: int | None, expected: list[tuple[str, str, float]]
) -> None:
    monkeypatch.setattr(pairs, "_SLICE", CHAIN - 1)
    ledger = Ledger(0.5)
    ledger.settle(1, edges=[edge(number, 0.9) for number in range(CHAIN - 1)])
    slots = [ledger.graph.nodes.slots[id] for id in ("d0", f"d{CHAIN - 1}")]
    part: Any = cast(Part, _Interrupted(ledger, removed))
    assert asyncio.run(pairs._shortest_path(part, ledger, slots)) == expected
