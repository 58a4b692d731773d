"""Spans of time and sizes, as people write them."""

import re
from fractions import Fraction

SPAN_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
"""Unit to milliseconds."""
SIZE_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
"""Unit to bytes; powers of 1,024."""


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


def _quantity(text: str, units: dict[str, Fraction]) -> int | None:
    form = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([A-Za-z]*)", text)
    if not form or form[2] not in units:
        return None
    exact = Fraction(form[1]) * units[form[2]]
    return int(exact) if exact.denominator == 1 else None
