"""Finds the inputs and their formats, before anything is loaded or started."""

import glob
import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stream_lsh.errors import ConfigError
from stream_lsh.files.inflate import STDIN, STDIN_CLOSED

TEXT = "text"
"""The format of a file that is one document; its path is the id."""
LINES = "lines"
"""The format of a text with a document in each line; its number is the id."""
FOLDER = "folder"
"""The format of a folder with a document in each file."""
PARQUET, ARROW, JSON = "parquet", "arrow", "json"
TABLES = ("jsonl", JSON, "csv", "tsv", PARQUET, ARROW)
"""Formats of files with a document, a record, a set or a vector in each line or row."""
FORMATS = (*TABLES, TEXT, LINES, FOLDER)
"""The formats that commands for documents read."""
ARRAY = "npy"
"""The format of numpy's files."""
_ENDINGS = {
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".json": JSON,
    ".csv": "csv",
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".txt", ".text", ".md", ".markdown", ".rst", ".html", ".htm", ".xhtml"), TEXT),
    **dict.fromkeys((".parquet", ".pq"), PARQUET),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), ARROW),
    ".npy": ARRAY,
}
_COMPRESSED = (".gz", ".zst")
_NOT_COMPRESSED = (PARQUET, ARROW, ARRAY)
"""Formats with a compression of their own, or that are mapped into memory."""


class Input(NamedTuple):
    """One input.

    Attributes:
        path: of the file, or of a folder of the format FOLDER.
        format: one of FORMATS.
        size: on disk; 0 if unknown.
        delimiter: of a table; "" follows from its header.
        folder: the folder that the user named, if its files are tables.
    """

    path: str
    format: str
    size: int
    delimiter: str = ""
    folder: str = ""

    @property
    def holds_json(self) -> bool:
        """Whether the file has JSON objects, in lines or in an array."""
        return self.format in ("jsonl", JSON)

    @property
    def columnar(self) -> bool:
        """Whether the file is read as batches of Arrow columns."""
        return self.format in (PARQUET, ARROW)


def find_inputs(
    paths: Sequence[str],
    format: str | None,
    formats: Sequence[str] = FORMATS,
    option: str = "--format",
    delimiter: str = "",
) -> list[Input]:
    """The inputs with their formats.  A pipe or another special file is JSON lines unless `format` is given.

    A pattern such as `data/*.csv` stands for the files that match it, sorted.  A folder of tables stands for its files,
    except those whose names begin with a dot or an underscore.

    Args:
        paths: as given by the user.
        format: of all of them; None derives it from each name.
        formats: those that the command reads.
        option: the option that sets the format; "" if the command has none.
        delimiter: of the columns of tables; "" follows from the header.

    Raises:
        ConfigError: files that do not exist, or whose format is unknown; all of them at once.
    """
    finder = _Finder(format, formats, option, delimiter)
    for path in paths:
        for match in _matches(path):
            finder.find(match)
    problems = finder.problems
    if paths.count(STDIN) > 1:
        problems.append("-: standard input can be read once only")
    if STDIN in paths and sys.stdin is None:
        problems.append(STDIN_CLOSED)
    if problems:
        raise ConfigError(problems)
    return finder.inputs


def check_twice(inputs: Sequence[Input]) -> None:
    """Check that inputs can be read twice; raises ConfigError for pipes."""
    problems = [
        f"{file.path}: got a pipe, expected a file, because --keep and --assign read the input twice: save it first"
        for file in inputs
        if file.path == STDIN or not (os.path.isfile(file.path) or os.path.isdir(file.path))
    ]
    if problems:
        raise ConfigError(problems)


