"""The propagation of event time: a source has a watermark once every input has reported it."""

import random

import pytest

from stream_lsh.pipeline.batches import Mark, Watermarks
from stream_lsh.pipeline.watermarks import Relay, WatermarkGenerator, WatermarkTable, watermark_of
from stream_lsh.retention import BEGINNING_MS


def watermarks(origin: int, *marks: tuple[int, int, bool, int], number: int = 0) -> Watermarks:
    return Watermarks(origin, tuple(Mark(*mark, 1, number) for mark in marks))


def test_the_watermark_of_a_source_is_the_least_of_all_inputs_once_each_has_reported_it() -> None:
    table = WatermarkTable(2)
    table.update(watermarks(0, (0, 10, True, 5), (1, 7, False, 0)))
    assert table.merged() == ()
    table.update(watermarks(1, (0, 8, True, 6)))
    assert table.merged() == (Mark(0, 8, True, 5, 1, 0),)
    table.update(watermarks(1, (1, 9, True, 2), (0, 8, False, 6)))
    assert table.merged() == watermarks(0, (0, 8, False, 5), (1, 7, False, 0)).marks, (
        "idle only if all inputs report idle"
    )


def test_times_and_floors_never_fall_and_idleness_may_change() -> None:
    table = WatermarkTable(1)
    for mark in [(3, 10, False, 4), (3, 8, True, 9), (3, 9, False, 2)]:
        table.update(watermarks(3, mark))
    assert table.row(3) == watermarks(3, (3, 10, False, 9))


def test_rows_are_the_marks_of_each_input_and_lead_to_an_equal_table() -> None:
    table, other = WatermarkTable(2), WatermarkTable(2)
    table.update(watermarks(1, (1, 5, False, 0), (0, 4, True, 0)))
    table.update(watermarks(0, (0, 3, False, 1)))
    assert table.rows() == (watermarks(0, (0, 3, False, 1)), watermarks(1, (0, 4, True, 0), (1, 5, False, 0)))
    assert table.row(9) == watermarks(9)
    for row in table.rows():
        other.update(row)
    assert (other.rows(), other.merged()) == (table.rows(), table.merged())


@pytest.mark.parametrize("case", range(50))
def test_a_merged_mark_is_the_least_of_the_greatest_of_each_input(case: int) -> None:
    rng = random.Random(case)
    origins, sources = rng.randint(1, 4), rng.randint(1, 4)
    table, sent, last = WatermarkTable(origins), list[tuple[int, Mark]](), dict[int, Mark]()
    for number in range(60):
        origin = rng.randrange(origins)
        mark = Mark(rng.randrange(sources), rng.randint(-50, 50), rng.random() < 0.5, rng.randint(0, 9), 1, number)
        sent.append((origin, mark))
        table.update(Watermarks(origin, (mark,)))
        merged = table.merged()
        assert [m.source for m in merged] == sorted({m.source for m in merged})
        for got in merged:
            per_origin = [[m for o, m in sent if o == at and m.source == got.source] for at in range(origins)]
            assert all(per_origin)
            assert got.time_ms == min(max(m.time_ms for m in marks) for marks in per_origin)
            assert got.min_offset == min(max(m.min_offset for m in marks) for marks in per_origin)
            assert got.idle == all(marks[-1].idle for marks in per_origin)
            assert got.order_key == min(marks[-1].order_key for marks in per_origin)
            before = last.get(got.source, got)
            assert (got.time_ms, got.min_offset) >= (before.time_ms, before.min_offset)
            last[got.source] = got


def test_a_relay_passes_on_what_has_changed_under_its_own_name() -> None:
    relay = Relay(4, 2)
    assert relay.take(watermarks(0, (0, 10, False, 0))) is None
    assert relay.take(watermarks(1, (0, 12, False, 0))) == watermarks(4, (0, 10, False, 0))
    assert relay.take(watermarks(0, (0, 11, False, 0))) == watermarks(4, (0, 11, False, 0))
    assert relay.take(watermarks(1, (0, 15, False, 0))) is None, "the least has not changed"
    assert relay.take(watermarks(0, (0, 11, False, 0), number=1)) is None, "a new number alone is not sent"
    assert relay.take(watermarks(1, (0, 15, True, 0), number=2)) is None
    assert relay.take(watermarks(0, (0, 11, True, 0), number=3)) == watermarks(4, (0, 11, True, 0), number=2)


def test_a_relay_repeats_its_marks_because_the_next_hop_may_have_been_restarted() -> None:
    relay, marks = Relay(0, 1), watermarks(0, (0, 10, False, 0))
    sent = [relay.take(marks) is not None for _ in range(33)]
    assert sent == [n % 8 == 0 for n in range(33)]


