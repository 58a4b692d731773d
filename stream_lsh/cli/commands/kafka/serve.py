"""`stream-lsh serve`: answers queries from the changelogs of an application, beside its workers."""

import os
from collections.abc import Sequence

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.process import run_client

_EPILOG = """\
examples:
  stream-lsh serve --config news.toml
  STREAM_LSH__WORKER__ASK=127.0.0.1:6080 stream-lsh serve --config news.toml

It serves the query API of a worker at the address `ask` in [worker].  It answers from its own copy of the state, even
while workers are down or recovering, and holds all documents in memory.  You can run several.
"""
_LEVELS = ("debug", "info", "warning", "error")


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.config import load  # noqa: PLC0415
    from stream_lsh.worker.monitoring.log import log_to_stderr  # noqa: PLC0415
    from stream_lsh.worker.query.serve import serve  # noqa: PLC0415 - loads the engine

    config = load(options.config, os.environ)
    log_to_stderr(options.log)
    run_client(serve(config))
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser("serve", "Answer queries from the changelogs of an application.", _EPILOG, first=("config", "log"))
    add = parser.add_argument
    add("--config", required=True, metavar="FILE", help="the configuration of the workers, a TOML file")
    add("--log", choices=_LEVELS, default="info", help="minimum log level (default info)")
    return parser
