"""Which inputs there are, and of which format each one is: found out before anything is loaded or started."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stream_lsh.cli.inflate import STDIN
from stream_lsh.errors import ConfigError

FORMATS = ("jsonl", "csv", "tsv", "folder")


class Input(NamedTuple):
    """One input: `path` as it was given, one of FORMATS, its size on the disk (0 where that is not known)."""

    path: str
    format: str
    size: int


def find_inputs(paths: Sequence[str], format: str | None) -> list[Input]:
    """The inputs with their formats.

    Raises:
        ConfigError: there is none of that name; all of them at once.
    """
    inputs, problems = [], []
    for path in paths:
        if path == STDIN:
            inputs.append(Input(path, format or "jsonl", 0))
        elif os.path.isdir(path):
            inputs.append(Input(path, "folder", sum(os.path.getsize(name) for name, _ in files_of(path))))
        elif not os.path.exists(path):
            problems.append(f"{path}: there is no such file or folder")
        elif format == "folder":
            problems.append(f"{path}: is a file, expected a folder")
        else:
            inputs.append(Input(path, format or _format(path), os.path.getsize(path)))
    if paths.count(STDIN) > 1:
        problems.append("-: standard input can be read once only")
    if problems:
        raise ConfigError(problems)
    return inputs


def same_file(one: Input, path: str) -> bool:
    """Whether an output of this path would replace an input."""
    return one.path != STDIN and os.path.exists(path) and os.path.samefile(one.path, path)


def _format(path: str) -> str:
    name = path.lower().removesuffix(".gz").removesuffix(".zst")
    return "csv" if name.endswith(".csv") else "tsv" if name.endswith((".tsv", ".tab")) else "jsonl"


def files_of(folder: str) -> Iterator[tuple[str, str]]:
    """All files below a folder with their relative paths, in a fixed order."""
    for directory, names, files in os.walk(folder):
        names.sort()
        for name in sorted(files):
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                yield path, os.path.relpath(path, folder)
