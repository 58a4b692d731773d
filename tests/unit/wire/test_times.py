"""Times of messages: in every form and unit that is in use, and nothing is taken for 1970 that is not."""

import json
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.cli.options.common import TIME_UNITS as UNITS_OF_COMMANDS
from stream_lsh.config import PipelineConfig
from stream_lsh.errors import InputError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.set.kind import SetKind
from stream_lsh.kinds.vector.kind import VectorKind
from stream_lsh.model import Document
from stream_lsh.wire.message import FIRST_MS, LAST_MS, TIME_UNITS, as_iso, latest_time_ms, time_of_message

NOON_MS = 1_714_564_800_000
HOUR = 3_600_000
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""To how many of them make a second."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("time", "time_ms"),
    [
        (1_714_564_800, NOON_MS),
        (1_714_564_800.25, NOON_MS + 250),
        (1_714_564_800.123, NOON_MS + 123),
        (1_714_564_800_000, NOON_MS),
        (1_714_564_800_000.9, NOON_MS),
        (1_714_564_800_000_999, NOON_MS),
        (1_714_564_800_000_000_999, NOON_MS),
        ("1714564800", NOON_MS),
        (" 1714564800.5\n", NOON_MS + 500),
        ("1714564800000", NOON_MS),
        ("+1714564800000000", NOON_MS),
        ("1712010111234", 1_712_010_111_234),  # which datetime reads as a day in 1712, a separator, and 12:34
        ("17120101112", 17_120_101_112_000),
        ("20240501", NOON_MS - 12 * HOUR),
        ("20240501T12", NOON_MS),
        (100_000_000, 100_000_000_000),
        (99_999_999_999, 99_999_999_999_000),
        (100_000_000_000, 100_000_000_000),
        (99_999_999_999_999, 99_999_999_999_999),
        (100_000_000_000_000, 100_000_000_000),
        (99_999_999_999_999_999_999, 99_999_999_999_999),
        (-100_000_000_000, -100_000_000_000),
        (FIRST_MS, FIRST_MS),
        ("Wed, 01 May 2024 12:00:00 GMT", NOON_MS),
        ("Wed, 01 May 2024 12:00:00 +0000", NOON_MS),
        ("Wed, 01 May 2024 12:00:00 -0000", NOON_MS),
        ("Wed, 01 May 2024 12:00:00", NOON_MS),
        ("1 May 2024 14:00 +0200 (CEST)", NOON_MS),
        ("Wed, 1 May 24 08:00:00 EDT", NOON_MS),
        ("Wednesday, 01-May-24 12:00:00 GMT", NOON_MS),
        ("Wed May  1 12:00:00 2024", NOON_MS),
        ("Thu, 01 Jan 1970 00:00:05 GMT", 5_000),
    ],
)
def test_times_are_recognised(time: str | float, time_ms: int) -> None:
    assert time_of_message(time, None) == time_ms


