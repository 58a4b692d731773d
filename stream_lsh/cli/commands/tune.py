"""`stream-lsh tune`: bands and rows for a threshold, by theory alone or for the documents in files, with reasons."""

from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from stream_lsh.cli.options.common import (
    TEXT_OPTIONS,
    add_general,
    add_input,
    add_matching,
    add_output,
    add_rejects,
    parse,
)
from stream_lsh.cli.options.parser import Parser, whole
from stream_lsh.cli.output.atomic_files import STDOUT, Output, ended, exit_code, report_lines
from stream_lsh.cli.output.outputs import check_outputs
from stream_lsh.cli.output.terminal import Screen
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import Input, find_inputs
from stream_lsh.settings.problems import problems_as_options
from stream_lsh.settings.units import counted

if TYPE_CHECKING:
    from stream_lsh.cli.reports.tuning import Corpus, Tuned
    from stream_lsh.kinds.shingled.scheme import TextScheme

SEED = 1
"""Of the hash functions, and of the choice of pairs that are compared."""
_EPILOG = """\
Without files, the choice depends on threshold, recall and slots.  With files, a sample shows how similar unrelated
documents are, and the command estimates the number of candidates per document.

inputs: as in `stream-lsh dedup`

examples:
  stream-lsh tune --threshold 0.7
  stream-lsh tune articles.jsonl.gz --threshold 0.6 --picture curve.svg
  stream-lsh tune pages/ --html page --measure containment --documents 2000000 --json
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = parse(make_parser(), arguments)
    inputs = find_inputs(options.file, options.format, delimiter=options.delimiter)
    _check(options, inputs)
    with ExitStack() as open_things:
        picture = None
        if options.picture is not None:
            from stream_lsh.figures.drawing import format_of, require  # noqa: PLC0415 - loads numpy

            format = format_of(options.picture)
            require()
            picture = open_things.enter_context(Output(options.picture))
        from stream_lsh.cli.input.batches import list_rejects, summary  # noqa: PLC0415 - loads numpy
        from stream_lsh.cli.reports.tuning import as_json, as_text  # noqa: PLC0415 - loads numpy
        from stream_lsh.cli.runs.dedup import measure_for  # noqa: PLC0415
        from stream_lsh.kinds.shingled.scheme import TextScheme  # noqa: PLC0415

        rejects = open_things.enter_context(Output(options.rejects)) if options.rejects else None
        with problems_as_options(TEXT_OPTIONS):
            scheme = TextScheme(
                options.threshold,
                options.shingles,
                recall=options.recall,
                slots=options.slots,
                normalise=options.normalise,
                measure=measure_for(options),
                min_characters=options.min_characters,
            )
        reasons = Counter[str]()
        corpus = _corpus(options, inputs, scheme, reasons, rejects) if inputs else None
        tuned = _choose(options, scheme, corpus)
        screen = open_things.enter_context(closing(Screen(options.output)))
        if options.json:
            screen.line(as_json(tuned))
        else:
            for line in as_text(tuned, screen):
                screen.line(line)
        screen.finish()
        if picture is not None:
            from stream_lsh.figures.drawing import rendered  # noqa: PLC0415
            from stream_lsh.figures.scurve import scurve_figure  # noqa: PLC0415

            seen = None if tuned.corpus is None else tuned.corpus.seen
            picture.put(rendered(scurve_figure(tuned.chosen, seen), format))
            picture.finish()
        if rejects is not None:
            rejects.finish()
        rejected = summary(reasons, list_rejects(rejects))
    if not options.quiet:
        report_lines(rejected)
    return ended(exit_code(1, reasons.total(), strict=options.strict), rejected, quiet=options.quiet)


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "tune",
        "Choose bands and rows, and show their recall, their false candidates and their cost.",
        _EPILOG,
        first=("threshold", "recall", "documents", "json", "picture"),
    )
    add = parser.add_argument
    add("file", nargs="*", metavar="FILE", help="file or folder; - for standard input")
    add_matching(parser, limits=False)
    add = parser.add_argument_group("tuning").add_argument
    add("--slots", type=whole(1), default=128, metavar="N", help="length of a signature (default 128)")
    add(
        "--weights",
        type=_weights,
        metavar="FN:FP",
        help="instead of --recall: weights of missed pairs and of false candidates, such as 9:1",
    )
    documents = "number of live documents to plan for (default: those in the files)"
    add("--documents", type=whole(2), metavar="N", help=documents)
    add("--sample", type=whole(2), default=10_000, metavar="N", help="documents in the sample (default 10000)")
    add_input(parser)
    add = parser.add_argument_group("output").add_argument
    add_output(add, "the result")
    add("--json", action="store_true", help="one JSON object")
    add("--picture", metavar="OUT", help="picture of the S-curve: .svg or .png")
    add_rejects(add)
    add_general(parser)
    return parser


def _weights(value: str) -> tuple[float, float]:
    missed, _, useless = value.partition(":")
    try:
        weights = float(missed), float(useless)
    except ValueError:
        weights = -1.0, -1.0
    if not (min(weights) >= 0 and 0 < sum(weights) < float("inf")):
        raise ArgumentTypeError(f"got {value!r}, expected two numbers of 0 or more with a colon, such as 9:1")
    return weights


def _check(options: Namespace, inputs: Sequence[Input]) -> None:
    problems = []
    if options.picture == STDOUT:
        problems.append("--picture: got -, expected a file")
    if options.documents is not None and not options.file:
        problems.append("--documents: needs files, which show how similar documents are")
    if problems:
        raise ConfigError(problems)
    check_outputs([options.output, options.picture, options.rejects], [file.path for file in inputs])


def _corpus(
    options: Namespace, inputs: Sequence[Input], scheme: "TextScheme", reasons: Counter[str], rejects: Output | None
) -> "Corpus":
    """A sample of the documents; `reasons` counts the rejected ones.

    Raises:
        ConfigError: fewer than two documents.
    """
    from stream_lsh.cli.input.batches import batches  # noqa: PLC0415
    from stream_lsh.cli.input.sampling import Sample  # noqa: PLC0415
    from stream_lsh.cli.output.progress import Progress  # noqa: PLC0415
    from stream_lsh.cli.reports.tuning import Corpus  # noqa: PLC0415
    from stream_lsh.kinds.text.files import read  # noqa: PLC0415
    from stream_lsh.lsh.sample import sampled_agreements  # noqa: PLC0415
    from stream_lsh.text.scripts import ScriptCounts  # noqa: PLC0415

    progress = Progress(sum(file.size for file in inputs), shown=not options.quiet)
    sample, parts = Sample(options.sample), read(inputs, options)
    try:
        for batch in batches(parts, progress, reasons, quiet=options.quiet, rejects=rejects):
            sample.take(batch)
        progress.say(f"comparing {len(sample.texts):,} documents ...")
        signatures = scheme.sign(sample.texts)
        usable = signatures.values[signatures.digests != 0]
        if len(usable) < 2:
            raise ConfigError(
                f"{', '.join(options.file)}: got {counted(len(usable), 'document')} with shingles, expected two or "
                "more: there are no pairs to learn from; without files, `stream-lsh tune` goes by the theory alone"
            )
        seen = sampled_agreements(usable, SEED)
    finally:
        progress.clear()
    share = len(usable) / len(sample.texts)
    scripts = ScriptCounts()
    scripts.take(sample.texts)
    return Corpus(
        seen=seen,
        signatures=usable,
        documents=options.documents or max(2, round(sample.documents * share)),
        whole=sample.whole and options.documents is None,
        scripts=scripts.shares(),
    )


def _choose(options: Namespace, scheme: "TextScheme", corpus: "Corpus | None") -> "Tuned":
    from stream_lsh.cli.reports.tuning import Tuned  # noqa: PLC0415
    from stream_lsh.lsh.solver import alternatives, choose_banding, choose_by_areas  # noqa: PLC0415

    least, seen = scheme.banding.threshold, None if corpus is None else corpus.seen
    if options.weights is None:
        chosen = choose_banding(least, options.recall, options.slots, histogram=seen)
    else:
        missed, useless = options.weights
        chosen = choose_by_areas(least, options.slots, missed, useless, seen)
    # A slack as wide as that shows also what just misses the recall.
    every = alternatives(least, options.recall, options.slots, max(0.0, options.recall - 0.5), seen)
    return Tuned(options, chosen, every, scheme, corpus)
