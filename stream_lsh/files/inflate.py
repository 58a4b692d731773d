"""The bytes of input files, decompressed if they are gzip or zstd.

The first bytes of a file determine its compression, not its name.
"""

import codecs
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from io import FileIO
from itertools import islice
from typing import Any, NamedTuple

from stream_lsh.errors import ConfigError, MalformedMessage

STDIN = "-"
STDIN_CLOSED = "-: standard input is closed, expected a pipe or a file, as in `< FILE`"
_COMPRESSED_BYTES = 1 << 18
_PLAIN_BYTES = 1 << 20
_ZSTD_BYTES = 512
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Chunk(NamedTuple):
    """Some bytes of an input, and how many bytes of the file, as it lies on the disk, were read up to here."""

    data: bytes
    position: int


def file_chunks(path: str) -> Iterator[Chunk]:
    """The inflated bytes of a file, of standard input for `-`.

    Raises:
        MalformedMessage: damaged or truncated compressed data.
        OSError: it cannot be read.
    """
    with _open(path) as stream:
        first = more = stream.read(_COMPRESSED_BYTES)
        while more and len(first) < len(_ZSTD):  # a pipe may give less than a file would
            more = stream.read(_COMPRESSED_BYTES)
            first += more
        if first.startswith(_GZIP):
            yield from _inflated(path, "gzip", first, stream, lambda: zlib.decompressobj(31))
        elif first.startswith(_ZSTD):
            yield from _inflated(path, "zstd", first, stream, _Zstd)
        elif first and path.endswith((".gz", ".zst")):
            raise MalformedMessage("gzip", f"{path}: is named as if it were compressed, and is not; rename it")
        else:
            position = 0
            while first:
                position += len(first)
                yield Chunk(first, position)
                first = stream.read(_PLAIN_BYTES)


def text_chunks(path: str) -> Iterator[Chunk]:
    """As `file_chunks`, of a file of lines or rows in UTF-8 or another encoding in which ASCII stands for itself.

    Raises:
        ConfigError: the file begins with the byte order mark of another encoding.
    """
    chunks = file_chunks(path)
    for first in islice(chunks, 1):
        for mark, encoding in _MARKS.items():
            if first.data.startswith(mark):
                raise ConfigError(
                    f"{path}: got {encoding}, by its byte order mark, expected UTF-8: convert the file, as with "
                    f"`iconv -f {encoding} -t UTF-8`"
                )
        yield first
    yield from chunks


def _open(path: str) -> FileIO:
    """Open a file unbuffered: a signal is handled between two reads, but not while a buffer is filled."""
    return FileIO(os.dup(sys.stdin.fileno())) if path == STDIN else FileIO(path)


def _inflated(path: str, form: str, first: bytes, stream: FileIO, make: Callable[[], Any]) -> Iterator[Chunk]:
    """Member after member, in chunks of a bounded size."""
    inflate, position, data = make(), 0, first
    try:
        while data:
            position += len(data)
            while data:
                if inflate.eof:
                    data = data.lstrip(b"\0")  # padding behind the last member
                    if not data:
                        break
                    inflate = make()
                inflated = inflate.decompress(data, _PLAIN_BYTES)
                if inflated:
                    yield Chunk(inflated, position)
                data = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
            data = stream.read(_COMPRESSED_BYTES)
    except (zlib.error, _zstd_error()) as error:
        raise MalformedMessage(
            form,
            f"{path}: the {form} data are damaged after byte {position - len(data)} ({error}); get the file again",
        ) from None
    if not inflate.eof:
        raise MalformedMessage(form, f"{path}: the {form} data end too early; get the file again, it is truncated")


class _Zstd:
    """A zstd decompressor with the interface of zlib's, which bounds its output.

    The library bounds the output of a call only through its input: a block of 4 bytes inflates to 128 KiB at most.
    """

    def __init__(self) -> None:
        self._inflate: Any = import_module("zstandard").ZstdDecompressor().decompressobj()
        self.unconsumed_tail = self.unused_data = b""

    @property
    def eof(self) -> bool:
        """Whether the frame has ended."""
        return bool(self._inflate.eof)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Decompressed `data`, `max_length` bytes or up to 16 MiB more; `unconsumed_tail` has the rest of the input."""
        pieces, size, start = list[bytes](), 0, 0
        while start < len(data) and size < max_length and not self.eof:
            pieces.append(self._inflate.decompress(data[start : start + _ZSTD_BYTES]))
            size += len(pieces[-1])
            start += _ZSTD_BYTES
        rest = data[start:]
        self.unconsumed_tail, self.unused_data = (b"", self._inflate.unused_data + rest) if self.eof else (rest, b"")
        return b"".join(pieces)


def _zstd_error() -> type[Exception]:
    zstandard: Any = sys.modules.get("zstandard")
    error: type[Exception] = zlib.error if zstandard is None else zstandard.ZstdError
    return error
