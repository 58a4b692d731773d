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
from stream_lsh.cli.output.atomic_files import Output, report_lines
from stream_lsh.cli.output.outputs import check_outputs
from stream_lsh.cli.output.terminal import plain
from stream_lsh.errors import ConfigError, InputError
from stream_lsh.kinds.record.files import find_record_inputs
from stream_lsh.kinds.record.rows import deleted
from stream_lsh.records.libraries import require
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile, without_weights
from stream_lsh.settings.units import counted

if TYPE_CHECKING:
    from stream_lsh.records.infer import Inferred
    from stream_lsh.records.infer.blocking import Blocks

ACTIONS = ("infer", "show", "check")
_EPILOG = """\
  infer FILE...   propose a profile for the records in files: types of columns, comparisons, blocking rules
  show NAME       print a profile: people, companies, products, bibliography, or a file; its trained weights as a table
  check FILE...   list every mistake in profiles, each with its line; the exit code is 2 if there is one

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
        counted(len(profile.fields), "field"),
        counted(len(profile.comparisons), "comparison"),
        counted(len(profile.rules), "rule"),
        counted(len(profile.lsh), "block by LSH", "blocks by LSH"),
    )
    untrained = f"it has no weights{without_weights(profile)} yet: `stream-lsh train` estimates them"
    state = "it has weights" if profile.learned else untrained
    return f"{profile.name}: {', '.join(parts)}; {state}"


def _infer(options: Namespace, open_things: ExitStack) -> int:
    from stream_lsh.kinds.record.profiles import comment, profile_text  # noqa: PLC0415
    from stream_lsh.records.infer import SAMPLE, inferred  # noqa: PLC0415 - loads the comparators

    inputs = find_record_inputs(options.file, options.format, options.delimiter)
    check_outputs([options.output, options.rejects], [file.path for file in inputs])
    out = open_things.enter_context(Output(options.output))
    rejects = open_things.enter_context(Output(options.rejects)) if options.rejects else None
    record_reader = RecordReader(inputs, options, Profile(name="", fields=(), comparisons=()), rejects)
    try:
        sample = _sample(record_reader, SAMPLE)
        record_reader.progress.say(f"looking at {len(sample):,} records ...")
        name = options.name or Path(options.file[0]).name.partition(".")[0] or "inferred"
        inferred_profile = inferred(sample, name, total=record_reader.records)
    except InputError as error:
        raise InputError(error.reason, f"{', '.join(options.file)}: {error}") from None
    finally:
        record_reader.progress.clear()
    profile = inferred_profile.profile
    if options.id_column:
        profile = replace(profile, id_columns=(options.id_column,))
    if options.source_column:
        profile = replace(profile, source_columns=(options.source_column,))
    choices = [*_choices(inferred_profile)]
    lines = [*map(comment, [*_head(len(sample), options.file), *choices, *_blocking(inferred_profile)])]
    out.write([*(line.encode() for line in lines), profile_text(profile, inferred_profile.why).rstrip("\n").encode()])
    out.finish()
    if rejects is not None:
        rejects.finish()
    if not options.quiet:
        summary = [*choices, _work(inferred_profile.blocks, record_reader.records)]
        summary += [*record_reader.summary(), f"{record_reader.records:,} records, {len(profile.fields)} fields"]
        report_lines(map(plain, summary))
    return record_reader.end()


def _sample(batches: Iterable[list[Record]], most: int) -> list[Record]:
    """Records by turns of their sources, so that a large source does not hide the columns of another one.

    As in `link`, the last record of an id counts, and deleted ones do not.
    """
    by_source: dict[str, dict[str, Record]] = {}
    for batch in batches:
        for record in batch:
            own = by_source.setdefault(record.source, {})
            if deleted(record):
                own.pop(record.id, None)
            elif len(own) < most or record.id in own:
                own[record.id] = record
    turns = zip_longest(*(own.values() for own in by_source.values()))
    return [record for turn in turns for record in turn if record is not None][:most]


def _head(records: int, files: Sequence[str]) -> Iterator[str]:
    yield f"Proposed from {records:,} records of {', '.join(files)}."
    yield "Review it, remove comparisons that do not distinguish records, then estimate the weights: stream-lsh train"


def _choices(inferred: "Inferred") -> Iterator[str]:
    """The columns that are left out, and the choices that concern no single field."""
    for column, why in inferred.left_out.items():
        yield f"left out: {column} ({why})"
    yield from inferred.notes


def _blocking(inferred: "Inferred") -> Iterator[str]:
    """The predicted work of each block."""
    blocks = inferred.blocks
    for name, count in blocks.candidates.items():
        fields = ""
        if name.startswith("lsh "):
            lsh = blocks.lsh[int(name.removeprefix("lsh ")) - 1]
            fields = f" ({', '.join(lsh.fields)}, Jaccard similarity {lsh.threshold:g})"
        yield f"predicted for {name}{fields}: {count:,} candidates"
    for name, why in blocks.left_out.items():
        yield f"no LSH for {name}: {why}"


def _work(blocks: "Blocks", records: int) -> str:
    """The predicted work and recall of all blocks."""
    count = sum(blocks.candidates.values())
    line = f"blocking: at most {count:,} candidates, {count / max(1, records):,.1f} a record"
    if blocks.recall is None:
        return f"{line}; no records are near-equal, so that its recall cannot be predicted"
    return f"{line}; it finds {blocks.recall:.1%} of {blocks.near:,} near-equal pairs"
