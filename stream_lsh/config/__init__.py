"""The configuration: one TOML file, overridden by environment variables, validated as a whole.

    model          Config, PipelineConfig; kafka, worker, topics: the other tables
    pipeline_keys  the keys of a [[pipeline]], by its kind of data
    environment    which environment variable overrides which key
    load           file and environment to dataclasses; reports all mistakes at once
    checks         checks across several keys
    effective      every effective value and where it came from

Values, keys and messages of any table are in `stream_lsh.settings`, the keys of a kind in its folder of `kinds`.
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
