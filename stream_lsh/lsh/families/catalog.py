"""Sensitive families by name."""

from collections.abc import Mapping
from typing import Any

from stream_lsh.errors import ConfigError
from stream_lsh.lsh.families.bit_sampling import BitSampling
from stream_lsh.lsh.families.family import Family
from stream_lsh.lsh.families.grid_triples import GridTriples
from stream_lsh.lsh.families.hyperplanes import Hyperplanes
from stream_lsh.lsh.families.lengths import Lengths
from stream_lsh.lsh.families.lines import Lines
from stream_lsh.lsh.families.minhash import MinHash
from stream_lsh.spelling import suggestion

FAMILIES: Mapping[str, type[Family]] = {
    one.name: one for one in (MinHash, BitSampling, Hyperplanes, Lines, GridTriples, Lengths)
}
"""Name to class."""


def family(name: str, **settings: Any) -> Family:
    """The family of a name.

    Raises:
        ConfigError: an unknown name, or settings that are missing, unknown or out of range -> use the suggestion of the
            message.

    Example:
        >>> str(family("hyperplanes", dimension=64))
        'hyperplanes(dimension=64, signs=False)'
        >>> family("hyperplane", dimension=64)
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: family: got 'hyperplane', expected one of minhash, bit_sampling, hyperplanes, \
lines, grid_triples, lengths; did you mean 'hyperplanes'?
    """
    if name not in FAMILIES:
        raise ConfigError(f"family: got {name!r}, expected one of {', '.join(FAMILIES)}{suggestion(name, FAMILIES)}")
    try:
        return FAMILIES[name](**settings)
    except TypeError as error:
        raise ConfigError(f"family {name}: got the settings {settings}; {error}") from error
