"""Options that several commands have: what counts as a match, what holds a group together, what is read."""

from argparse import Namespace
from collections.abc import Callable, Sequence

from stream_lsh.cli.options.parser import Parser, ascii_encoding, ratio, share, span_ms, whole
from stream_lsh.cli.output.atomic_files import STDOUT
from stream_lsh.files.column_names import AS_NAMED, COLUMNS
from stream_lsh.files.discover import FORMATS
from stream_lsh.kinds.text.presets import PRESETS

EITHER_FORMATS = (*FORMATS, "parquet")
"""Of files that may be of records as well."""
MEASURES = ("jaccard", "containment")
"""Those of `measure.catalog`, which takes long to load."""
METHODS = ("lsh", "exact")
"""Those of `kinds.shingled.methods`, likewise."""
TIME_UNITS = ("auto", "s", "ms", "us", "ns")
"""Those of `wire.message`, likewise."""
_OPTIONS = {"retention_ms": "retention"}
"""Fields of a preset that are called otherwise here."""


def parse(parser: Parser, arguments: Sequence[str], preset: str | None = None) -> Namespace:
    """The options, where a preset that is asked for takes the place of the defaults; `preset` if none is."""
    for number, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--preset":
            preset = value or "".join(arguments[number + 1 : number + 2])
    parser.set_defaults(stories=False)
    chosen = PRESETS.get(preset or "", {})
    parser.set_defaults(**{_OPTIONS.get(field, field): value for field, value in chosen.items()})
    return parser.parse(arguments)


def add_matching(parser: Parser, *, preset: bool = True, limits: bool = True) -> None:
    """What counts as a match; with --preset or without, with what bounds the work for each document or without."""
    group = parser.add_argument_group("what counts as a match")
    add = group.add_argument
    if preset:
        add(
            "--preset",
            choices=tuple(PRESETS),
            help="defaults that go together; what is set beside it holds all the same",
        )
    add("--threshold", type=share, default=0.8, metavar="T", help="least similarity of a match (default %(default)s)")
    add(
        "--measure",
        choices=MEASURES,
        default="jaccard",
        help="shared shingles over those of both texts, or over those of the shorter one (default %(default)s)",
    )
    add(
        "--size-ratio",
        type=ratio,
        metavar="R",
        help="with containment: the longer text has at most R times as many shingles, 1 to 100 (default 2)",
    )
    add(
        "--shingles",
        default="word:3",
        metavar="SHINGLES",
        help="what is compared: runs of words (word:3), of characters (char:5), of other tokens (mixed:3, space:3, "
        "stem:en:3, code:python:5), stop words (stopword:en), capitals (capital:3); with counts (bag:word:3) "
        "(default %(default)s)",
    )
    add(
        "--html",
        choices=("off", "main", "page"),
        default="off",
        help="texts are HTML: compare articles, or whole pages (default %(default)s)",
    )
    add(
        "--min-characters",
        type=whole(0),
        default=0,
        metavar="N",
        help="shorter texts match nothing (default %(default)s)",
    )
    add(
        "--recall",
        type=share,
        default=0.99,
        metavar="R",
        help="probability that a pair at the threshold is found; more similar ones are surer (default 0.99)",
    )
    if not limits:
        return
    add(
        "--method",
        choices=METHODS,
        default="lsh",
        help="find nearly all matches, as --recall says, or all of them: exact is for thresholds near 1 (default lsh)",
    )
    add(
        "--max-candidates",
        type=whole(0),
        default=200,
        metavar="N",
        help="most documents that one is compared with; 0 lifts all caps, those of the index too (default 200)",
    )
    add(
        "--retention",
        type=span_ms,
        metavar="SPAN",
        help="match only documents whose times are within SPAN, such as 3d or 12h (default %(default)s)",
    )


