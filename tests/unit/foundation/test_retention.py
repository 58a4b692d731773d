"""Expired entries and the order in which they are returned."""

from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.model import make_ref
from stream_lsh.retention import BEGINNING_MS, ExpiryQueue, Horizon

horizons = st.builds(Horizon, st.integers(BEGINNING_MS, 50), st.lists(st.integers(0, 9), max_size=3).map(tuple))
versions = st.tuples(st.integers(-50, 50), st.builds(make_ref, st.integers(0, 3), st.integers(0, 9)))


def test_nothing_has_expired_in_the_beginning() -> None:
    assert not Horizon().passed(BEGINNING_MS, make_ref(0, 0))
    assert not Horizon().passed(-1, make_ref(65_535, 0))


def test_a_version_at_the_horizon_is_still_there() -> None:
    horizon = Horizon(1_000, min_offsets=(0, 7))
    assert [horizon.passed(time_ms, make_ref(1, 7)) for time_ms in (998, 999, 1_000, 1_001)] == [
        True,
        True,
        False,
        False,
    ]
    assert [horizon.passed(1_000, make_ref(1, offset)) for offset in (5, 6, 7, 8)] == [True, True, False, False]


def test_a_floor_counts_for_its_own_partition_only() -> None:
    horizon = Horizon(min_offsets=(0, 7))
    assert [horizon.passed(0, make_ref(partition, 3)) for partition in range(4)] == [False, True, False, False]


@given(one=horizons, other=horizons, version=versions)
def test_a_joined_horizon_has_passed_what_either_has(one: Horizon, other: Horizon, version: tuple[int, int]) -> None:
    joined = one.max(other)
    assert joined.passed(*version) == (one.passed(*version) or other.passed(*version))
    assert joined == other.max(one) == joined.max(one)


@given(
    steps=st.lists(
        st.tuples(st.just("push"), st.sampled_from("abcdefgh"), versions)
        | st.tuples(st.just("discard"), st.sampled_from("abcdefgh"), st.none())
        | st.tuples(st.just("pop"), st.none(), horizons),
        max_size=200,
    )
)
def test_a_queue_hands_out_what_a_dictionary_would(steps: list[tuple[str, str, object]]) -> None:
    queue, model, horizon = ExpiryQueue(), dict[str, tuple[int, int]](), Horizon()
    for action, key, argument in steps:
        if action == "push":
            assert isinstance(argument, tuple)
            queue.push(key, *argument)
            model[key] = argument
        elif action == "discard":
            queue.discard(key)
            model.pop(key, None)
        else:
            assert isinstance(argument, Horizon)
            horizon = horizon.max(argument)
            due = [key for key, version in model.items() if horizon.passed(*version)]
            assert sorted(queue.pop_due(horizon)) == sorted(due)
            for expired in due:
                del model[expired]
        assert len(queue) == len(model)


def test_keys_come_in_the_order_of_their_times() -> None:
    queue = ExpiryQueue()
    for key, time_ms in (("c", 30), ("a", 10), ("d", 40), ("b", 20)):
        queue.push(key, time_ms, make_ref(0, 0))
    assert list(queue.pop_due(Horizon(40))) == ["a", "b", "c"]
    assert list(queue.pop_due(Horizon(41))) == ["d"]


def test_a_key_that_is_pushed_again_expires_by_its_later_values() -> None:
    queue = ExpiryQueue()
    queue.push("a", 10, make_ref(0, 1))
    queue.push("a", 20, make_ref(0, 2))
    assert list(queue.pop_due(Horizon(20, min_offsets=(2,)))) == []
    assert list(queue.pop_due(Horizon(20, min_offsets=(3,)))) == ["a"]
    assert list(queue.pop_due(Horizon(21, min_offsets=(3,)))) == []


def test_a_queue_takes_memory_for_the_keys_that_are_in() -> None:
    queue = ExpiryQueue()
    for step in range(20_000):
        queue.push(f"updated {step % 10}", step, make_ref(step % 3, step))
        queue.push(f"deleted {step}", step, make_ref(step % 3, step))
        queue.discard(f"deleted {step}")
        queue.push(f"expired {step}", step, make_ref(step % 3, step))
        list(queue.pop_due(Horizon(step - 50)))
    assert len(queue) <= 61
    assert len(queue._by_time) < 500
    assert sum(map(len, queue._by_offset.values())) < 500
