"""Values as text on pages: numbers, times, sizes."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def field_text(value: object) -> str:
    """The value of a record's field as text; the values of a list are separated by commas.

    Example:
        >>> field_text("Ann"), field_text(["Ann", 7]), field_text(None)
        ('Ann', 'Ann, 7', '')
    """
    if isinstance(value, list):
        return ", ".join(map(field_text, value))
    return "" if value is None else str(value)


def count(value: float) -> str:
    """A whole number with separators.

    Example:
        >>> count(12100)
        '12,100'
    """
    return f"{value:,.0f}"


def rate(value: float) -> str:
    """A rate, with a decimal only where it is small.

    Example:
        >>> rate(812.4), rate(3.25), rate(0.04), rate(0)
        ('812', '3.2', '0.04', '0')
    """
    return f"{value:,.0f}" if value >= 10 or not value else f"{value:.1f}" if value >= 0.1 else f"{value:.1g}"


def signed(value: float) -> str:
    """A number with its sign and two decimals.

    Example:
        >>> signed(4.476), signed(-2.25), signed(0)
        ('+4.48', '−2.25', '0')
    """
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0"


def similarity(value: float) -> str:
    """A similarity, probability or other fraction of 1.

    Example:
        >>> similarity(0.8125), similarity(1), similarity(0.9999996)
        ('0.8125', '1', '0.999999')
    """
    if 0.999999 < value < 1:  # only equal texts have 1
        return "0.999999"
    return f"{value:.4f}".rstrip("0").rstrip(".") if value < 0.9999 else f"{value:.6f}".rstrip("0").rstrip(".")


def moment(ms: float) -> str:
    """A time in UTC, for the attribute `datetime`; a number if it is beyond the years of the calendar.

    Example:
        >>> moment(1_700_000_000_000), moment(10**18)
        ('2023-11-14T22:13:20Z', '1000000000000000000 ms')
    """
    try:
        return f"{_EPOCH + timedelta(milliseconds=ms):%Y-%m-%dT%H:%M:%SZ}"
    except OverflowError:
        return f"{ms:.0f} ms"


def shown_moment(ms: float) -> str:
    """A time in UTC, for readers.

    Example:
        >>> shown_moment(1_700_000_000_000)
        '2023-11-14 22:13:20 UTC'
    """
    return moment(ms).replace("T", " ").replace("Z", " UTC")


def short_moment(ms: float, step_ms: float) -> str:
    """A time in UTC without its year, for the axis of a drawing, as exact as the step of the axis needs.

    Example:
        >>> [short_moment(1_700_000_000_400, step_ms) for step_ms in (60_000, 1_000, 400)]
        ['11-14 22:13', '22:13:20', '22:13:20.400']
    """
    if step_ms >= 60_000:
        return moment(ms)[5:16].replace("T", " ")
    return moment(ms)[11:19] + (f".{int(ms) % 1_000:03}" if step_ms < 1_000 else "")


def span(ms: float) -> str:
    """A length of time in its two largest units.

    Example:
        >>> span(400), span(12_000), span(5_400_000), span(180_000_000)
        ('0.4 s', '12 s', '1 h 30 min', '2 d 2 h')
    """
    seconds = ms / 1_000
    if seconds < 10:
        return f"{seconds:.1f} s"
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    parts, left = list[str](), int(seconds)
    for name, size in units:
        if left >= size and len(parts) < 2:
            parts.append(f"{left // size} {name}")
            left %= size
        elif parts:
            break
    return " ".join(parts)


def numbers(values: list[int]) -> str:
    """Numbers of partitions as ranges.

    Example:
        >>> numbers([0, 1, 2, 5]), numbers([])
        ('0-2, 5', 'none')
    """
    ranges = list[list[int]]()
    for value in sorted(values):
        if ranges and value == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], value]
        else:
            ranges.append([value])
    return ", ".join("-".join(map(str, one)) for one in ranges) or "none"


def hex_dump(body: bytes) -> str:
    """Bytes in hexadecimal and as ASCII, 16 on a line, each line with its offset.

    Example:
        >>> hex_dump(b"nul" + bytes([0, 255]))
        '0000  6e 75 6c 00 ff                                   nul..'
    """
    return "\n".join(
        f"{start:04x}  {part.hex(' '):47}  {''.join(chr(one) if 32 <= one < 127 else '.' for one in part)}"
        for start in range(0, len(body), 16)
        for part in (body[start : start + 16],)
    )
