"""Outputs of the commands: whole lines only, and files that exist complete or not at all."""

import os
import stat
import sys
from collections.abc import Iterable

from stream_lsh.cli.output import formats
from stream_lsh.controls import CONTROLS
from stream_lsh.errors import ConfigError

STDOUT = formats.STDOUT
_STDERR = 2
_AT_ONCE = 4096
"""Writes of up to PIPE_BUF bytes to a pipe are atomic, so no reader and no interruption sees half a line."""
_CONTROLS = {code: shown for code, shown in CONTROLS.items() if not 0xD800 <= code < 0xE000}
"""Without surrogates, of names that are not UTF-8: standard error writes them as escapes."""


def report_lines(lines: Iterable[str]) -> None:
    """Write lines to standard error; results do not fail because a message about them cannot be printed.

    A control character in a line, such as a line feed in the name of a file, becomes visible.
    """
    try:
        sys.stderr.write("".join(f"{line.translate(_CONTROLS)}\n" for line in lines))
        sys.stderr.flush()
    except OSError:
        discard_stderr()


def discard_stderr() -> None:
    """Keep the interpreter from failing once more when it flushes at exit, and files from becoming standard error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != _STDERR:
        os.dup2(nowhere, _STDERR)
        os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_STDERR, "w", closefd=False)


def exit_code(read: int, refused: int, *, strict: bool) -> int:
    """The exit code of a run: 1 if everything was rejected, or anything with --strict.

    Args:
        read: the number of accepted items.
        refused: the number of rejects.
        strict: whether a single reject is a failure.
    """
    return 1 if refused and (strict or not read) else 0


def ended(code: int, rejected: Iterable[str], *, quiet: bool) -> int:
    """The exit code of a run, once a failure is explained: --quiet leaves out the summary, but not errors.

    Args:
        code: from `exit_code`.
        rejected: the line of the summary that counts the rejects.
        quiet: whether the summary was left out.
    """
    if code and quiet:
        report_lines(f"stream-lsh: {line}" for line in rejected)
    return code


class Output:
    """Lines to a file or to standard output.

    A file is written under another name beside it and renamed by `finish`; another target (a terminal, a
    pipe, /dev/null) is written as it is.  The extension `.gz` or `.zst` compresses the output.

    Args:
        path: the file; `-` is standard output.

    Attributes:
        name: the path as given.
        path: for messages.
        closed_by_reader: whether the reader of a pipe has closed it.

    Raises:
        ConfigError: it cannot be made, found out before any work is done.
    """

    def __init__(self, path: str) -> None:
        self.name = path
        self.path = "standard output" if path == STDOUT else path
        self.closed_by_reader = False
        self._target = os.path.realpath(path)
        self._compressor = formats.compressor_of(path)
        self._temporary: str | None = None
        try:
            if path == STDOUT:
                self._descriptor = os.dup(1)
            elif os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
                self._descriptor = os.open(path, os.O_WRONLY)
            else:
                folder, name = os.path.split(self._target)
                temporary = os.path.join(folder, f".{name}.{os.getpid()}.part")
                self._descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
                self._temporary = temporary
        except OSError as error:
            raise ConfigError(f"{path}: cannot be written: {error.strerror}") from None

    def write(self, lines: Iterable[bytes]) -> None:
        """Write lines, each with its end.

        Raises:
            OSError: the disk is full, or a similar failure.  A pipe that its reader has closed is not an error.
        """
        piece = bytearray()
        for line in lines:
            if piece and len(piece) + len(line) + 1 > _AT_ONCE:
                self.put(piece)
                piece = bytearray()
            piece += line
            piece += b"\n"
            if self.closed_by_reader:
                return
        self.put(piece)

    def put(self, data: bytes | bytearray) -> None:
        """Write bytes; raises as `write` does."""
        self._put(data if self._compressor is None else self._compressor.compress(data))

    def _put(self, data: bytes | bytearray) -> None:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except BrokenPipeError:
            self.closed_by_reader = True
        except OSError as error:
            raise OSError(error.errno, f"cannot be written: {error.strerror}", self.path) from None

    @property
    def closed(self) -> bool:
        """Whether it was finished or closed."""
        return self._descriptor < 0

    def finish(self) -> None:
        """The output is complete: it gets its name."""
        if self._compressor is not None:
            self._put(self._compressor.flush())
        descriptor, self._descriptor = self._descriptor, -1
        try:
            if self._temporary is not None:
                os.fsync(descriptor)
                os.replace(self._temporary, self._target)
                self._temporary = None
        except OSError as error:
            raise OSError(error.errno, f"cannot be written: {error.strerror}", self.path) from None
        finally:
            os.close(descriptor)

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what was not finished."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._temporary is not None:
            os.unlink(self._temporary)
            self._temporary = None
