"""Places on the globe: latitude and longitude in degrees."""

import re

from stream_lsh.records.standardise.characters import fold
from stream_lsh.records.standardise.number import as_number

_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,3}(?:\.[0-9]*)?|(?<![\w.])\.[0-9]+)")


def location(text: str) -> str:
    """The coordinates, to about a metre; the cleaned text if there are none.

    Example:
        >>> location("(51.5007, -0.1246)"), location("London"), location("95.0 12.0")
        ('51.5007,-0.1246', 'london', '95.0 12.0')
    """
    folded = fold(text, 128)
    numbers = _NUMBER.findall(folded)
    if len(numbers) != 2:
        return folded
    latitude, longitude = (round(float(number), 5) + 0.0 for number in numbers)
    return f"{latitude},{longitude}" if abs(latitude) <= 90 and abs(longitude) <= 180 else folded


def coordinates(value: str) -> tuple[float, float] | None:
    """Latitude and longitude of a standardised value; None for a text.

    Example:
        >>> coordinates("51.5,-0.12"), coordinates("london"), coordinates("inf,0")
        ((51.5, -0.12), None, None)
    """
    head, _, tail = value.partition(",")
    latitude, longitude = as_number(head), as_number(tail)
    return None if latitude is None or longitude is None else (latitude, longitude)
