"""The memory of sets: counts against Python sets, however sets are kept, and its bound."""

import random

import numpy as np
import pytest

from stream_lsh.arrays import U64
from stream_lsh.measure import set_memory as module
from stream_lsh.measure.set_memory import SetMemory

Made = dict[int, U64]


def near(rng: random.Random, groups: int, members: int, size: int) -> Made:
    """Sets in groups of similar ones, by number."""
    made = Made()
    for group in range(groups):
        base = rng.sample(range(1 << 40), size)
        for member in range(members):
            some = {*rng.sample(base, rng.randint(size // 2, size)), *rng.sample(range(1 << 40), rng.randint(0, 40))}
            made[1_000 * group + member] = np.array(sorted(some), np.uint64)
    return made


@pytest.mark.parametrize("case", range(30))
def test_pairs_share_what_python_sets_share(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(case)
    monkeypatch.setattr(module, "_WIDEST", rng.choice((1, 3, 32)))
    monkeypatch.setattr(module, "_MOST_ROWS", rng.choice((2, 7, 1_000)))
    monkeypatch.setattr(module, "_LEAST_HASHES", rng.choice((0, 128)))
    made = near(rng, 3, 25, rng.choice((30, 300)))
    plain = {ref: set(hashes.tolist()) for ref, hashes in made.items()}
    memory = SetMemory(rng.choice((0, 3_000, 20_000, 1 << 20)))
    for _ in range(60):
        ones = rng.sample([*made], rng.choice((1, 3)))
        others = {one: rng.sample([*made], rng.choice((0, 1, 4, 12, 40))) for one in ones}
        missing = {ref: made[ref] for one in ones for ref in (one, *others[one]) if ref not in memory}
        for one in ones:
            memory.hold(one, others[one], missing, joins=rng.random() < 0.9)
        pairs = [(one, other) for one in ones for other in others[one]]
        left, right = np.array(pairs, np.uint64).reshape(-1, 2).T
        assert memory.shared(left, right).tolist() == [len(plain[one] & plain[other]) for one, other in pairs]
        assert memory.sizes([*map(int, right)]).tolist() == [len(plain[other]) for _, other in pairs]
        for ref in ones:
            assert memory.get(ref).tolist() == sorted(plain[ref])
        memory.trim()
        for ref in rng.sample([*made], 3):
            memory.forget(ref)
            assert ref not in memory
    for ref in made:
        memory.forget(ref)
    assert len(memory) == 0


@pytest.mark.parametrize("size", [0, 1, 8, 200])
def test_the_memory_is_bounded_even_for_empty_sets(size: int) -> None:
    memory = SetMemory(4_000)
    for ref in range(500):
        memory.hold(ref, [], {ref: np.arange(size, dtype=np.uint64)})
        memory.trim()
        assert ref in memory
        assert len(memory) <= 4_000 // (32 + size) + 1
    with pytest.raises(KeyError):
        memory.get(0)


def test_a_group_takes_less_memory_than_its_sets_and_is_dropped_as_one() -> None:
    made = near(random.Random(1), 2, 60, 600)
    memory = SetMemory(1 << 20)
    memory.hold(0, [*range(1, 60)], made)
    memory.trim()
    assert memory._size < sum(made[ref].size for ref in range(60))
    memory = SetMemory(memory._size)
    for start in (0, 1_000):
        memory.hold(start, [*range(start + 1, start + 60)], made)
        memory.trim()
    assert {ref for ref in made if ref in memory} == {*range(1_000, 1_060)}


def test_the_least_recently_used_set_goes_first_and_a_single_one_stays() -> None:
    one = {ref: np.array([ref], np.uint64) for ref in range(1, 5)}
    memory = SetMemory(3 * 33)
    for ref in (1, 2, 3, 1, 4):
        memory.hold(ref, [], one)
        memory.trim()
    assert {ref for ref in one if ref in memory} == {3, 1, 4}
    tiny = SetMemory(0)
    tiny.hold(1, [2], one)
    assert tiny.shared(np.array([1], np.uint64), np.array([2], np.uint64)).tolist() == [0], "all are there until `trim`"
    tiny.trim()
    assert len(tiny) == 1


def test_a_set_that_is_forgotten_at_once_joins_no_group() -> None:
    made = near(random.Random(2), 1, 30, 300)
    memory = SetMemory(1 << 20)
    memory.hold(0, [*range(1, 29)], made)
    for _ in range(100):
        memory.hold(29, [*range(29)], made, joins=False)
        assert memory.shared(np.array([29], np.uint64), np.array([3], np.uint64)).tolist() == [
            len({*made[29].tolist()} & {*made[3].tolist()})
        ]
        memory.forget(29)
    assert len(memory._groups[0].refs) == 29
