"""`stream-lsh dedup`: near-duplicates in files, without a broker.  The core is the same, so pairs and groups are too.

    this process    batches of 200 ─▶ index, verify, settle ─▶ write
    a reader        inflate, parse                                      with --jobs 2 and more
    signers         sign                                                jobs - 1 of them

The reader is forked before the libraries are loaded, and reads meanwhile; the signers are forked right after.  While
all signers are busy, this process signs a batch itself instead of waiting.  Batches are cut and settled in the order of
the documents, whichever process signed them, so the result does not depend on the number of jobs.
"""

import gc
import os
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module

from stream_lsh.cli.input.reader_process import ReaderProcess
from stream_lsh.cli.options.common import (
    add_general,
    add_guards,
    add_input,
    add_matching,
    add_page,
    add_rejects,
    parse,
)
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.options.single_field import add_query
from stream_lsh.cli.options.single_field import run_with as run_values
from stream_lsh.cli.output.atomic_files import STDOUT, ended, exit_code, report_lines
from stream_lsh.cli.output.formats import format_of
from stream_lsh.cli.output.outputs import Outputs, check_outputs, check_saved
from stream_lsh.cli.output.result_columns import ANSWERS, matches_by
from stream_lsh.cli.process import collection_paused, hold, release
from stream_lsh.errors import ConfigError
from stream_lsh.files.chunks import Part
from stream_lsh.files.discover import FORMATS, Input, check_twice, find_inputs
from stream_lsh.files.inflate import STDIN

_MOST_JOBS = 4
"""More signers than three have nothing to do: everything else happens in one process."""
_SMALL = 2 << 20
"""Bytes of input below which starting processes does not pay."""

