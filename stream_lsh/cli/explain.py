"""`stream-lsh explain`: why two documents are in one cluster, or why not; in files as `dedup` groups them, or live.

Live means: from the source and the results as they lie on Kafka now.  Nothing is written there.
"""

import asyncio
import os
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from stream_lsh.cli.inputs import find_inputs
from stream_lsh.cli.options import add_guards, add_input, add_matching, parse
from stream_lsh.cli.parsing import Parser
from stream_lsh.cli.pipelines import one_of
from stream_lsh.cli.screen import Screen
from stream_lsh.errors import ConfigError

if TYPE_CHECKING:
    from stream_lsh.pipeline.explain import Explanation

_EPILOG = """\
examples:
  stream-lsh explain agency.txt herald.txt news/
  stream-lsh explain 17 23 articles.jsonl.gz --threshold 0.6 --json
  stream-lsh explain agency herald --config news.toml

With files, the options are those that `dedup` was run with; live, the configuration says it all.
What only the first text has stands in [-...-], what only the second one has in {+...+}; on a terminal, in colours.
Everything is held in memory, live all texts of the source too.
Where an id begins with a dash, first come the options, then --.
"""
_OWN = frozenset({"one", "other", "file", "config", "pipeline", "json", "full", "stories"})


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    parser = _parser()
    options = parse(parser, arguments)
    _check(parser, options)
    explanation = _in_files(options) if options.config is None else _live(options)
    from stream_lsh.cli.explained import as_json, as_text  # noqa: PLC0415

    with closing(Screen()) as screen:
        if options.json:
            screen.line(as_json(explanation))
        else:
            for line in as_text(explanation, screen, full=options.full):
                screen.line(line)
    return 0


def _parser() -> Parser:
    parser = Parser(
        "explain", "Say why two documents are in one cluster, or why not, and mark what they share.", _EPILOG
    )
    add = parser.add_argument
    add("one", metavar="A", help="the id of a document")
    add("other", metavar="B", help="the id of another one")
    add("file", nargs="*", metavar="FILE", help="file or folder; - for standard input")
    add("--config", metavar="FILE", help="instead of files: the configuration of a pipeline, a TOML file")
    add("--pipeline", metavar="NAME", help="the pipeline, where the configuration has several")
    add("--json", action="store_true", help="one JSON object, with both texts and the places of their passages")
    add("--full", action="store_true", help="leave nothing out of long texts and paths")
    add_matching(parser)
    add_guards(parser)
    add_input(parser)
    return parser


def _check(parser: Parser, options: Namespace) -> None:
    problems = []
    if options.one == options.other:
        problems.append(f"got the id {options.one!r} twice, expected two documents")
    if options.config is None and not options.file:
        problems.append("got neither files nor --config, expected one of them")
    if options.config is None and options.pipeline is not None:
        problems.append("--pipeline: means one of a configuration, which --config names")
    if options.config is not None:
        if options.file:
            problems.append(f"got --config and {' '.join(options.file)}, expected a configuration or files")
        given = (
            name for name, value in vars(options).items() if name not in _OWN and value != parser.get_default(name)
        )
        problems += [
            f"--{name.replace('_', '-')}: is for files; with --config, the configuration says it" for name in given
        ]
    if problems:
        raise ConfigError(problems)


def _in_files(options: Namespace) -> "Explanation":
    inputs = find_inputs(options.file, options.format)
    from stream_lsh.cli.evidence import evidence_in_files  # noqa: PLC0415
    from stream_lsh.cli.work import limits_of, scheme_of  # noqa: PLC0415
    from stream_lsh.pipeline.explain import Settings, explain  # noqa: PLC0415

    scheme, limits = scheme_of(options), limits_of(options)
    evidence = evidence_in_files(options, inputs, scheme, limits)
    return explain(options.one, options.other, evidence, Settings(scheme, options.threshold, limits))


def _live(options: Namespace) -> "Explanation":
    from stream_lsh.config import load  # noqa: PLC0415

    config = load(options.config, os.environ)
    pipeline = one_of(config, options.pipeline)
    from stream_lsh.pipeline.explain import Settings, explain  # noqa: PLC0415
    from stream_lsh.worker.explaining import evidence_of  # noqa: PLC0415

    evidence = asyncio.run(evidence_of(config, pipeline, (options.one, options.other)))
    settings = Settings(pipeline.scheme(), pipeline.threshold, pipeline.limits())
    return explain(options.one, options.other, evidence, settings)
