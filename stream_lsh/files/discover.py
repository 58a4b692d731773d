"""Finds the inputs and their formats, before anything is loaded or started."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stream_lsh.errors import ConfigError
from stream_lsh.files.inflate import STDIN

TEXT = "text"
"""The format of a file that is one document; its path is the id."""
PARQUET = "parquet"
TABLES = ("jsonl", "csv", "tsv", PARQUET)
"""Formats of files with a document, a record, a set or a vector in each line or row."""
FORMATS = (*TABLES, TEXT, "folder")
"""The formats that commands for documents read."""
ARRAY = "npy"
"""The format of numpy's files."""
_ENDINGS = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    ".csv": "csv",
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".txt", ".text", ".md", ".markdown", ".rst", ".html", ".htm", ".xhtml"), TEXT),
    **dict.fromkeys((".parquet", ".pq"), PARQUET),
    ".npy": "npy",
}
_COMPRESSED = (".gz", ".zst")
_NOT_COMPRESSED = (PARQUET, "npy")
"""Formats with a compression of their own, or that are mapped into memory."""


class Input(NamedTuple):
    """One input: its path, one of FORMATS, its size on disk (0 if unknown), the delimiter of a table ("": detect)."""

    path: str
    format: str
    size: int
    delimiter: str = ""


def find_inputs(
    paths: Sequence[str],
    format: str | None,
    formats: Sequence[str] = FORMATS,
    option: str = "--format",
    delimiter: str = "",
) -> list[Input]:
    """The inputs with their formats.  A pipe or another special file is JSON lines unless `format` is given.

    Args:
        paths: as given by the user.
        format: of all of them; None derives it from each name.
        formats: those that the command reads.
        option: the option that sets the format; "" if the command has none.
        delimiter: of the columns of tables; "" follows from the header.

    Raises:
        ConfigError: files that do not exist, or whose format is unknown; all of them at once.
    """
    inputs, problems = [], []
    for path in paths:
        if path == STDIN:
            inputs.append(Input(path, format or "jsonl", 0, delimiter))
        elif os.path.isdir(path):
            files = [*files_of(path)]
            if format is None and TEXT in formats and files and all(_is_table(name) for name, _ in files):
                problems.append(
                    f"{path}: has files with many documents each, and a folder is read with one document per file: "
                    f"name the files, such as {os.path.join(path, files[0][1])}"
                    + (f", or read each file as one document with {option} folder" if option else "")
                )
            inputs.append(Input(path, "folder", sum(os.path.getsize(name) for name, _ in files)))
        elif not os.path.exists(path):
            problems.append(f"{path}: there is no such file or folder")
        elif format == "folder":
            problems.append(f"{path}: is a file, expected a folder")
        elif format is None and os.path.isfile(path) and (detected := _format(path)) not in formats:
            problems.append(_unknown(path, detected, formats, option))
        else:
            detected = _format(path) if os.path.isfile(path) else "jsonl"
            inputs.append(Input(path, format or detected, os.path.getsize(path), delimiter))
    problems += ["-: Parquet cannot be read from a pipe" for file in inputs if file[:2] == (STDIN, PARQUET)]
    if paths.count(STDIN) > 1:
        problems.append("-: standard input can be read once only")
    if problems:
        raise ConfigError(problems)
    return inputs


def _format(path: str) -> str:
    """The format of the ending of a name; "" for an unknown one."""
    whole = os.path.basename(path).lower()
    name = whole
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    format_name = _ENDINGS.get(os.path.splitext(f"x{name}")[1], "")  # `.csv` alone is an ending, too
    return "" if name != whole and format_name in _NOT_COMPRESSED else format_name


def _is_table(path: str) -> bool:
    return _format(path) in TABLES and not path.lower().endswith(".json")


def _unknown(path: str, detected: str, formats: Sequence[str], option: str) -> str:
    """The message for a file of an unknown format, or of one that the command does not read."""
    endings = ", ".join(ending for ending, format in _ENDINGS.items() if format in formats)
    what = f"is {detected}" if detected else "has an unknown ending"
    advice = (
        f"set {option}: {', '.join(format_name for format_name in formats if format_name != 'folder')}"
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
