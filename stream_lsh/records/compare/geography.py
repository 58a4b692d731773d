"""Places by how far they are apart on the globe, in kilometres along a great circle.

Reference: Sinnott, Virtues of the haversine, 1984.  The Earth is taken for a sphere, which is right
to half a per cent.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import asin, cos, radians, sin, sqrt

from stream_lsh.errors import ConfigError
from stream_lsh.records.compare.comparator import OneByOne, spec_of
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


class Geography(OneByOne):
    """Levels of the distance in kilometres.

    Example:
        >>> Geography((1, 10)).level("51.5007,-0.1246", "51.5014,-0.1419")
        2
    """

    def __init__(self, most_km: Sequence[float] = (1, 10, 100)) -> None:
        ordered = all(left < right for left, right in pairwise(most_km))
        if not most_km or not ordered or most_km[0] <= 0:
            shown = ", ".join(f"{bound:g}" for bound in most_km) or "none"
            raise ConfigError(f"distance: got the levels {shown}, expected kilometres above 0, ascending")
        self.spec = spec_of("distance", most_km)
        self.levels = ("equal", *(f"≤ {bound:g} km" for bound in most_km), "else")
        self._most = tuple(most_km)

    def level(self, left: str, right: str) -> int:
        """The level of two values; what is no place is as far apart as can be."""
        left_place, right_place = coordinates(left), coordinates(right)
        if left_place is not None and right_place is not None:
            apart = distance_km(left_place, right_place)
            for level, most in enumerate(self._most, 1):
                if apart <= most:
                    return level
        return len(self._most) + 1
