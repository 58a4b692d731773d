import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.measure.probe import Probe
from tests.evaluation.oracles import MASK64

# Many values that fight for the same place, at several levels, and their complements, which fill the empty places.
crowded = st.builds(
    lambda high, low: high << 48 | low, st.integers(0, 3), st.sampled_from([0, 1, 64, 1 << 16, 1 << 32])
)
values = st.one_of(crowded, crowded.map(lambda v: v ^ MASK64), st.integers(0, MASK64))


@given(st.sets(values, max_size=40), st.lists(values, max_size=40))
def test_members_are_found_and_others_are_not(members: set[int], asked: list[int]) -> None:
    asked += list(members) + [m ^ MASK64 for m in members]
    probe = Probe(np.array(sorted(members), np.uint64))
    assert probe.contains(np.array(asked, np.uint64)).tolist() == [value in members for value in asked]


@given(st.permutations([i << 60 for i in range(16)]))
def test_members_that_share_all_addresses_are_searched(members: list[int]) -> None:
    probe = Probe(np.array(members, np.uint64))
    assert probe.contains(np.array(members, np.uint64)).all()
    assert not probe.contains(np.array([m + 1 for m in members], np.uint64)).any()


@pytest.mark.parametrize("size", [1, 50, 3000, 60_000])
def test_the_complement_of_the_first_member_is_no_member(size: int) -> None:
    members = np.unique(np.random.default_rng(size).integers(0, 1 << 64, size, np.uint64))
    assert not Probe(members).contains(~members[:1]).any()
    assert Probe(members).contains(members).all()


def test_nothing_is_a_member_of_nothing() -> None:
    assert Probe(np.array([], np.uint64)).contains(np.array([0, 1], np.uint64)).tolist() == [False, False]
