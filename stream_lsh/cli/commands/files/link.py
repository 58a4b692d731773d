"""`stream-lsh link`: matching records in files, without a broker; the same core, so the same matches and entities."""

import gc
import time
from collections.abc import Sequence
from contextlib import ExitStack

from stream_lsh.cli.options.common import DEFAULT_CAPS, add_guards
from stream_lsh.cli.options.parser import Parser, least_share, share, whole
from stream_lsh.cli.output.atomic_files import STDOUT, Output, check_outputs, result_output
from stream_lsh.cli.output.result_columns import RECORD_MATCHES, REJECTS
from stream_lsh.cli.process import collection_paused, hold, release
from stream_lsh.records.libraries import require
from stream_lsh.records.profile import LINKS

OUTPUTS = ("matches", "entities", "reviews", "golden")
"""The options that name an output file."""
_COLUMNS = {"matches": RECORD_MATCHES, "reviews": RECORD_MATCHES, "rejects": REJECTS}

_EPILOG = """\
inputs:
  CSV, TSV     a header, then a record per row
  JSON lines   an object per line; the fields of nested objects become columns
  Parquet      also as Arrow; with the extra `parquet`
  Files other than Parquet and Arrow may be compressed with gzip or zstd; - is standard input (JSON lines, or the
  format of --format).  A pattern in quotes, such as 'data/*.csv', stands for the files that match it.  A folder of
  tables stands for its files.
  Each of several files or folders is a source, unless a column names it; the id of a record with a source is
  SOURCE/ID.
  A later record replaces an earlier one with the same id. `time` is optional: ISO 8601, RFC 2822, or a number.

outputs, as JSON lines:
  an entity    {"entity","size","members":[{"id","source"},...],"golden":{...}}: records that describe the same thing
  a match      {"pipeline","left","right","similarity","measure","score","weights","rules",...}; a review likewise
and as CSV:
  golden       a row for each entity: its id, its size, its fields

A profile without weights learns them from the files first, without labels; `stream-lsh train` stores the weights.

examples:
  stream-lsh link customers.csv --profile people > entities.jsonl
  stream-lsh link crm.csv shop.jsonl.gz --profile mine.toml -o entities.jsonl --reviews reviews.jsonl
"""


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

        if all(getattr(options, name) is None for name in OUTPUTS):
            options.entities = STDOUT
        profile = profile_of(options)
        inputs = find_record_inputs(options.file, options.format, options.delimiter)
        asked = {name: getattr(options, name) for name in (*OUTPUTS, "rejects")}
        check_outputs([*asked.values()], [file.path for file in inputs])
        outputs = {
            name: open_things.enter_context(result_output(path, _COLUMNS[name]) if name in _COLUMNS else Output(path))
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
    return 1 if work.record_reader.failed else 0


def make_parser() -> Parser:
    """The options of the command."""
    from stream_lsh.cli.input.record_reader import add_record_input, add_records  # noqa: PLC0415

    parser = Parser(
        "link",
        "Find matching records, and the entities they form.",
        _EPILOG,
        first=("profile", "threshold", "entities", "matches", "golden"),
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
    add(
        "-o",
        "--output",
        "--entities",
        dest="entities",
        metavar="OUT",
        help="file for the entities (default: standard output, unless another output is named)",
    )
    add("--matches", metavar="OUT", help="file for the matches")
    add("--reviews", metavar="OUT", help="file for the pairs to review")
    add("--golden", metavar="OUT", help="file for the golden records of the entities, as CSV")
    add_record_input(parser, timed=True)
    return parser
