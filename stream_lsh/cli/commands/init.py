"""`stream-lsh init`: a commented configuration for one use."""

import os
from collections.abc import Sequence
from importlib.resources import files

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import STDOUT, Output, report_lines
from stream_lsh.errors import ConfigError

USES = {
    "news": "articles: group them into stories",
    "mirrors": "pages: find sites that mirror each other",
    "texts": "documents of any sort: find near-duplicates",
    "records": "people, companies, products: find records that describe the same thing",
    "sets": "lists of items: find similar ones",
    "vectors": "embeddings, image hashes: find near neighbours",
}
"""The uses that have a template, each with a description."""

_WIDTH = max(map(len, USES)) + 2
_EPILOG = (
    "uses:\n"
    + "\n".join(f"  {name:<8}  {what}" for name, what in USES.items())
    + """

examples:
  stream-lsh init news
  stream-lsh init records -o customers.toml
"""
)


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    path = options.output or f"{options.use}.toml"
    if path != STDOUT and os.path.exists(path):
        raise ConfigError(f"{path}: exists already: name another file with --output")
    out = Output(path)
    try:
        out.put(template(options.use).encode())
        out.finish()
    finally:
        out.close()
    if path != STDOUT and not options.quiet:
        report_lines([f"wrote {path}; start a worker with: stream-lsh worker --config {path}"])
    return 0


def template(use: str) -> str:
    """The configuration for a use; pipeline and application are named after it.

    Example:
        >>> [line for line in template("sets").splitlines() if line.startswith("kind")]
        ['kind = "set"']
    """
    folder = files("stream_lsh.cli") / "templates"
    lines = [line for part in ("shared", use) for line in [*(folder / f"{part}.toml").read_text().splitlines(), ""]]
    name = f'"{use}"'.ljust(_WIDTH)  # comments stay in their column
    return "\n".join(line.replace('"{name}"', name).rstrip() for line in lines)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser("init", "Write a commented configuration for one use.", _EPILOG)
    parser.add_argument("use", choices=tuple(USES), metavar="USE", help=", ".join(USES))
    parser.add_argument("-o", "--output", metavar="OUT", help="file to write; - for standard output (default USE.toml)")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")
    return parser
