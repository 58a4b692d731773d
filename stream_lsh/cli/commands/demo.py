"""`stream-lsh demo`: a live stream of news stories, through a broker and a worker in this process."""

import time
from argparse import Namespace
from collections.abc import Sequence

from stream_lsh.cli.options.common import TIME_UNITS
from stream_lsh.cli.options.parser import Parser, share, whole
from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.cli.runs.demo import check_config_file, show
from stream_lsh.demo.schedule import CORRECTED, PUBLISHED, WITHDRAWN, Event, schedule
from stream_lsh.demo.stories import stories
from stream_lsh.errors import ConfigError
from stream_lsh.files.column_names import AS_NAMED
from stream_lsh.files.discover import find_inputs
from stream_lsh.kinds.text.files import read

_EPILOG = """\
examples:
  stream-lsh demo
  stream-lsh demo --from news/ --threshold 0.8
  stream-lsh demo --serve
"""
_STORIES = 240
_LATER_STORIES = 2_000
"""Of `--serve`: for some hours."""
_REFUSALS_SHOWN = 5


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    if options.serve:
        check_config_file()
    events = _own(options.sources) if options.sources else schedule(stories(_STORIES, options.seed), options.seed)
    later = [] if options.sources or not options.serve else _later(events, options.seed + 1)
    return show(events, options.threshold, later, serve=options.serve)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "demo",
        "Find near-duplicates in a live stream of news stories: made-up outlets publish, copy, correct and withdraw\n"
        "them. A Kafka broker in memory and a worker run in this process, with web pages (extra `web`). The demo\n"
        "takes 20 seconds, needs no network, and leaves no files.",
        _EPILOG,
        first=("sources", "serve", "threshold", "seed"),
    )
    add = parser.add_argument
    own = "stream your own documents: JSON lines, CSV, TSV, folders"
    add("--from", dest="sources", nargs="+", metavar="PATH", help=own)
    add(
        "--serve",
        action="store_true",
        help="publish more stories until Ctrl-C, and write demo.toml for the other commands",
    )
    add("--seed", type=whole(0), default=1, metavar="N", help="seed of the stories and their copies (default 1)")
    add("--threshold", type=share, default=0.6, metavar="T", help="minimum similarity (default 0.6)")
    return parser


def _later(events: Sequence[Event], seed: int) -> list[Event]:
    """Further events, of other documents."""
    ids = {event.id for event in events}
    return [event for event in schedule(stories(_LATER_STORIES, seed), seed) if event.id not in ids]


def _own(paths: Sequence[str]) -> list[Event]:
    """The documents of the user's files, in their order."""
    named = Namespace(**AS_NAMED, time_unit=TIME_UNITS[0], max_bytes=524_288, stories=False, html="off")
    events, ids, refused = list[Event](), set[str](), 0
    for documents, wrong, _ in read(
        find_inputs(paths, None, option=""), named, fallback_time_ms=int(time.time() * 1000)
    ):
        for document in documents:
            kind = WITHDRAWN if document.text is None else CORRECTED if document.id in ids else PUBLISHED
            events.append(Event(kind, document.id, document.text))
            ids.add(document.id)
        for refusal in wrong[: max(0, _REFUSALS_SHOWN - refused)]:
            report_lines([f"{refusal.place}: rejected ({refusal.reason}): {refusal.message}"])
        refused += len(wrong)
    if refused > _REFUSALS_SHOWN:
        report_lines([f"{refused:,} rejected in all"])
    if not events:
        raise ConfigError(f"{', '.join(paths)}: there is no document in it")
    return events