_EPILOG = """\
inputs:
  JSON lines   {"id": ..., "text": ..., "time": ...}; time is optional: ISO 8601, RFC 2822, or a number since 1970
  JSON         an array of such objects (.json)
  CSV, TSV     a header with the columns id, text and, if there is one, time
  Parquet      the same columns, also as Arrow (.arrow, .feather, .ipc); needs the extra parquet
  text, HTML   a file with an extension such as .txt, .md or .html is one document; its path is the id.
               With --format lines each line is a document; its number is the id
  folder       every file below it is a document; its relative path is the id
  Files other than Parquet and Arrow may be compressed with gzip or zstd; - is standard input (JSON lines, or the
  format of --format).  A pattern in quotes, such as 'data/*.csv', stands for the files that match it.  A folder of
  tables stands for its files.
  A later document replaces an earlier one with the same id.

outputs:
  a match      {"pipeline","left","right","similarity","measure","shared","union",...}; similarity is exact
  a cluster    {"cluster","members":[...]}, newest first; matches connect its members
  documents    with --keep or --assign: the rows of the input, in their order, with all their columns and without
               rejected rows
  an answer    with --query: {"pipeline","query","id","similarity","measure","shared","union"}
  The extension of a file sets its format: .csv, .tsv, .parquet, otherwise JSON lines.  .gz and .zst compress it.

examples:
  stream-lsh dedup articles.jsonl.gz > matches.jsonl
  stream-lsh dedup --threshold 0.6 -o matches.jsonl --clusters clusters.jsonl news/*.csv
  stream-lsh dedup corpus.parquet --keep longest -o clean.parquet
  stream-lsh dedup corpus.jsonl.gz -o matches.jsonl --report report.html
  stream-lsh dedup archive/ --save archive.slsh
  stream-lsh dedup --index archive.slsh --query incoming.jsonl > known.jsonl
  zcat dump.gz | stream-lsh dedup --text-column body - | head
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = parse(make_parser(), arguments)
    name_outputs(options)
    if options.query:
        return run_values(options, "dedup_query", "DedupQueryRun", ANSWERS)
    return run_with(options)


def name_outputs(options: Namespace) -> None:
    """Set the file for the main result: the kept rows with `--keep`, otherwise the matches.

    Raises:
        ConfigError: options contradict each other.
    """
    problems = []
    if not options.file and not options.index:
        problems.append("the following arguments are required: FILE, unless --index names a saved collection")
    if options.index and not options.query:
        problems.append("--index: expected --query, which names the documents to look up")
    if options.query:
        given = {"--keep": options.keep, "--assign": options.assign, "--report": options.page}
        problems += [
            f"{name}: needs all pairs, so it cannot be used with --query" for name, value in given.items() if value
        ]
    if options.keep:
        options.kept = options.output or STDOUT
    elif options.output is not None and options.matches is not None:
        problems.append("--matches, --output: without --keep both name the file for the matches, expected one of them")
    else:
        options.matches = options.matches or options.output or STDOUT
    if problems:
        raise ConfigError(problems)


def run_with(options: Namespace) -> int:
    """Compare the files of the options, and write the requested outputs; returns the exit code."""
    started = time.monotonic()
    inputs = find_inputs(options.file, options.format, delimiter=options.delimiter)
    cleans = options.kept is not None or options.assign is not None
    check_saved(options.save)
    check_outputs(
        [*outputs_of(options), options.kept, options.assign, options.save, options.page], [file.path for file in inputs]
    )
    check_twice(inputs if cleans else ())
    with ExitStack() as open_things:
        open_things.enter_context(collection_paused())
        hold()
        if options.report is not None and format_of(options.report):
            options.json = True
        jobs = options.jobs or _useful_jobs(inputs)
        parts: Iterable[Part] = _read(inputs, options)
        if jobs > 1:
            parts = ReaderProcess(partial(_read, inputs, options))
            open_things.callback(parts.close)
        outputs = Outputs(
            *outputs_of(options), columns=matches_by(options.measure), report_columns=options.report_columns
        )
        open_things.callback(outputs.close)
        make_run = import_module("stream_lsh.cli.runs.dedup").DedupRun
        clean = import_module("stream_lsh.cli.runs.clean").CleanRun(options, inputs, outputs) if cleans else None
        parts = parts if clean is None else clean.noted(parts)
        gc.freeze()  # the objects of the libraries live until the end; the collector need not scan them
        run = make_run(options, inputs, parts, outputs, jobs)
        open_things.callback(run.close)
        open_things.callback(hold)
        release()
        run.run()
        if clean is not None:
            clean.write(run.clusters())
        run.write([] if clean is None else clean.summary())
    if not options.quiet:
        run.report(time.monotonic() - started)
        report_lines([] if clean is None else clean.summary())
    code = exit_code(run.documents, run.refused, strict=options.strict)
    return ended(code, run.rejected, quiet=options.quiet)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "dedup",
        "Find all pairs of near-duplicate documents with their exact similarity, and the clusters that they form.",
        _EPILOG,
        first=("threshold", "preset", "output", "keep", "assign", "clusters", "page", "query", "index", "save"),
    )
    add = parser.add_argument
    add("file", nargs="*", metavar="FILE", help="file or folder; - for standard input")
    add_query(parser, "documents")
    add("--index", metavar="INDEX", help="with --query: a collection that --save has written; FILEs are added to it")
    add_matching(parser)
    add_guards(parser)
    add_input(parser)
    _add_outputs(parser)
    add_general(parser, jobs="processes (default: one per core, at most 4; with --query one)")
    parser.set_defaults(report=None, report_columns=None, formats=FORMATS, kept=None)
    return parser


def _add_outputs(parser: Parser) -> None:
    add = parser.add_argument_group("output").add_argument
    help = "file for the main result: the matches, or with --keep the documents (default: standard output)"
    add("-o", "--output", metavar="OUT", help=help)
    add(
        "--keep",
        type=_keep,
        metavar="RULE",
        help="write the input without its copies: from each cluster, keep the first, last, longest or shortest "
        "document, or the one with the greatest number in a column (column:NAME)",
    )
    add("--assign", metavar="OUT", help="file for the input with an additional column `cluster`")
    add("--matches", metavar="OUT", help="file for the matches (default: without --keep, the file of --output)")
    add("--clusters", metavar="OUT", help="file for the clusters")
    add_page(add)
    add("--save", metavar="INDEX", help="file for the collection of all documents, for --index")
    add_rejects(add)


def _keep(value: str) -> str:
    if value in ("first", "last", "longest", "shortest") or (value.startswith("column:") and value != "column:"):
        return value
    raise ArgumentTypeError(f"got {value!r}, expected first, last, longest, shortest or column:NAME")


def outputs_of(options: Namespace) -> list[str | None]:
    """The paths that the options name."""
    return [options.matches, options.clusters, options.report, options.rejects]


def _useful_jobs(inputs: Sequence[Input]) -> int:
    if not any(file.path == STDIN for file in inputs) and sum(file.size for file in inputs) < _SMALL:
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST_JOBS)


def _read(inputs: Sequence[Input], options: Namespace) -> Iterator[Part]:
    """The documents; the process that reads them imports the readers."""
    yield from import_module("stream_lsh.kinds.text.files").read(inputs, options)
