"""Every effective value and where it came from."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.pipeline_keys import pipeline_keys
from stream_lsh.settings.schema import Key, keys_of


class SettingShown(NamedTuple):
    """One setting: its key, its value as TOML would have it (secrets masked), and where it came from.

    `origin` is `default`, `preset NAME`, `file:line`, `environment NAME`, or `program` for what was made by hand.
    """

    key: str
    value: str
    origin: str


def settings_shown(config: Config) -> list[SettingShown]:
    """All settings, in the order of the documentation.

    Example:
        >>> from stream_lsh.kinds.text.kind import TextKind
        >>> news = PipelineConfig(sources=("news",), kind=TextKind(threshold=0.9))
        >>> shown = settings_shown(Config(pipelines=(news,)))
        >>> [tuple(one) for one in shown if one.key.endswith(("threshold", "recall"))]
        [('pipeline.documents.threshold', '0.9', 'program'), ('pipeline.documents.recall', '0.99', 'default')]
    """
    shown = list(_of_table(config.kafka, "kafka", config.origins))
    shown += _of_table(config.worker, "worker", config.origins)
    for pipeline in config.pipelines:
        shown += _of_pipeline(pipeline, f"pipeline.{pipeline.name}", config.origins)
    effective = _effective(config)
    return [setting._replace(value=effective.get(setting.key, setting.value)) for setting in shown]


def settings_text(config: Config) -> str:
    """The same as aligned lines, `key = value  # origin`."""
    shown = settings_shown(config)
    sides = [f"{setting.key} = {setting.value}" for setting in shown]
    width = min(max(map(len, sides)), 60)
    return "".join(f"{side:<{width}}  # {setting.origin}\n" for side, setting in zip(sides, shown, strict=True))


def _of_pipeline(pipeline: PipelineConfig, path: str, origins: Mapping[str, str]) -> Iterator[SettingShown]:
    """The settings of a pipeline and of its kind; none of another kind."""
    own = keys_of(type(pipeline.kind))
    for name, key in pipeline_keys(type(pipeline.kind)).items():
        yield from _of_key(key, pipeline.kind if name in own else pipeline, path, origins)


def _of_table(table: Any, path: str, origins: Mapping[str, str]) -> Iterator[SettingShown]:
    for key in keys_of(table.__class__).values():
        yield from _of_key(key, table, path, origins)


def _of_key(key: Key, table: Any, path: str, origins: Mapping[str, str]) -> Iterator[SettingShown]:
    value, at = getattr(table, key.field), f"{path}.{key.name}"
    if key.value_type is not None:
        shown = key.value_type.shown(value)
        is_default = not key.required and (value == key.default or shown == key.value_type.shown(key.default))
        yield SettingShown(at, shown, origins.get(at, "default" if is_default else "program"))
    elif value is None:
        yield SettingShown(at, "none", "default")
    else:
        for inner in key.inner().values():
            yield from _of_key(inner, value, at, origins)


def _effective(config: Config) -> dict[str, str]:
    """The effective values of settings whose value stands for another one, such as a default name."""
    topics = {
        f"pipeline.{pipeline.name}.topics.{key}": f'"{topic}"'
        for pipeline in config.pipelines
        for key, topic in pipeline.named_topics.items()
    }
    return topics | {"kafka.min_insync_replicas": str(config.kafka.in_sync_replicas)}
