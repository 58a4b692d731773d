"""Twenty thousand odd messages over all kinds, in memory; a million and workers on brokers are `make soak`."""

import pytest

from tests.fuzz.__main__ import decisions_of
from tests.fuzz.kinds import KINDS, config_of
from tests.fuzz.memory import process
from tests.fuzz.messages import messages

MESSAGES = 20_000


@pytest.mark.parametrize("kind", KINDS)
def test_no_message_is_a_bug(kind: str, seed: int) -> None:
    config, count = config_of(kind), MESSAGES // len(KINDS)
    pipeline = config.pipelines[0]
    found = process(config, messages(pipeline, seed, count), decisions_of(pipeline, seed, count))
    assert found["read"] > count // 5
    assert len(found) > 6, "what is odd has many reasons"


def test_equal_seeds_have_equal_messages() -> None:
    pipeline = config_of("people").pipelines[0]
    assert [*messages(pipeline, 7, 200)] == [*messages(pipeline, 7, 200)]
    assert [*messages(pipeline, 7, 200)] != [*messages(pipeline, 8, 200)]
