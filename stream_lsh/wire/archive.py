"""A file that holds a whole pipeline: a head, then records in the form of changelogs, then an end.

    offset  bytes  field
    0       8      magic, `SLSHFILE`
    8       4      format version, 1
    12      4      size of the head
    16      4      CRC-32 of the head
    20      4      reserved, 0
    24      ...    head: a JSON object - `scheme` (its settings), and further values of the writer
    ...     ...    records: u32 size, then a message as in `layout`, with its own checksum and the scheme's fingerprint
    last    12     u32 0, u64 number of records

So truncation is detected wherever it happens, and every altered byte.  A file is written beside its name, synced and
renamed: it is complete, or as it was before.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from errno import EINVAL
from struct import Struct
from typing import Any, BinaryIO, NamedTuple, NoReturn
from zlib import crc32

import numpy as np

from stream_lsh.errors import DamagedBytes, FutureFormat
from stream_lsh.wire.layout import TOPIC_ADVICE

MAGIC = b"SLSHFILE"
FORMAT_VERSION = 1

_HEAD = Struct("<8sIIII")
_SIZE = Struct("<I")
_COUNT = Struct("<Q")
_MOST_HEAD = 1 << 20
_ADVICE = "restore it from a copy, or add the documents again"


class Archive(NamedTuple):
    """The content of a file: the head at once, the records one after the other."""

    head: Mapping[str, Any]
    records: Iterator[bytes]


def write_archive(path: str | os.PathLike[str], head: Mapping[str, Any], records: Iterable[bytes]) -> None:
    """Write a file in one step: a reader finds the old one or the new one, also after a power cut.

    Raises:
        OSError: the file cannot be written, or a device or a pipe has this name; what was there is unchanged.
    """
    target = os.path.realpath(path)
    temporary = f"{target}.{os.getpid()}.part"
    try:
        if os.path.exists(target) and not (os.path.isfile(target) or os.path.isdir(target)):
            raise OSError(EINVAL, "it is not a regular file")
        _write(temporary, head, records)
        os.replace(temporary, target)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):  # names the temporary file
            raise OSError(error.errno, f"cannot be written: {error.strerror}", os.fspath(path)) from None
        raise
    folder = os.open(os.path.dirname(target), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write(path: str, head: Mapping[str, Any], records: Iterable[bytes]) -> None:
    """Write a file, and sync it."""
    with open(path, "wb") as file:
        data = json.dumps(dict(head), sort_keys=True, default=np.generic.item).encode()
        file.write(_HEAD.pack(MAGIC, FORMAT_VERSION, len(data), crc32(data), 0) + data)
        count = 0
        for record in records:
            count += 1
            file.write(_SIZE.pack(len(record)))
            file.write(record)
        file.write(_SIZE.pack(0) + _COUNT.pack(count))
        file.flush()
        os.fsync(file.fileno())


def read_archive(file: BinaryIO, path: str | os.PathLike[str]) -> Archive:
    """The content of an open file; `path` is for messages.

    Raises:
        DamagedBytes: truncated, altered, or written by another program; the records raise it too.
        FutureFormat: written by a newer version.
    """
    header = file.read(_HEAD.size)
    if not header.startswith(MAGIC[: len(header)]) or not header:
        raise DamagedBytes(
            f"{os.fspath(path)}: got {header[:8]!r} at its beginning, expected {MAGIC!r} as in every file of "
            "stream_lsh: it is empty, or another program wrote it; look for the right file"
        )
    if len(header) < _HEAD.size:
        _damaged(path, "it ends in its header")
    _, version, size, checksum, reserved = _HEAD.unpack(header)
    if version > FORMAT_VERSION:
        raise FutureFormat(
            f"{os.fspath(path)}: got format version {version}, expected at most {FORMAT_VERSION}: a newer version of "
            "stream_lsh wrote it; use that version, or a later one"
        )
    if version < FORMAT_VERSION or reserved or size > _MOST_HEAD:
        _damaged(path, "its header was altered")
    data = file.read(size)
    if len(data) < size or crc32(data) != checksum:
        _damaged(path, "its head is truncated or altered")
    return Archive(json.loads(data), _records(file, path))


def _records(file: BinaryIO, path: str | os.PathLike[str]) -> Iterator[bytes]:
    count = 0
    while size := _SIZE.unpack(_exactly(file, _SIZE.size, path))[0]:
        yield _exactly(file, size, path)
        count += 1
    (expected,) = _COUNT.unpack(_exactly(file, _COUNT.size, path))
    if count != expected or file.read(1):
        _damaged(path, f"got {count} records, expected {expected} and no bytes after them")


def _exactly(file: BinaryIO, size: int, path: str | os.PathLike[str]) -> bytes:
    data = file.read(size)
    if len(data) < size:
        _damaged(path, "it is truncated")
    return data


def of_file(error: DamagedBytes, path: str | os.PathLike[str]) -> DamagedBytes:
    """The error for a damaged record, with the file and with advice for a file instead of a topic."""
    what = str(error).removesuffix(f"; {TOPIC_ADVICE}")
    return error if what == str(error) else DamagedBytes(f"{os.fspath(path)}: {what}; {_ADVICE}")


def _damaged(path: str | os.PathLike[str], what: str) -> NoReturn:
    raise DamagedBytes(f"{os.fspath(path)}: {what}; {_ADVICE}")
