"""`stream-lsh link`: matching records in files, without a broker; the same core, so the same matches and entities."""

import gc
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import ExitStack

from stream_lsh.cli.options.common import DEFAULT_CAPS, RECORD_INPUTS, add_guards
from stream_lsh.cli.options.parser import Parser, least_share, page_file, share, whole
from stream_lsh.cli.output.atomic_files import STDOUT, Output
from stream_lsh.cli.output.formats import format_of, table_format
from stream_lsh.cli.output.outputs import check_outputs, result_output
from stream_lsh.cli.output.result_columns import ENTITIES, RECORD_MATCHES, REJECTS, golden_records
from stream_lsh.cli.process import collection_paused, hold, release
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import check_twice
from stream_lsh.records.libraries import require
from stream_lsh.records.profile import LINKS

OUTPUTS = ("matches", "entities", "reviews", "golden", "kept", "assign")
"""The options that name an output file."""
_COLUMNS = {"matches": RECORD_MATCHES, "entities": ENTITIES, "reviews": RECORD_MATCHES, "rejects": REJECTS}

_EPILOG = (
    RECORD_INPUTS
    + """\
  Each of several files or folders is a source, unless a column names it; the id of a record with a source is
  SOURCE/ID.
  A later record replaces an earlier one with the same id. `time` is optional: ISO 8601, RFC 2822, or a number.

outputs:
  an entity    {"entity","size","members":[{"id","source"},...],"golden":{...}}: records that describe the same thing
  a match      {"pipeline","left","right","similarity","measure","score","weights","rules",...}; a review likewise
  golden       a row for each entity: its id, its size, its fields
  records      with --keep or --assign: the rows of the input, in their order, with all their columns and without
               rejected rows; --keep golden replaces the records of an entity by its golden record
  The extension of a file sets its format: .csv, .tsv, .parquet, otherwise JSON lines.  .gz and .zst compress it.

A profile without weights learns them from the files first, without labels; `stream-lsh train` stores the weights.

examples:
  stream-lsh link customers.csv --profile people > entities.jsonl
  stream-lsh link crm.csv shop.jsonl.gz --profile mine.toml -o entities.jsonl --report report.html
  stream-lsh link customers.parquet --profile people --keep golden -o clean.parquet --assign entities.parquet
"""
)


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    started = time.monotonic()
    options = make_parser().parse(arguments)
    require()
    with ExitStack() as open_things:
        open_things.enter_context(collection_paused())
        hold()
        from stream_lsh.cli.runs.link import LinkRun, profile_of  # noqa: PLC0415 - after what may be missing
        from stream_lsh.kinds.record.files import find_record_inputs  # noqa: PLC0415

        name_outputs(options)
        profile = profile_of(options)
        inputs = find_record_inputs(options.file, options.format, options.delimiter)
        asked = {name: getattr(options, name) for name in (*OUTPUTS, "page", "rejects")}
        check_outputs([*asked.values()], [*(file.path for file in inputs), options.profile])
        check_twice(inputs if options.kept or options.assign else ())
        columns = dict(_COLUMNS)
        if options.golden is not None and format_of(options.golden) not in ("", "csv"):
            columns["golden"] = golden_records(profile.names)
        outputs = {
            name: open_things.enter_context(result_output(path, columns[name]) if name in columns else Output(path))
            for name, path in asked.items()
            if path is not None
        }
        gc.freeze()  # what the libraries consist of stays to the end
        work = LinkRun(options, profile, inputs, outputs)
        open_things.callback(work.close)
        open_things.callback(hold)
        release()
        work.run()
        work.write()
        for output in outputs.values():
            output.finish()
    if not options.quiet:
        work.report(time.monotonic() - started)
    return work.record_reader.end()


def name_outputs(options: Namespace) -> None:
    """Set the file for the main result: the kept rows with `--keep`, otherwise the entities.

    Raises:
        ConfigError: options contradict each other, or the extension of a file names no format.
    """
    if options.keep:
        options.kept = options.output or STDOUT
    elif options.output is not None and options.entities is not None:
        raise ConfigError(
            "--entities, --output: without --keep both name the file for the entities, expected one of them"
        )
    else:
        options.entities = options.entities or options.output
    for path, option in ((options.kept, "--output"), (options.assign, "--assign")):
        if path is not None:
            table_format(path, option)
    if all(getattr(options, name) is None for name in OUTPUTS):
        options.entities = STDOUT


def make_parser() -> Parser:
    """The options of the command."""
    from stream_lsh.cli.input.record_reader import add_record_input, add_records  # noqa: PLC0415

    parser = Parser(
        "link",
        "Find matching records, and the entities they form.",
        _EPILOG,
        first=("profile", "threshold", "output", "keep", "assign", "matches", "page"),
    )
    add_records(parser)
    add = parser.add_argument_group("matching").add_argument
    add("--threshold", type=share, metavar="P", help="minimum probability of a match (default: the profile's)")
    add(
        "--review-threshold",
        type=least_share,
        metavar="P",
        help="minimum probability of a pair for review, below that of a match (default: the profile's)",
    )
    add(
        "--link-type",
        choices=LINKS,
        help="the records that are compared: only those of different sources (link), or any two; with dedupe a source "
        "may have duplicates even if the profile is one-to-one (default: the profile's)",
    )
    parser.renamed("--match", "--threshold")
    parser.renamed("--review", "--review-threshold")
    add(
        "--max-candidates",
        type=whole(0),
        metavar="N",
        help=f"compare each record with at most N others; 0 lifts all caps, those of blocking too {DEFAULT_CAPS}",
    )
    add_guards(parser, "record")
    add = parser.add_argument_group("output").add_argument
    main = "file for the main result: the entities, or with --keep the records (default: standard output, unless "
    add("-o", "--output", metavar="OUT", help=f"{main}another output is named)")
    add(
        "--keep",
        type=_keep,
        metavar="RULE",
        help="write the input with one record of each entity: golden (its golden record), first, last, or the one with "
        "the greatest number in a column (column:NAME)",
    )
    add("--assign", metavar="OUT", help="file for the input with an additional column `entity`")
    add("--entities", metavar="OUT", help="file for the entities (default: without --keep, the file of --output)")
    add("--matches", metavar="OUT", help="file for the matches")
    add("--reviews", metavar="OUT", help="file for the pairs to review")
    add("--golden", metavar="OUT", help="file for the golden records of the entities (default format: CSV)")
    help = "HTML page with totals, scores, match weights, the pairs closest to the threshold and the largest entities"
    add("--report", dest="page", type=page_file, metavar="OUT", help=help)
    parser.set_defaults(kept=None)
    add_record_input(parser, timed=True)
    return parser


def _keep(value: str) -> str:
    if value in ("golden", "first", "last") or (value.startswith("column:") and value != "column:"):
        return value
    raise ArgumentTypeError(f"got {value!r}, expected golden, first, last or column:NAME")
