"""The bytes of input files, inflated where they are gzip or zstd, here or in a process of their own.

What a file is, its first bytes tell, not its name.  Inflating costs as much as a third of all that `dedup` does, and
can go on while this process still loads its libraries, so with several jobs a child does it: it is forked before
anything large is in memory, and puts what it has inflated into shared memory.

    child ── (input, kind, size, position) on a pipe ──▶ parent         the bytes are in the slot
          ◀── a byte on another pipe for a slot that is free again

The child ends when its pipe does: it cannot outlive the parent.
"""

import errno
import mmap
import os
import signal
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from io import FileIO
from typing import Any, NamedTuple, Protocol

from stream_lsh.cli.signals import ignore
from stream_lsh.errors import InputError, MalformedMessage

STDIN = "-"
_COMPRESSED_BYTES = 1 << 18
_PLAIN_BYTES = 1 << 20
_SLOT_BYTES = 1 << 20
_SLOTS = 32
_HEADER = struct.Struct("<iBIQ")
_DATA, _END, _BAD_INPUT, _BAD_FILE = range(4)
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Chunk(NamedTuple):
    """Some bytes of an input, and how many bytes of the file, as it lies on the disk, were read up to here."""

    data: bytes
    position: int


class Chunks(Protocol):
    """The bytes of several inputs, to be asked for in their order."""

    def of(self, number: int) -> Iterator[Chunk]:
        """The bytes of one input."""

    def close(self) -> None:
        """Let go of whatever is held, also if not everything was read."""


class Here:
    """Inputs read by this process."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = list(paths)

    def of(self, number: int) -> Iterator[Chunk]:
        """The bytes of one input."""
        return file_chunks(self._paths[number])

    def close(self) -> None:
        """Nothing is held."""


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
            zstandard = import_module("zstandard")
            yield from _inflated(path, "zstd", first, stream, lambda: zstandard.ZstdDecompressor().decompressobj())
        elif first and path.endswith((".gz", ".zst")):
            raise MalformedMessage("gzip", f"{path}: is named as if it were compressed, and is not; rename it")
        else:
            position = 0
            while first:
                position += len(first)
                yield Chunk(first, position)
                first = stream.read(_PLAIN_BYTES)


def _open(path: str) -> FileIO:
    """Unbuffered: between two reads an interruption gets its turn, which it does not while a buffer is filled."""
    return FileIO(os.dup(sys.stdin.fileno())) if path == STDIN else FileIO(path)


def _inflated(path: str, form: str, first: bytes, stream: FileIO, make: Callable[[], Any]) -> Iterator[Chunk]:
    """Member after member; both libraries have the same interface for this."""
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
                inflated = inflate.decompress(data)
                if inflated:
                    yield Chunk(inflated, position)
                data = inflate.unused_data if inflate.eof else b""
            data = stream.read(_COMPRESSED_BYTES)
    except (zlib.error, _zstd_error()) as error:
        raise MalformedMessage(
            form,
            f"{path}: the {form} data are damaged behind byte {position - len(data)} ({error}); get the file again",
        ) from None
    if not inflate.eof:
        raise MalformedMessage(form, f"{path}: the {form} data end too early; get the file again, it is truncated")


def _zstd_error() -> type[Exception]:
    zstandard: Any = sys.modules.get("zstandard")
    error: type[Exception] = zlib.error if zstandard is None else zstandard.ZstdError
    return error


class Elsewhere:
    """Inputs read and inflated by a child process, in order, as far ahead as there are slots."""

    def __init__(self, paths: Iterable[str], numbers: Iterable[int]) -> None:
        self._memory = mmap.mmap(-1, _SLOT_BYTES * _SLOTS)
        self._slot = 0
        free_out, self._free = os.pipe()
        self._told, told_in = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._free)
            os.close(self._told)
            _child(list(paths), list(numbers), self._memory, free_out, told_in)
        os.close(free_out)
        os.close(told_in)

    def of(self, number: int) -> Iterator[Chunk]:
        """The bytes of one input."""
        while True:
            got, kind, size, position = _HEADER.unpack(_read_exactly(self._told, _HEADER.size))
            data = b""
            if kind == _DATA:
                start = self._slot * _SLOT_BYTES
                data = self._memory[start : start + size]
                self._slot = (self._slot + 1) % _SLOTS
                with suppress(BrokenPipeError):  # it has read everything and is gone
                    os.write(self._free, b"\0")
                yield Chunk(data, position)
                continue
            if kind == _END and got == number:
                return
            message = _read_exactly(self._told, size).decode("utf-8", "surrogatepass")
            if kind == _BAD_INPUT:
                reason, _, message = message.partition(" ")
                raise InputError(reason, message)
            path, _, text = message.rpartition("\n")
            raise OSError(position, text, path)

    def close(self) -> None:
        """End the child, whatever it is doing."""
        os.close(self._free)
        os.close(self._told)
        end_child(self._child)
        self._memory.close()


def _child(paths: list[str], numbers: list[int], memory: mmap.mmap, free: int, tell: int) -> None:
    """What the reading process does; it never returns."""
    ignore()
    slot = 0
    try:
        for number in numbers:
            try:
                for data, position in file_chunks(paths[number]):
                    for start in range(0, len(data), _SLOT_BYTES):
                        piece = data[start : start + _SLOT_BYTES]
                        if slot >= _SLOTS and not os.read(free, 1):
                            os._exit(0)
                        at = slot % _SLOTS * _SLOT_BYTES
                        memory[at : at + len(piece)] = piece
                        os.write(tell, _HEADER.pack(number, _DATA, len(piece), position))
                        slot += 1
                os.write(tell, _HEADER.pack(number, _END, 0, 0))
            except InputError as error:
                _tell(tell, number, _BAD_INPUT, f"{error.reason} {error}", 0)
            except OSError as error:
                if error.errno == errno.EPIPE:
                    os._exit(0)
                _tell(tell, number, _BAD_FILE, f"{paths[number]}\n{error.strerror}", error.errno or 0)
    finally:
        os._exit(0)


def _tell(tell: int, number: int, kind: int, message: str, code: int) -> None:
    data = message.encode("utf-8", "surrogatepass")
    os.write(tell, _HEADER.pack(number, kind, len(data), code) + data)


def _read_exactly(descriptor: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(descriptor, size - len(data))
        if not more:
            raise OSError(errno.ECHILD, "the process that reads the input has died; is there enough memory?")
        data += more
    return data


def end_child(child: int) -> None:
    """Kill a process that we started, and wait until it is gone."""
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)
