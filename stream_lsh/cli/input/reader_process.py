"""A process that reads the input ahead of the consumer.

It is forked before anything large is in memory, and reads while the parent still loads its libraries.  Parts travel
through shared memory, in pieces of one slot each; only sizes travel through pipes.

    child ── (kind, size) of a piece on a pipe ──▶ parent         its bytes are in the slot
          ◀── a byte on another pipe for a slot that is free again

The child ends when its pipe does: it cannot outlive the parent.
"""

import errno
import json
import mmap
import os
import signal
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NoReturn

from stream_lsh.cli.process import ignore
from stream_lsh.errors import ConfigError, InputError, MalformedMessage
from stream_lsh.files.chunks import Part, packed, unpacked

_SLOT_BYTES = 1 << 20
_SLOTS = 32
_HEADER = struct.Struct("<BI")
_PART, _ERROR, _END, _BEGUN = range(4)
"""Kinds of pieces: the last of a part or of an error, the end of the input, and one that the next piece continues."""


class ReaderProcess:
    """Parts that a child process reads, as far ahead as the slots allow.

    Args:
        read: reads them, in the child; an error of a file or an option is raised here, after the parts before it.
    """

    def __init__(self, read: Callable[[], Iterator[Part]]) -> None:
        self._memory = mmap.mmap(-1, _SLOT_BYTES * _SLOTS)
        free_out, self._free = os.pipe()
        self._messages, messages_in = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._free)
            os.close(self._messages)
            _run(read, _Sender(self._memory, free_out, messages_in))
        os.close(free_out)
        os.close(messages_in)

    def __iter__(self) -> Iterator[Part]:
        data, slot = b"", 0
        while True:
            kind, size = _HEADER.unpack(self._read_header())
            if kind == _END:
                return
            start = slot % _SLOTS * _SLOT_BYTES
            data += self._memory[start : start + size]
            slot += 1
            with suppress(BrokenPipeError):  # it has sent everything and is gone
                os.write(self._free, b"\0")
            if kind == _BEGUN:
                continue
            if kind == _ERROR:
                _raise(data)
            yield unpacked(data)
            data = b""

    def _read_header(self) -> bytes:
        header = b""
        while len(header) < _HEADER.size:
            more = os.read(self._messages, _HEADER.size - len(header))
            if not more:
                raise OSError(errno.ECHILD, "the process that reads the input has died; is there enough memory?")
            header += more
        return header

    def close(self) -> None:
        """End the child, even in the middle of its work."""
        os.close(self._free)
        os.close(self._messages)
        end_child(self._child)
        self._memory.close()


class _Sender:
    """The child's end."""

    def __init__(self, memory: mmap.mmap, free: int, headers: int) -> None:
        self._memory, self._free, self._headers = memory, free, headers
        self._slot = 0

    def send(self, kind: int, value: bytes) -> None:
        data = memoryview(value)
        for start in range(0, len(data), _SLOT_BYTES):
            piece = data[start : start + _SLOT_BYTES]
            if self._slot >= _SLOTS and not os.read(self._free, 1):
                os._exit(0)
            at = self._slot % _SLOTS * _SLOT_BYTES
            self._memory[at : at + len(piece)] = piece
            self._slot += 1
            last = start + len(piece) == len(data)
            os.write(self._headers, _HEADER.pack(kind if last else _BEGUN, len(piece)))

    def end(self) -> None:
        os.write(self._headers, _HEADER.pack(_END, 0))


def _run(read: Callable[[], Iterator[Part]], sender: _Sender) -> None:
    """Run the child process; never returns."""
    ignore()
    try:
        for part in read():
            sender.send(_PART, packed(part))
        sender.end()
    except BrokenPipeError:  # the parent is gone
        pass
    except (InputError, ConfigError, OSError) as error:
        with suppress(BrokenPipeError):
            sender.send(_ERROR, _error_bytes(error))
    finally:
        os._exit(0)


def _error_bytes(error: InputError | ConfigError | OSError) -> bytes:
    """An error as bytes, for `_raise`."""
    what: list[object]
    if isinstance(error, InputError):
        what = ["input", error.reason, str(error)]
    elif isinstance(error, ConfigError):
        what = ["config", error.problems]
    else:
        what = ["file", error.errno, error.strerror, error.filename]
    return json.dumps(what).encode()


def _raise(data: bytes) -> NoReturn:
    kind, *values = json.loads(data)
    if kind == "input":
        raise MalformedMessage(*values)  # of a whole input: nothing else can be wrong with its bytes
    raise (ConfigError if kind == "config" else OSError)(*values)


def end_child(child: int) -> None:
    """Kill a process that we started, and wait until it is gone."""
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)