def test_a_relay_without_marks_of_all_inputs_sends_none() -> None:
    relay = Relay(0, 2)
    assert all(relay.take(watermarks(0, (0, 10, False, 0))) is None for _ in range(50))


@pytest.mark.parametrize(
    ("marks", "sources", "expected"),
    [
        ([], 1, BEGINNING_MS),
        ([(0, 10, False)], 2, BEGINNING_MS),
        ([(0, 10, False), (1, 7, False)], 2, 7),
        ([(0, 10, False), (1, 7, True)], 2, 10),
        ([(0, 10, True), (1, 7, True)], 2, BEGINNING_MS),
        ([(0, -10, True), (1, -70, False)], 2, -70),
        ([(0, BEGINNING_MS, True), (1, 7, False)], 2, 7),
        ([(0, BEGINNING_MS, False), (1, 7, False)], 2, BEGINNING_MS),
    ],
)
def test_w_is_the_least_of_the_busy_sources_and_stays_if_all_are_idle(
    marks: list[tuple[int, int, bool]], sources: int, expected: int
) -> None:
    assert watermark_of([Mark(source, time_ms, idle, 0) for source, time_ms, idle in marks], sources) == expected


# -- repeated marks


def test_the_newer_of_two_marks_determines_whether_a_source_is_idle() -> None:
    table = WatermarkTable(1)
    table.update(watermarks(0, (0, 20, False, 0), number=5))
    table.update(watermarks(0, (0, 0, True, 0), number=4))
    assert table.merged() == watermarks(0, (0, 20, False, 0), number=5).marks, "an old mark comes again"
    table.update(watermarks(0, (0, 20, True, 0), number=5))
    assert not table.merged()[0].idle, "of two equally new marks the one that expires nothing"
    table.update(watermarks(0, (0, 10, True, 0), number=6))
    assert table.merged() == watermarks(0, (0, 20, True, 0), number=6).marks


def test_the_marks_of_a_new_owner_replace_those_of_its_predecessor() -> None:
    table = WatermarkTable(1)
    table.update(Watermarks(0, (Mark(0, 20, True, 0, 7, 900),)))
    table.update(Watermarks(0, (Mark(0, 10, False, 0, 8, 1),)))
    assert table.merged() == (Mark(0, 20, False, 0, 8, 1),)


def test_generations_start_again_where_the_group_was_deleted() -> None:
    table = WatermarkTable(1)
    table.update(Watermarks(0, (Mark(0, 20, True, 0, 7, 900),)))
    table.begin(7)
    table.update(Watermarks(0, (Mark(0, 20, False, 0, 1, 3),)))
    assert table.merged()[0].idle
    table.begin(1)
    table.update(Watermarks(0, (Mark(0, 20, False, 0, 1, 4),)))
    assert table.merged() == (Mark(0, 20, False, 0, 1, 4),)


@pytest.mark.parametrize("case", range(60))
def test_repeated_marks_in_their_order_advance_no_watermark(case: int) -> None:
    """Each input is read again from some point before; the watermark never gets further than without."""
    rng = random.Random(case)
    origins, sources = rng.randint(1, 3), rng.randint(2, 3)
    times, sent = [0] * sources, [list[Watermarks]() for _ in range(origins)]
    for number in range(40):
        source = rng.randrange(sources)
        times[source] += rng.choice((0, 1, 5, 900))
        mark = Mark(source, times[source], rng.random() < 0.4, 0, 1, number)
        for origin in range(origins):
            sent[origin].append(Watermarks(origin, (mark,)))
    once, again, position = WatermarkTable(origins), WatermarkTable(origins), [0] * origins
    reached = BEGINNING_MS
    while any(at < 40 for at in position):
        origin = rng.choice([origin for origin in range(origins) if position[origin] < 40])
        once.update(sent[origin][position[origin]])
        for at in range(rng.randint(0, position[origin]), position[origin] + 1):
            again.update(sent[origin][at])
            if at < position[origin]:
                assert watermark_of(again.merged(), sources) == reached
        position[origin] += 1
        reached = watermark_of(once.merged(), sources)
        assert again.rows() == once.rows()


# -- generations


def test_an_idle_mark_counts_in_its_own_generation_only() -> None:
    table = WatermarkTable(1)
    table.update(Watermarks(0, (Mark(0, 20, True, 0, 1, 9), Mark(1, 30, True, 0, 1, 9))))
    table.begin(1)
    assert [mark.idle for mark in table.merged()] == [True, True]
    table.begin(2)
    assert [mark.idle for mark in table.merged()] == [False, False]
    table.update(Watermarks(0, (Mark(1, 30, True, 0, 2, 1),)))
    assert [mark.idle for mark in table.merged()] == [False, True]
    assert watermark_of(table.merged(), 2) == 20


