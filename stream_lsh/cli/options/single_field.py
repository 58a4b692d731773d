"""The options and the course of `sets`, `neighbours` and `dedup --query`, before their libraries are loaded."""

import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module

from stream_lsh.cli.options.common import add_format, add_general, add_max_bytes, add_pair_outputs, add_time_unit
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import ended, exit_code, report_lines
from stream_lsh.cli.output.outputs import Outputs, check_outputs, check_saved
from stream_lsh.cli.output.result_columns import Columns
from stream_lsh.cli.process import collection_paused, hold, release
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import ARRAY, Input, find_inputs
from stream_lsh.files.inflate import STDIN


def add_files(parser: Parser, what: str) -> None:
    """The files with the compared values, `what`, and the files with the queries."""
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file; - for standard input")
    add_query(parser, what)


def add_query(parser: Parser, what: str) -> None:
    """The files with the queries."""
    help = f"find the {what} that match each of the {what} in this file, instead of all pairs"
    parser.add_argument("--query", action="append", default=[], metavar="FILE", help=help)


def add_value_input(parser: Parser, formats: Sequence[str], column: tuple[str, str]) -> None:
    """Add the options for reading files.

    Args:
        parser: of the command.
        formats: that it takes.
        column: an option, and what it names.
    """
    add = parser.add_argument_group("input").add_argument
    add_format(add, formats)
    parser.set_defaults(formats=formats)
    add("--id-column", default="id", metavar="NAME", help="field or column of the id (default id)")
    add(column[0], metavar="NAME", help=column[1])
    add_time_unit(add)
    add_max_bytes(parser, add, "lines and rows")


def add_value_output(parser: Parser) -> None:
    """The outputs, and the general options."""
    add_pair_outputs(parser)
    add_general(parser)


def run_with(options: Namespace, module: str, name: str, columns: Columns) -> int:
    """Read, compare and write; returns the exit code.

    Args:
        options: those of the command.
        module: of `cli.runs`, loaded once the options are valid.
        name: of its class.
        columns: of the matches, or of the answers to queries.
    """
    started = time.monotonic()
    inputs, queries = find_value_inputs(options.file, options), find_value_inputs(options.query, options)
    index, saved = getattr(options, "index", None), getattr(options, "save", None)
    read, results = [one.path for one in (*inputs, *queries)], [options.matches, options.clusters, options.rejects]
    check_saved(saved)
    check_outputs(results, [*read, index])
    check_outputs([*results, saved], read)  # a collection may be saved under the name that it was loaded from
    problems = []
    if [one.path for one in (*inputs, *queries)].count(STDIN) > 1:
        problems.append("-: standard input can be read once only")
    if queries and options.clusters is not None:
        problems.append("--clusters: needs all pairs, expected no --query")
    if problems:
        raise ConfigError(problems)
    with ExitStack() as open_things:
        open_things.enter_context(collection_paused())
        hold()
        outputs = Outputs(options.matches, options.clusters, None, options.rejects, columns=columns)
        open_things.callback(outputs.close)
        run = getattr(import_module(f"stream_lsh.cli.runs.{module}"), name)(options, outputs)
        open_things.callback(run.close)
        open_things.callback(hold)
        release()
        run.read(inputs)
        code = exit_code(run.size, run.refused, strict=options.strict)
        if queries:
            refused = run.refused
            run.answer(queries)
            code |= exit_code(run.asked, run.refused - refused, strict=options.strict)
        else:
            run.write()
        outputs.finish()
    if not options.quiet:
        report_lines(run.summary(time.monotonic() - started))
    return ended(code, run.rejected, quiet=options.quiet)


def find_value_inputs(paths: Sequence[str], options: Namespace) -> list[Input]:
    """The files with their formats.

    Raises:
        ConfigError: a missing file, one that the command does not read, or an array from a pipe; all at once.
    """
    inputs = find_inputs(paths, options.format, options.formats, delimiter=options.delimiter)
    problems = ["-: an array cannot be read from a pipe" for file in inputs if file[:2] == (STDIN, ARRAY)]
    if problems:
        raise ConfigError(problems)
    return inputs
