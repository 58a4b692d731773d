"""`stream-lsh train`: learns the weight of each level of each comparison from records in files."""

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from stream_lsh.cli.options.common import RECORD_INPUTS, add_output
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import STDOUT, Output, report_lines
from stream_lsh.cli.output.outputs import check_outputs
from stream_lsh.cli.process import hold, release
from stream_lsh.errors import ConfigError, InputError
from stream_lsh.files.discover import Input
from stream_lsh.records.libraries import require
from stream_lsh.settings.units import counted

if TYPE_CHECKING:
    from stream_lsh.cli.input.record_reader import RecordReader, RecordsInMemory
    from stream_lsh.kinds.record.labels import Labels
    from stream_lsh.records.model import Values
    from stream_lsh.records.profile import Profile
    from stream_lsh.records.train.learning import Training

_EPILOG = (
    RECORD_INPUTS
    + """\
  With several files or folders, each is a source, unless a column names the source.

No labels are needed: m, u and the prior come from expectation-maximisation over all pairs, or from the competition of
rivals if the profile is one-to-one.  With --labels the pairs of that file count as certain matches.

examples:
  stream-lsh train customers.csv --profile people --output customers.toml
  stream-lsh train ACM.csv DBLP2.csv --encoding latin-1 --profile bibliography --labels same.csv > mine.toml
"""
)


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    started = time.monotonic()
    options = make_parser().parse(arguments)
    require()
    from stream_lsh.kinds.record.files import find_record_inputs  # noqa: PLC0415 - after what may be missing
    from stream_lsh.kinds.record.profiles import find_profile  # noqa: PLC0415

    if options.json and options.output == STDOUT:
        raise ConfigError("got --json without --output: the profile needs a file, for the JSON goes to standard output")
    profile = find_profile(options.profile)
    inputs = find_record_inputs(options.file, options.format, options.delimiter)
    check_outputs([options.output, options.rejects], [*(file.path for file in inputs), options.labels])
    with ExitStack() as open_things:
        hold()  # until the libraries are loaded
        out = open_things.enter_context(Output(options.output))
        summary_out = open_things.enter_context(Output(STDOUT))
        rejects = open_things.enter_context(Output(options.rejects)) if options.rejects else None
        result = _learn(profile, inputs, options, rejects)
        _write(result, options, out, summary_out)
        for output in (out, summary_out, rejects):
            if output is not None:
                output.finish()
    if not options.quiet:
        seconds = time.monotonic() - started
        report_lines(
            [*result.record_reader.summary(), f"{counted(result.record_reader.records, 'record')}, {seconds:.1f} s"]
        )
    return result.record_reader.end()


def make_parser() -> Parser:
    """The options of the command."""
    from stream_lsh.cli.input.record_reader import add_record_input, add_records  # noqa: PLC0415

    parser = Parser(
        "train",
        "Learn the weights of a profile from records.",
        _EPILOG,
        first=("profile", "labels", "output", "json", "id_column"),
    )
    add_records(parser)
    add = parser.add_argument
    add(
        "--labels",
        metavar="CSV",
        help="known matches: two columns of ids, or the columns left and right; with non-matches: match (1 or 0), too",
    )
    add_output(add, "the profile")
    add("--json", action="store_true", help="print the weights as one JSON object, not as a table")
    add_record_input(parser)
    return parser


class _Found(NamedTuple):
    """The result of a run."""

    training: "Training"
    record_reader: "RecordReader"
    labels: "Labels | None"


def _learn(profile: "Profile", inputs: Sequence[Input], options: Namespace, rejects: Output | None) -> _Found:
    import numpy as np  # noqa: PLC0415

    from stream_lsh.cli.input.record_reader import RecordReader, keep  # noqa: PLC0415
    from stream_lsh.kinds.record.labels import read_labels  # noqa: PLC0415
    from stream_lsh.records.block.blocker import blocker_of  # noqa: PLC0415
    from stream_lsh.records.reading import Reader, columns_of  # noqa: PLC0415
    from stream_lsh.records.train.learning import trained  # noqa: PLC0415

    release()

    record_reader = RecordReader(inputs, options, profile, rejects)
    try:
        kept = keep(iter(record_reader), Reader(profile).values)
        labels = None
        if options.labels:
            labels = read_labels(options.labels, profile, kept.rows, kept.sources, options.encoding)
        _check(profile, inputs, kept)
        record_reader.progress.say(f"learning from {len(kept.made):,} records ...")
        blocker = blocker_of(profile)
        numbers = {source: number for number, source in enumerate(dict.fromkeys(kept.sources))}
        training = trained(
            profile,
            columns_of(kept.made),
            blocker.keys(kept.made),
            blocker,
            np.array([numbers[source] for source in kept.sources]),
            labels=None if labels is None else labels.matches,
            different=None if labels is None else labels.non_matches,
        )
    finally:
        record_reader.progress.clear()
    return _Found(training, record_reader, labels)


def _check(profile: "Profile", inputs: Sequence[Input], kept: "RecordsInMemory[Values]") -> None:
    """Raise InputError or ConfigError with the likely cause if the records do not allow training."""
    from stream_lsh.cli.runs.learn import check_comparable, names_of  # noqa: PLC0415

    if len(kept.made) < 2:
        files = names_of(inputs)
        raise InputError("records", f"{files}: got {counted(len(kept.made), 'record')} that can be used, expected many")
    values = any(map(any, kept.made))
    check_comparable(profile, inputs, len(kept.made), set(kept.sources), values=values)


def _write(result: _Found, options: Namespace, out: Output, summary_out: Output) -> None:
    from stream_lsh.cli.reports import reliability, training  # noqa: PLC0415
    from stream_lsh.kinds.record.profiles import profile_text  # noqa: PLC0415

    out.write([profile_text(result.training.profile).rstrip("\n").encode()])
    if options.json:
        summary_out.write([training.as_json(result.training)])
    elif not options.quiet:
        report_lines(training.table(result.training.profile, result.training))
        report_lines(training.totals(result.training))
        report_lines(reliability.chart(result.training))
    warnings = training.warnings(result.training)
    if result.labels is not None:
        warnings += _ignored(result.labels, options.labels)
    if not options.quiet:
        report_lines([f"warning: {warning}" for warning in warnings])


def _ignored(labels: "Labels", path: str) -> Iterator[str]:
    """Warnings about labels that do not count."""
    total = labels.pairs + labels.unknown + labels.within
    if labels.unknown:
        yield f"{labels.unknown:,} of {total:,} pairs of {path} have an id that no record has"
    if labels.within:
        yield (
            f"{labels.within:,} of {total:,} pairs of {path} do not count: they are of one source, and the profile "
            "links records of different sources"
        )
