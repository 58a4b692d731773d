"""Signatures with their scheme: the unit that is stored, read back and compared."""

from dataclasses import dataclass

from stream_lsh.arrays import U32
from stream_lsh.errors import FingerprintMismatch, InvariantError
from stream_lsh.sketch.scheme import SignatureScheme
from stream_lsh.text.shingles import Shingles


@dataclass(frozen=True, slots=True, eq=False)
class SignatureBatch:
    """Signatures and their scheme, which cannot be derived from the values.

    Attributes:
        scheme: the scheme of the signatures.
        values: uint32[n, slots].

    Raises:
        InvariantError: the values have another number of slots than the scheme.
    """

    scheme: SignatureScheme
    values: U32

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != self.scheme.slots:
            raise InvariantError(f"signatures: got shape {self.values.shape}, expected (n, {self.scheme.slots})")

    def __len__(self) -> int:
        return len(self.values)


def signed(scheme: SignatureScheme, shingles: Shingles) -> SignatureBatch:
    """The signatures of documents, with their scheme."""
    return SignatureBatch(scheme, scheme(shingles))


def require_same(expected: SignatureScheme, got: SignatureScheme) -> None:
    """Check that signatures of two schemes can be compared.

    Raises:
        FingerprintMismatch: name, version, slots or seed differ -> sign the texts again with the expected scheme.

    Example:
        >>> from stream_lsh.sketch.catalog import scheme
        >>> require_same(scheme("fast"), scheme("classic"))
        Traceback (most recent call last):
        ...
        stream_lsh.errors.FingerprintMismatch: signatures: got classic, version 1, 128 slots, seed 1, expected fast, \
version 1, 128 slots, seed 1; they cannot be compared: sign the texts again with the expected scheme
    """
    if _shown(expected) != _shown(got):
        raise FingerprintMismatch(
            f"signatures: got {_shown(got)}, expected {_shown(expected)}; they cannot be compared: sign the texts "
            "again with the expected scheme"
        )


def _shown(scheme: SignatureScheme) -> str:
    return f"{scheme.name}, version {scheme.version}, {scheme.slots} slots, seed {scheme.seed}"
