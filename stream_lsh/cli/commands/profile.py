"""`stream-lsh profile`: profiles of records proposed from files, shown, and checked."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from stream_lsh.cli.input.record_reader import RecordReader, add_record_input
from stream_lsh.cli.options.common import add_output
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import Output, check_outputs, report_lines
from stream_lsh.errors import ConfigError, InputError
from stream_lsh.kinds.record.files import find_record_inputs
from stream_lsh.records.libraries import require
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile

if TYPE_CHECKING:
    from stream_lsh.records.infer import Inferred

ACTIONS = ("infer", "show", "check")
_EPILOG = """\
  infer FILE...   propose a profile for the records in files: what each column is, how it is compared, what is blocked
  show NAME       print a profile: people, companies, products, bibliography, or a file; what it has learned as a table
  check FILE...   say everything that is wrong with profiles, each with its line; exit code 2 if something is

examples:
  stream-lsh profile show people > mine.toml
  stream-lsh profile check mine.toml
  stream-lsh profile infer customers.csv --output customers.toml
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    require()
    with ExitStack() as open_things:
        if options.action == "infer":
            return _infer(options, open_things)
        out = open_things.enter_context(Output(options.output))
        if options.action == "show":
            if len(options.file) > 1:
                raise ConfigError(f"got {len(options.file)} profiles, expected one to show")
            _show(options, out)
        else:
            out.write(line.encode() for line in _check(options.file))
        out.finish()
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "profile",
        "Propose, show and check profiles: the definition of how records are compared.",
        _EPILOG,
        first=("output", "name", "id_column", "source_column"),
    )
    add = parser.add_argument
    add("action", choices=ACTIONS, metavar="ACTION", help="infer, show or check")
    add("file", nargs="+", metavar="FILE", help="files of records to infer from, or profiles")
    add_output(add, "the result")
    add("--name", metavar="NAME", help="name of the proposed profile (default: that of the first file)")
    add_record_input(parser)
    return parser


def _show(options: Namespace, out: Output) -> None:
    """Print the file unchanged, since its comments document it, and a table of its weights."""
    from stream_lsh.cli.reports.training import table  # noqa: PLC0415 - loads the comparators
    from stream_lsh.kinds.record.profiles import BUNDLED, bundled_text, find_profile  # noqa: PLC0415

    (name,) = options.file
    profile = find_profile(name)
    text = bundled_text(name) if name in BUNDLED else Path(name).read_text("utf-8-sig")
    out.write([text.rstrip("\n").encode()])
    if not options.quiet:
        report_lines(table(profile))


def _check(names: Sequence[str]) -> list[str]:
    """A line for each profile that is right; raises ConfigError with all problems of all the others."""
    from stream_lsh.kinds.record.profiles import find_profile  # noqa: PLC0415

    problems, lines = list[str](), list[str]()
    for name in names:
        try:
            profile = find_profile(name)
        except ConfigError as error:
            problems += error.problems
        else:
            lines.append(f"{name}: {_summary(profile)}")
    if problems:
        raise ConfigError(problems)
    return lines


def _summary(profile: Profile) -> str:
    parts = (
        (len(profile.fields), "fields"),
        (len(profile.comparisons), "comparisons"),
        (len(profile.rules), "rules"),
        (len(profile.lsh), "blocks by LSH"),
    )
    state = "it has weights" if profile.learned else "it has no weights yet: `stream-lsh train` estimates them"
    return f"{profile.name}: {', '.join(f'{count} {what}' for count, what in parts)}; {state}"


def _infer(options: Namespace, open_things: ExitStack) -> int:
    from stream_lsh.kinds.record.profiles import comment, profile_text  # noqa: PLC0415
    from stream_lsh.records.infer import SAMPLE, inferred  # noqa: PLC0415 - loads the comparators

    inputs = find_record_inputs(options.file, options.format, options.delimiter)
    check_outputs([options.output, options.rejects], options.file)
    out = open_things.enter_context(Output(options.output))
    rejects = open_things.enter_context(Output(options.rejects)) if options.rejects else None
    record_reader = RecordReader(inputs, options, Profile(name="", fields=(), comparisons=()), rejects)
    try:
        sample = _sample(record_reader, SAMPLE)
        record_reader.progress.say(f"looking at {len(sample):,} records ...")
        inferred_profile = inferred(sample, options.name or Path(options.file[0]).name.partition(".")[0] or "inferred")
    except InputError as error:
        raise InputError(error.reason, f"{', '.join(options.file)}: {error}") from None
    finally:
        record_reader.progress.clear()
    profile = inferred_profile.profile
    if options.id_column:
        profile = replace(profile, id_columns=(options.id_column,))
    if options.source_column:
        profile = replace(profile, source_columns=(options.source_column,))
    lines = [comment(line) for line in _head(inferred_profile, len(sample), options.file)]
    out.write([*(line.encode() for line in lines), profile_text(profile, inferred_profile.why).rstrip("\n").encode()])
    out.finish()
    if rejects is not None:
        rejects.finish()
    if not options.quiet:
        report_lines([*record_reader.summary(), f"{record_reader.records:,} records, {len(profile.fields)} fields"])
    return 1 if record_reader.failed else 0


def _sample(batches: Iterable[list[Record]], most: int) -> list[Record]:
    """Records by turns of their sources, so that a large source does not hide the columns of another one."""
    by_source: dict[str, list[Record]] = {}
    for batch in batches:
        for record in batch:
            own = by_source.setdefault(record.source, [])
            if len(own) < most:
                own.append(record)
    turns = zip_longest(*by_source.values())
    return [record for turn in turns for record in turn if record is not None][:most]


def _head(inferred: "Inferred", records: int, files: Sequence[str]) -> Iterator[str]:
    yield f"Proposed from {records:,} records of {', '.join(files)}."
    yield "Review it, remove comparisons that do not distinguish records, then estimate the weights: stream-lsh train"
    for column, why in inferred.left_out.items():
        yield f"left out: {column} ({why})"
