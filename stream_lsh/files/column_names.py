"""The names of the columns that the commands for documents read."""

from argparse import Namespace
from collections.abc import Mapping
from itertools import combinations

from stream_lsh.errors import ConfigError
from stream_lsh.wire.field_names import FieldNames

COLUMNS = {
    "id": "id",
    "text": "text",
    "time": "time",
    "title": "title, for stories",
    "source": "outlet, for stories",
    "url": "URL, for stories",
}
"""The meaning of each column, by its default name."""
AS_NAMED = {f"{name}_column": name for name in COLUMNS}
"""The default names, by option."""
_DELETED = {"deleted": "it marks deletes"}
WITHOUT_TIME_OPTION = {"time": "it has the time", **_DELETED}
"""Columns that have a meaning of their own, where no option names the one of the time."""


def of_documents(options: Namespace) -> None:
    """Set the default names of columns; raises ConfigError for options that apply to records only."""
    problems = []
    if options.encoding != "utf-8":
        problems.append("--encoding: applies to records only; documents are in UTF-8")
    if problems:
        raise ConfigError(problems)
    for column, name in AS_NAMED.items():
        if getattr(options, column) is None:
            setattr(options, column, name)


def field_names(options: Namespace) -> FieldNames:
    """The columns of documents that the options name; raises ConfigError as `check_meanings`."""
    check_meanings({f"--{name}-column": getattr(options, f"{name}_column") for name in ("id", "text", "time")})
    return FieldNames(**{name: getattr(options, f"{name}_column") for name in COLUMNS})


def check_meanings(columns: Mapping[str, str], reserved: Mapping[str, str] = _DELETED) -> None:
    """Check that no column has two meanings.

    Args:
        columns: the names, by option.
        reserved: other names, with their meanings.

    Raises:
        ConfigError: every option with such a column.
    """
    problems = [
        f"{one}, {other}: got {columns[one]!r} for both, expected two columns"
        for one, other in combinations(columns, 2)
        if columns[one] == columns[other]
    ]
    problems += [
        f"{option}: got {name!r}, expected another column: {reserved[name]}"
        for option, name in columns.items()
        if name in reserved
    ]
    if problems:
        raise ConfigError(problems)
