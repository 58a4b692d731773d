"""`stream-lsh plagiarism`: texts that share passages; as text, JSON lines or a page.

`partial_copies` compares the texts exactly, by their rare shingles.
"""

from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack

from stream_lsh.cli.options.common import (
    SHINGLES,
    TEXT_OPTIONS,
    add_general,
    add_input,
    add_normalise,
    add_output,
    add_rejects,
)
from stream_lsh.cli.options.parser import Parser, page_file, real, whole
from stream_lsh.cli.output.atomic_files import ended, exit_code, report_lines
from stream_lsh.cli.output.outputs import Outputs, check_outputs
from stream_lsh.cli.process import hold, release
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import Input, find_inputs
from stream_lsh.files.inflate import STDIN
from stream_lsh.settings.problems import problems_as_options

_share = real(lambda number: 0 < number <= 1, "above 0 and at most 1, such as 0.2")

_EPILOG = """\
inputs:
  folder       every file below it is a text; its relative path is the id
  JSON lines   {"id": ..., "text": ...}
  CSV, TSV     a header with the columns id and text
  Parquet      the same columns, also as Arrow; needs the extra parquet
  text, HTML   a file with an extension such as .txt, .md or .html is one text; its path is the id
  Files other than Parquet and Arrow may be compressed with gzip or zstd; - is standard input (JSON lines, or the
  format of --format).  A pattern in quotes, such as 'data/*.csv', stands for the files that match it.  A folder of
  tables stands for its files.

Shingles of more than --common texts do not count: an assignment that all texts quote is not plagiarism.  With
--sources, a shingle of a source counts however many texts copied it, unless more than --common sources have it.  Two
texts that share enough only because both copied from one source follow at the end, under it.  Pairs of two sources
are not reported; the ids of sources must differ from those of the other texts.

examples:
  stream-lsh plagiarism essays/
  stream-lsh plagiarism essays/ --sources articles.jsonl.gz --report report.html
  stream-lsh plagiarism papers.csv --min-share 0.1 --json > pairs.jsonl
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    inputs, sources = (
        find_inputs(paths, options.format, delimiter=options.delimiter) for paths in (options.file, options.sources)
    )
    _check(options, [*inputs, *sources])
    with ExitStack() as open_things:
        hold()  # until the libraries are loaded
        outputs = Outputs(options.output, None, options.report, options.rejects)
        open_things.callback(outputs.close)
        from stream_lsh.cli.runs.plagiarism import PlagiarismRun  # noqa: PLC0415 - loads numpy

        release()
        with problems_as_options(TEXT_OPTIONS):
            run = PlagiarismRun(options, outputs)
        run.read(inputs, source=False)
        run.read(sources, source=True)
        run.write()
        outputs.finish()
    if not options.quiet:
        report_lines(run.summary())
    code = exit_code(run.texts, run.refused, strict=options.strict)
    return ended(code, run.rejected, quiet=options.quiet)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "plagiarism",
        "Find texts that share passages, and show the passages side by side.",
        _EPILOG,
        first=("sources", "min_share", "output", "report", "json"),
    )
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file or folder; - for standard input")
    add("--sources", action="append", default=[], metavar="FILE", help="file or folder of possible sources")
    add = parser.add_argument_group("matching").add_argument
    add("--shingles", default=SHINGLES, metavar="NAME", help="the unit of comparison (default mixed:3)")
    add_normalise(add)
    add(
        "--min-share",
        type=_share,
        metavar="S",
        help="minimum share of one text that the other one contains (default: from the lengths; 0.05 of 200 words)",
    )
    add("--min-shared", type=whole(1), default=4, metavar="N", help="minimum number of shared shingles (default 4)")
    add(
        "--common",
        type=whole(2),
        default=10,
        metavar="N",
        help="ignore shingles of more than N texts (default 10)",
    )
    add("--min-words", type=whole(1), default=8, metavar="N", help="minimum length of a passage (default 8)")
    for name in ("share", "shared", "words"):
        parser.renamed(f"--least-{name}", f"--min-{name}")
    add("--html", choices=("off", "main", "page"), default="off", help="extract the text of HTML")
    add_input(parser)
    add = parser.add_argument_group("output").add_argument
    add_output(add, "the pairs")
    add("--json", action="store_true", help="JSON lines")
    add("--report", type=page_file, metavar="OUT", help="HTML page that shows the passages side by side")
    add("--full", action="store_true", help="show long texts in full in the report")
    add_rejects(add)
    add_general(parser)
    parser.set_defaults(stories=False)
    return parser


def _check(options: Namespace, inputs: Sequence[Input]) -> None:
    problems = []
    if [file.path for file in inputs].count(STDIN) > 1:
        problems.append("-: standard input can be read once only")
    if options.full and options.report is None:
        problems.append("--full: changes the report only, expected --report, too")
    if options.html != "off":
        from stream_lsh.text.page import require  # noqa: PLC0415

        require()
    if problems:
        raise ConfigError(problems)
    check_outputs([options.output, options.report, options.rejects], [file.path for file in inputs])
