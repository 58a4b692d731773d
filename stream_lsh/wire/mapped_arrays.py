"""A file of arrays that is mapped, not read: a head, then the arrays as in memory.

    offset  bytes  field
    0       8      magic, `SLSHARRS`
    8       4      format version, 2
    12      4      size of the head
    16      4      CRC-32 of the head
    20      4      reserved, 0
    24      ...    head: a JSON list - of each array its name, type, shape, place, stored bytes and CRC-32 of these
    ...     ...    the arrays, little-endian, each at a multiple of 64; a place is counted from the first

An array may have room: rows of zeros behind the stored ones, a hole in the file, so that it can grow where it is
mapped.

A file is written beside its name, synced and renamed; its users record whether it exists.
"""

import json
import os
from collections.abc import Mapping
from math import prod
from pathlib import Path
from struct import Struct
from typing import NoReturn
from zlib import crc32

import numpy as np

from stream_lsh.errors import DamagedBytes, FutureFormat

MAGIC = b"SLSHARRS"
FORMAT_VERSION = 2

_HEAD = Struct("<8sIIII")
_ALIGN = 64
_TYPES = frozenset({"|u1", "<u4", "<u8", "<i8"})


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], rows: Mapping[str, int] | None = None) -> None:
    """Write a file; the arrays must not change meanwhile.

    Args:
        path: of the file.
        arrays: of bytes, or of integers of 32 or 64 bits, by name.
        rows: of the mapped array, for the names of arrays with room.

    Raises:
        OSError: it cannot be written.
    """
    data = {name: np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for name, array in arrays.items()}
    entries: list[tuple[str, str, tuple[int, ...], int, int, int]] = []
    at = 0
    for name, array in arrays.items():
        shape = ((rows or {}).get(name, len(array)), *array.shape[1:])
        entries.append((name, array.dtype.newbyteorder("<").str, shape, at, array.nbytes, crc32(data[name])))
        at = _aligned(at + array.itemsize * prod(shape))
    head = json.dumps(entries).encode()
    start = _aligned(_HEAD.size + len(head))
    temporary = path.with_suffix(".part")
    try:
        with temporary.open("wb") as file:
            file.write(_HEAD.pack(MAGIC, FORMAT_VERSION, len(head), crc32(head), 0) + head)
            for (_, _, _, place, _, _), bytes_of in zip(entries, data.values(), strict=True):
                file.seek(start + place)
                file.write(bytes_of)
            file.truncate(start + at)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def map_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file, mapped: changes to them stay in memory.

    Cost: all stored bytes are read once, for the checksums, without the interpreter's lock.

    Raises:
        DamagedBytes: truncated, altered, or written by another program or an older version.
        FutureFormat: written by a newer version.
        OSError: it cannot be read.
    """
    if path.stat().st_size < _HEAD.size:
        _damaged(path, "it ends in its header")
    mapped = np.asarray(np.memmap(path, np.uint8, mode="c"))
    magic, version, size, checksum, reserved = _HEAD.unpack(mapped[: _HEAD.size].tobytes())
    if magic != MAGIC or reserved:
        _damaged(path, f"got {magic!r} where {MAGIC!r} is expected")
    if version > FORMAT_VERSION:
        raise FutureFormat(f"{path}: got format version {version}, expected {FORMAT_VERSION}")
    if version < FORMAT_VERSION:
        _damaged(path, f"got format version {version}, which is no longer read")
    head = mapped[_HEAD.size : _HEAD.size + size].tobytes()
    if crc32(head) != checksum:
        _damaged(path, "its head is truncated or altered")
    arrays, start = {}, _aligned(_HEAD.size + size)
    for name, kind, shape, place, stored, expected in json.loads(head):
        length = np.dtype(kind).itemsize * prod(shape)
        data = mapped[start + place : start + place + length]
        if kind not in _TYPES or len(data) != length or crc32(data[:stored].data) != expected:
            _damaged(path, f"the array {name} is truncated or altered")
        arrays[name] = data.view(kind).reshape(shape)
    return arrays


def _aligned(at: int) -> int:
    return -(-at // _ALIGN) * _ALIGN


def _damaged(path: Path, what: str) -> NoReturn:
    raise DamagedBytes(f"{path}: {what}")
