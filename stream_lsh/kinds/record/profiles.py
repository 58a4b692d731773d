"""Reads profiles of records from TOML files, and writes them.

All problems of a file are reported at once, each with its line, as for the configuration.  `bundled` loads the profiles
of the package: people, companies, products and bibliography.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.record.profile_keys import PROFILE, TABLES, Keys
from stream_lsh.records.libraries import require
from stream_lsh.records.profile import Profile
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.toml import Path, key_lines, tables_of
from stream_lsh.settings.value_types import InvalidValue, got, sort_of
from stream_lsh.spelling import suggestion

BUNDLED = ("people", "companies", "products", "bibliography")
"""The names of the bundled profiles."""
_PLURAL = {"field": "fields", "comparison": "comparisons", "lsh": "lsh"}


def bundled(name: str) -> Profile:
    """A bundled profile.

    Raises:
        ConfigError: no such profile.

    Example:
        >>> bundled("people").names[:2]
        ('given_name', 'surname')
    """
    return parse_profile(bundled_text(name), f"{name}.toml")


def bundled_text(name: str) -> str:
    """The file of a bundled profile.

    Raises:
        ConfigError: no such profile.
    """
    if name not in BUNDLED:
        expected = f"{', '.join(BUNDLED)} or the path of a file"
        raise ConfigError(f"profile: got {name!r}, expected {expected}{suggestion(name, BUNDLED)}")
    return files("stream_lsh.kinds.record").joinpath("bundled", f"{name}.toml").read_text(encoding="utf-8")


def find_profile(name: str | os.PathLike[str] | Profile) -> Profile:
    """The bundled profile with this name, or else the profile in the file at this path; a valid profile is returned.

    Raises:
        ConfigError: neither exists, or all problems of the file, or of the profile.

    Example:
        >>> find_profile("products").name
        'products'
        >>> find_profile("product")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: profile: got 'product', expected people, ... file; did you mean 'products'?
    """
    if isinstance(name, Profile):
        require()
        from stream_lsh.records.check import checked  # noqa: PLC0415 - loads the libraries of comparators

        return checked(name)
    if isinstance(name, os.PathLike):
        return load_profile(name)
    if not isinstance(name, str):
        raise ConfigError(f"profile: got {name!r:.60}, expected a Profile, {', '.join(BUNDLED)} or the path of a file")
    is_path = os.path.exists(name) or os.path.basename(name) != name or name.endswith(".toml")
    return load_profile(name) if is_path and name not in BUNDLED else bundled(name)


def load_profile(path: str | os.PathLike[str]) -> Profile:
    """The profile in a file.

    Raises:
        ConfigError: all problems of the file, each with its line.
    """
    name = os.fspath(path)
    try:
        text = FilePath(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{name}: got {error.strerror}, expected a readable profile") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: got the byte 0x{error.object[error.start]:02x}, expected UTF-8") from None
    return parse_profile(text, name)


def parse_profile(text: str, name: str) -> Profile:
    r"""The profile in a text.

    Args:
        text: TOML.
        name: of the file, for errors.

    Raises:
        ConfigError: all problems, each with its line.

    Example:
        >>> parse_profile("name = 'x'\nrules = ['sirname']\n[[field]]\nname = 'surname'\n", "x.toml")
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: x.toml:1: comparison: got none, expected one or more: they define a match
        x.toml:2: rules: got the field 'sirname', expected one of the profile; did you mean 'surname'?
    """
    tables = tables_of(text, name)
    problems = Problems(name, key_lines(text))
    values = dict(_values({key: value for key, value in tables.items() if key not in TABLES}, PROFILE, (), problems))
    for table, (cls, keys) in TABLES.items():
        values[_PLURAL[table]] = tuple(_several(tables.get(table, []), cls, keys, (table,), problems))
    if problems.is_valid(("name",)):
        profile = Profile(**values)
        require()
        from stream_lsh.records.check import problems as profile_problems  # noqa: PLC0415 - loads the libraries of comparators

        for place, message in profile_problems(profile):
            if problems.is_valid(place):
                problems.add(place, message)
    problems.raise_all()
    return profile


def _several(value: object, cls: type, keys: Keys, path: Path, problems: Problems) -> Iterator[Any]:
    if not isinstance(value, list):
        problems.add(path, f"got {sort_of(value)}, expected [[{path[0]}]]")
        return
    for at, item in enumerate(value):
        if not isinstance(item, dict):
            problems.add((*path, at), f"got {sort_of(item)}, expected a table")
            continue
        values = dict(_values(item, keys, (*path, at), problems))
        if all(key in values for key in keys if keys[key].required):
            yield cls(**values)


def _values(table: Mapping[str, object], keys: Keys, path: Path, problems: Problems) -> Iterator[tuple[str, Any]]:
    """The valid values of a table; invalid ones are added to `problems`."""
    for unknown in table.keys() - keys.keys():
        homes = [f"[[{name}]]" for name, (_, inner) in TABLES.items() if unknown in inner and inner is not keys]
        listed = "; see docs/reference/profiles.md"
        hint = f"; it belongs in {' or '.join(homes)}" if homes else suggestion(unknown, keys) or listed
        problems.add((*path, unknown), f"got an unknown key{hint}")
    for name, key in keys.items():
        if name not in table:
            if key.required:
                problems.add((*path, name), f"got none, expected {key.description}")
            continue
        try:
            yield name, key.value_type.convert(table[name])
        except InvalidValue as invalid:
            hint = f"; did you mean {invalid.suggestion!r}?" if invalid.suggestion else ""
            expected = invalid.expected or key.value_type.expected
            problems.add((*path, name), f"got {got(table[name])}, expected {expected}{hint}")
        except ConfigError as error:
            problems.add((*path, name), str(error).partition(": ")[2])


def profile_text(profile: Profile, comments: Mapping[str, str] = MappingProxyType({})) -> str:
    """The file of a profile, with trained weights; `parse_profile` is the inverse.

    Args:
        profile: to be written.
        comments: by the name of a field.

    Example:
        >>> people = bundled("people")
        >>> parse_profile(profile_text(people), "people.toml") == people
        True
    """
    parts = ["\n".join(_lines(profile, PROFILE))]
    for table, (_, keys) in TABLES.items():
        for entry in getattr(profile, _PLURAL[table]):
            text = comments.get(entry.name) if table == "field" else None
            lines = [*([comment(text)] if text else []), f"[[{table}]]", *_lines(entry, keys)]
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def comment(text: str) -> str:
    r"""A comment line of TOML.

    Example:
        >>> comment("a line\nof \x07 text")
        '# a line of   text'
    """
    return "# " + text.translate(dict.fromkeys((*range(0x20), 0x7F), " "))


def _lines(value: Any, keys: Keys) -> Iterator[str]:
    defaults = {field.name: field.default for field in fields(value)}
    for name, key in keys.items():
        entry = getattr(value, name)
        if key.required or entry != defaults[name]:
            yield f"{name} = {_shown(entry)}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        short = f"[{', '.join(map(_shown, value))}]"
        inner = "".join(f"  {_shown(item)},\n" for item in value)
        return short if len(short) < 100 or not isinstance(value[0], str) else f"[\n{inner}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | int):
        return repr(value)
    return '"' + str(value).translate(_ESCAPES) + '"'


_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)} | {ord('"'): '\\"', ord("\\"): "\\\\"}
