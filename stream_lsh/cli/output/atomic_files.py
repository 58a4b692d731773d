"""Outputs of the commands: whole lines only, and files that exist complete or not at all."""

import os
import stat
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

from stream_lsh.cli.output import formats
from stream_lsh.cli.output.result_columns import CLUSTERS, REJECTS, Columns
from stream_lsh.errors import ConfigError

STDOUT = formats.STDOUT
_STDERR = 2
_AT_ONCE = 4096
"""Writes of up to PIPE_BUF bytes to a pipe are atomic, so no reader and no interruption sees half a line."""


def report_lines(lines: Iterable[str]) -> None:
    """Write lines to standard error; results do not fail because a message about them cannot be printed."""
    try:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
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


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Check that no output of a command replaces one of its inputs or another output.

    Raises:
        ConfigError: every output that does.
    """
    named = [path for path in outputs if path is not None]
    problems = {f"{path}: is an input, and would be replaced" for path in named if replaces(path, inputs)}
    problems |= {
        f"{path}: two outputs cannot be one file" for path in named if named.count(path) > 1 and path != os.devnull
    }
    if problems:
        raise ConfigError(sorted(problems))


def check_saved(path: str | None) -> None:
    """Check that a collection can be saved as this file, before any work is done.

    Raises:
        ConfigError: it cannot.
    """
    if path == STDOUT:
        raise ConfigError("--save: got -, expected a file")
    if path is None:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        problem = "is a folder, expected a file"
    elif os.path.exists(path) and not os.path.isfile(path):
        problem = "is a device or a pipe, expected a file"
    elif not os.path.isdir(folder):
        problem = f"cannot be written: there is no folder {folder}"
    elif not os.access(folder, os.W_OK):
        problem = f"cannot be written: the folder {folder} is read-only"
    else:
        return
    raise ConfigError(f"{path}: {problem}")


def replaces(output: str, inputs: Iterable[str | None]) -> bool:
    """Whether an output is a file or a folder that is read, under whatever name; terminals and pipes can be both."""
    if output == STDOUT or not (os.path.isfile(output) or os.path.isdir(output)):
        return False
    named = (path for path in inputs if path is not None and path != STDOUT and os.path.exists(path))
    return any(os.path.samefile(path, output) for path in named)


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


def result_output(path: str, columns: Columns) -> Output:
    """An output for results, which are written as lines of JSON; it converts them to the format of its extension.

    Args:
        path: the file; without a known extension, it has JSON lines.
        columns: of the results.

    Raises:
        ConfigError: it cannot be made, or a library is missing.
    """
    if path == STDOUT or formats.format_of(path) in ("", "jsonl"):
        return Output(path)
    made: Output = import_module("stream_lsh.cli.output.tables").ResultTable(path, columns)
    return made


class Outputs:
    """The requested output files, all created before the work begins.

    Args:
        matches, clusters, report, rejects: their paths; None for an output that is not wanted.
        columns: of the matches.
        report_columns: of the report.
    """

    def __init__(
        self,
        matches: str | None,
        clusters: str | None,
        report: str | None,
        rejects: str | None,
        *,
        columns: Columns | None = None,
        report_columns: Columns | None = None,
    ) -> None:
        self._made: list[Output] = []
        try:
            self.matches = self._make(matches, columns)
            self.clusters = self._make(clusters, CLUSTERS)
            self.report = self._make(report, report_columns)
            self.rejects = self._make(rejects, REJECTS)
        except ConfigError:
            self.close()
            raise

    def _make(self, path: str | None, columns: Columns | None) -> Output | None:
        return None if path is None else self.add(path, columns)

    def add(self, path: str, columns: Columns | None = None) -> Output:
        """Create another output, for results with these columns, or for any bytes.

        Raises:
            ConfigError: it cannot be made.
        """
        made = Output(path) if columns is None else result_output(path, columns)
        self._made.append(made)
        return made

    def finish(self) -> None:
        """All of them are complete."""
        for output in self._made:
            output.finish()

    def close(self) -> None:
        """Remove what was not finished."""
        for output in self._made:
            output.close()
