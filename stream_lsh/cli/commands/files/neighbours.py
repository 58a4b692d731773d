"""`stream-lsh neighbours`: vectors in files that are near each other, or near the vectors of a query."""

import math
from collections.abc import Sequence

from stream_lsh.cli.options.parser import Parser, real, share, whole
from stream_lsh.cli.options.single_field import add_files, add_value_input, add_value_output, run_with
from stream_lsh.cli.output.result_columns import NEIGHBOUR_ANSWERS, NEIGHBOURS
from stream_lsh.files.discover import ARRAY, TABLES

_FORMATS = (*TABLES, ARRAY)
_MEASURES = ("cosine", "euclidean", "hamming")
"""Those of `kinds.vector.metric`, which takes long to load."""
_SLOTS = 256

_positive = real(lambda number: 0 < number < math.inf, "above 0, such as 15")

_EPILOG = """\
inputs:
  JSON lines   {"id": ..., "vector": [...]}; a later vector replaces an earlier one with the same id
  CSV, TSV     a header, then a vector per row: a column id, and a number in each of the others
  Parquet      such rows, also as Arrow; needs the extra parquet
  .npy         a numpy array, a vector per row; ids are the row numbers, from 0
  JSON lines, CSV and TSV may be compressed with gzip or zstd; - is standard input (JSON lines, or the format of
  --format).  A pattern in quotes, such as 'data/*.csv', stands for the files that match it.  A folder of
  tables stands for its files.

outputs:
  a match      {"pipeline","left","right","similarity","measure","distance",...}; both are exact
  a cluster    {"cluster","members":[...]}; matches connect its members
  an answer    {"pipeline","query","id","similarity","measure","distance"}, with --query
  The extension of a file sets its format: .csv, .tsv, .parquet, otherwise JSON lines.  .gz and .zst compress it.

examples:
  stream-lsh neighbours --within 15 embeddings.jsonl.gz > pairs.jsonl
  stream-lsh neighbours --within 15 embeddings.npy --query questions.npy
  stream-lsh neighbours --measure hamming --within 6 image-hashes.csv
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    return run_with(options, "neighbours", "NeighboursRun", NEIGHBOUR_ANSWERS if options.query else NEIGHBOURS)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "neighbours",
        "Find all pairs of vectors within a distance, with their exact distance.",
        _EPILOG,
        first=("within", "measure", "query", "matches", "clusters"),
    )
    add_files(parser, "vectors")
    add = parser.add_argument_group("matching").add_argument
    add(
        "--measure",
        choices=_MEASURES,
        default="cosine",
        help="angle, straight-line distance, or number of differing positions (default cosine)",
    )
    add(
        "--within",
        type=_positive,
        required=True,
        metavar="D",
        help="maximum distance: degrees, a length, or positions",
    )
    add(
        "--recall",
        type=share,
        default=0.99,
        metavar="R",
        help="probability of finding a pair at this distance; nearer pairs have a higher one (default 0.99)",
    )
    add(
        "--slots",
        type=whole(1),
        default=_SLOTS,
        metavar="N",
        help=f"hash functions; more of them compare fewer distant vectors (default {_SLOTS})",
    )
    add(
        "--width",
        type=_positive,
        default=0.0,
        metavar="W",
        help="with euclidean: width of a hash interval (default: four times the distance)",
    )
    add_value_input(
        parser,
        _FORMATS,
        ("--vector-column", "field or column of the vector (default vector; in tables all columns except the id)"),
    )
    parser.add_argument(
        "--dimension", type=whole(1), metavar="N", help="dimension of all vectors (default: that of the first one)"
    )
    add_value_output(parser)
    return parser
