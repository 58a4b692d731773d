"""Spans of time, sizes and numbers, as people write and read them."""

import re
from fractions import Fraction

SPAN_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
"""Unit to milliseconds."""
SIZE_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
"""Unit to bytes; powers of 1,024."""
_SHOWN_SIZES = {"PB": 1e15, "TB": 1e12, "GB": 1e9, "MB": 1e6, "KB": 1e3}
_LARGE = {"trillion": 1e12, "billion": 1e9, "million": 1e6}


def span_ms(text: str) -> int | None:
    """The milliseconds of a span, None if it is none.

    Example:
        >>> span_ms("3d"), span_ms("1.5h"), span_ms("90 m"), span_ms("0.5ms"), span_ms("3")
        (259200000, 5400000, 5400000, None, None)
    """
    return _quantity(text.lower(), {unit: Fraction(ms) for unit, ms in SPAN_UNITS.items()})


def span_text(ms: int) -> str:
    """A span in the greatest unit, weeks aside, that it is a whole number of.

    Example:
        >>> span_text(259_200_000), span_text(5_400_000), span_text(0)
        ('3d', '90m', '0s')
    """
    unit = next(unit for unit in ("d", "h", "m", "s", "ms") if ms % SPAN_UNITS[unit] == 0) if ms else "s"
    return f"{ms // SPAN_UNITS[unit]}{unit}"


def size_bytes(text: str) -> int | None:
    """The bytes of a size, None if it is none.

    Example:
        >>> size_bytes("512KB"), size_bytes("1.5 mb"), size_bytes("10"), size_bytes("512 apples")
        (524288, 1572864, 10, None)
    """
    units = {unit: Fraction(size) for unit, size in SIZE_UNITS.items()}
    return _quantity(text.upper(), units | {"": Fraction(1)})


def size_text(size: float) -> str:
    """A size in decimal units, with two digits or whole.

    Example:
        >>> size_text(1_234), size_text(56_789_000), size_text(2.1e15)
        ('1.2 KB', '57 MB', '2.1 PB')
    """
    for name, unit in _SHOWN_SIZES.items():
        if size >= unit:
            amount = size / unit
            return f"{amount:,.0f} {name}" if amount >= 10 else f"{amount:.1f} {name}"
    return f"{size:.0f} B"


def count_text(number: float) -> str:
    """A number with three digits, or whole.

    Example:
        >>> count_text(0.1234), count_text(1_234), count_text(2_345_678), count_text(1.31e9)
        ('0.123', '1,234', '2.35 million', '1.31 billion')
    """
    for name, unit in _LARGE.items():
        if number >= unit:
            return f"{count_text(number / unit)} {name}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _quantity(text: str, units: dict[str, Fraction]) -> int | None:
    form = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([A-Za-z]*)", text)
    if not form or form[2] not in units:
        return None
    exact = Fraction(form[1]) * units[form[2]]
    return int(exact) if exact.denominator == 1 else None


def counted(value: int, one: str, several: str = "") -> str:
    """A number with its noun.

    Example:
        >>> counted(1, "document"), counted(1200, "document"), counted(0, "entity", "entities")
        ('1 document', '1,200 documents', '0 entities')
    """
    return f"{value:,} {one if value == 1 else several or one + 's'}"
