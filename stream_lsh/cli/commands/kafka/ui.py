"""`stream-lsh ui`: web pages about running workers, from their query API, in a separate process.

The pages stay available while workers are down.
"""

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.cli.process import run_cancellable
from stream_lsh.errors import ConfigError

_EPILOG = """\
examples:
  stream-lsh ui --config news.toml
  stream-lsh ui --url http://10.0.0.4:6067 --url http://10.0.0.5:6067 --token-file token

With --config, the pages use the address and the token of the query API in [worker]: `ask` (or `ask_advertised`) and
`ask_token`.
With several workers, repeat --url: each one answers for the whole application, and another one takes over if it fails.
If other machines can reach the pages, readers sign in with the token.  Use a proxy for TLS.
"""
_LISTEN = "127.0.0.1:6070"


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.config.query_api import is_loopback  # noqa: PLC0415
    from stream_lsh.web.rendering import require  # noqa: PLC0415

    require()
    urls, tokens = _workers(options)
    address = _address(options.listen)
    public = not is_loopback(address[0])
    if public and not tokens:
        raise ConfigError(
            f"--listen: got {options.listen} without a token, expected --token-file or a configuration with "
            "`ask_token`: other machines can reach this address, unlike a loopback address such as 127.0.0.1:6070"
        )
    run_cancellable(_serve(urls, tokens, address, public))
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser("ui", "Show web pages about running workers.", _EPILOG, first=("config", "url", "listen"))
    add = parser.add_argument
    add("--config", metavar="FILE", help="the configuration of the workers, a TOML file")
    add("--url", action="append", metavar="URL", help="the query API of a worker, instead of --config; repeatable")
    add("--token-file", type=Path, metavar="FILE", help="the file that contains the token of the query API")
    add("--listen", default=_LISTEN, metavar="ADDRESS", help=f"the address of the pages (default {_LISTEN})")
    return parser


def _workers(options: Namespace) -> tuple[list[str], tuple[str, ...]]:
    """The URLs of the workers, and the tokens."""
    if (options.config is None) == (options.url is None):
        raise ConfigError("expected either --config or --url")
    tokens: tuple[str, ...] = ()
    if options.token_file is not None:
        try:
            tokens = tuple(options.token_file.read_text("utf-8").split())
        except UnicodeDecodeError:
            tokens = ()
        if not tokens:
            raise ConfigError(f"--token-file: got {options.token_file}, expected a file that contains the token")
    if options.url is not None:
        return [_url(one) for one in options.url], tokens
    from stream_lsh.config import load  # noqa: PLC0415

    worker = load(options.config, os.environ).worker
    address = worker.ask_advertised or worker.ask
    if not address:
        raise ConfigError(f"{options.config}: got no `ask` in [worker], expected the address of the query API")
    return [f"http://{address}"], tokens or worker.ask_tokens


def _url(text: str) -> str:
    from urllib.parse import urlsplit  # noqa: PLC0415

    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and parts.netloc and not (parts.query or parts.fragment)
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(f"--url: got {text!r}, expected an address such as http://127.0.0.1:6067")
    return text.rstrip("/").removesuffix("/v1")


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdecimal() and 0 < int(port) < 65_536):
        raise ConfigError(f"--listen: got {text!r}, expected a host and a port, such as {_LISTEN}")
    return host.strip("[]"), int(port)


async def _serve(urls: Sequence[str], tokens: tuple[str, ...], address: tuple[str, int], public: bool) -> None:
    import asyncio  # noqa: PLC0415 - loads longer than `--help` takes

    from stream_lsh.web.server import PageServer  # noqa: PLC0415
    from stream_lsh.web.source import HttpSource  # noqa: PLC0415

    source = HttpSource(urls, tokens[0] if tokens else None)
    server = PageServer(source, address, tokens if public else ())
    await server.start()
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    report_lines([f"pages: http://{host}:{address[1]}"])
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()
        await source.close()
