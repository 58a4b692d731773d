"""`stream-lsh worker`: the pipelines of a configuration, live on Kafka, until it is told to stop.

Everything that is wrong with the configuration, the brokers or the topics is said before the first document is read,
all of it at once.  A worker that is in doubt ends with exit code 1: have a supervisor start it again.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stream_lsh.cli.options.parser import Parser

if TYPE_CHECKING:
    from stream_lsh.config import Config

_EPILOG = """\
examples:
  stream-lsh worker --config news.toml
  stream-lsh worker --config news.toml --embedded

The configuration is one TOML file; environment variables such as STREAM_LSH__KAFKA__BROKERS go before it.
Start as many workers with one configuration as you like, they share the work, and may share `data_dir`.
"""
_LEVELS = ("debug", "info", "warning", "error")


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code, or leaves with the engine's."""
    parser = Parser("worker", "Run the pipelines of a configuration on Kafka.", _EPILOG)
    parser.add_argument("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    parser.add_argument(
        "--embedded", action="store_true", help="with a broker inside, instead of `kafka.brokers`: to try things out"
    )
    parser.add_argument("--log", choices=_LEVELS, default="info", help="what is logged (default info)")
    options = parser.parse(arguments)
    # The engine is loaded only for those who start it.
    from stream_lsh.config import load  # noqa: PLC0415
    from stream_lsh.worker.process import execute  # noqa: PLC0415

    config = load(options.config, os.environ)
    if not options.embedded:
        from stream_lsh.worker.topology import source_partitions  # noqa: PLC0415

        partitions = asyncio.run(source_partitions(config))
        _announce(config, partitions)
        return execute(config, partitions, options.log)
    from stream_lsh.worker.embedded import ADDRESS_VARIABLE, embedded  # noqa: PLC0415

    with embedded(config) as broker:
        sys.stderr.write(
            "an embedded broker, in memory, for this one worker: when it ends, everything is gone\n"
            f"for feed and tail:  export {ADDRESS_VARIABLE}={broker.address}\n"
        )
        _announce(broker.config, broker.partitions)
        return execute(broker.config, broker.partitions, options.log, embedded=True)


def _announce(config: "Config", partitions: Mapping[str, int]) -> None:
    for pipeline in config.pipelines:
        count = partitions[pipeline.name]
        source = f"{', '.join(pipeline.sources)} -> " if pipeline.rekey else ""
        source += f"{pipeline.documents_topic} ({count} partitions)"
        sys.stderr.write(f"pipeline {pipeline.name}: {source} -> {pipeline.matches_topic}\n")
