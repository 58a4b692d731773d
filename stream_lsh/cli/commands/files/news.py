"""`stream-lsh news`: the stories in articles: which documents report the same, under which headline, who was first.

It runs `dedup` with the preset `news` and reports the clusters as stories.
"""

from collections.abc import Sequence

from stream_lsh.cli.commands.files.dedup import run_with
from stream_lsh.cli.options.common import add_report_options, parse
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.result_columns import STORIES

_EPILOG = """\
inputs:
  folder       every file below it is an article, as text or HTML; the subfolder is the outlet.  If a page does not
               state when it was published, its time is that of the file's last change
  JSON lines   {"id", "text", "time"?, "title"?, "source"?, "url"?}; the text may be HTML
  CSV, TSV     a header with the same columns
  Parquet      the same columns, also as Arrow; needs the extra parquet
  text, HTML   a file with an extension such as .txt, .md or .html is one article; its path is the id
  Files other than Parquet and Arrow may be compressed with gzip or zstd; - is standard input (JSON lines, or the
  format of --format).  A pattern in quotes, such as 'data/*.csv', stands for the files that match it.  A folder of
  tables stands for its files.

The headline of a story is the title of its longest early version.  Its outlets are listed in the order in which they
published; an outlet is the `source`, or the host of the `url`.

The extension of an output sets its format: .jsonl, .csv, .tsv or .parquet.  .gz and .zst compress it.

examples:
  stream-lsh news articles/
  stream-lsh news articles.jsonl.gz --retention 1d -o stories.parquet --report report.html
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    return run_with(parse(make_parser(), arguments, "news"))


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "news",
        "Show the stories in articles, the largest first.",
        _EPILOG,
        first=("threshold", "retention", "report", "page", "json", "matches"),
    )
    return add_report_options(parser, "the stories", "stories", STORIES, page=True)
