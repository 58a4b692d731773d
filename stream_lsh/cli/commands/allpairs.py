"""`stream-lsh allpairs`: all pairs of near-duplicates in files, exactly.

It misses nothing, unlike `dedup`, which proposes pairs by chance: the truth to hold other settings against.  It needs
the extra `allpairs`.
"""

import time
from argparse import ArgumentTypeError
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module

from stream_lsh.cli.commands.dedup import outputs_of
from stream_lsh.cli.options.common import MEASURES, add_input, add_outputs, parse
from stream_lsh.cli.options.parser import Parser, ratio, share, whole
from stream_lsh.cli.output.atomic_files import Outputs, check_outputs, exit_code
from stream_lsh.cli.process.gc_pause import collection_paused
from stream_lsh.cli.process.signals import hold, release
from stream_lsh.files.discover import find_inputs
from stream_lsh.settings.units import size_bytes

_EPILOG = """\
inputs and outputs are those of `stream-lsh dedup`; a cluster has the id of its oldest member.

examples:
  stream-lsh allpairs articles.jsonl.gz > truth.jsonl
  stream-lsh allpairs --threshold 0.6 --memory 4GB --matches pairs.jsonl news/*.csv
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = parse(_parser(), arguments)
    started = time.monotonic()
    inputs = find_inputs(options.file, options.format)
    check_outputs(outputs_of(options), [file.path for file in inputs])
    import_module("stream_lsh.allpairs.engine").require()
    with ExitStack() as open_things:
        open_things.enter_context(collection_paused())
        hold()
        outputs = Outputs(options.matches, options.clusters, None, options.rejects)
        open_things.callback(outputs.close)
        run = import_module("stream_lsh.cli.runs.allpairs").AllPairsRun(options, inputs, outputs)
        open_things.callback(run.close)
        open_things.callback(hold)
        release()
        run.run()
    if not options.quiet and not run.unheard:
        run.report(time.monotonic() - started)
    return exit_code(run.documents, run.refused, strict=options.strict)


def _parser() -> Parser:
    parser = Parser("allpairs", "Find all pairs of near-duplicate documents, exactly, however rare they are.", _EPILOG)
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="file or folder; - for standard input")
    group = parser.add_argument_group("what counts as a match")
    add = group.add_argument
    add("--threshold", type=share, default=0.8, metavar="T", help="least similarity of a match (default 0.8)")
    add("--measure", choices=MEASURES, default="jaccard", help="as of dedup (default jaccard)")
    add("--size-ratio", type=ratio, metavar="R", help="as of dedup, with containment (default 2)")
    add("--shingles", default="word:3", metavar="KIND:K", help="what is compared, as of dedup (default word:3)")
    add("--html", choices=("off", "main", "page"), default="off", help="texts are HTML, as of dedup")
    add("--min-characters", type=whole(0), default=0, metavar="N", help="shorter texts match nothing (default 0)")
    add_input(parser, strict=True)
    add_outputs(parser)
    add = parser.add_argument
    add("--quiet", "-q", action="store_true", help="no summary, no progress, no single complaints")
    add("--jobs", type=whole(1), metavar="N", help="threads of the engine (default: one a core)")
    add("--memory", type=_memory, default=1 << 30, metavar="SIZE", help="of the engine, such as 512MB (default 1GB)")
    parser.set_defaults(told=None)
    return parser


def _memory(value: str) -> int:
    size = size_bytes(value)
    if size is None:
        raise ArgumentTypeError(f"got {value!r}, expected a size such as 512MB or 2GB")
    return size
