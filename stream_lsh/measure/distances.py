"""Distances by name."""

import math
import re
from collections.abc import Callable, Mapping
from functools import partial

from stream_lsh.errors import ConfigError
from stream_lsh.measure.bags import MaxUnion, SumUnion
from stream_lsh.measure.containment_distance import ContainmentDistance
from stream_lsh.measure.cosine import Angle, Cosine
from stream_lsh.measure.distance import Distance
from stream_lsh.measure.edit import Edit, EditShare
from stream_lsh.measure.euclidean import Euclidean
from stream_lsh.measure.hamming import Hamming, HammingBits
from stream_lsh.measure.jaccard_distance import JaccardDistance, JaccardOfBits
from stream_lsh.measure.levenshtein import Levenshtein
from stream_lsh.spelling import suggestion

DISTANCES: Mapping[str, Callable[[], Distance]] = {
    # between sets, and between bags
    "jaccard": JaccardDistance,
    "jaccard_bits": JaccardOfBits,
    "containment": ContainmentDistance,
    "max_union": MaxUnion,
    "sum_union": SumUnion,
    # between vectors
    "angle": Angle,
    "cosine": Cosine,
    "euclidean": Euclidean,
    "l1": partial(Euclidean, 1),
    "linf": partial(Euclidean, math.inf),
    "hamming": Hamming,
    "hamming_bits": HammingBits,
    # between strings
    "edit": Edit,
    "edit_share": EditShare,
    "levenshtein": Levenshtein,
}
"""The constructors of distances by name; any `l<p>` is a name as well."""


def distance(name: str) -> Distance:
    """The distance of a name.

    Raises:
        ConfigError: an unknown name -> use the one that the message suggests; a p without a norm.

    Example:
        >>> distance("angle")
        Angle()
        >>> distance("l1.5")
        Euclidean(p=1.5)
        >>> distance("hammin")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: distance: got 'hammin', expected ...; did you mean 'hamming'?
    """
    if name in DISTANCES:
        return DISTANCES[name]()
    norm = re.fullmatch(r"l([0-9]+(?:\.[0-9]+)?)", name, re.ASCII)
    if norm:
        return Euclidean(float(norm[1]))
    raise ConfigError(f"distance: got {name!r}, expected {', '.join(DISTANCES)} or l<p>{suggestion(name, DISTANCES)}")
