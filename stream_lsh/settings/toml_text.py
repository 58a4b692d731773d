"""TOML as it is read, before anything is known of its keys."""

import re
import tomllib
from typing import Any

from stream_lsh.errors import ConfigError


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
