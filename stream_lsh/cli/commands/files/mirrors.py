"""`stream-lsh mirrors`: sites that mirror each other, from their pages: which share of the one is found in the other.

It is `dedup` with the preset `mirrors`, and adds up the pairs of pages by the hosts of their addresses.
"""

from collections.abc import Sequence

from stream_lsh.cli.commands.files.dedup import run_with
from stream_lsh.cli.options.common import add_report_options, parse
from stream_lsh.cli.options.parser import Parser, share
from stream_lsh.cli.output.result_columns import MIRRORS
from stream_lsh.kinds.text.presets import MIRROR_SHARE

_EPILOG = """\
inputs:
  JSON lines   {"id", "text", "url"?, "source"?, "time"?}; the text may be HTML
  CSV, TSV     a header with the same columns
  Parquet      the same columns, also as Arrow; needs the extra parquet
  text, HTML   a file with an extension such as .txt, .md or .html is one page; its path is the id
  folder       every file below it is a page; the subfolder is its site
  Files other than Parquet and Arrow may be compressed with gzip or zstd; - is standard input (JSON lines, or the
  format of --format).  A pattern in quotes, such as 'data/*.csv', stands for the files that match it.  A folder of
  tables stands for its files.

The site of a page is its `source`, or the host of its `url`.  A page is mirrored on another site if a page there
matches it and contains the share of its shingles that the threshold requires.  So an excerpt is mirrored by the full
page, but not the other way round.

The extension of an output sets its format: .jsonl, .csv, .tsv or .parquet.  .gz and .zst compress it.

examples:
  stream-lsh mirrors crawl.jsonl.gz --matches pairs.jsonl
  stream-lsh mirrors sites/ --html main --json
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    return run_with(parse(make_parser(), arguments, "mirrors"))


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "mirrors",
        "Show sites that mirror each other, the most similar first.",
        _EPILOG,
        first=("threshold", "min_share", "report", "json", "matches"),
    )
    least = f"minimum share of a site's pages that the other site mirrors (default {MIRROR_SHARE:g})"
    parser.add_argument("--min-share", type=share, default=MIRROR_SHARE, metavar="S", help=least)
    return add_report_options(parser, "the sites", "mirror_sites", MIRRORS)
