"""The configuration: one TOML file, overridden by environment variables, validated as a whole.

    places      where each key stands in the file
    kinds       what a value may be, and how it is read and shown; units: spans and sizes
    keys        the keys of a table: its dataclass's fields
    model       Config, KafkaConfig, SecurityConfig, WorkerConfig, PipelineConfig, TopicsConfig
    variables   which environment variable overrides which key
    reading     file and environment to dataclasses; every mistake is noted, none ends the reading
    checks      what no single key can tell
    shown       every effective value and where it came from

Nothing here reads the process's environment: the caller hands it in.  Relative paths count from the working directory.
"""

from stream_lsh.config.effective import SettingShown, settings_shown, settings_text
from stream_lsh.config.kafka import KafkaConfig, SecurityConfig
from stream_lsh.config.load import load, parse
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.topics import TopicsConfig
from stream_lsh.config.worker import WorkerConfig
from stream_lsh.settings.value_types import Secret

__all__ = [
    "Config",
    "KafkaConfig",
    "PipelineConfig",
    "Secret",
    "SecurityConfig",
    "SettingShown",
    "TopicsConfig",
    "WorkerConfig",
    "load",
    "parse",
    "settings_shown",
    "settings_text",
]
