"""Options that several commands share: matching, cluster guards, input, output."""

from argparse import Namespace
from collections.abc import Callable, Sequence

from stream_lsh.cli.options.parser import (
    Parser,
    ascii_encoding,
    delimiter,
    names,
    page_file,
    ratio,
    share,
    similarity,
    span_ms,
    whole,
)
from stream_lsh.cli.output.atomic_files import STDOUT
from stream_lsh.cli.output.result_columns import Columns
from stream_lsh.files.column_names import AS_NAMED, COLUMNS
from stream_lsh.files.discover import FORMATS
from stream_lsh.kinds.text.presets import PRESETS

DEFAULT_CAPS = "(default: no cap; 200 after 20 million candidates, or while 4 million pairs are kept)"
"""The caps of a file without `--max-candidates`, as `pipeline.limits` sets them."""

MEASURES = ("jaccard", "containment")
"""Those of `measure.catalog`, which takes long to load."""
METHODS = ("lsh", "exact")
"""Those of `kinds.shingled.methods`, likewise."""
SHINGLES = "mixed:3"
"""`DEFAULT` of `text.catalog`, likewise."""
TIME_UNITS = ("auto", "s", "ms", "us", "ns")
"""Those of `wire.message`, likewise."""
RECORD_INPUTS = """\
inputs:
  CSV, TSV     a header, then a record per row
  JSON lines   an object per line; the fields of nested objects become columns
  Parquet      also as Arrow; with the extra `parquet`
  Files other than Parquet and Arrow may be compressed with gzip or zstd; - is standard input (JSON lines, or the
  format of --format).  A pattern in quotes, such as 'data/*.csv', stands for the files that match it.  A folder of
  tables stands for its files.
"""
"""The help on files of records."""
TEXT_OPTIONS = {"shingles": "--shingles", "normal form": "--normalise", "memory": "--memory"}
"""The options behind settings of the library, as its errors name them."""
_OPTIONS = {"retention_ms": "retention"}
"""Fields of a preset that are called otherwise here."""


def parse(parser: Parser, arguments: Sequence[str], preset: str | None = None) -> Namespace:
    """The options; a preset, named here or by --preset, replaces the defaults."""
    for number, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--preset":
            preset = value or "".join(arguments[number + 1 : number + 2])
    parser.set_defaults(stories=False)
    chosen = PRESETS.get(preset or "", {})
    parser.set_defaults(**{_OPTIONS.get(field, field): value for field, value in chosen.items()})
    options = parser.parse(arguments)
    options.named = parser.named(arguments) | {_OPTIONS.get(field, field) for field in chosen}
    return options


def add_matching(parser: Parser, *, preset: bool = True, limits: bool = True) -> None:
    """The definition of a match; `preset` adds --preset, `limits` the bounds on the work per document."""
    add = parser.add_argument_group("matching").add_argument
    if preset:
        add("--preset", choices=tuple(PRESETS), help="defaults for one use; other options override them")
    add_threshold(add)
    add(
        "--measure",
        choices=MEASURES,
        default="jaccard",
        help="shared shingles divided by those of both texts, or by those of the shorter one (default %(default)s)",
    )
    add(
        "--size-ratio",
        type=ratio,
        metavar="R",
        help="with containment: the longer text has at most R times as many shingles, 1 to 100 (default 2)",
    )
    add(
        "--shingles",
        default=SHINGLES,
        metavar="NAME",
        help="the unit of comparison: runs of words (word:3), of words and of the letters of scripts without spaces "
        "(mixed:3), of characters (char:5), of other tokens (space:3, stem:en:3, code:python:5), stop words "
        "(stopword:en), capitals (capital:3); with counts "
        "(bag:word:3) (default %(default)s)",
    )
    add_normalise(add)
    add(
        "--html",
        choices=("off", "main", "page"),
        default="off",
        help="extract the text of HTML: of the main article, or of the whole page (default %(default)s)",
    )
    add(
        "--min-characters",
        type=whole(0),
        default=0,
        metavar="N",
        help="shorter texts match nothing (default %(default)s)",
    )
    add_recall(add)
    if not limits:
        return
    add(
        "--method",
        choices=METHODS,
        default="lsh",
        help="find nearly all matches (see --recall), or all of them: exact suits thresholds near 1 (default lsh)",
    )
    add(
        "--max-candidates",
        type=whole(0),
        metavar="N",
        help=f"compare each document with at most N others; 0 lifts all caps, those of the index too {DEFAULT_CAPS}",
    )
    add(
        "--retention",
        type=span_ms,
        metavar="SPAN",
        help="match only documents whose times are within SPAN, such as 3d or 12h (default %(default)s)",
    )


