"""`stream-lsh broker`: one Kafka broker on this machine, to try things out, without Docker."""

import sys
from collections.abc import Sequence
from pathlib import Path

from stream_lsh.cli.options.parser import Parser, whole
from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.errors import ConfigError

_EPILOG = """\
`start` needs Java 17 or later and, the first time, Apache Maven (`mvn`), which downloads Kafka (43 MB, kept in the
cache folder of the home).  It returns when the broker answers.  Messages stay in the folder until it is removed.

examples:
  stream-lsh broker start
  stream-lsh broker start --port 19092 --data /tmp/kafka
  stream-lsh broker stop
"""
_PORT = 9092
_LAST_PORT = 65_534
"""The last port with a next one, for the controller."""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.worker.brokers.maven import MavenBroker  # noqa: PLC0415 - loads the client of Kafka

    broker = MavenBroker(options.data, options.port)
    if options.action == "start":
        broker.start(lambda line: report_lines([line]))
        sys.stdout.write(f"{broker.address}, process {broker.pid}, data in {options.data}\n")
        return 0
    if broker.pid is None:
        raise ConfigError(f"{options.data}: got a folder without a running broker; --data names another folder")
    broker.stop()
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser("broker", "Start or stop a Kafka broker on this machine, to try things out.", _EPILOG)
    parser.add_argument("action", choices=("start", "stop"), metavar="ACTION", help="start or stop")
    port = f"port of the broker; its controller uses the next one (default {_PORT})"
    parser.add_argument("--port", type=whole(1, _LAST_PORT), default=_PORT, metavar="N", help=port)
    folder = "folder for messages, log and process id (default broker)"
    parser.add_argument("--data", type=Path, default=Path("broker"), metavar="DIR", help=folder)
    return parser
