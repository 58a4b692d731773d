"""From the file and the environment to a `Config`: every mistake is noted, none ends the reading."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from stream_lsh.config import checks
from stream_lsh.config.environment import overrides
from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.record_checks import with_profile
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.text.presets import OF_KIND, PRESETS, Setting
from stream_lsh.settings.problems import Notes
from stream_lsh.settings.schema import Key, keys_of
from stream_lsh.settings.toml_lines import Path, key_lines
from stream_lsh.settings.toml_text import tables_of
from stream_lsh.settings.value_types import Unfit, got, sort_of
from stream_lsh.spelling import nearest

_PRESET, _KIND = "preset", "kind"
_TABLES = {"kafka": KafkaConfig, "worker": WorkerConfig, "pipeline": PipelineConfig}


def load(path: str | os.PathLike[str], environ: Mapping[str, str]) -> Config:
    """The configuration in a file.

    Args:
        path: the file.
        environ: the environment variables, such as `os.environ`.

    Raises:
        ConfigError: everything that is wrong, each with its place -> mend it; nothing was started.
    """
    name = os.fspath(path)
    try:
        text = FilePath(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{name}: got no such file, expected a configuration{_neighbour(FilePath(path))}") from None
    except OSError as error:
        raise ConfigError(f"{name}: got {error.strerror}, expected a configuration that can be read") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{name}:{line}: got the byte 0x{error.object[error.start]:02x}, expected TOML in UTF-8"
        ) from None
    return parse(text, name, environ)


def parse(text: str, name: str, environ: Mapping[str, str]) -> Config:
    r"""The configuration in a text.

    Args:
        text: TOML.
        name: what messages call it.
        environ: the environment variables.

    Raises:
        ConfigError: everything that is wrong, each with its place -> mend it; nothing was started.

    Example:
        >>> config = parse("[pipeline]\nsource = 'news'", "news.toml", {"STREAM_LSH__WORKER__WEB": ""})
        >>> config.pipelines[0].matches_topic, config.pipelines[0].threshold, config.worker.web
        ('documents-matches', 0.8, '')
        >>> parse("[pipeline]\nsource = 'news'\ntreshold = 0.9", "news.toml", {})
        Traceback (most recent call last):
        stream_lsh.errors.ConfigError: news.toml:3: pipeline.treshold: got an unknown key; did you mean 'threshold'?
    """
    tables = tables_of(text, name)
    pipelines = tables.get("pipeline", [])
    lines = key_lines(text)
    if isinstance(pipelines, dict):
        pipelines = [pipelines]
        lines = {_with_number(path): line for path, line in lines.items()}
    notes = Notes(name, lines)
    if not isinstance(pipelines, list):
        notes.problem(("pipeline",), f"got {got(pipelines)}, expected a table or several")
    elif not pipelines:
        notes.problem(("pipeline",), "got none, expected [pipeline] with a source")
    pipelines = pipelines if isinstance(pipelines, list) else []
    variables, wrong = overrides(environ, [_name_of(pipeline) for pipeline in pipelines])
    for problem in wrong:
        notes.environment(problem)
    reader = _Reader(notes, environ, variables)
    for unknown in tables.keys() - _TABLES.keys():
        reader.unknown(unknown, (), _TABLES)
    config = _config(reader, tables, pipelines)
    checks.check(config, notes)
    notes.end()
    return config


def _config(reader: "_Reader", tables: Mapping[str, Any], pipelines: list[object]) -> Config:
    kafka = reader.table(KafkaConfig, tables.get("kafka", {}), ("kafka",))
    if kafka.security is not None:
        kafka = replace(kafka, security=checks.with_password(kafka.security, reader.notes))
    worker = reader.table(WorkerConfig, tables.get("worker", {}), ("worker",))
    read = (reader.table(PipelineConfig, found, ("pipeline", at)) for at, found in enumerate(pipelines))
    several = tuple(
        with_profile(replace(pipeline, app_id=worker.app_id), ("pipeline", at), reader.notes)
        for at, pipeline in enumerate(read)
    )
    origins = {_shown(path, several): origin for path, origin in reader.origins.items()}
    return Config(kafka=kafka, worker=worker, pipelines=several, origins=origins)


class _Reader:
    """Makes dataclasses of tables; where a value is wrong, the default stands in until all mistakes are told."""

    def __init__(self, notes: Notes, environ: Mapping[str, str], variables: Mapping[Path, str]) -> None:
        self.notes = notes
        self.origins: dict[Path, str] = {}
        self._environ = environ
        self._variables = variables

    def table(self, cls: type, found: object, path: Path) -> Any:
        """The dataclass of a table."""
        keys = keys_of(cls)
        if not isinstance(found, dict):
            self.notes.problem(path, f"got {sort_of(found)}, expected a table")
            return cls(**{key.field: self._default(key) for key in keys.values()})
        for unknown in found.keys() - keys.keys():
            self.unknown(unknown, path, keys)
        if _PRESET in keys:
            keys = self._with_preset(keys, found, path)
        values = {key.field: self._value(key, found, (*path, key.name)) for key in keys.values()}
        try:
            return cls(**values)
        except ConfigError as error:  # of what a dataclass checks itself
            self.notes.problem(path, str(error))
            return cls()

    def unknown(self, name: str, path: Path, keys: Mapping[str, object]) -> None:
        """Note a key that a table does not have."""
        homes = [title for title, table in _titles() if name in keys_of(table)]
        hint = f"it belongs in {' or '.join(homes)}" if homes else f"did you mean {nearest(name, keys)!r}?"
        self.notes.problem((*path, name), f"got an unknown key; {hint}")

    def _with_preset(self, keys: Mapping[str, Key], found: Mapping[str, object], path: Path) -> Mapping[str, Key]:
        """The keys with the defaults of the kind and the preset that the table names, if there are such."""
        defaults = dict[str, Setting]()
        for named, sets in ((_KIND, OF_KIND), (_PRESET, PRESETS)):
            variable = self._variables.get((*path, named))
            name = found.get(named) if variable is None else self._environ[variable]
            preset = sets.get(name, {}) if isinstance(name, str) else {}
            for key in keys.values():
                if key.field in preset:
                    self.origins[(*path, key.name)] = f"{named} {name}"
            defaults |= preset
        return {name: replace(key, default=defaults.get(key.field, key.default)) for name, key in keys.items()}

    def _value(self, key: Key, found: Mapping[str, object], path: Path) -> Any:
        if key.table is not None:
            inside = any(variable[: len(path)] == path for variable in self._variables)
            if key.default is None and key.name not in found and not inside:
                return None
            return self.table(key.table, found.get(key.name, {}), path)
        variable = self._variables.get(path)
        if variable is not None:
            return self._of_variable(key, path, variable)
        if key.name in found:
            self.origins[path] = self.notes.place(path)
            return self._converted(key, found[key.name], found[key.name], path)
        if key.required:
            self.notes.problem(path, f"got none, expected {key.says}")
        return self._default(key)

    def _of_variable(self, key: Key, path: Path, variable: str) -> Any:
        text = self._environ[variable]
        self.origins[path], self.notes.variables[path] = f"environment {variable}", variable
        assert key.kind is not None  # noqa: S101 - tables have no variables
        try:
            text.encode()
        except UnicodeEncodeError:
            self.notes.problem(path, "got bytes that are not UTF-8, expected text")
            return self._default(key)
        return self._converted(key, key.kind.of_text(text), text, path)

    def _converted(self, key: Key, value: object, original: object, path: Path) -> Any:
        kind = key.kind
        assert kind is not None  # noqa: S101 - tables are not converted
        try:
            return kind.convert(value)
        except Unfit as unfit:
            hint = f"; did you mean {unfit.meant!r}?" if unfit.meant else ""
            told = f"got {got(original, secret=kind.secret)}, expected {unfit.expected or kind.expected}{hint}"
        except ConfigError as error:
            told = str(error).partition(": ")[2]
        self.notes.problem(path, told)
        return self._default(key)

    @staticmethod
    def _default(key: Key) -> Any:
        return () if key.required else key.default  # only a list of topics is required


def _titles() -> Iterator[tuple[str, type]]:
    """The tables, as the file has them."""
    for name, table in _TABLES.items():
        yield f"[{name}]", table
        for key in keys_of(table).values():
            if key.table is not None:
                yield f"[{name}.{key.name}]", key.table


def _with_number(path: Path) -> Path:
    return ("pipeline", 0, *path[1:]) if path[0] == "pipeline" else path


def _name_of(pipeline: object) -> str:
    name = pipeline.get("name") if isinstance(pipeline, dict) else None
    return name if isinstance(name, str) else str(keys_of(PipelineConfig)["name"].default)


def _shown(path: Path, pipelines: tuple[PipelineConfig, ...]) -> str:
    return ".".join(pipelines[part].name if isinstance(part, int) else part for part in path)


def _neighbour(path: FilePath) -> str:
    """The file that may have been meant."""
    try:
        names = sorted(one.name for one in path.parent.iterdir() if one.suffix == ".toml")
    except OSError:
        names = []
    return f"; did you mean {str(path.parent / nearest(path.name, names))!r}?" if names else ""
