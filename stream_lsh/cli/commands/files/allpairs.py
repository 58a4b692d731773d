"""`stream-lsh allpairs`: all pairs of near-duplicates in files, exactly.

It finds every pair, unlike `dedup`, whose recall is a probability; use its result as the truth for other settings.
It needs the extra `allpairs`.
"""

import time
from argparse import ArgumentTypeError
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module

from stream_lsh.cli.commands.files.dedup import outputs_of
from stream_lsh.cli.options.common import (
    MEASURES,
    SHINGLES,
    TEXT_OPTIONS,
    add_general,
    add_input,
    add_normalise,
    add_pair_outputs,
    add_threshold,
    parse,
)
from stream_lsh.cli.options.parser import Parser, ratio, whole
from stream_lsh.cli.output.atomic_files import ended, exit_code
from stream_lsh.cli.output.outputs import Outputs, check_outputs
from stream_lsh.cli.output.result_columns import matches_by
from stream_lsh.cli.process import collection_paused, hold, release
from stream_lsh.files.discover import find_inputs
from stream_lsh.settings.problems import problems_as_options
from stream_lsh.settings.units import size_bytes

_EPILOG = """\
inputs, matches, clusters and rejects are those of `stream-lsh dedup`; a cluster has the id of its oldest member.

examples:
  stream-lsh allpairs articles.jsonl.gz > truth.jsonl
  stream-lsh allpairs --threshold 0.6 --memory 4GB -o matches.jsonl news/*.csv
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = parse(make_parser(), arguments)
    started = time.monotonic()
    inputs = find_inputs(options.file, options.format, delimiter=options.delimiter)
    check_outputs(outputs_of(options), [file.path for file in inputs])
    import_module("stream_lsh.allpairs.engine").require()
    with ExitStack() as open_things:
        open_things.enter_context(collection_paused())
        open_things.enter_context(problems_as_options(TEXT_OPTIONS))
        hold()
        outputs = Outputs(options.matches, options.clusters, None, options.rejects, columns=matches_by(options.measure))
        open_things.callback(outputs.close)
        run = import_module("stream_lsh.cli.runs.allpairs").AllPairsRun(options, inputs, outputs)
        open_things.callback(run.close)
        open_things.callback(hold)
        release()
        run.run()
    if not options.quiet and not run.unheard:
        run.report(time.monotonic() - started)
    code = exit_code(run.documents, run.refused, strict=options.strict)
    return ended(code, run.rejected, quiet=options.quiet)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "allpairs",
        "Find all pairs of near-duplicate documents, with no approximation.",
        _EPILOG,
        first=("threshold", "matches", "clusters", "memory", "jobs"),
    )
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file or folder; - for standard input")
    add = parser.add_argument_group("matching").add_argument
    add_threshold(add)
    add("--measure", choices=MEASURES, default="jaccard", help="as in dedup (default jaccard)")
    add("--size-ratio", type=ratio, metavar="R", help="as in dedup, with containment (default 2)")
    add("--shingles", default=SHINGLES, metavar="NAME", help="the unit of comparison, as in dedup (default mixed:3)")
    add_normalise(add)
    add("--html", choices=("off", "main", "page"), default="off", help="extract the text of HTML, as in dedup")
    add("--min-characters", type=whole(0), default=0, metavar="N", help="shorter texts match nothing (default 0)")
    add_input(parser)
    add_pair_outputs(parser)
    add_general(parser, jobs="threads of the engine (default: one per core)")
    memory = "memory of the engine, such as 512MB (default 1GB)"
    parser.add_argument("--memory", type=_memory, default=1 << 30, metavar="SIZE", help=memory)
    parser.set_defaults(report=None)
    return parser


def _memory(value: str) -> int:
    size = size_bytes(value)
    if size is None:
        raise ArgumentTypeError(f"got {value!r}, expected a size such as 512MB or 2GB")
    return size