@pytest.mark.parametrize(
    "time", [0, 1, 5.5, -1, 20_240_501, 99_999_999, -99_999_999_999, 1_714_564, 10**20, 1e300, "0", "5", "-1", "0.0"]
)
def test_a_number_that_is_a_time_of_our_days_in_no_unit_is_rejected(time: str | float) -> None:
    with pytest.raises(MalformedMessage, match=r"in March 1973 or later: leave the time out .* `time_unit`") as raised:
        time_of_message(time, 7)
    assert raised.value.reason == "time"


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("time_ms", [0, 1, -1, 999, 5_000, NOON_MS, FIRST_MS, LAST_MS // 1_000 * 1_000])
def test_with_a_unit_of_its_own_every_number_is_taken_as_it_is(unit: str, time_ms: int) -> None:
    time = time_ms * UNITS[unit] // 1_000
    expected = time * 1_000 // UNITS[unit]
    assert [time_of_message(one, None, unit=unit) for one in (time, str(time))] == [expected, expected]


@pytest.mark.parametrize("unit", UNITS)
def test_times_beyond_years_of_four_digits_are_rejected_in_every_unit(unit: str) -> None:
    for time_ms in (FIRST_MS - 1_000, LAST_MS + 1_000):
        with pytest.raises(MalformedMessage, match="is it in other units"):
            time_of_message(time_ms * UNITS[unit] // 1_000, None, unit=unit)
    for text in ("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "31 Dec 9999 23:59:59 -2300"):
        with pytest.raises(MalformedMessage, match="expected one from the year 1 to 9999"):
            time_of_message(text, None, unit=unit)


@given(st.integers(10**14 + 10**11, 10**17 - 10**11), st.integers(-1_439, 1_439))
def test_every_form_of_a_moment_is_the_same_time(time_us: int, minutes_east: int) -> None:
    zoned = (EPOCH + timedelta(microseconds=time_us)).astimezone(timezone(timedelta(minutes=minutes_east)))
    time_ms = (zoned - EPOCH) // MILLISECOND
    assert time_of_message(zoned.isoformat(), None) == time_ms
    assert time_of_message(format_datetime(zoned), None) == time_ms // 1_000 * 1_000
    for per_second in UNITS.values():
        time = (zoned - EPOCH) // timedelta(microseconds=1) * per_second // 1_000_000
        assert time_of_message(time, None) == time * 1_000 // per_second
    assert time_of_message(time_ms / 1_000, None) == time_ms


WORDS = [
    "Mon,", "Mon", "01", "1", "Mar", "1993", "93", "9" * 20, "12:08:28", "12:8", "25:61:61", "12.8.28", "GMT", "CEST",
    "+0200", "-9999", "+" + "9" * 20, "+", "-", ",", ":", ".", "\u00e9", "\ud800", "(x)", "\u0661\u0662", "\u00b2",
    "2024-05-01", "T", "Z", "+23:59", "20240501", "1714564800", "NaN", "inf", "1e9", "",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=9).flatmap(
    lambda words: st.sampled_from([" ", ", ", "-", "", ":"]).map(lambda between: between.join(words))
)


@given(
    TEXTS | st.text() | st.integers() | st.floats() | st.integers(300, 4_299).map(lambda digits: 10**digits),
    st.sampled_from(TIME_UNITS),
)
def test_any_time_is_read_or_rejected(time: str | float, unit: str) -> None:
    try:
        time_ms = time_of_message(time, None, unit=unit)
    except InputError as error:
        time_ms, rejected = 0, (error.reason, len(str(error)) < 300)
    else:
        rejected = ("time", True)
    assert rejected == ("time", True)
    assert type(time_ms) is int
    assert FIRST_MS <= time_ms <= LAST_MS
    assert time_of_message(as_iso(time_ms), None, unit=unit) == time_ms


def test_a_time_of_mail_of_any_length_costs_little() -> None:
    with pytest.raises(MalformedMessage, match="expected ISO 8601, RFC 2822, or a number since 1970, such as 2024-05"):
        time_of_message("1 Jan 2024 12:00:00 " + "+" * 500_000, None)


def test_commands_have_the_units_of_messages() -> None:
    assert UNITS_OF_COMMANDS == TIME_UNITS == ("auto", *UNITS)


# --- clocks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timestamp_ms", "max_ahead_ms", "now_ms", "latest_ms"),
    [
        (NOON_MS, HOUR, None, NOON_MS + HOUR),
        (NOON_MS, None, NOON_MS - 99 * HOUR, None),
        (NOON_MS, HOUR, NOON_MS + 99 * HOUR, NOON_MS + HOUR),
        (NOON_MS + HOUR, HOUR, NOON_MS, NOON_MS + HOUR),
        (None, HOUR, NOON_MS, NOON_MS + HOUR),
        (None, HOUR, None, None),
    ],
)
def test_a_time_is_ahead_neither_of_its_message_nor_of_the_clock(
    timestamp_ms: int | None, max_ahead_ms: int | None, now_ms: int | None, latest_ms: int | None
) -> None:
    assert latest_time_ms(timestamp_ms, max_ahead_ms, now_ms) == latest_ms


TEXT = PipelineConfig(sources=("s",))
KINDS = [
    (TEXT, "text", "words"),
    (PipelineConfig(sources=("s",), kind=SetKind()), "items", ["a"]),
    (PipelineConfig(sources=("s",), kind=VectorKind(dimension=2, distance=9.0)), "vector", [1, 2]),
]


@pytest.mark.parametrize(("pipeline", "field", "compared"), KINDS, ids=[field for _, field, _ in KINDS])
def test_a_message_that_is_stamped_in_the_future_is_rejected_whatever_its_time(
    pipeline: PipelineConfig, field: str, compared: object
) -> None:
    def read(timestamp_ms: int, **more: object) -> Document:
        value = json.dumps({field: compared, **more}).encode()
        return pipeline.document(value, b"a", timestamp_ms, now_ms=NOON_MS)

    assert read(NOON_MS + HOUR).time_ms == NOON_MS + HOUR
    assert read(NOON_MS - 99 * HOUR).time_ms == NOON_MS - 99 * HOUR
    for more in ({}, {"time": "2024-05-01"}):
        with pytest.raises(
            UnusableDocument, match="timestamp is 3600001 ms ahead of the clock of the worker"
        ) as raised:
            read(NOON_MS + HOUR + 1, **more)
        assert raised.value.reason == "time"
    with pytest.raises(UnusableDocument, match="got a time of 1714568400001 ms, 1 ms later than"):
        read(NOON_MS + HOUR, time=NOON_MS + HOUR + 1)
    # Its time counts for nothing, and it must not be lost.
    assert read(NOON_MS + 99 * HOUR, deleted=True).text is None
    assert pipeline.document(None, b"a", NOON_MS + 99 * HOUR, now_ms=NOON_MS).text is None


@pytest.mark.parametrize(("pipeline", "field", "compared"), KINDS, ids=[field for _, field, _ in KINDS])
@pytest.mark.parametrize("timestamp_ms", [-1, 0, NOON_MS // 1_000, -(1 << 63)])
def test_a_timestamp_that_is_none_is_no_time(
    pipeline: PipelineConfig, field: str, compared: object, timestamp_ms: int
) -> None:
    def read(**more: object) -> Document:
        return pipeline.document(json.dumps({field: compared, **more}).encode(), b"a", timestamp_ms, now_ms=NOON_MS)

    with pytest.raises(UnusableDocument, match="got neither a time nor a timestamp of the message after 1973"):
        read()
    assert read(time="2024-05-01").time_ms == NOON_MS - 12 * HOUR
    with pytest.raises(UnusableDocument, match="later than `max_ahead` allows"):
        read(time="2099-01-01")
    assert read(deleted=True).text is None
    assert pipeline.document(None, b"a", timestamp_ms, now_ms=NOON_MS).text is None
