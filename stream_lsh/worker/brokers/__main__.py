"""`python -m stream_lsh.worker.brokers start|stop|kill PORT DIR`: one Kafka broker from its jars, without Docker."""

import argparse
import sys
from pathlib import Path

from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers.maven import MavenBroker


def main(arguments: list[str] | None = None) -> int:
    """Start, stop or kill the broker of a folder; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m stream_lsh.worker.brokers", description=__doc__)
    parser.add_argument("action", choices=["start", "stop", "kill"])
    parser.add_argument("port", type=int, help="of the broker; its controller takes the next one")
    parser.add_argument("folder", type=Path, metavar="DIR", help="data, log and pid file")
    options = parser.parse_args(arguments)
    broker = MavenBroker(options.folder, options.port)
    try:
        if options.action != "start" and broker.pid is None:
            print(f"{options.folder}: no broker of this folder runs", file=sys.stderr)  # noqa: T201 - a command
        {"start": broker.start, "stop": broker.stop, "kill": broker.kill}[options.action]()
    except ConfigError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command
        return 2
    if options.action == "start":
        print(f"{broker.address} pid {broker.pid}")  # noqa: T201 - a command
    return 0


if __name__ == "__main__":
    sys.exit(main())