def add_threshold(add: Callable[..., object], default: float = 0.8) -> None:
    """The least similarity of a match; `add` adds an option."""
    help = "minimum similarity, up to 1 for identical items (default %(default)s)"
    add("--threshold", type=similarity, default=default, metavar="T", help=help)


def add_normalise(add: Callable[..., object]) -> None:
    """The normal forms of texts; `add` adds an option."""
    add(
        "--normalise",
        type=names,
        default=("nfc",),
        metavar="FORMS",
        help="normal forms of a text, in order, separated by commas: nfc, nfkc, casefold, space, accents, punctuation; "
        '"" for none (default nfc)',
    )


def add_recall(add: Callable[..., object]) -> None:
    """The probability of finding a pair at the threshold; `add` adds an option."""
    add(
        "--recall",
        type=share,
        default=0.99,
        metavar="R",
        help="probability of finding a pair at the threshold; more similar pairs have a higher one (default 0.99)",
    )


def add_guards(parser: Parser, member: str = "document") -> None:
    """The guards of clusters; a cluster consists of what `member` names."""
    add = parser.add_argument_group("cluster guards (default: none)").add_argument
    add("--strong-links", action="store_true", help="a single match does not join two clusters of two or more")
    add(
        "--bridge-similarity",
        type=share,
        default=0.0,
        metavar="S",
        help="like --strong-links, except for a match with at least this similarity",
    )
    add(
        "--representative-similarity",
        type=share,
        default=0.0,
        metavar="S",
        help=f"every {member} matches the oldest one of its cluster with at least this similarity",
    )
    add("--max-diameter", type=whole(2), default=0, metavar="N", help="at most N matches between any two members")
    add("--max-size", type=whole(2), default=0, metavar="N", help=f"at most N {member}s in a cluster")


def add_columns(add: Callable[..., object]) -> None:
    """The names of fields and columns, and the unit of times; `add` adds an option."""
    for name, what in COLUMNS.items():
        add(f"--{name}-column", default=name, metavar="NAME", help=f"field or column of the {what} (default {name})")
    add_time_unit(add)


def add_time_unit(add: Callable[..., object]) -> None:
    """The unit of numeric times; `add` adds an option."""
    add(
        "--time-unit",
        choices=TIME_UNITS,
        default=TIME_UNITS[0],
        help="unit of numeric times (default auto: the unit that puts them between 1973 and 5138)",
    )


def allow_records(parser: Parser) -> None:
    """Let a command for documents read files of records, too: column options without a value are None.

    The command finds out later which of both the files hold; `of_documents` then fills in the names of the columns.
    """
    add_encoding(parser.add_argument, "of records: ")
    parser.set_defaults(**dict.fromkeys(AS_NAMED), quiet=False, strict=False)


def add_input(parser: Parser, *, formats: Sequence[str] = FORMATS) -> None:
    """Add the options for reading documents, in these formats."""
    add = parser.add_argument_group("input").add_argument
    add_format(add, formats)
    add_columns(add)
    add_max_bytes(parser, add, "documents")


