"""The problems of a configuration, collected and reported in the order of the file."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from stream_lsh.errors import ConfigError
from stream_lsh.settings.toml import Path, line_of

_ENVIRONMENT = 1 << 62


class Problems:
    """The problems found so far.

    Args:
        name: of the file.
        lines: where each key stands in it.

    Attributes:
        variables: path of a key that a variable overrides to the variable.
    """

    def __init__(self, name: str, lines: Mapping[Path, int]) -> None:
        self.variables: dict[Path, str] = {}
        self._name = name
        self._lines = lines
        self._problems: list[tuple[int, str]] = []
        self._wrong: set[Path] = set()

    def place(self, path: Path) -> str:
        """The file and the line of a key, or of the table that should have it."""
        return f"{self._name}:{line_of(path, self._lines)}"

    def add(self, path: Path, message: str) -> None:
        """Add a problem of a key, or between it and others."""
        self._wrong.add(path)
        variable = self.variables.get(path)
        if variable is not None:
            self.environment(f"{variable}: {message}")
        else:
            key = ".".join(_shown(part) for part in path if isinstance(part, str))
            self._problems.append((line_of(path, self._lines), f"{self.place(path)}: {key}: {message}"))

    def environment(self, message: str) -> None:
        """Add a problem of a variable."""
        self._problems.append((_ENVIRONMENT, f"environment: {message}"))

    def has(self, path: Path) -> bool:
        """Whether the file or a variable sets a key."""
        return path in self._lines or path in self.variables

    def is_valid(self, *paths: Path) -> bool:
        """Whether these keys and their tables have no problem so far, so that it makes sense to compare them."""
        return not any(path[:size] in self._wrong for path in paths for size in range(1, len(path) + 1))

    def raise_all(self) -> None:
        """Raise all problems together, if there are any."""
        if self._problems:
            raise ConfigError([message for _, message in sorted(self._problems, key=_order)])


def _order(problem: tuple[int, str]) -> tuple[int, list[tuple[int, str]]]:
    """By line; within it by the message, with numbers as such: one line may name a file with lines of its own."""
    line, message = problem
    parts = re.split("([0-9]+)", message)
    return line, [(len(part) if part.isdecimal() else 0, part) for part in parts]


def _shown(part: str) -> str:
    plain = part.replace("_", "").replace("-", "")
    return part if plain.isalnum() and plain.isascii() else ascii(part)


@contextmanager
def problems_as_options(names: Mapping[str, str]) -> Iterator[None]:
    """Name the options of a command in each ConfigError: `names` maps settings of the library to options."""
    try:
        yield
    except ConfigError as error:
        problems = (problem.partition(": ") for problem in error.problems)
        raise ConfigError([f"{names.get(key, key)}{colon}{rest}" for key, colon, rest in problems]) from None
