"""Event time as text."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(ms: int) -> str:
    """A time, to the second.

    Example:
        >>> moment(1_700_000_000_000)
        '2023-11-14T22:13:20Z'
    """
    return f"{_EPOCH + timedelta(milliseconds=ms):%Y-%m-%dT%H:%M:%SZ}"


def apart(ms: int) -> str:
    """The difference between two times.

    Example:
        >>> apart(5_400_000), apart(-90_061_000)
        ('1:30:00', '1 day, 1:01:01')
    """
    return str(timedelta(seconds=abs(ms) // 1000))
