"""`stream-lsh review`: labels uncertain pairs of records in the terminal, the most informative first."""

from collections.abc import Sequence
from contextlib import ExitStack, closing

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import Output, report_lines
from stream_lsh.cli.output.outputs import check_outputs
from stream_lsh.cli.process import hold, release
from stream_lsh.errors import ConfigError
from stream_lsh.files.inflate import STDIN
from stream_lsh.records.libraries import require

_EPILOG = """\
Each pair is shown with the two records side by side and the evidence for a match, the nearest to the threshold of a
match first.  The keys are s (same), d (different), space (skip), u (undo) and q (quit).  The labels file is written
after each answer; the next run goes on with the pairs that have no label.

inputs: as in `stream-lsh link`

example:
  stream-lsh review customers.csv --profile people --labels labels.csv
  stream-lsh train customers.csv --profile people --labels labels.csv > learned.toml
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.cli.input.keys import require_terminal  # noqa: PLC0415 - needs termios

    require()
    require_terminal("review", "`stream-lsh link` writes the pairs to review to the file of --reviews")
    if STDIN in options.file:
        raise ConfigError("-: standard input has the answers, expected files of records")
    hold()
    from stream_lsh.cli.output.terminal import Screen  # noqa: PLC0415
    from stream_lsh.cli.runs.review import ReviewRun  # noqa: PLC0415 - loads numpy
    from stream_lsh.kinds.record.files import find_record_inputs  # noqa: PLC0415
    from stream_lsh.kinds.record.profiles import find_profile  # noqa: PLC0415

    release()
    profile = find_profile(options.profile)
    inputs = find_record_inputs(options.file, options.format, options.delimiter)
    check_outputs([options.labels, options.rejects], [*options.file, options.profile])
    with ExitStack() as open_things:
        rejects = open_things.enter_context(Output(options.rejects)) if options.rejects else None
        run = ReviewRun(options, profile, inputs, rejects)
        run.ask(run.ranked(), open_things.enter_context(closing(Screen())))
        if rejects is not None:
            rejects.finish()
    if not options.quiet:
        report_lines(run.summary())
    return run.end()


def make_parser() -> Parser:
    """The options of the command."""
    from stream_lsh.cli.input.record_reader import add_record_input, add_records  # noqa: PLC0415

    parser = Parser(
        "review",
        "Label pairs of records as same or different, the least certain ones first.",
        _EPILOG,
        first=("profile", "labels", "id_column"),
    )
    add_records(parser)
    help = "file of the labels, which `stream-lsh train` reads; labels that it has are kept"
    parser.add_argument("--labels", required=True, metavar="CSV", help=help)
    add_record_input(parser)
    return parser
