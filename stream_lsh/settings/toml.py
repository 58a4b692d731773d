"""The tables of a TOML file, and the line of each key, which `tomllib` does not report.

A statement of TOML is one line or several, and no beginning of a statement of several lines is a statement itself: a
string, an array or an inline table that is not closed is an error.  So the lines are gathered until `tomllib` takes
them, and its result contains the keys that they set.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from stream_lsh.errors import ConfigError

Path = tuple[str | int, ...]
"""The way to a value: names of tables and keys, and the number of a table in an array of tables."""


def tables_of(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises:
        ConfigError: it is no TOML; with the line.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{name}: got values that are nested too deeply, expected a configuration") from None
    except ValueError as error:
        what, _, where = str(error).rpartition(" (at ")
        place = re.fullmatch(r"line (\d+), column (\d+)\)", where)
        line, column = (place[1], f" at column {place[2]}") if place else (text.count("\n") + 1, "")
        problem = what or str(error)
        raise ConfigError(f"{name}:{line}: not TOML: {problem[0].lower()}{problem[1:]}{column}") from None


def key_lines(text: str) -> dict[Path, int]:
    r"""The line of each key and table, from 1 on.

    Args:
        text: TOML that `tomllib` takes.

    Cost:
        linear in the statements, quadratic in the lines of one.

    Example:
        >>> key_lines("[[a]]\nb.c = 1\n[a.d]\ne = [\n 1\n]")[("a", 0, "d", "e")]
        4
    """
    lines: dict[Path, int] = {}
    sizes: dict[Path, int] = {}
    table: Path = ()
    chunk, start = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        chunk += f"{line}\n"
        try:
            parsed = tomllib.loads(chunk)
        except ValueError:
            continue
        if chunk.lstrip().startswith("["):
            table = _header(parsed, is_array=chunk.lstrip().startswith("[["), sizes=sizes)
            _note(lines, table, start)
        else:
            for path in _leaves(parsed, table):
                _note(lines, path, start)
        chunk, start = "", number + 1
    return lines


def line_of(path: Path, lines: Mapping[Path, int]) -> int:
    """The line of a key, or of the innermost table around it that has one; 1 where nothing has."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _header(parsed: Any, *, is_array: bool, sizes: dict[Path, int]) -> Path:
    """The path of a `[table]`, or of the next element of `[[tables]]`."""
    table: Path = ()
    while isinstance(parsed, dict) and parsed:
        ((name, parsed),) = parsed.items()
        table = (*table, name)
        if isinstance(parsed, list):
            break
        if parsed and table in sizes:
            table = (*table, sizes[table] - 1)
    if is_array:
        sizes[table] = sizes.get(table, 0) + 1
        table = (*table, sizes[table] - 1)
    return table


def _leaves(node: Any, path: Path) -> Iterator[Path]:
    inner = dict(enumerate(node)) if isinstance(node, list) else node
    if not isinstance(inner, dict) or not inner:
        yield path
        return
    for name, value in inner.items():
        yield from _leaves(value, (*path, name))


def _note(lines: dict[Path, int], path: Path, line: int) -> None:
    for size in range(1, len(path) + 1):
        lines.setdefault(path[:size], line)
