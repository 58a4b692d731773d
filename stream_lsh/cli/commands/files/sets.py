"""`stream-lsh sets`: similar sets in files: customers by their purchases, users by their pages, fingerprints."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence

from stream_lsh.cli.options.common import DEFAULT_CAPS, MEASURES, add_recall, add_threshold
from stream_lsh.cli.options.parser import Parser, ratio, whole
from stream_lsh.cli.options.single_field import add_files, add_value_input, add_value_output, run_with
from stream_lsh.cli.output.result_columns import ANSWERS, matches_by
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import TABLES

_EPILOG = """\
inputs:
  JSON lines   {"id": ..., "items": [...]}; a later set replaces an earlier one with the same id
  CSV, TSV     a header, then a row for each item of a set: columns id and item, collected from all tables
               with --separator a row for each set: columns id and items
  Parquet      such rows, also as Arrow; needs the extra parquet
  Files other than Parquet and Arrow may be compressed with gzip or zstd; - is standard input (JSON lines, or the
  format of --format).  A pattern in quotes, such as 'data/*.csv', stands for the files that match it.  A folder of
  tables stands for its files.

outputs:
  a match      {"pipeline","left","right","similarity","measure","shared","union",...}; similarity is exact
  a cluster    {"cluster","members":[...]}; matches connect its members
  an answer    {"pipeline","query","id","similarity","measure","shared","union"}, with --query
  The extension of a file sets its format: .csv, .tsv, .parquet, otherwise JSON lines.  .gz and .zst compress it.

examples:
  stream-lsh sets --id-column customer --item-column product --threshold 0.6 purchases.csv
  stream-lsh sets --id-column customer --item-column product --swap purchases.csv
  stream-lsh sets --squares 1000 --threshold 0.4 prints.jsonl.gz --query found.jsonl
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    _check(options)
    return run_with(options, "sets", "SetsRun", ANSWERS if options.query else matches_by(options.measure))


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "sets",
        "Find all pairs of similar sets, with their exact similarity.",
        _EPILOG,
        first=("threshold", "item_column", "query", "matches", "clusters"),
    )
    add_files(parser, "sets")
    add = parser.add_argument_group("matching").add_argument
    add_threshold(add)
    add(
        "--measure",
        choices=MEASURES,
        default="jaccard",
        help="shared items divided by those of both sets, or by those of the smaller one (default jaccard)",
    )
    add(
        "--size-ratio",
        type=ratio,
        metavar="R",
        help="with containment: the larger set has at most R times as many items, 1 to 100 (default 2)",
    )
    add("--counts", action="store_true", help="count repeated items: compare bags")
    add("--swap", action="store_true", help="compare the items instead, by the sets that contain them")
    add(
        "--squares",
        type=whole(1),
        default=0,
        metavar="N",
        help="the items are squares of a grid of N squares, numbered from 0: fingerprints",
    )
    add_recall(add)
    add(
        "--max-candidates",
        type=whole(0),
        metavar="N",
        help=f"compare each set with at most N others; 0 lifts all caps {DEFAULT_CAPS}",
    )
    column = "field or column of the items (default items; item where each row has one)"
    add_value_input(parser, TABLES, ("--item-column", column))
    parser.add_argument(
        "--separator", type=_separator, metavar="C", help='separator of the items in a row, such as ";"'
    )
    add_value_output(parser)
    return parser


def _separator(value: str) -> str:
    if not value or value.isspace():
        raise ArgumentTypeError(f"got {value!r}, expected a separator such as ;")
    return value


def _check(options: Namespace) -> None:
    problems = []
    if options.query and options.max_candidates:
        problems.append("--max-candidates: limits the search for all pairs, expected no --query")
    if options.swap and options.squares:
        problems.append("--swap: squares are no sets that could be compared")
    if options.counts and options.squares:
        problems.append("--counts: a square of a grid is occupied or is not")
    if problems:
        raise ConfigError(problems)
    if options.query:
        options.max_candidates = 0