def add_guards(parser: Parser) -> None:
    """What holds a group together besides its matches."""
    group = parser.add_argument_group("what holds a group together besides its matches (default: nothing)")
    add = group.add_argument
    add("--strong-links", action="store_true", help="one match alone does not join two groups of two or more")
    add(
        "--bridge-similarity",
        type=share,
        default=0.0,
        metavar="S",
        help="likewise, unless it is so similar (default: any will do)",
    )
    add(
        "--representative-similarity",
        type=share,
        default=0.0,
        metavar="S",
        help="each member matches the oldest one, and is at least so similar to it",
    )
    add("--max-diameter", type=whole(2), default=0, metavar="N", help="most matches from any member to any other")
    add("--max-size", type=whole(2), default=0, metavar="N", help="most documents in a group")


def add_columns(add: Callable[..., object]) -> None:
    """What fields and columns are called, and the unit of times; `add` adds an option."""
    for name, what in COLUMNS.items():
        add(f"--{name}-column", default=name, metavar="NAME", help=f"field or column of the {what} (default {name})")
    add_time_unit(add)


def add_time_unit(add: Callable[..., object]) -> None:
    """The unit of times that are numbers; `add` adds an option."""
    add(
        "--time-unit",
        choices=TIME_UNITS,
        default=TIME_UNITS[0],
        help="unit of times that are numbers (default auto: the one in which they lie between 1973 and 5138)",
    )


def allow_records(parser: Parser) -> None:
    """Let a command for documents take files of records as well: columns are what is set, and None where nothing is.

    What its files are of, the command knows later; `of_documents` then says what the columns are called.
    """
    add_encoding(parser.add_argument, "of records: ")
    parser.set_defaults(**dict.fromkeys(AS_NAMED), quiet=False, strict=False)


def add_input(parser: Parser, *, strict: bool = False, formats: Sequence[str] = FORMATS) -> None:
    """How files are read, of which formats; with --strict or without."""
    group = parser.add_argument_group("input")
    add = group.add_argument
    add("--format", choices=formats, help="format of the files (default: by their names)")
    add_columns(add)
    add(
        "--max-document-bytes",
        type=whole(1),
        default=524_288,
        metavar="N",
        help="larger documents are rejected (default 524288)",
    )
    if strict:
        add("--strict", action="store_true", help="exit with 1 if a document was rejected")


def add_outputs(parser: Parser) -> None:
    """Files for matches, clusters and rejected input."""
    add = parser.add_argument_group("output").add_argument
    add("--matches", default=STDOUT, metavar="OUT", help="file for the matches (default: standard output)")
    add("--clusters", metavar="OUT", help="file for the clusters")
    add("--rejects", metavar="OUT", help="file for rejected input: file, line, reason, message")


def telling(parser: Parser, what: str) -> Parser:
    """The parser of a command that tells of matches and groups what its users want to know.

    Args:
        parser: without options.
        what: the module that makes `lines` of it.
    """
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file or folder; - for standard input")
    add_matching(parser, preset=False)
    add_guards(parser)
    add_input(parser, strict=True)
    group = parser.add_argument_group("output")
    add = group.add_argument
    add("--json", action="store_true", help="JSON lines")
    add("--matches", metavar="OUT", help="file for the pairs")
    add("--rejects", metavar="OUT", help="file for rejected input: file, line, reason, message")
    add_work(parser)
    parser.set_defaults(clusters=None, told=STDOUT, tell=what)
    return parser


def add_work(parser: Parser) -> None:
    """How it is done, and what is told of that."""
    add = parser.add_argument
    add("--quiet", "-q", action="store_true", help="no summary, no progress, no single complaints")
    add("--jobs", type=whole(1), metavar="N", help="processes (default: one a core, at most 4)")


def add_encoding(add: Callable[..., object], what: str = "") -> None:
    """The option of what text is written in; `add` adds an option."""
    add(
        "--encoding",
        type=ascii_encoding,
        default="utf-8",
        metavar="NAME",
        help=f"{what}of CSV, TSV and JSON lines, such as latin-1 (default utf-8)",
    )
