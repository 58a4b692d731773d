"""`stream-lsh feed`: documents from files to the source topic of a pipeline, keyed by id as the Java client would.

A line that cannot be read is named and passed over.  The command ends when the brokers have everything.
"""

import asyncio
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from stream_lsh.cli.inputs import FORMATS, Input, find_inputs
from stream_lsh.cli.options import add_columns
from stream_lsh.cli.parsing import Parser, whole
from stream_lsh.cli.parts import Part
from stream_lsh.cli.pipelines import one_of
from stream_lsh.cli.progress import Progress
from stream_lsh.cli.reading import read
from stream_lsh.wire.source import RAW

if TYPE_CHECKING:
    from stream_lsh.worker.feeding import Feeder

_EPILOG = """\
examples:
  stream-lsh feed --config news.toml articles.jsonl.gz
  stream-lsh feed --config news.toml --rate 100 news/
"""
_SHOWN = 5


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = _parser().parse(arguments)
    from stream_lsh.config import load  # noqa: PLC0415

    config = load(options.config, os.environ)
    pipeline = one_of(config, options.pipeline)
    options.stories, options.html = pipeline.stories, RAW if pipeline.html != "off" else pipeline.html
    inputs = find_inputs(options.file, options.format)
    from stream_lsh.worker.feeding import Feeder  # noqa: PLC0415

    feeder = Feeder(config.kafka, pipeline)
    started = time.monotonic()
    parts = read(inputs, options, fallback_time_ms=int(time.time() * 1000))
    refused = asyncio.run(_feed(feeder, inputs, parts, options))
    seconds = time.monotonic() - started
    if not options.quiet:
        aside = f", {refused:,} put aside" if refused else ""
        sys.stderr.write(f"{feeder.sent:,} documents to {pipeline.source}{aside}, {seconds:.1f} s\n")
    return 1 if refused and options.strict else 0


def _parser() -> Parser:
    parser = Parser("feed", "Send documents from files to the source topic of a pipeline.", _EPILOG)
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="JSON lines, CSV, TSV or a folder; gzip, zstd; - for standard input")
    add("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    add("--pipeline", metavar="NAME", help="the pipeline, where the configuration has several")
    add("--format", choices=FORMATS, help="format of the files (default: by their names)")
    add_columns(add)
    add("--rate", type=whole(1), metavar="N", help="documents a second at most (default: as fast as it goes)")
    add("--strict", action="store_true", help="exit with 1 if a line was put aside")
    add("--quiet", "-q", action="store_true", help="no summary, no progress, no single complaints")
    parser.set_defaults(max_document_bytes=1 << 40)  # how much is too much, the worker decides
    return parser


async def _feed(feeder: "Feeder", inputs: Sequence[Input], parts: Iterable[Part], options: Namespace) -> int:
    progress = Progress(sum(one.size for one in inputs), shown=not options.quiet)
    refused = 0
    async with feeder:
        for documents, wrong, position in parts:
            refused += len(wrong)
            for one in wrong if refused <= _SHOWN and not options.quiet else ():
                progress.clear()
                sys.stderr.write(f"{one.place}: put aside ({one.reason}): {one.message}\n")
            await feeder.send(documents, options.rate)
            progress.update(position, feeder.sent)
    progress.clear()
    return refused