def test_a_mark_of_a_forgotten_group_hides_none_that_comes_behind_it_in_the_same_batch() -> None:
    table = WatermarkTable(1)
    table.begin(2)
    for mark in (Mark(0, 20, True, 5, 57, 900), Mark(0, 10, False, 0, 1, 3), Mark(0, 10, True, 0, 2, 1)):
        table.update(Watermarks(0, (mark,)))
    assert table.merged() == (Mark(0, 20, True, 5, 2, 1),), "of the group that was forgotten time and floor stay"


def test_a_relay_forgets_a_group_that_was_forgotten_and_passes_a_new_generation_on_at_once() -> None:
    relay = Relay(0, 1)
    relay.begin(57)
    assert relay.take(Watermarks(1, (Mark(1, 1_000, True, 0, 57, 9),))) is not None
    relay.begin(1)
    passed = [relay.take(Watermarks(1, (Mark(1, 1_000, n % 2 == 0, 0, 1, n),))) for n in range(1, 5)]
    assert [answer and answer.marks for answer in passed] == [
        (Mark(1, 1_000, number % 2 == 0, 0, 1, number),) for number in range(1, 5)
    ]
    relay.begin(2)
    assert relay.take(Watermarks(1, (Mark(1, 1_000, True, 0, 2, 1),))) is not None, "nothing but the generation is new"


def test_the_marks_of_a_source_that_moves_to_another_sender_are_in_one_row() -> None:
    table = WatermarkTable(1)
    table.update(watermarks(0, (0, 10, False, 0), (1, 20, False, 0)))
    table.update(watermarks(1, (1, 30, False, 0), (2, 40, False, 0)))
    assert [(mark.source, mark.time_ms) for mark in table.merged()] == [(0, 10), (1, 30), (2, 40)]


# -- slow sources


def test_a_source_is_idle_only_if_its_event_time_has_not_moved_since_the_last_mark() -> None:
    generator, marks = WatermarkGenerator(), list[tuple[int, bool]]()
    for newest_ms, generation, at_end in (
        *((5, 1, True), (5, 1, True), (5, 1, True), (9, 1, True), (9, 1, True), (9, 1, True)),
        *((9, 1, False), (9, 1, True), (9, 1, True), (9, 2, True), (9, 2, True)),
    ):
        mark = generator.mark(3, newest_ms, 7, generation, at_end=at_end)
        assert mark == Mark(3, mark.time_ms, mark.idle, 7, generation, len(marks) + 1)
        marks.append((mark.time_ms, mark.idle))
    assert marks == [
        *((5, False), (5, True), (5, True), (5, False), (9, False), (9, True)),
        *((9, False), (9, False), (9, True), (9, False), (9, True)),
    ]


@pytest.mark.parametrize("case", range(60))
def test_an_advance_of_a_slow_source_reaches_settle_through_hops_that_handle_batches(case: int) -> None:
    """A document every few ticks, the source at its end at every tick: W follows it, whatever comes together."""
    rng = random.Random(case)
    partitions = rng.choice((1, 2, 3))
    generators = [WatermarkGenerator() for _ in range(partitions)]
    index = [Relay(origin, 1) for origin in range(partitions)]
    gather, verify = ([Relay(origin, partitions) for origin in range(partitions)] for _ in range(2))
    settle, reached, newest = WatermarkTable(partitions), BEGINNING_MS, [0] * partitions
    queues = [[list[Watermarks]() for _ in range(partitions)] for _ in range(3)]
    for relay in (*index, *gather, *verify):
        relay.begin(1)
    settle.begin(1)

    def steps(count: int) -> None:
        nonlocal reached
        for _ in range(count):
            step, at = rng.randrange(3), rng.randrange(partitions)
            inputs = queues[step][at]
            batch = [inputs.pop(0) for _ in range(min(len(inputs), rng.choice((1, 2, 5))))]
            for answer in (index, gather, verify)[step][at].take_all(batch):
                for further in queues[step + 1] if step < 2 else ():
                    further.append(answer)
                if step == 2:
                    settle.update(answer)
                    reached = max(reached, watermark_of(settle.merged(), partitions))

    for tick in range(100):
        if tick % 7 == 0:
            newest[rng.randrange(partitions)] = max(newest) + 10
        marks = tuple(one.mark(n, newest[n], 0, 1, at_end=True) for n, one in enumerate(generators))
        for inputs in queues[0]:
            inputs.append(Watermarks(0, marks))
        steps(rng.choice((0, 3, 20)) if tick < 80 else 0)
    steps(5_000)
    assert reached == max(newest)
