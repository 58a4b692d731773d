"""Every kind of fault at least once, with a fixed seed: nothing is missing, wrong, or stale."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.faults import FAULTS
from tests.chaos.run import Settings, remove, run
from tests.chaos.schedule import plan

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestWarning"),
]

_SEED = 2


def test_a_seed_determines_the_schedule_and_a_round_has_every_kind() -> None:
    one, other = (plan(7, FAULTS, (5.0, 10.0), 60.0) for _ in range(2))
    first = [next(one) for _ in FAULTS]
    assert first == [next(other) for _ in FAULTS]
    assert {planned.fault for planned in first} == set(FAULTS)
    assert first != [next(one) for _ in FAULTS]


def test_two_workers_lose_nothing_under_faults_of_workers_and_brokers(data_dir: Path) -> None:
    settings = Settings(seed=_SEED, documents=5_000, seconds=60.0, data_dir=data_dir, gap_s=(2.0, 5.0), down_s=15.0)
    outcome = asyncio.run(run(settings))
    assert set(outcome.happened) == {fault.kind for fault in FAULTS}
    assert outcome.verdicts[0].pairs > 0
    assert outcome.is_clean, [line for verdict in outcome.verdicts for line in verdict.lines()]
    remove(outcome)
