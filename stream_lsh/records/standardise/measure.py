"""Parses measures: quantities with a unit, converted to one unit for each kind of quantity.

Of a text the first quantity with a known unit counts, or the first number if there is none.  Parts of one quantity are
added (`5 ft 3 in`); sides joined by `x` stay apart (`10 x 20 cm`).
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from stream_lsh.records.standardise.characters import fold

_LONGEST = 128
_MOST = 1e15
_SIGNIFICANT = 9
_SIDES = 4

# The unit of each kind of quantity, and the names of other units as multiples of it.
_KINDS: Mapping[str, Mapping[float, str]] = {
    "m": {
        1e-9: "nm nanometer nanometers", 1e-6: "µm μm micron microns", 0.001: "mm millimeter millimeters millimetre",
        0.01: "cm centimeter centimeters centimetre centimetres", 1: "m meter meters metre metres",
        1000: "km kilometer kilometers kilometre kilometres", 0.0254: "in inch inches \" '' ” ″",
        0.3048: "ft foot feet ' ′ ’", 0.9144: "yd yard yards", 1609.344: "mi mile miles",
    },
    "kg": {
        1e-6: "mg milligram milligrams", 0.001: "g gr gram grams gramm", 1: "kg kgs kilo kilos kilogram kilograms",
        1000: "t ton tons tonne tonnes", 0.028349523125: "oz ounce ounces", 0.45359237: "lb lbs pound pounds",
    },
    "l": {
        0.001: "ml milliliter milliliters millilitre", 0.01: "cl centiliter centilitre", 0.1: "dl",
        1: "l ltr liter liters litre litres", 3.785411784: "gal gallon gallons", 0.946352946: "qt quart quarts",
        0.473176473: "pt pint pints", 0.0295735295625: "floz", 28.316846592: "cuft", 0.2365882365: "cup cups",
    },
    "s": {
        0.001: "ms msec millisecond milliseconds", 1: "s sec secs second seconds",
        60: "min mins minute minutes", 3600: "h hr hrs hour hours", 86400: "day days",
    },
    "gb": {
        1e-9: "byte bytes", 1e-6: "kb kib kilobyte", 0.001: "mb mib megabyte megabytes meg",
        1: "gb gib gig gigs gigabyte gigabytes", 1000: "tb tib terabyte terabytes",
    },
    "hz": {1: "hz hertz", 1000: "khz", 1e6: "mhz", 1e9: "ghz"},
    "w": {0.001: "mw", 1: "w watt watts", 1000: "kw kilowatt kilowatts", 745.69987: "hp"},
    "v": {0.001: "mv", 1: "v volt volts vac vdc", 1000: "kv"},
    "a": {0.001: "ma", 1: "a amp amps ampere amperes"},
    "ah": {0.001: "mah", 1: "ah"},
    "wh": {1: "wh", 1000: "kwh"},
    "rpm": {1: "rpm"},
    "px": {1: "px pixel pixels", 1e6: "mp mpix megapixel megapixels"},
    "dpi": {1: "dpi"},
    "db": {1: "db decibel decibels"},
    "btu": {1: "btu btus"},
    "%": {1: "% percent"},
    "pcs": {1: "pc pcs piece pieces pk pack packs ct count pkg sheet sheets"},
}  # fmt: skip
_UNITS: Mapping[str, tuple[str, float]] = {
    name: (kind, factor) for kind, units in _KINDS.items() for factor, names in units.items() for name in names.split()
}
_FACTORS: Mapping[str, tuple[float, ...]] = {kind: tuple(units) for kind, units in _KINDS.items()}
_WITHOUT_UNIT = (60.0, 1000.0, 60000.0)
"""Factors between units of time, and the thousand of the metric system."""

_FRACTIONS = re.compile("([¼-¾⅐-⅞])")
_CLOCK = re.compile(r"(?<![0-9:.])([0-9]{1,3}):([0-5][0-9])(?::([0-5][0-9]))?(?![0-9:])")
_NUMBER = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)(?:e[-+]?[0-9]{1,2})?"
_FRACTION = r"[0-9]{1,6}\s?[/⁄]\s?[0-9]{1,6}"
_UNIT = r"fl\.?\s?oz|cu\.?\s?ft|''|[a-zµμ%]+|[\"'’”″′]"
_QUANTITY = re.compile(
    rf"(?P<whole>[0-9]{{1,9}})(?:\s|-|\s-\s)(?P<part>{_FRACTION})|(?P<alone>{_FRACTION})|(?P<number>{_NUMBER})"
)
_FOLLOWING_UNIT = re.compile(rf"[\s-]?({_UNIT})(?![a-z0-9µμ])|[\s-]?([a-zµμ]+|[\"'’”″′])(?=[\s-]?[0-9])")
_JOINED = re.compile(r"[\s,.-]*(?:and\s|und\s|&\s)?")
_SIDE = re.compile(r"\s?[x×*]\s?")


class Measure(NamedTuple):
    """A parsed measure.

    Attributes:
        sizes: one number, or one for each side.
        unit: the unit of its kind of quantity, "" without a unit.
    """

    sizes: tuple[float, ...]
    unit: str


class _Part(NamedTuple):
    size: float
    unit: str
    factor: float
    word: str
    end: int


def measure(text: str) -> str:
    """The first quantity in the unit of its kind; the cleaned text without a number.

    Example:
        >>> measure("33-1/3 RPM"), measure("2 GB"), measure("1.5 l"), measure("1500ml"), measure("5 ft 3 in")
        ('33.3333333 rpm', '2 gb', '1.5 l', '1.5 l', '1.6002 m')
        >>> measure("3:45"), measure("3m 45sec"), measure("10 x 20 cm"), measure("225"), measure("unknown size")
        ('225 s', '225 s', '0.1 x 0.2 m', '225', 'unknown size')
    """
    folded = fold(_FRACTIONS.sub(r" \1", text[: 2 * _LONGEST]), _LONGEST)
    found = _parsed(folded)
    if found is None or max(found.sizes) >= _MOST:
        return folded
    sizes = " x ".join(map(shortest, found.sizes))
    return f"{sizes} {found.unit}" if found.unit else sizes


@lru_cache(maxsize=1 << 15)
def as_measure(value: str) -> Measure | None:
    """A standardised value as a measure; None for a text.

    Example:
        >>> as_measure("0.1 x 0.2 m"), as_measure("225"), as_measure("unknown size")
        (Measure(sizes=(0.1, 0.2), unit='m'), Measure(sizes=(225.0,), unit=''), None)
    """
    sizes, _, unit = value.rpartition(" ")
    if unit not in _KINDS:
        sizes, unit = value, ""
    try:
        return Measure(tuple(map(float, sizes.split(" x "))), unit)
    except ValueError:
        return None


def unit_of(word: str) -> tuple[str, float] | None:
    """The unit of the kind of quantity that a word measures, and the size of the word's unit in it; None if unknown.

    Example:
        >>> unit_of("ml"), unit_of("furlong")
        (('l', 0.001), None)
    """
    return _UNITS.get(word)


def factors(unit: str) -> tuple[float, ...]:
    """The factors by which a number without a unit may have to be multiplied to be in a unit.

    Args:
        unit: of the other number; "" if that has no unit either: factors between common units.

    Example:
        >>> factors("s"), factors("")
        ((0.001, 1, 60, 3600, 86400), (60.0, 1000.0, 60000.0))
    """
    return _FACTORS[unit] if unit else _WITHOUT_UNIT


def shortest(size: float) -> str:
    """A number of nine digits at most, without an exponent.

    Example:
        >>> shortest(1 / 3), shortest(2e10), shortest(0.00001)
        ('0.333333333', '20000000000', '0.00001')
    """
    text = f"{size:.{_SIGNIFICANT}g}"
    if "e" not in text:
        return text
    return f"{size:.0f}" if size >= 1 else f"{size:.12f}".rstrip("0").rstrip(".")


def _parsed(text: str) -> Measure | None:
    clock = _CLOCK.search(text)
    if clock:
        first, second, third = (int(group or 0) for group in clock.groups())
        seconds = 3600 * first + 60 * second + third if clock[3] else 60 * first + second
        return Measure((float(seconds),), "s")
    start, without_unit = 0, None
    while (part := _part(text, start)) is not None:
        found, end = _quantity(text, part)
        if found.unit:
            return found
        without_unit = without_unit or found
        start = end
    return without_unit


def _part(text: str, start: int, *, at_once: bool = False) -> _Part | None:
    """The next number with its unit."""
    found = _QUANTITY.match(text, start) if at_once else _QUANTITY.search(text, start)
    if found is None:
        return None
    following = _FOLLOWING_UNIT.match(text, found.end())
    word = re.sub(r"[\s.]", "", following[1] or following[2]) if following else ""
    unit, factor = _UNITS.get(word, ("", 1.0))
    end = following.end() if following and unit else found.end()
    return _Part(_size(found), unit, factor, word if unit else "", end)


def _size(found: re.Match[str]) -> float:
    if found["number"]:
        whole, comma, fraction = found["number"].rpartition(",")
        if comma and len(fraction) != 3 and "." not in fraction:
            return float(f"{whole}.{fraction}")
        return float(found["number"].replace(",", ""))
    above, _, below = re.sub(r"[\s⁄]", "/", found["part"] or found["alone"]).partition("/")
    return int(found["whole"] or 0) + int(above) / (int(below.strip("/")) or 1)


def _quantity(text: str, part: _Part) -> tuple[Measure, int]:
    """The quantity that begins with a part: its sides, or the sum of its parts."""
    parts = [part]
    while len(parts) < _SIDES and (side := _SIDE.match(text, parts[-1].end)):
        following = _part(text, side.end(), at_once=True)
        if following is None or (parts[-1].unit and following.unit != parts[-1].unit):
            break
        parts.append(following)
    if len(parts) > 1:
        unit, factor = next(((one.unit, one.factor) for one in parts if one.unit), ("", 1.0))
        return Measure(tuple(one.size * (one.factor if one.unit else factor) for one in parts), unit), parts[-1].end
    while parts[-1].unit:
        joined = _JOINED.match(text, parts[-1].end)
        following = _part(text, joined.end() if joined else parts[-1].end, at_once=True)
        if following is None or not following.unit or not _continues(parts[-1], following):
            break
        parts.append(following)
    last = parts[-1]
    if last.unit == "s" and parts[0].word == "m":  # 3m 45sec
        parts[0] = parts[0]._replace(factor=60.0)
    return Measure((sum(one.size * one.factor for one in parts),), last.unit), last.end


def _continues(part: _Part, following: _Part) -> bool:
    """Whether a part in a smaller unit continues a quantity."""
    minutes = part.word == "m" and following.unit == "s"
    return minutes or (part.unit == following.unit and part.factor > following.factor)
