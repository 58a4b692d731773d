"""`stream-lsh evaluate`: precision, recall and F1 of matches against the true ones."""

from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from stream_lsh.cli.options.common import add_encoding, add_general, add_max_bytes, add_output, add_rejects
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import STDOUT, Output, ended, report_lines
from stream_lsh.cli.output.outputs import check_outputs
from stream_lsh.cli.output.terminal import Screen
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import TABLES, find_inputs
from stream_lsh.settings.units import counted

if TYPE_CHECKING:
    from stream_lsh.cli.runs.evaluate import Evaluated

_MAX_BYTES = 64 << 20
"""A cluster with a million members is one line."""
_EPILOG = """\
inputs, as JSON lines, CSV, TSV or Parquet, both of any form:
  pairs      left and right, or a table of two columns of ids; `similarity` or `probability` gives scores by threshold
  clusters   {"cluster": ..., "members": [...]}, as `dedup` and `link` write them
  rows       the input with a column `cluster` or `entity`, as `dedup` and `link` assign them
  A truth with a column `match` (1 or 0) has labels: if there are non-matches, only labelled pairs count.

scores:
  pairs      those in the file; of clusters and rows, all pairs within a cluster
  clusters   clusters of two or more that have the same members; of pairs, the clusters are what they connect
  B-cubed    the share of an item's cluster that belongs there, the mean over all items of both files

examples:
  stream-lsh evaluate matches.jsonl truth.csv --picture scores.svg
  stream-lsh evaluate entities.jsonl people.csv --id-column rec_id --cluster-column person --format json
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    matches, truth = find_inputs([options.matches, options.truth], None, TABLES, option="")
    if options.picture == STDOUT:
        raise ConfigError("--picture: got -, expected a file")
    check_outputs([options.output, options.picture, options.rejects], [options.matches, options.truth])
    with ExitStack() as open_things:
        picture, format = None, ""
        if options.picture is not None:
            from stream_lsh.figures.drawing import format_of, require  # noqa: PLC0415 - loads numpy

            format = format_of(options.picture)
            require()
            picture = open_things.enter_context(Output(options.picture))
        from stream_lsh.cli.runs.evaluate import EvaluateRun  # noqa: PLC0415 - loads numpy

        rejects = open_things.enter_context(Output(options.rejects)) if options.rejects else None
        run = EvaluateRun(options, rejects)
        evaluated = run.run(matches, truth)
        if picture is not None:
            picture.put(_drawn(evaluated, options, format))
        _write(evaluated, options, open_things)
        if picture is not None:
            picture.finish()
        if rejects is not None:
            rejects.finish()
    if not options.quiet:
        unknown = f", {evaluated.unknown:,} of them not in the truth" if evaluated.unknown else ""
        report_lines([f"{counted(evaluated.items, 'id')}{unknown}", *run.summary()])
    return ended(run.exit_code, run.summary(), quiet=options.quiet)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "evaluate",
        "Compare matches or clusters with the true ones: precision, recall and F1.",
        _EPILOG,
        first=("format", "output", "picture", "id_column", "cluster_column"),
    )
    add = parser.add_argument
    add("matches", metavar="MATCHES", help="file of the matches or clusters; - for standard input")
    add("truth", metavar="TRUTH", help="file of the true ones")
    add("--format", choices=("text", "json"), default="text", help="format of the result (default text)")
    add_output(add, "the result")
    add("--picture", metavar="OUT", help="picture of the scores by threshold: .svg or .png")
    add = parser.add_argument_group("input").add_argument
    add("--id-column", default="id", metavar="NAME", help="field or column of the id of a row (default id)")
    help = "field or column of the cluster of a row (default cluster or entity)"
    add("--cluster-column", metavar="NAME", help=help)
    add_encoding(add)
    add_max_bytes(parser, add, "rows", _MAX_BYTES)
    add_rejects(add)
    add_general(parser)
    return parser


def _write(evaluated: "Evaluated", options: Namespace, open_things: ExitStack) -> None:
    from stream_lsh.cli.reports.evaluation import as_json, as_text  # noqa: PLC0415 - loads numpy

    screen = open_things.enter_context(closing(Screen(options.output)))
    for line in [as_json(evaluated)] if options.format == "json" else as_text(evaluated):
        screen.line(line)
    screen.finish()


def _drawn(evaluated: "Evaluated", options: Namespace, format: str) -> bytes:
    from stream_lsh.cli.reports.evaluation import best_threshold  # noqa: PLC0415 - loads numpy
    from stream_lsh.figures.drawing import rendered  # noqa: PLC0415
    from stream_lsh.figures.evaluation import evaluation_figure  # noqa: PLC0415

    best = best_threshold(evaluated)
    if best is None:
        raise ConfigError(f"--picture: {options.matches} has no similarities, expected matches with `similarity`")
    return rendered(evaluation_figure(evaluated.thresholds, best), format)
