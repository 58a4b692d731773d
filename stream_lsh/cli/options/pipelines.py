"""The pipelines that an option `--pipeline` selects."""

from typing import TYPE_CHECKING

from stream_lsh.errors import ConfigError

if TYPE_CHECKING:
    from stream_lsh.config import Config, PipelineConfig


def some_of(config: "Config", name: str | None) -> "list[PipelineConfig]":
    """The pipeline of that name, or all.

    Raises:
        ConfigError: there is none of that name.
    """
    chosen = [pipeline for pipeline in config.pipelines if name in (None, pipeline.name)]
    if not chosen:
        raise ConfigError(f"--pipeline: got {name}, expected one of {_names(config)}")
    return chosen


def one_of(config: "Config", name: str | None) -> "PipelineConfig":
    """The pipeline of that name, or the only one.

    Raises:
        ConfigError: there is none of that name, or no name was given and there are several.
    """
    chosen = some_of(config, name)
    if len(chosen) > 1:
        raise ConfigError(f"--pipeline: got none, expected one of {_names(config)}")
    return chosen[0]


def _names(config: "Config") -> str:
    return ", ".join(pipeline.name for pipeline in config.pipelines)
