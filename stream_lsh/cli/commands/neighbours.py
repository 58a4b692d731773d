"""`stream-lsh neighbours`: vectors in files that are near each other, or near those that are asked about."""

import math
from argparse import ArgumentTypeError
from collections.abc import Sequence

from stream_lsh.cli.options.parser import Parser, share, whole
from stream_lsh.cli.options.single_field import add_files, add_value_input, add_value_output, run_with
from stream_lsh.files.discover import ARRAY

_FORMATS = ("jsonl", "csv", "tsv", ARRAY)
_MEASURES = ("cosine", "euclidean", "hamming")
"""Those of `kinds.vector.metric`, which takes long to load."""
_SLOTS = 256

_EPILOG = """\
inputs:
  JSON lines   {"id": ..., "vector": [...]}; an id that comes again replaces the vector before it
  CSV, TSV     a header, then a vector per row: a column id, and a number in each of the others
  .npy         an array of numpy, a vector per row; ids are the numbers of the rows, from 0 on
  Each but the last may be gzip or zstd; - is standard input (JSON lines, or what --format says).

outputs:
  a match      {"pipeline","left","right","similarity","measure","distance",...}; both are exact
  a cluster    {"cluster","members":[...]}; everything that is connected by matches
  an answer    {"pipeline","query","id","similarity","measure","distance"}, with --query

examples:
  stream-lsh neighbours --within 15 embeddings.jsonl.gz > pairs.jsonl
  stream-lsh neighbours --within 15 embeddings.npy --query questions.npy
  stream-lsh neighbours --measure hamming --within 6 image-hashes.csv
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    return run_with(_parser().parse(arguments), "neighbours", "NeighboursRun")


def _parser() -> Parser:
    parser = Parser("neighbours", "Find all pairs of vectors within a distance, with their exact distance.", _EPILOG)
    add_files(parser, "vectors")
    group = parser.add_argument_group("what counts as a match")
    add = group.add_argument
    add(
        "--measure",
        choices=_MEASURES,
        default="cosine",
        help="the angle, the straight line, or positions that differ (default cosine)",
    )
    add(
        "--within",
        type=_positive,
        required=True,
        metavar="D",
        help="greatest distance: degrees, a length, or positions",
    )
    add(
        "--recall",
        type=share,
        default=0.99,
        metavar="R",
        help="probability that a pair at this distance is found; nearer ones are surer (default 0.99)",
    )
    add(
        "--slots",
        type=whole(1),
        default=_SLOTS,
        metavar="N",
        help=f"hash functions: more of them leave fewer far vectors to be compared (default {_SLOTS})",
    )
    add(
        "--width",
        type=_positive,
        default=0.0,
        metavar="W",
        help="with euclidean: of the intervals that lines are cut into (default: four times the distance)",
    )
    add_value_input(
        parser,
        _FORMATS,
        ("--vector-column", "field or column of the vector (default vector; of tables all columns but that of the id)"),
    )
    parser.add_argument(
        "--dimension", type=whole(1), metavar="N", help="of all vectors (default: that of the first one)"
    )
    add_value_output(parser)
    return parser


def _positive(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"got {value!r}, expected a number above 0, such as 15")
    return number
