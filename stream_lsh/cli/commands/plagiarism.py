"""`stream-lsh plagiarism`: who has passages of whom, in a folder or in files; for people, for programs, as a page.

The texts are compared as `partial_copies` does it: exactly, by what few of them have.
"""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import ExitStack

from stream_lsh.cli.options.common import add_input
from stream_lsh.cli.options.parser import Parser, whole
from stream_lsh.cli.output.atomic_files import STDOUT, Output, exit_code, replaces, tell
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import Input, find_inputs
from stream_lsh.files.inflate import STDIN

_EPILOG = """\
inputs:
  folder       every file below it is a text, its relative path the id
  JSON lines   {"id": ..., "text": ...}
  CSV, TSV     a header with the columns id and text
  text, HTML   a file whose name ends in .txt, .md, .html or such is one text, its path the id
  Each may be gzip or zstd; - is standard input.

What more than --common texts have, such as a task that all were given, does not count.  With --sources, what two
sources share is not told; ids of sources are those in their files, which must differ from those of the others.

examples:
  stream-lsh plagiarism essays/
  stream-lsh plagiarism essays/ --sources articles.jsonl.gz --report report.html
  stream-lsh plagiarism papers.csv --least-share 0.1 --json > pairs.jsonl
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = _parser().parse(arguments)
    inputs, sources = find_inputs(options.file, options.format), find_inputs(options.sources, options.format)
    _check(options, [*inputs, *sources])
    with ExitStack() as open_things:
        outputs = [Output(STDOUT)] if options.report is None else [Output(STDOUT), Output(options.report)]
        for output in outputs:
            open_things.callback(output.close)
        from stream_lsh.cli.runs.plagiarism import PlagiarismRun  # noqa: PLC0415 - loads numpy

        run = PlagiarismRun(options)
        run.read(inputs, source=False)
        run.read(sources, source=True)
        run.write(*outputs)
        for output in outputs:
            output.finish()
    if not options.quiet:
        tell(run.summary())
    return exit_code(run.texts, run.refused, strict=options.strict)


def _parser() -> Parser:
    parser = Parser(
        "plagiarism", "Find texts that have passages of each other, and show the passages side by side.", _EPILOG
    )
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file or folder; - for standard input")
    add(
        "--sources", action="append", default=[], metavar="FILE", help="file or folder that others may have copied from"
    )
    group = parser.add_argument_group("what counts as a copy")
    add = group.add_argument
    add("--shingles", default="word:3", metavar="KIND:K", help="what is compared (default word:3)")
    add(
        "--least-share",
        type=_share,
        default=0.2,
        metavar="S",
        help="least share of one of the texts that is in the other one (default 0.2)",
    )
    add("--least-shared", type=whole(1), default=20, metavar="N", help="least shingles that both have (default 20)")
    add(
        "--common",
        type=whole(2),
        default=10,
        metavar="N",
        help="what more than N texts have does not count (default 10)",
    )
    add("--least-words", type=whole(1), default=8, metavar="N", help="equal words of a passage (default 8)")
    add("--html", choices=("off", "main", "page"), default="off", help="texts are HTML: compare articles, or pages")
    add_input(parser, strict=True)
    group = parser.add_argument_group("output")
    add = group.add_argument
    add("--json", action="store_true", help="JSON lines")
    add("--report", metavar="OUT", help="file for a page that shows the passages side by side, in HTML")
    add("--full", action="store_true", help="leave nothing out of long texts in the report")
    parser.add_argument("--quiet", "-q", action="store_true", help="no summary, no progress, no single complaints")
    parser.set_defaults(stories=False)
    return parser


def _share(value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise ArgumentTypeError(f"got {value!r}, expected a number above 0 and at most 1, such as 0.2")
    return share


def _check(options: Namespace, inputs: Sequence[Input]) -> None:
    problems = []
    if options.report == STDOUT:
        problems.append("--report: got -, expected a file")
    elif options.report is not None and replaces(options.report, [file.path for file in inputs]):
        problems.append(f"{options.report}: is an input, and would be replaced")
    if [file.path for file in inputs].count(STDIN) > 1:
        problems.append("-: standard input can be read once only")
    if options.full and options.report is None:
        problems.append("--full: is of the report, which --report asks for")
    if options.html != "off":
        from stream_lsh.text.page import require  # noqa: PLC0415

        require()
    if problems:
        raise ConfigError(problems)
