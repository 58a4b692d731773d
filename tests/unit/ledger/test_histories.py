"""The ledger against its oracle over calm and wild histories, hubs that lose partners, components of random pairs."""

import random

import pytest

from stream_lsh.ledger import ledger as ledger_module
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.graph.pairs import HUB_FROM
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Retirement
from tests.evaluation.edges import edges_of
from tests.ledger_histories import LEAST_FRAMES, History
from tests.ledger_identities import Checked
from tests.ledger_inside import members_of
from tests.ledger_oracle import Bench

HISTORIES = 24


@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize("least_rows", [1, 6])
def test_every_frame_settles_as_in_the_oracle(
    block: int, least_rows: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "LEAST_ROWS", least_rows)
    frames = 0
    for number in range(HISTORIES):
        case = seed + 10_000 * least_rows + 1_000 * block + number
        print(f"history {case}")
        history = History(case)
        bench = Bench(0.8, history.retention_ms, random.Random(case))
        for retirements, edges, horizon in history.frames():
            bench.settle(retirements=retirements, edges=edges, horizon=horizon)
        frames += bench.offset
    assert frames >= LEAST_FRAMES * HISTORIES


@pytest.mark.slow
def test_one_link_more_or_less_decides_ids_events_and_reasons(seed: int) -> None:
    checked = Checked()
    for number in range(HISTORIES):
        print(f"history {seed + number}")
        history = History(seed + number)
        bench = Bench(0.8, history.retention_ms)
        for retirements, edges, horizon in history.frames():
            for retired in retirements:
                bench.settle(retirements=[retired])
            for edge in dict.fromkeys(edges):
                bench.settle(edges=[edge])
            if horizon is not None:
                bench.settle(horizon=horizon)
        checked = checked.plus(bench.checked)
    assert min(checked) > 20


@pytest.mark.parametrize("size", [HUB_FROM - 1, HUB_FROM, HUB_FROM + 1, 5 * HUB_FROM])
@pytest.mark.parametrize("together", [1, 7, 1_000])
def test_a_hub_loses_and_gains_partners(size: int, together: int, seed: int) -> None:
    rng, bench = random.Random(seed), Bench(0.5)
    hub, leaves = End("m", 1, 0, 0), [End(f"{'az'[n % 2]}{n}", n + 2, n, 0) for n in range(size)]
    edges = [Edge(hub, leaf, rng.choice((0.5, 0.7, 0.9)), 1, 2) for leaf in leaves]
    for _ in range(size // 4):
        one, other = rng.sample(leaves, 2)
        edges.append(Edge(one, other, 0.6, 1, 2))
    for first in range(0, len(edges), together):
        bench.settle(edges=edges[first : first + together] * 2)
    assert len(bench.oracle.live) == size + 1
    for end in (*leaves[::3], hub, *leaves[1::3]):
        bench.settle(retirements=[Retirement(end.id, 1_000 + end.ref, end.time_ms, 0, True, 0)])


def test_clusters_are_the_components_of_the_pairs(seed: int) -> None:
    for number in range(40):
        rng, ledger = random.Random(seed + number), Ledger(0.5)
        ends = [End(f"d{n}", n, rng.randrange(50), 0) for n in range(rng.randint(2, 120))]
        pairs = {tuple(sorted(rng.sample(range(len(ends)), 2))) for _ in range(rng.randint(1, 120))}
        linked = dict.fromkeys(pairs, True)
        drawn = [pair for pair in pairs for _ in range(rng.randint(1, 5))]
        rng.shuffle(drawn)
        offset = 0
        while drawn:
            cut = rng.randint(1, 30)
            batch, drawn = drawn[:cut], drawn[cut:]
            ledger.settle(offset, edges=edges_of(Edge(ends[one], ends[other], 0.9, 9, 10) for one, other in batch))
            offset += 1
        for one, other in rng.sample(sorted(pairs), len(pairs) // 3):
            linked[one, other] = False
            ledger.settle(offset, edges=[Edge(ends[one], ends[other], 0.1, 1, 10)])
            offset += 1
        live = [pair for pair, holds in linked.items() if holds]
        found = {frozenset(id for _, id in members) for members in members_of(ledger).values()}
        assert found == {frozenset(f"d{n}" for n in component) for component in components(live)}


def components(pairs: list[tuple[int, ...]]) -> list[set[int]]:
    """By breadth-first search."""
    partners: dict[int, list[int]] = {}
    for one, other in pairs:
        partners.setdefault(one, []).append(other)
        partners.setdefault(other, []).append(one)
    left, found = set(partners), []
    while left:
        seen, todo = set[int](), [min(left)]
        while todo:
            reached = {number for number in todo if number not in seen}
            seen |= reached
            todo = [other for number in reached for other in partners[number]]
        found.append(seen)
        left -= seen
    return found
