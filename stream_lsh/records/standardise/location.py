"""Places on the globe: latitude and longitude in degrees."""

import re

from stream_lsh.records.standardise.characters import fold
from stream_lsh.records.standardise.number import as_number

_NUMBER = r"[-+]?(?:[0-9]{1,3}(?:\.[0-9]*)?|(?<![\w.])\.[0-9]+)"
_HEMISPHERE = r"north|south|east|west|[nsew]"
_DEGREES = re.compile(
    rf"(?:(?<!\w)(?P<before>{_HEMISPHERE})\s?)?(?P<number>{_NUMBER})(?(before)|(?:\s?°?\s?(?P<after>{_HEMISPHERE})(?!\w))?)"
)


def location(text: str) -> str:
    """The coordinates, to about a metre; the cleaned text if there are none.

    Example:
        >>> location("(51.5007, -0.1246)"), location("London"), location("95.0 12.0")
        ('51.5007,-0.1246', 'london', '95.0 12.0')
        >>> location("40.7° N, 74.0° W"), location("E13.4 N52.5")
        ('40.7,-74.0', '52.5,13.4')
    """
    folded = fold(text, 128)
    found = [*_DEGREES.finditer(folded)]
    if len(found) != 2:
        return folded
    sides = [(one["before"] or one["after"] or "")[:1] for one in found]
    degrees = [_signed(float(one["number"]), side) for one, side in zip(found, sides, strict=True)]
    if sides[0] in ("e", "w") or sides[1] in ("n", "s"):
        sides, degrees = sides[::-1], degrees[::-1]
    latitude, longitude = degrees
    exist = sides[0] not in ("e", "w") and sides[1] not in ("n", "s") and abs(latitude) <= 90 and abs(longitude) <= 180
    return f"{latitude},{longitude}" if exist else folded


def _signed(number: float, side: str) -> float:
    """The degrees to five digits, below 0 in the south and in the west."""
    return round(-abs(number) if side in ("s", "w") else number, 5) + 0.0


def coordinates(value: str) -> tuple[float, float] | None:
    """Latitude and longitude of a standardised value; None for a text.

    Example:
        >>> coordinates("51.5,-0.12"), coordinates("london"), coordinates("inf,0")
        ((51.5, -0.12), None, None)
    """
    head, _, tail = value.partition(",")
    latitude, longitude = as_number(head), as_number(tail)
    return None if latitude is None or longitude is None else (latitude, longitude)
