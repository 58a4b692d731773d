"""`stream-lsh worker`: the pipelines of a configuration, live on Kafka, until it is told to stop.

Everything that is wrong with the configuration, the brokers or the topics is said before the first document is read,
all of it at once.  A worker that is in doubt ends with exit code 1: have a supervisor start it again.
"""

import asyncio
import os
import sys
from collections.abc import Sequence

from stream_lsh.cli.parsing import Parser

_EPILOG = """\
example:
  stream-lsh worker --config news.toml

The configuration is one TOML file; environment variables such as STREAM_LSH__KAFKA__BROKERS go before it.
Start as many workers with one configuration as you like, each with a `data_dir` of its own: they share the work.
"""
_LEVELS = ("debug", "info", "warning", "error")


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code, or leaves with the engine's."""
    parser = Parser("worker", "Run the pipelines of a configuration on Kafka.", _EPILOG)
    parser.add_argument("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    parser.add_argument("--log", choices=_LEVELS, default="info", help="what is logged (default info)")
    options = parser.parse(arguments)
    # The engine is loaded only for those who start it.
    from stream_lsh.config import load  # noqa: PLC0415
    from stream_lsh.worker.topology import source_partitions  # noqa: PLC0415

    config = load(options.config, os.environ)
    partitions = asyncio.run(source_partitions(config))
    for pipeline in config.pipelines:
        count = partitions[pipeline.name]
        source = f"{', '.join(pipeline.sources)} -> " if pipeline.rekey else ""
        source += f"{pipeline.documents_topic} ({count} partitions)"
        sys.stderr.write(f"pipeline {pipeline.name}: {source} -> {pipeline.matches_topic}\n")
    from stream_lsh.worker.process import execute  # noqa: PLC0415

    return execute(config, partitions, options.log)
