"""Bytes that datasketch's LeanMinHash wrote, as signatures: nothing of datasketch is needed to read them.

    legacy, versions 1 and 2:     seed i64 | slots i32 | values u32[slots]
    affine32, version 2:          seed i64 | -slots i32 | 1 u8 | padding u8[3] with "@" | values u32[slots]
    affine64, version 2:          the same with 2 u8 and values u64[slots]; it is not read

A negative number of slots marks the newer form.  Byte order and padding are not in the bytes; they are those of the
`byteorder` that was given to `serialize`, in the letters of Python's `struct`:

    "@"  as the machine has it, padded; datasketch's default; read as little-endian, as nearly all machines are
    "="  as the machine has it, not padded; read as little-endian
    "<"  little-endian, not padded            ">", "!"  big-endian, not padded
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from stream_lsh.arrays import U32
from stream_lsh.errors import ConfigError, DamagedBytes, StateError
from stream_lsh.sketch.datasketch import DatasketchMinHash, LegacyDatasketchMinHash
from stream_lsh.sketch.scheme import MOST_SLOTS, SignatureScheme
from stream_lsh.sketch.signature_batch import SignatureBatch, require_same

ByteOrder = Literal["@", "=", "<", ">", "!"]

_HEAD = 12  # bytes of the seed and the slots
_CODE_END, _PADDED = 13, 16  # where the values of the newer form begin, without padding and with it
_AFFINE32, _AFFINE64 = 1, 2
_ENDIAN: Mapping[str, Literal["little", "big"]] = {"@": "little", "=": "little", "<": "little", ">": "big", "!": "big"}


class _Header(NamedTuple):
    """The header of a serialized signature."""

    scheme: type[DatasketchMinHash] | type[LegacyDatasketchMinHash]
    seed: int
    slots: int
    start: int


def read_lean_minhashes(stored: Sequence[bytes], byteorder: ByteOrder = "@") -> SignatureBatch:
    """The signatures in buffers that `LeanMinHash.serialize` filled, in their order, with the scheme that made them.

    Args:
        stored: one buffer a signature, each as long as its `bytesize`.
        byteorder: the argument of `serialize`.

    Raises:
        DamagedBytes: a buffer is truncated, foreign or altered, or has the other byte order -> restore it, or sign its
            text again.
        FingerprintMismatch: the buffers are of several schemes, lengths or seeds -> read each kind on its own.
        StateError: values of 64 bits (affine64) -> sign the texts again.
        ConfigError: no buffers at all, or an invalid byte order.

    Example:
        >>> written = bytes.fromhex("0100000000000000" "fcffffff" "01" "000000" "a0568995cefac37e5692b80a78a07468")
        >>> batch = read_lean_minhashes([written])
        >>> batch.scheme.name, batch.scheme.slots, batch.scheme.seed, batch.values[0, 0]
        ('datasketch', 4, 1, np.uint32(2508805792))
    """
    if byteorder not in _ENDIAN:
        raise ConfigError(f"byteorder: got {byteorder!r}, expected one of {' '.join(_ENDIAN)}")
    if not stored:
        raise ConfigError("stored signatures: got none, expected at least 1: the scheme is read from their bytes")
    first = _header(stored[0], 0, byteorder)
    scheme = _made(first)
    values = np.empty((len(stored), first.slots), np.uint32)
    for number, data in enumerate(stored):
        header = _header(data, number, byteorder)
        if header[:3] != first[:3]:
            require_same(scheme, _made(header))
        values[number] = _values(data, header.start, byteorder)
    return SignatureBatch(scheme, values)


def _header(data: bytes, number: int, byteorder: ByteOrder) -> _Header:
    if len(data) < _HEAD:
        raise _damaged(number, f"{len(data)} bytes, expected more than {_HEAD}")
    seed = int.from_bytes(data[:8], _ENDIAN[byteorder], signed=True)
    count = int.from_bytes(data[8:_HEAD], _ENDIAN[byteorder], signed=True)
    slots, newer = abs(count), count < 0
    if not (1 <= slots <= MOST_SLOTS and 0 <= seed < 1 << 32):
        raise _damaged(number, f"{slots} slots and seed {seed}; perhaps it was not written with {byteorder}")
    if not newer:
        return _sized(data, number, _Header(LegacyDatasketchMinHash, seed, slots, _HEAD))
    code = data[_HEAD] if len(data) > _HEAD else 0
    if code == _AFFINE64:
        raise StateError(
            f"stored signature {number}: got the scheme affine64, expected affine32 or legacy; sign its text again"
        )
    if code != _AFFINE32:
        raise _damaged(number, f"scheme code {code}, expected {_AFFINE32}; or a newer datasketch wrote it")
    start = _PADDED if byteorder == "@" else _CODE_END
    if any(data[_CODE_END:start]):
        raise _damaged(number, "padding that is not 0; perhaps it was not written with @")
    return _sized(data, number, _Header(DatasketchMinHash, seed, slots, start))


def _sized(data: bytes, number: int, header: _Header) -> _Header:
    if len(data) != header.start + 4 * header.slots:
        raise _damaged(
            number, f"{len(data)} bytes for {header.slots} slots, expected {header.start + 4 * header.slots}"
        )
    return header


def _made(header: _Header) -> SignatureScheme:
    return header.scheme(header.slots, header.seed)


def _values(data: bytes, start: int, byteorder: ByteOrder) -> U32:
    return np.frombuffer(data, "<u4" if _ENDIAN[byteorder] == "little" else ">u4", offset=start).astype(np.uint32)


def _damaged(number: int, problem: str) -> DamagedBytes:
    return DamagedBytes(
        f"stored signature {number}: got {problem}; it is truncated, foreign or altered: restore it, or sign its text "
        "again"
    )
