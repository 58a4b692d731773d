"""The protocol holds in random schedules, and every rule of it is needed."""

import pytest

from tests.simulation.__main__ import run
from tests.simulation.rules import RULES

pytestmark = pytest.mark.simulation

BLOCK = 80
BLOCKS = 20
"""Some two minutes on two cores; `make soak` runs ten thousand and more."""

ONCE_FAILED = (26, 683)
"""Seeds that once found a fault, of the protocol or of its simulation."""

NOTICED_BY: dict[str, tuple[int, ...]] = {}
"""For every rule, seeds that notice when it is taken out; `python -m tests.simulation --rule NAME` finds others."""


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_schedules_keep_the_protocol(block: int) -> None:
    failed = {}
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        _, found = run(seed)
        if found:
            failed[seed] = found
    assert not failed, f"seeds {sorted(failed)}; see `python -m tests.simulation --seed N`: {failed}"


@pytest.mark.parametrize("seed", ONCE_FAILED)
def test_a_seed_that_once_failed_passes(seed: int) -> None:
    assert run(seed)[1] == []


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_taken_out_is_noticed(rule: str) -> None:
    assert any(run(seed, rule)[1] for seed in NOTICED_BY[rule]), "no seed notices"


def test_the_seeds_that_notice_keep_the_protocol_with_all_rules_in() -> None:
    seeds = sorted({seed for seeds in NOTICED_BY.values() for seed in seeds})
    assert [seed for seed in seeds if run(seed)[1]] == []
