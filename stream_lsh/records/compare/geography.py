"""Compares places by their distance on the globe, in kilometres along a great circle.

Reference: Sinnott, Virtues of the haversine, 1984.  The Earth is modelled as a sphere, which is accurate to half a per
cent.
"""

from collections.abc import Sequence
from math import asin, cos, radians, sin, sqrt

from stream_lsh.records.compare.comparator import Within
from stream_lsh.records.standardise.location import coordinates

_RADIUS_KM = 6371.0


def distance_km(left: tuple[float, float], right: tuple[float, float]) -> float:
    """The distance of two places, latitude and longitude in degrees.

    Example:
        >>> round(distance_km((52.5200, 13.4050), (48.8566, 2.3522)))  # Berlin, Paris
        877
    """
    (lat, lon), (other_lat, other_lon) = (tuple(map(radians, place)) for place in (left, right))
    chord = sin((other_lat - lat) / 2) ** 2 + cos(lat) * cos(other_lat) * sin((other_lon - lon) / 2) ** 2
    return 2 * _RADIUS_KM * asin(sqrt(min(1.0, chord)))


class Geography(Within):
    """Levels of the distance in kilometres.

    Example:
        >>> Geography((1, 10)).level("51.5007,-0.1246", "51.5014,-0.1419")
        2
    """

    def __init__(self, most_km: Sequence[float] = (1, 10, 100)) -> None:
        super().__init__("distance", "kilometres", most_km, lambda km: f"≤ {km:g} km")

    def level(self, left: str, right: str) -> int:
        """The level of two values; the last one if a value is not a place."""
        left_place, right_place = coordinates(left), coordinates(right)
        if left_place is None or right_place is None:
            return len(self._most) + 1
        apart = distance_km(left_place, right_place)
        return self._level(lambda most: apart <= most)
