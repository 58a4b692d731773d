"""`stream-lsh mirrors`: sites that mirror each other, from their pages: which share of the one is found in the other.

It is `dedup` with the preset `mirrors`, and adds up the pairs of pages by the hosts of their addresses.
"""

from collections.abc import Sequence

from stream_lsh.cli.commands.dedup import run_with
from stream_lsh.cli.options.common import parse, telling
from stream_lsh.cli.options.parser import Parser, share
from stream_lsh.kinds.text.presets import MIRROR_SHARE

_EPILOG = """\
inputs:
  JSON lines   {"id", "text", "url"?, "source"?, "time"?}; the text may be HTML
  CSV, TSV     a header with such columns
  text, HTML   a file whose name ends in .txt, .md, .html or such is one page, its path the id
  folder       every file below it is a page, the folder within the folder its site
  Each may be gzip or zstd; - is standard input.

The site of a page is its `source`, or the host of its `url`.  A page is mirrored in another site if a page there is a
match and has as large a share of its shingles as the threshold asks for.  So an excerpt is in the full page, and not
the other way round.

examples:
  stream-lsh mirrors crawl.jsonl.gz --matches pairs.jsonl
  stream-lsh mirrors sites/ --html main --json
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    return run_with(parse(_parser(), arguments, "mirrors"))


def _parser() -> Parser:
    parser = telling(
        Parser("mirrors", "Show sites that mirror each other, the most alike first.", _EPILOG), "mirror_sites"
    )
    least = f"least share of a site's pages that is found in the other one (default {MIRROR_SHARE:g})"
    parser.add_argument("--min-share", type=share, default=MIRROR_SHARE, metavar="S", help=least)
    return parser