def _matches(path: str) -> list[str]:
    """The files that match a pattern, or the folders if no file does; the path itself if it is no pattern."""
    if not glob.has_magic(path) or os.path.exists(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    return [match for match in found if not os.path.isdir(match)] or found or [path]


class _Finder:
    """Collects inputs and problems; the arguments are those of `find_inputs`."""

    def __init__(self, format: str | None, formats: Sequence[str], option: str, delimiter: str) -> None:
        self.inputs: list[Input] = []
        self.problems: list[str] = []
        self._format, self._formats, self._option, self._delimiter = format, formats, option, delimiter

    def find(self, path: str) -> None:
        """Add an input, or the problem with it."""
        if path == STDIN:
            self._add(path, self._format or "jsonl", 0)
        elif os.path.isdir(path):
            self._find_folder(path)
        elif not os.path.exists(path):
            pattern = "no file matches this pattern; is the folder right?"
            self.problems.append(f"{path}: {pattern if glob.has_magic(path) else 'there is no such file or folder'}")
        elif self._format == FOLDER:
            self.problems.append(f"{path}: is a file, expected a folder")
        elif not os.path.isfile(path):
            self._add(path, self._format or "jsonl", os.path.getsize(path))
        else:
            self._find_file(path)

    def _find_file(self, path: str, folder: str = "") -> None:
        format = self._format or _format(path)
        if format in self._formats:
            self._add(path, format, os.path.getsize(path), folder)
        else:
            self.problems.append(_unknown(path, format, self._formats, self._option))

    def _add(self, path: str, format: str, size: int, folder: str = "") -> None:
        if format in (PARQUET, ARROW) and not os.path.isfile(path):
            self.problems.append(f"{path}: is a pipe, and {format.capitalize()} cannot be read from one: save it first")
        self.inputs.append(Input(path, format, size, self._delimiter, folder))

    def _find_folder(self, folder: str) -> None:
        """Add the files of a folder if they are tables, otherwise the folder as documents."""
        files = [*files_of(folder)]
        visible = [path for path, name in files if not any(part[:1] in "._" for part in name.split(os.sep))]
        if self._format in (*TABLES, LINES) or (
            self._format is None and visible and all(_is_table(path, self._formats) for path in visible)
        ):
            for path in visible:
                self._find_file(path, folder)
            if not visible:
                self.problems.append(f"{folder}: is a folder, expected a file, or a folder of such files; it has none")
        elif FOLDER in self._formats:
            self._add(folder, FOLDER, sum(os.path.getsize(path) for path, _ in files))
        else:
            others = [path for path in visible if not _is_table(path, self._formats)]
            has = f"it has {others[0]}" if others else "it has none"
            self.problems.append(f"{folder}: is a folder, expected a file, or a folder of such files only; {has}")


def _format(path: str) -> str:
    """The format of the ending of a name; "" for an unknown one."""
    whole = os.path.basename(path).lower()
    name = whole
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    format_name = _ENDINGS.get(os.path.splitext(f"x{name}")[1], "")  # `.csv` alone is an ending, too
    return "" if name != whole and format_name in _NOT_COMPRESSED else format_name


def _is_table(path: str, formats: Sequence[str]) -> bool:
    """Whether a file in a folder has a row for each item; where files may be documents, one of JSON is a document."""
    format = _format(path)
    return format in formats and format not in (TEXT, *([JSON] if FOLDER in formats else []))


def _unknown(path: str, detected: str, formats: Sequence[str], option: str) -> str:
    """The message for a file of an unknown format, or of one that the command does not read."""
    endings = ", ".join(ending for ending, format in _ENDINGS.items() if format in formats)
    what = f"is {detected}" if detected else "has an unknown ending"
    advice = (
        f"set {option}: {', '.join(format_name for format_name in formats if format_name != FOLDER)}"
        if option
        else "rename it"
    )
    return f"{path}: {what}, expected {endings}, optionally followed by .gz or .zst: {advice}"


def files_of(folder: str) -> Iterator[tuple[str, str]]:
    """All files below a folder with their relative paths, in a fixed order.

    Folders that cannot be listed come last, so that they are rejected as files that cannot be read are.
    """
    unreadable: list[str] = []
    for directory, names, files in os.walk(folder, onerror=lambda error: unreadable.append(error.filename)):
        names.sort()
        for name in sorted(files):
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                yield path, os.path.relpath(path, folder)
    for path in unreadable:
        yield path, "" if path == folder else os.path.relpath(path, folder)
