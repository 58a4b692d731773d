"""What `sets` and `neighbours` have in common before their libraries are loaded: files, outputs, and how they run."""

import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module

from stream_lsh.cli.options.common import add_time_unit
from stream_lsh.cli.options.parser import Parser, whole
from stream_lsh.cli.output.atomic_files import STDOUT, Outputs, check_outputs, exit_code, tell
from stream_lsh.cli.process.gc_pause import collection_paused
from stream_lsh.cli.process.signals import hold, release
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import ARRAY, Input, find_inputs
from stream_lsh.files.inflate import STDIN


def add_files(parser: Parser, what: str) -> None:
    """Which files: those with what is compared, `what`, and those with what is asked about."""
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file; - for standard input")
    add(
        "--query",
        action="append",
        default=[],
        metavar="FILE",
        help=f"tell which {what} each of those in this FILE matches, instead of all pairs",
    )


def add_value_input(parser: Parser, formats: Sequence[str], column: tuple[str, str]) -> None:
    """How files are read.

    Args:
        parser: of the command.
        formats: that it takes.
        column: an option, and what it names.
    """
    add = parser.add_argument_group("input").add_argument
    add("--format", choices=formats, help="format of the files (default: by their names)")
    parser.set_defaults(formats=formats)
    add("--id-column", default="id", metavar="NAME", help="field or column of the id (default id)")
    add(column[0], metavar="NAME", help=column[1])
    add_time_unit(add)
    add(
        "--max-document-bytes",
        type=whole(1),
        default=524_288,
        metavar="N",
        help="larger lines and rows are rejected (default 524288)",
    )
    add("--strict", action="store_true", help="exit with 1 if a line was rejected")


def add_value_output(parser: Parser) -> None:
    """Where the answers go."""
    add = parser.add_argument_group("output").add_argument
    add("--matches", default=STDOUT, metavar="OUT", help="file for what was found (default: standard output)")
    add("--clusters", metavar="OUT", help="file for the groups that the pairs form")
    add("--rejects", metavar="OUT", help="file for rejected input: file, line, reason, message")
    add("--quiet", "-q", action="store_true", help="no summary, no progress, no single complaints")


def run_with(options: Namespace, module: str, name: str) -> int:
    """Read, compare and write; returns the exit code.

    Args:
        options: those of the command.
        module: of `cli.runs`, loaded once the options are valid.
        name: of its class.
    """
    started = time.monotonic()
    inputs, queries = find_value_inputs(options.file, options), find_value_inputs(options.query, options)
    check_outputs([options.matches, options.clusters, options.rejects], [one.path for one in (*inputs, *queries)])
    problems = []
    if [one.path for one in (*inputs, *queries)].count(STDIN) > 1:
        problems.append("-: standard input can be read once only")
    if queries and options.clusters is not None:
        problems.append("--clusters: is of all pairs, and --query asks for others")
    if problems:
        raise ConfigError(problems)
    with ExitStack() as open_things:
        open_things.enter_context(collection_paused())
        hold()
        outputs = Outputs(options.matches, options.clusters, None, options.rejects)
        open_things.callback(outputs.close)
        run = getattr(import_module(f"stream_lsh.cli.runs.{module}"), name)(options, outputs)
        open_things.callback(run.close)
        open_things.callback(hold)
        release()
        run.read(inputs)
        if queries:
            run.answer(queries)
        else:
            run.write()
        outputs.finish()
    if not options.quiet:
        tell(run.summary(time.monotonic() - started))
    return exit_code(run.size, run.refused, strict=options.strict)


def find_value_inputs(paths: Sequence[str], options: Namespace) -> list[Input]:
    """The files with their formats.

    Raises:
        ConfigError: there is none of that name, or it is a folder, or an array from a pipe; all of them at once.
    """
    inputs = find_inputs(paths, options.format, options.formats)
    problems = [f"{file.path}: is a folder, expected a file" for file in inputs if file.format == "folder"]
    problems += ["-: an array cannot be read from a pipe" for file in inputs if file == (STDIN, ARRAY, 0)]
    if problems:
        raise ConfigError(problems)
    return inputs
