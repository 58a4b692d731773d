"""Options of the commands that use the query API: its address and its token."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from stream_lsh.cli.options.parser import Parser
from stream_lsh.errors import ConfigError

if TYPE_CHECKING:
    from stream_lsh.client.synchronous import Client


def add_query_api(parser: Parser, *, alone: bool = True) -> None:
    """Add the options; `alone`: a command that has no other source, so that URL and pipeline are required."""
    add = parser.add_argument
    add("--url", required=alone, metavar="URL", help="the query API of a worker, such as http://127.0.0.1:6067")
    if alone:
        add("--pipeline", required=True, metavar="NAME", help="the pipeline")
    add("--token-file", type=Path, metavar="FILE", help="the file that contains the token of the query API")


def client_of(options: Namespace) -> "Client":
    """The client of the query API that the options name.

    Raises:
        ConfigError: the URL is malformed, or the file does not exist or contains no token.
    """
    from stream_lsh.client.synchronous import Client  # noqa: PLC0415 - loads longer than `--help` takes

    token = ""
    if options.token_file is not None:
        try:
            tokens = options.token_file.read_text("utf-8").split()
        except FileNotFoundError:
            raise ConfigError(f"--token-file: {options.token_file}: there is no such file or folder") from None
        except (IsADirectoryError, UnicodeDecodeError):
            tokens = []
        if not tokens:
            raise ConfigError(f"--token-file: got {options.token_file}, expected a file that contains the token")
        token = tokens[0]
    return Client(options.url, options.pipeline, token)
