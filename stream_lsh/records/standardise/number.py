"""Parses numbers in the formats of prices, years and measures."""

import math
import re

from stream_lsh.records.standardise.characters import fold

_NUMBER = re.compile(r"[-+]?(?:(?<![\w.])\.)?[0-9][0-9., ]*(?:e[-+]?[0-9]{1,3})?")
_DIGITS = 12


def number(text: str) -> str:
    """The first number of a text in its shortest form; the cleaned text if it has none.

    A single separator before three digits separates thousands if it is a comma; the last of several different
    separators is the decimal one.

    Example:
        >>> number("$1,234.50"), number("1.234,50 EUR"), number("1999"), number("3,5"), number("unknown")
        ('1234.5', '1234.5', '1999', '3.5', 'unknown')
        >>> number("-.5"), number("No.5")
        ('-0.5', '5')
    """
    folded = fold(text, 64)
    match = _NUMBER.search(folded)
    if not match:
        return folded
    value = float(_plain(match[0].replace(" ", "").rstrip(".,")))
    return f"{value:.{_DIGITS}g}" if math.isfinite(value) else folded


def as_number(value: str) -> float | None:
    """A standardised value as a number; None for a text.

    Example:
        >>> as_number("1234.5"), as_number("unknown"), as_number("nan")
        (1234.5, None, None)
    """
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _plain(text: str) -> str:
    mantissa, mark, exponent = text.partition("e")
    comma, point = mantissa.rfind(","), mantissa.rfind(".")
    if comma >= 0 and point >= 0:
        thousands, fraction = (",", ".") if point > comma else (".", ",")
        mantissa = mantissa.replace(thousands, "").replace(fraction, ".")
    elif comma >= 0:
        whole = mantissa.count(",") > 1 or len(mantissa) - comma == 4
        mantissa = mantissa.replace(",", "" if whole else ".")
    head, point_, tail = mantissa.rpartition(".")
    return f"{head.replace('.', '')}{point_}{tail}{mark}{exponent}"