def add_format(add: Callable[..., object], formats: Sequence[str]) -> None:
    """The format of the files, and the delimiter of tables; `add` adds an option."""
    add("--format", choices=formats, help="format of the files (default: by their names)")
    help = (
        "separator of CSV columns, or `tab` (default: the comma; without one in the header, the semicolon, tab or bar)"
    )
    add("--delimiter", type=delimiter, default="", metavar="C", help=help)


def add_max_bytes(parser: Parser, add: Callable[..., object], what: str, default: int = 524_288) -> None:
    """The largest input that is read; `add` adds an option."""
    add(
        "--max-bytes",
        type=whole(1),
        default=default,
        metavar="N",
        help=f"larger {what} are rejected (default {default})",
    )
    for old in ("--max-document-bytes", "--max-record-bytes"):
        parser.renamed(old, "--max-bytes")


def add_output(add: Callable[..., object], what: str, dest: str = "output", *names: str) -> None:
    """The file for the main result, `-o`; `names` are further names of the option, `add` adds it."""
    help = f"file for {what} (default: standard output)"
    add("-o", "--output", *names, dest=dest, default=STDOUT, metavar="OUT", help=help)


def add_rejects(add: Callable[..., object]) -> None:
    """The file for rejected input; `add` adds an option."""
    add("--rejects", metavar="OUT", help="file for rejected input: file, line, reason, message")


def add_page(add: Callable[..., object], what: str = "clusters") -> None:
    """The file for the report; `add` adds an option, `what` the report shows."""
    help = f"HTML page with totals, the distribution of similarities, the estimated recall and the largest {what}"
    add("--report", dest="page", type=page_file, metavar="OUT", help=help)


def add_pair_outputs(parser: Parser) -> None:
    """Files for matches, clusters and rejected input."""
    add = parser.add_argument_group("output").add_argument
    add_output(add, "the matches", "matches", "--matches")
    add("--clusters", metavar="OUT", help="file for the clusters")
    add_rejects(add)


def add_report_options(parser: Parser, what: str, report: str, columns: Columns, *, page: bool = False) -> Parser:
    """The options of a command that reports on matches and clusters.

    Args:
        parser: without options.
        what: the report shows, for the help.
        report: the module of `cli.reports` that writes it.
        columns: of the report as a table.
        page: whether it can be a page of HTML, too.
    """
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file or folder; - for standard input")
    add_matching(parser, preset=False)
    add_guards(parser)
    add_input(parser)
    add = parser.add_argument_group("output").add_argument
    add_output(add, what, "report")
    add("--json", action="store_true", help="JSON lines (default: if the extension of the output is that of a table)")
    add("--matches", metavar="OUT", help="file for the matches")
    add("--clusters", metavar="OUT", help="file for the clusters")
    if page:
        add_page(add, what.removeprefix("the "))
    add_rejects(add)
    add_general(parser, jobs="processes (default: one per core, at most 4)")
    unused = dict.fromkeys(("save", "kept", "assign", *([] if page else ["page"])))
    parser.set_defaults(report_module=report, report_columns=columns, **unused)
    return parser


def add_general(parser: Parser, *, strict: bool = True, jobs: str = "") -> None:
    """The general options; `jobs` describes --jobs, "" leaves it out."""
    add = parser.add_argument
    add("-q", "--quiet", action="store_true", help="no summary, no progress, no list of rejects")
    if strict:
        add("--strict", action="store_true", help="exit with 1 if anything was rejected")
    if jobs:
        add("--jobs", type=whole(1), metavar="N", help=jobs)


def add_encoding(add: Callable[..., object], what: str = "") -> None:
    """The encoding of text files; `add` adds an option."""
    add(
        "--encoding",
        type=ascii_encoding,
        default="utf-8",
        metavar="NAME",
        help=f"{what}encoding of CSV, TSV and JSON lines, such as latin-1 (default utf-8)",
    )
