"""The members that a cluster event lists are the newest ones, however members come and go."""

import random

import pytest

from stream_lsh.ledger.changes import ClusterChange
from stream_lsh.ledger.clusters.ids import NEWEST_LISTED
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Retirement
from tests.evaluation.edges import edges_of


@pytest.mark.parametrize("case", range(12))
def test_events_list_the_newest_members(case: int) -> None:
    rng, ledger = random.Random(case), Ledger(0.5)
    ties = rng.choice((1, 1, 5))
    ends, stories = dict[str, End](), rng.choice((1, 3))
    listed = events = made = 0
    for offset in range(100):
        edges, retirements = list[Edge](), list[Retirement]()
        for _ in range(rng.choice((1, 8, 12, 20))):
            story, number, made = rng.randrange(stories), made, made + 1
            time_ms = number // ties if rng.random() < 0.9 else rng.randrange(number + 1)
            new = End(f"{story}-{number}", number, time_ms, number + 1)
            olds = [end for id, end in ends.items() if id.startswith(f"{story}-") or rng.random() < 0.001]
            ends[new.id] = new
            if olds:
                edges.append(Edge(new, rng.choice(olds[-30:]), 0.9, 9, 10))
        if rng.random() < 0.2:
            gone = ends.pop(rng.choice([*ends]))
            edges = [edge for edge in edges if gone not in edge[:2]]
            retirements.append(Retirement(gone.id, 1_000_000 + offset, gone.time_ms, 0, True, gone.time_ms))
        settled = ledger.settle(offset, retirements=retirements, edges=edges_of(edges) if edges else ())
        for change in settled.clusters:
            assert isinstance(change, ClusterChange)
            if change.event is None:
                continue
            newest = sorted(ledger.members(change.id), key=lambda id: (ends[id].time_ms, id), reverse=True)
            assert list(change.members) == newest[:NEWEST_LISTED]
            assert change.size == len(newest)
            assert change.event in ("created", "joined", "merged", "split", "left", "changed")
            listed, events = max(listed, change.size), events + 1
    assert listed > 40
    assert events > 60
