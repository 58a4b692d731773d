"""`stream-lsh plan`: workers, partitions, memory and disks for a stream, from its own numbers."""

import os
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from stream_lsh.cli.options.common import add_output
from stream_lsh.cli.options.parser import Parser, ratio, real, whole
from stream_lsh.cli.options.pipelines import some_of
from stream_lsh.cli.output.terminal import Screen
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.registry import KINDS
from stream_lsh.kinds.text.presets import PRESETS
from stream_lsh.settings import units

if TYPE_CHECKING:
    from stream_lsh.config import Config
    from stream_lsh.sizing.load import Load

_PIPELINE = {
    "kind": "kind",
    "preset": "preset",
    "threshold": "threshold",
    "profile": "profile",
    "dimension": "dimension",
    "distance": "distance",
    "retention": "retention",
}
"""Options that are keys of a pipeline, as in a configuration."""
_EPILOG = """\
The rates and sizes are those of your stream. The pipeline is that of a configuration, or that of --kind, --preset,
--threshold and so on. Generated documents pass through the real steps, which gives the sizes of all messages;
measured constants give CPU time, memory and disk. docs/scale.md explains the model and its limits.

examples:
  stream-lsh plan --rate 50 --size 3KB --preset news --replication 3
  stream-lsh plan --rate 400 --peak 2 --near-duplicates 0.3 --matches 1.5 --config crawl.toml
  stream-lsh plan --kind record --profile people --rate 20 --documents 5000000 --format json
"""
_AT_LEAST_0 = real(lambda number: 0 <= number < float("inf"), "of 0 or more")


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.cli.reports.plan import as_json, as_text  # noqa: PLC0415 - loads numpy
    from stream_lsh.sizing.plan import plan  # noqa: PLC0415

    problems, made = list[str](), list["Load"]()
    try:
        made.append(_load(options))
    except ConfigError as error:
        problems += [f"--{problem}" for problem in error.problems]
    try:
        config = _config(options)
        chosen = some_of(config, options.pipeline)
    except ConfigError as error:
        problems += error.problems
    if problems:
        raise ConfigError(problems)
    try:
        plans = [plan(config, one, made[0], options.partitions or 0, options.memory) for one in chosen]
    except ConfigError as error:
        raise ConfigError([f"--{problem}" for problem in error.problems]) from None
    with closing(Screen(options.output)) as screen:
        for number, one in enumerate(plans):
            if options.format == "json":
                screen.line(as_json(one))
                continue
            for line in ([""] if number else []) + [*as_text(one, config, made[0], screen)]:
                screen.line(line)
        screen.finish()
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "plan",
        "Compute workers, partitions, memory, disks and limits for a stream, from its own numbers.",
        _EPILOG,
        first=("rate", "peak", "size", "config", "format"),
    )
    add = parser.add_argument_group("stream").add_argument
    add(
        "--rate",
        type=real(lambda number: 0 < number < float("inf"), "above 0"),
        required=True,
        metavar="R",
        help="documents or records per second, on average",
    )
    add("--peak", type=ratio, default=3.0, metavar="F", help="the peak rate is F times the average (default 3)")
    add(
        "--size",
        type=_size,
        default=3_000,
        metavar="SIZE",
        help="bytes of a text, of the items of a set, or of the values of a record, such as 3KB; vectors ignore it "
        "(default 3000)",
    )
    add(
        "--near-duplicates",
        type=_AT_LEAST_0,
        metavar="SHARE",
        help="share of documents that match an earlier one (default 0.1, or --matches if that is less)",
    )
    add("--matches", type=_AT_LEAST_0, metavar="N", help="matches per document (default: --near-duplicates)")
    add(
        "--candidates",
        type=_AT_LEAST_0,
        default=0.0,
        metavar="N",
        help="further comparisons per document, which find no match; see `stream-lsh tune FILE` (default 0)",
    )
    add("--documents", type=whole(1), metavar="N", help="documents kept (default: those within the retention)")
    add = parser.add_argument_group("pipeline").add_argument
    add("--config", metavar="FILE", help="the configuration, a TOML file; without it the options below")
    add("--pipeline", metavar="NAME", help="plan this pipeline only")
    add("--kind", choices=tuple(KINDS), help="the kind of data (default text)")
    add("--preset", choices=tuple(PRESETS), help="defaults for one use, of texts")
    add("--threshold", metavar="T", help="minimum similarity (default 0.8)")
    add("--profile", metavar="NAME", help="profile of records: its name, or a file")
    add("--dimension", metavar="N", help="values of a vector")
    add("--distance", metavar="D", help="maximum distance of matching vectors")
    add("--retention", metavar="SPAN", help="such as 3d or 12h; '' for no end (default 3d, of records no end)")
    add("--replication", type=whole(1), metavar="N", help="copies of each topic (default 1)")
    add = parser.add_argument_group("deployment").add_argument
    add("--partitions", type=whole(1), metavar="N", help="of the source (default: chosen)")
    add("--memory", type=_size, default=16 << 30, metavar="SIZE", help="memory of a worker (default 16GB)")
    add(
        "--batch",
        type=whole(1),
        default=0,
        metavar="N",
        help="documents that are processed together at the average rate (default: those of 0.1 s)",
    )
    add = parser.add_argument_group("output").add_argument
    add("--format", choices=("text", "json"), default="text", help="a table, or JSON lines (default text)")
    add_output(add, "the plan")
    return parser


def _size(value: str) -> int:
    size = units.size_bytes(value)
    if not size:
        raise ArgumentTypeError(f"got {value!r}, expected bytes, or a size such as 3KB or 16GB")
    return size


def _load(options: Namespace) -> "Load":
    from stream_lsh.sizing.load import Load  # noqa: PLC0415

    share, matches = options.near_duplicates, options.matches
    if share is None:
        share = 0.1 if matches is None else min(matches, 0.1) if matches < 1 else min(1.0, matches / 2)
    return Load(
        rate=options.rate,
        peak=options.peak,
        size=options.size,
        matches=share if matches is None else matches,
        near_duplicates=share,
        candidates=options.candidates,
        documents=options.documents,
        batch=options.batch,
    )


def _config(options: Namespace) -> "Config":
    """The configuration in the file, or that of the options.

    Raises:
        ConfigError: everything that is wrong with it.
    """
    from stream_lsh.config import load, parse  # noqa: PLC0415 - loads the kinds

    given = {name: getattr(options, name) for name in (*_PIPELINE, "replication") if getattr(options, name) is not None}
    if options.config is not None:
        if given:
            raise ConfigError([f"--{name}: got it, expected none with --config, which has its own" for name in given])
        return load(options.config, os.environ)
    keys = {name: value for name, value in given.items() if name in _PIPELINE}
    lines = [f"{name} = {_toml(value)}" for name, value in keys.items()]
    kafka = f"[kafka]\nreplication = {options.replication}\n" if options.replication else ""
    text = "\n".join([f'{kafka}[pipeline]\nname = "documents"\nsource = "source"', *lines, ""])
    try:
        return parse(text, "options", {})
    except ConfigError as error:
        raise ConfigError([f"--{problem.partition('pipeline.')[2] or problem}" for problem in error.problems]) from None


def _toml(value: str) -> str:
    """A value of an option in TOML: a number, or a string."""
    try:
        return repr(int(value))
    except ValueError:
        pass
    try:
        return repr(float(value))
    except ValueError:
        return "'" + value.replace("'", "") + "'"
