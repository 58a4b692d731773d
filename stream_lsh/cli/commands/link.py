"""`stream-lsh link`: matching records in files, without a broker; the same core, so the same matches and entities."""

import gc
import time
from collections.abc import Sequence
from contextlib import ExitStack

from stream_lsh.cli.options.common import add_guards
from stream_lsh.cli.options.parser import Parser, share, whole
from stream_lsh.cli.output.atomic_files import STDOUT, Output, check_outputs
from stream_lsh.cli.process.gc_pause import collection_paused
from stream_lsh.cli.process.signals import hold, release
from stream_lsh.records.libraries import require

OUTPUTS = ("matches", "entities", "reviews", "golden")
"""The options that name a file for what was found."""

_EPILOG = """\
inputs:
  CSV, TSV     a header, then a record per row
  JSON lines   an object per line; objects within it are fields side by side
  Parquet      with the extra `parquet`
  Each but Parquet may be gzip or zstd; - is standard input (JSON lines, or what --format says).
  Of several files each is a source, unless a column of them says what the source is; a record that has a source goes
  by SOURCE/ID. An id that comes again replaces the record before it. `time` is optional: ISO 8601 or milliseconds.

outputs, as JSON lines:
  an entity    {"entity","size","members":[{"id","source"},...],"golden":{...}}: all records that are one thing
  a match      {"pipeline","left","right","similarity","measure","score","weights","rules",...}; a review likewise
and as CSV:
  golden       a row for each entity: its id, its size, its fields

A profile that has learned nothing learns from the files first, without labels; `stream-lsh train` keeps what it learns.

examples:
  stream-lsh link customers.csv --profile people > entities.jsonl
  stream-lsh link crm.csv shop.jsonl.gz --profile mine.toml --matches matches.jsonl --reviews look.jsonl
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    started = time.monotonic()
    options = _parser().parse(arguments)
    require()
    with ExitStack() as open_things:
        open_things.enter_context(collection_paused())
        hold()
        from stream_lsh.cli.runs.link import LinkRun, profile_of  # noqa: PLC0415 - after what may be missing
        from stream_lsh.kinds.record.files import find_record_inputs  # noqa: PLC0415

        if all(getattr(options, name) is None for name in OUTPUTS):
            options.entities = STDOUT
        profile = profile_of(options)
        inputs = find_record_inputs(options.file, options.format)
        asked = {name: getattr(options, name) for name in (*OUTPUTS, "rejects")}
        check_outputs([*asked.values()], options.file)
        outputs = {name: open_things.enter_context(Output(path)) for name, path in asked.items() if path is not None}
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


def _parser() -> Parser:
    from stream_lsh.cli.input.record_reader import add_record_input, add_records  # noqa: PLC0415

    parser = Parser("link", "Find the records in files that are the same thing, and the entities they form.", _EPILOG)
    add_records(parser)
    group = parser.add_argument_group("what counts as a match")
    add = group.add_argument
    add("--match", type=share, metavar="P", help="probability from which a pair is a match (default: the profile's)")
    add(
        "--review",
        type=share,
        metavar="P",
        help="probability from which a pair that is none is to be looked at (default: the profile's)",
    )
    add(
        "--max-candidates",
        type=whole(0),
        default=200,
        metavar="N",
        help="most records that one is compared with; 0 lifts all caps, those of blocking too (default 200)",
    )
    add_guards(parser)
    group = parser.add_argument_group("output")
    add = group.add_argument
    add("--entities", metavar="OUT", help="file for the entities (default, if no other is named: standard output)")
    add("--matches", metavar="OUT", help="file for the matches")
    add("--reviews", metavar="OUT", help="file for the pairs that somebody should look at")
    add("--golden", metavar="OUT", help="file for the golden records of the entities, as CSV")
    add_record_input(parser, timed=True)
    return parser
