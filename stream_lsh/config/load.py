"""From the file and the environment to a `Config`: every mistake is noted, none ends the reading."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from stream_lsh.config import checks
from stream_lsh.config.environment import overrides
from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.pipeline_keys import kinds_with, pipeline_keys
from stream_lsh.config.pipeline_keys import tables as tables_of_pipelines
from stream_lsh.config.query_api import with_tokens
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import Default, Kind
from stream_lsh.kinds.registry import KINDS
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.schema import Key, keys_of
from stream_lsh.settings.toml import Path, key_lines, tables_of
from stream_lsh.settings.value_types import InvalidValue, got, sort_of
from stream_lsh.spelling import nearest, suggestion

_PIPELINE, _PRESET = "pipeline", "preset"
_TABLES = {"kafka": KafkaConfig, "worker": WorkerConfig}

_NOTHING_READ: Mapping[str, Any] = {}


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
        >>> config.pipelines[0].matches_topic, config.pipelines[0].retention_ms, config.worker.web
        ('documents-matches', 259200000, '')
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
    problems = Problems(name, lines)
    if not isinstance(pipelines, list):
        problems.add(("pipeline",), f"got {got(pipelines)}, expected a table or several")
    elif not pipelines:
        problems.add(("pipeline",), "got none, expected [pipeline] with a source")
    pipelines = pipelines if isinstance(pipelines, list) else []
    variables, wrong = overrides(environ, [_name_of(pipeline) for pipeline in pipelines])
    for problem in wrong:
        problems.environment(problem)
    reader = _Reader(problems, environ, variables)
    for unknown in tables.keys() - {*_TABLES, _PIPELINE}:
        reader.unknown(unknown, (), (*_TABLES, _PIPELINE))
    config = _config(reader, tables, pipelines)
    checks.check(config, problems)
    problems.raise_all()
    return config


def _config(reader: "_Reader", tables: Mapping[str, Any], pipelines: list[object]) -> Config:
    kafka = reader.table(keys_of(KafkaConfig), KafkaConfig, tables.get("kafka", {}), ("kafka",))
    if kafka.security is not None:
        kafka = replace(kafka, security=checks.with_password(kafka.security, reader.problems))
    worker = reader.table(keys_of(WorkerConfig), WorkerConfig, tables.get("worker", {}), ("worker",))
    worker = with_tokens(worker, reader.problems)
    read = (reader.pipeline(table, ("pipeline", at)) for at, table in enumerate(pipelines))
    several = tuple(replace(pipeline, app_id=worker.app_id) for pipeline in read)
    origins = {_shown(path, several): origin for path, origin in reader.origins.items()}
    return Config(kafka=kafka, worker=worker, pipelines=several, origins=origins)


class _Reader:
    """Makes dataclasses of tables; a wrong value is replaced by the default until all mistakes are reported."""

    def __init__(self, problems: Problems, environ: Mapping[str, str], variables: Mapping[Path, str]) -> None:
        self.problems = problems
        self.origins: dict[Path, str] = {}
        self._environ = environ
        self._kinds: dict[Path, str] = {}
        self._variables = variables

    def pipeline(self, raw: object, path: Path) -> PipelineConfig:
        """A pipeline with the settings of its kind, and what these name."""
        table = raw if isinstance(raw, dict) else {}
        kind: Kind = self._value(keys_of(PipelineConfig)["kind"], table, (*path, "kind"))
        self._kinds[path] = kind.name
        keys = self._with_defaults(pipeline_keys(type(kind)), type(kind), table, path)
        own = keys_of(type(kind))

        def make(**values: Any) -> PipelineConfig:
            made = type(kind)(**{key.field: values.pop(key.field) for key in own.values()})
            if self.problems.is_valid((*path, "kind")):
                made = made.loaded(path, self.problems)
            return PipelineConfig(**values | {"kind": made})

        pipeline: PipelineConfig = self.table(keys, make, raw, path, {"kind": kind})
        return pipeline

    def table(
        self,
        keys: Mapping[str, Key],
        make: Callable[..., Any],
        value: object,
        path: Path,
        read: Mapping[str, Any] = _NOTHING_READ,
    ) -> Any:
        """The result of `make` for the keys of a table; `read` contains the values that have been read already."""
        if not isinstance(value, dict):
            self.problems.add(path, f"got {sort_of(value)}, expected a table")
            return make(**{**{key.field: self._default(key) for key in keys.values()}, **read})
        from_environment = {variable[len(path)]: None for variable in self._variables if variable[: len(path)] == path}
        for unknown in {**value, **from_environment}.keys() - keys.keys():
            self.unknown(unknown, path, keys)
        unread = (key for key in keys.values() if key.field not in read)
        values = {**read, **{key.field: self._value(key, value, (*path, key.name)) for key in unread}}
        try:
            return make(**values)
        except ConfigError as error:  # of what a dataclass checks itself
            self.problems.add(path, str(error))
            return make()

    def unknown(self, name: str, path: Path, keys: Iterable[str]) -> None:
        """Report an unknown key of a table."""
        within = tuple(str(part) for part in (*path[2:], name))
        kinds = kinds_with(within) if len(path) > 1 and path[0] == _PIPELINE else []
        if kinds and not self.problems.is_valid((*path[:2], "kind")):
            return  # it may be a key of the kind that was meant
        place = next((at for at in self._variables if at[: len(path) + 1] == (*path, name)), (*path, name))
        if place in self._variables:
            self.problems.variables[place] = self._variables[place]
        kind = self._kinds.get(path[:2])
        homes = dict.fromkeys(title for title, there in _titles([kind] if kind else KINDS) if name in there)
        if kinds:
            hint = f"; `{'.'.join(within)}` is a key of kind = {_or(kinds)}, not of {_or([self._kinds[path[:2]]])}"
        elif homes:
            hint = f"; it belongs in {' or '.join(homes)}"
        else:
            hint = suggestion(name, keys) or "; see docs/reference/configuration.md"
        self.problems.add(place, f"got an unknown key{hint}")

    def _with_defaults(
        self, keys: Mapping[str, Key], kind: type[Kind], raw: Mapping[str, object], path: Path
    ) -> Mapping[str, Key]:
        """The keys with the defaults of the kind, and of the preset that the table names, if there is one."""
        defaults = dict[str, Default]()
        variable = self._variables.get((*path, _PRESET))
        name = raw.get(_PRESET) if variable is None else self._environ[variable]
        preset = kind.presets.get(name, {}) if isinstance(name, str) else {}
        for origin, chosen in ((f"kind {kind.name}", kind.defaults), (f"{_PRESET} {name}", preset)):
            self.origins |= {(*path, key.name): origin for key in keys.values() if key.field in chosen}
            defaults |= chosen
        return {name: replace(key, default=defaults.get(key.field, key.default)) for name, key in keys.items()}

    def _value(self, key: Key, raw: Mapping[str, object], path: Path) -> Any:
        if key.table is not None:
            inside = any(variable[: len(path)] == path for variable in self._variables)
            if key.default is None and key.name not in raw and not inside:
                return None
            return self.table(key.inner(), key.table, raw.get(key.name, {}), path)
        variable = self._variables.get(path)
        if variable is not None:
            return self._of_variable(key, path, variable)
        if key.name in raw:
            self.origins[path] = self.problems.place(path)
            return self._converted(key, raw[key.name], raw[key.name], path)
        if key.required:
            self.problems.add(path, f"got none, expected {key.description}")
        return self._default(key)

    def _of_variable(self, key: Key, path: Path, variable: str) -> Any:
        text = self._environ[variable]
        self.origins[path], self.problems.variables[path] = f"environment {variable}", variable
        assert key.value_type is not None  # noqa: S101 - tables have no variables
        try:
            text.encode()
        except UnicodeEncodeError:
            self.problems.add(path, "got bytes that are not UTF-8, expected text")
            return self._default(key)
        return self._converted(key, key.value_type.of_text(text), text, path)

    def _converted(self, key: Key, value: object, original: object, path: Path) -> Any:
        value_type = key.value_type
        assert value_type is not None  # noqa: S101 - tables are not converted
        try:
            return value_type.convert(value)
        except InvalidValue as invalid:
            hint = f"; did you mean {invalid.suggestion!r}?" if invalid.suggestion else ""
            expected = invalid.expected or value_type.expected
            entry = f" with {got(invalid.entry)}" if isinstance(original, list) and invalid.entry is not None else ""
            message = f"got {got(original, secret=value_type.secret)}{entry}, expected {expected}{hint}"
        except ConfigError as error:
            message = str(error).partition(": ")[2]
        self.problems.add(path, message)
        return self._default(key)

    @staticmethod
    def _default(key: Key) -> Any:
        return () if key.required else key.default  # only a list of topics is required


def _titles(kinds: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Key]]]:
    """The tables of a configuration with pipelines of some kinds, as the file has them, with their keys."""
    for name, table in _TABLES.items():
        yield f"[{name}]", keys_of(table)
        for key in keys_of(table).values():
            if key.table is not None:
                yield f"[{name}.{key.name}]", key.inner()
    yield from tables_of_pipelines(kinds)


def _or(kinds: Sequence[str]) -> str:
    return " or ".join(f'"{kind}"' for kind in kinds)


def _with_number(path: Path) -> Path:
    return ("pipeline", 0, *path[1:]) if path[0] == "pipeline" else path


def _name_of(pipeline: object) -> str:
    name = pipeline.get("name") if isinstance(pipeline, dict) else None
    return name if isinstance(name, str) else str(keys_of(PipelineConfig)["name"].default)


def _shown(path: Path, pipelines: tuple[PipelineConfig, ...]) -> str:
    return ".".join(pipelines[part].name if isinstance(part, int) else part for part in path)


def _neighbour(path: FilePath) -> str:
    """A suggestion: the file with the most similar name."""
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.suffix == ".toml")
    except OSError:
        names = []
    return f"; did you mean {str(path.parent / nearest(path.name, names))!r}?" if names else ""
