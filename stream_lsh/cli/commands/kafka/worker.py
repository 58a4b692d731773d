"""`stream-lsh worker`: runs the pipelines of a configuration on Kafka until a signal stops it.

Before the first document, the worker reports all problems of the configuration, the brokers and the topics at once.
It exits with 1 if it lost its broker or its ownership: let a supervisor restart it.
"""

import asyncio
import gc
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.settings.units import counted

if TYPE_CHECKING:
    from stream_lsh.config import Config

_EPILOG = """\
examples:
  stream-lsh worker --config news.toml
  stream-lsh worker --config news.toml --embedded

The configuration is one TOML file; environment variables such as STREAM_LSH__KAFKA__BROKERS override it.
Workers with the same configuration share the work, and may share `data_dir`.
"""
_LEVELS = ("debug", "info", "warning", "error")


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code, or leaves with the engine's."""
    options = make_parser().parse(arguments)
    gc.disable()  # the libraries make a hundred thousand objects that live until the end; `execute` enables it
    try:
        return _run(options)
    finally:
        gc.enable()


def _run(options: Namespace) -> int:
    # Only a worker that starts loads the engine.
    from stream_lsh.config import load  # noqa: PLC0415
    from stream_lsh.worker.process import execute  # noqa: PLC0415

    config = load(options.config, os.environ)
    if not options.embedded:
        from stream_lsh.worker.checks.startup import as_stored  # noqa: PLC0415
        from stream_lsh.worker.monitoring.log import client_log  # noqa: PLC0415
        from stream_lsh.worker.topology import source_partitions  # noqa: PLC0415

        with client_log():
            partitions = asyncio.run(source_partitions(config))
            stored = asyncio.run(as_stored(config))
        _announce(stored, partitions)
        _announce_kept(config, stored)
        return execute(stored, partitions, options.log)
    from stream_lsh.worker.embedded import ADDRESS_VARIABLE, embedded  # noqa: PLC0415

    with embedded(config) as broker:
        report_lines(
            [
                "an embedded broker, in memory, for this worker alone: all data is lost when it exits",
                f"for feed and tail:  export {ADDRESS_VARIABLE}={broker.address}",
            ]
        )
        _announce(broker.config, broker.partitions)
        return execute(broker.config, broker.partitions, options.log, embedded=True)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "worker", "Run the pipelines of a configuration on Kafka.", _EPILOG, first=("config", "embedded", "log")
    )
    add = parser.add_argument
    add("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    add("--embedded", action="store_true", help="run an in-memory broker in place of `kafka.brokers`, for trials")
    add("--log", choices=_LEVELS, default="info", help="the lowest level that is logged (default info)")
    return parser


def _announce_kept(config: "Config", stored: "Config") -> None:
    """Report each setting that the state of a pipeline keeps from an earlier version."""
    from stream_lsh.config import settings_shown  # noqa: PLC0415

    for ours, theirs in zip(settings_shown(config), settings_shown(stored), strict=True):
        if ours.value != theirs.value:
            line = f"{ours.key}: {theirs.value} instead of {ours.value}: the state was built with it, and keeps it"
            report_lines([f"{line}; see `Texts in any script` in docs/operations/changes.md"])


def _announce(config: "Config", partitions: Mapping[str, int]) -> None:
    for pipeline in config.pipelines:
        count = partitions[pipeline.name]
        source = f"{', '.join(pipeline.sources)} -> " if pipeline.rekey else ""
        source += f"{pipeline.documents_topic} ({counted(count, 'partition')})"
        report_lines([f"pipeline {pipeline.name}: {source} -> {pipeline.matches_topic}"])
