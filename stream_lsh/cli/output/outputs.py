"""The outputs of a command: checked and created before its work begins."""

import os
from collections.abc import Iterable, Sequence

from stream_lsh.cli.output import formats
from stream_lsh.cli.output.atomic_files import STDOUT, Output
from stream_lsh.cli.output.result_columns import CLUSTERS, REJECTS, Columns
from stream_lsh.errors import ConfigError


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Check that no output of a command replaces one of its inputs or another output.

    Raises:
        ConfigError: every output that does.
    """
    named = [path for path in outputs if path is not None]
    problems = {f"{path}: is an input, and would be replaced" for path in named if replaces(path, inputs)}
    problems |= {
        f"{path}: two outputs cannot be one file" + ": name a file with --output" * (path == STDOUT)
        for path in named
        if named.count(path) > 1 and path != os.devnull
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
    from stream_lsh.cli.output.tables import ResultTable  # noqa: PLC0415 - few outputs are tables

    return ResultTable(path, columns)


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
