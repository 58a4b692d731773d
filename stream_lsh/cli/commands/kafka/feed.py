"""`stream-lsh feed`: documents, records, sets or vectors from files to the source topic of a pipeline.

Messages are keyed by id, on the partition that Java clients choose.

A line that cannot be read is named and passed over.  The command ends when the brokers have everything.
"""

import os
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stream_lsh.cli.options.common import add_columns, add_format, add_general, allow_records
from stream_lsh.cli.options.parser import Parser, whole
from stream_lsh.cli.options.pipelines import one_of
from stream_lsh.cli.output.atomic_files import ended, exit_code, report_lines
from stream_lsh.cli.output.progress import Progress
from stream_lsh.cli.process import as_exceptions, run_client
from stream_lsh.files.chunks import Refused
from stream_lsh.files.discover import FORMATS
from stream_lsh.files.lines import ByteLimit
from stream_lsh.settings.units import counted

if TYPE_CHECKING:
    from stream_lsh.kinds.kind import FeedPart
    from stream_lsh.worker.clients.producer import Feeder

_EPILOG = """\
examples:
  stream-lsh feed --config news.toml articles.jsonl.gz
  stream-lsh feed --config news.toml --rate 100 news/
  stream-lsh feed --config people.toml crm.csv shop.jsonl.gz

Sets and vectors are JSON lines, or a column of a table: items separated by |, numbers by blanks. --text-column names
the column (default items, vector).
Files for a pipeline of records are read as by `link`: with several files, each is a source, and ids are SOURCE/ID.
"""
_LONGEST = 16 << 20
"""The most bytes that are read of a line, a row or a file; what is too large for a message is rejected later."""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.config import load  # noqa: PLC0415

    config = load(options.config, os.environ)
    pipeline = one_of(config, options.pipeline)
    options.time_unit = options.time_unit or pipeline.time_unit
    kind = pipeline.kind
    inputs = kind.find_files(options)
    from stream_lsh.worker.clients.producer import Feeder  # noqa: PLC0415

    feeder = Feeder(config.kafka, pipeline)
    started, started_at = time.monotonic(), time.time()
    longest = max(_LONGEST, 2 * feeder.most_bytes)
    options.max_bytes = ByteLimit(longest, f"`max_document_bytes` of the pipeline {pipeline.name}")
    refused = Counter[str]()
    progress = Progress(sum(file.size for file in inputs), shown=not options.quiet, what=kind.plural)
    parts = kind.read_files(inputs, options, pipeline.fields, int(started_at * 1000))
    complete = False
    try:
        run_client(_feed(feeder, parts, progress, refused, options))
        complete = True
    finally:
        if not options.quiet and (complete or feeder.sent):
            rejects = f", {refused.total():,} rejected" if refused else ""
            seconds = time.monotonic() - started
            sent = counted(feeder.sent, kind.plural.removesuffix("s"))
            report_lines([f"{sent} to {pipeline.source}{rejects}, {seconds:.1f} s"])
    from stream_lsh.cli.input.batches import summary  # noqa: PLC0415 - loads numpy

    code = exit_code(feeder.sent, refused.total(), strict=options.strict)
    return ended(code, summary(refused), quiet=options.quiet)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "feed",
        "Send documents, records, sets or vectors from files to the source topic of a pipeline.",
        _EPILOG,
        first=("config", "pipeline", "format", "rate"),
    )
    add = parser.add_argument
    add(
        "file",
        nargs="+",
        metavar="FILE",
        help="JSON, CSV, TSV, Parquet, Arrow, or a folder; gzip or zstd; - for standard input",
    )
    add("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    add("--pipeline", metavar="NAME", help="the pipeline, if the configuration has several")
    add_format(add, FORMATS)
    add_columns(parser.add_argument_group("input").add_argument)
    allow_records(parser)
    add("--rate", type=whole(1), metavar="N", help="maximum documents per second (default: unlimited)")
    add_general(parser)
    parser.set_defaults(time_unit=None)  # that of the pipeline unless the files have another
    return parser


async def _feed(
    feeder: "Feeder", parts: Iterator["FeedPart"], progress: Progress, reasons: Counter[str], options: Namespace
) -> None:
    """Send everything; `reasons` counts the rejects."""
    from stream_lsh.cli.input.batches import reject  # noqa: PLC0415 - loads numpy

    def name_rejected() -> None:
        rejected = [Refused("", id, error.reason, str(error)) for id, error in feeder.rejected]
        feeder.rejected.clear()
        reject(rejected, progress, reasons, quiet=options.quiet)

    try:
        async with feeder:
            while (part := _next_of(parts)) is not None:
                reject(part.refused, progress, reasons, quiet=options.quiet)
                await feeder.send_messages(part.messages, options.rate)
                name_rejected()
                progress.update(part.position, feeder.sent)
    finally:
        name_rejected()
        progress.clear()


def _next_of(parts: "Iterator[FeedPart]") -> "FeedPart | None":
    """The next part; a signal ends the reading at once, which would not see that the task is cancelled."""
    with as_exceptions():
        return next(parts, None)
