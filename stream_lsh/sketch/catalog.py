"""Signature schemes by name."""

from collections.abc import Callable, Mapping

from stream_lsh.errors import ConfigError
from stream_lsh.sketch.classic import ClassicMinHash
from stream_lsh.sketch.datasketch import DatasketchMinHash, LegacyDatasketchMinHash
from stream_lsh.sketch.fast_similarity import FastSimilarity
from stream_lsh.sketch.permuted import PermutedMinHash
from stream_lsh.sketch.scheme import SignatureScheme
from stream_lsh.spelling import suggestion

SCHEMES: Mapping[str, Callable[[int, int], SignatureScheme]] = {
    FastSimilarity.name: FastSimilarity,
    ClassicMinHash.name: ClassicMinHash,
    PermutedMinHash.name: PermutedMinHash,
    DatasketchMinHash.name: DatasketchMinHash,
    LegacyDatasketchMinHash.name: LegacyDatasketchMinHash,
}
"""Name to class."""


def scheme(name: str = FastSimilarity.name, slots: int = 128, seed: int = 1) -> SignatureScheme:
    """The signature scheme of a name.

    Raises:
        ConfigError: an unknown name, or settings out of range -> use the suggestion of the message.

    Example:
        >>> scheme("fast", 256).slots
        256
        >>> scheme("clasic")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: signature scheme: got 'clasic', expected fast or ...; did you mean 'classic'?
    """
    if name not in SCHEMES:
        expected = " or ".join(SCHEMES)
        raise ConfigError(f"signature scheme: got {name!r}, expected {expected}{suggestion(name, SCHEMES)}")
    return SCHEMES[name](slots, seed)
