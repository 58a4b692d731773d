"""`stream-lsh explain`: why two documents are (or are not) in the same cluster, in files or live.

Live means: from the current source and results on Kafka, or from the query API of a worker.  The command writes nothing
to either.  With a profile, the files contain records, and the command explains their score.
"""

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from stream_lsh.cli.options.common import (
    add_guards,
    add_input,
    add_matching,
    add_output,
    allow_records,
    parse,
)
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.options.pipelines import one_of
from stream_lsh.cli.options.query_api import add_query_api
from stream_lsh.cli.output.outputs import check_outputs
from stream_lsh.cli.output.terminal import Screen
from stream_lsh.cli.process import run_client
from stream_lsh.errors import ConfigError
from stream_lsh.files.column_names import of_documents
from stream_lsh.files.discover import find_inputs

if TYPE_CHECKING:
    from stream_lsh.config import Config, PipelineConfig
    from stream_lsh.kinds.comparison import PairwiseScheme
    from stream_lsh.kinds.explain import Explanation

_EPILOG = """\
examples:
  stream-lsh explain agency.txt herald.txt news/
  stream-lsh explain 17 23 articles.jsonl.gz --threshold 0.6 --json
  stream-lsh explain agency herald --config news.toml
  stream-lsh explain agency herald --url http://127.0.0.1:6067 --pipeline news
  stream-lsh explain 17 23 customers.csv --profile people --picture why.svg

With files, use the same options as for `dedup`. With --config, the configuration defines all settings. With --url, a
running worker with the key `ask` explains the pair, without reading the topics.
[-...-] marks text of the first document only, {+...+} text of the second one only; terminals show colours.
All documents are held in memory; with --config also all texts of the source.
With --profile, the files contain records and are read as by `link`: each of several files is a source, and ids are
SOURCE/ID. Only --picture, --json, --full, --format, --encoding, --max-bytes and the columns of id, source and time
apply. A profile without weights is first trained on the files.
If an id begins with a dash, put the options first, then --.
"""
_LIVE = frozenset({"one", "other", "file", "config", "url", "token_file", "pipeline", "json", "full", "output"})
_OWN = _LIVE | {"stories", "picture"}
_ONLY_OF_RECORDS = frozenset({"picture", "encoding"})
_OF_RECORDS = (
    _OWN
    | _ONLY_OF_RECORDS
    | {"profile", "format", "delimiter", "max_bytes", "id_column", "source_column", "time_column", "time_unit"}
)


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    parser = make_parser()
    options = parse(parser, arguments)
    _check(parser, options)
    if options.url is not None:
        from stream_lsh.cli.runs.explain_url import run_url  # noqa: PLC0415

        return run_url(options)
    if options.profile is not None:
        from stream_lsh.records.libraries import require  # noqa: PLC0415

        require()
        from stream_lsh.cli.runs.explain_records import run_records  # noqa: PLC0415

        return run_records(options)
    if options.config is None:
        explanation = _in_files(options)
    else:
        from stream_lsh.config import load  # noqa: PLC0415
        from stream_lsh.worker.checks.startup import as_stored  # noqa: PLC0415

        config = load(options.config, os.environ)
        one_of(config, options.pipeline)
        config = run_client(as_stored(config))
        pipeline = one_of(config, options.pipeline)
        scheme = pipeline.kind.pairwise()
        if scheme is None:
            return _live_records(options, config, pipeline)
        if options.picture is not None:
            raise ConfigError(f"--picture: applies to records only, and {pipeline.name} is a pipeline of texts")
        explanation = _live(options, config, pipeline, scheme)
    from stream_lsh.cli.reports.explanation import as_json, as_text  # noqa: PLC0415

    with closing(Screen(options.output)) as screen:
        if options.json:
            screen.line(as_json(explanation))
        else:
            for line in as_text(explanation, screen, full=options.full):
                screen.line(line)
        screen.finish()
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "explain",
        "Show why two documents are (or are not) in the same cluster, or why two records match.",
        _EPILOG,
        first=("config", "url", "profile", "threshold", "json"),
    )
    add = parser.add_argument
    add("one", metavar="A", help="id of a document or record")
    add("other", metavar="B", help="id of another one")
    add("file", nargs="*", metavar="FILE", help="file or folder; - for standard input")
    add("--config", metavar="FILE", help="instead of files: the configuration of a running pipeline")
    add_query_api(parser, alone=False)
    add("--pipeline", metavar="NAME", help="the pipeline; with --config only if the configuration has several")
    profiles = "the files hold records, compared with people, companies, products, bibliography, or a TOML file"
    add("--profile", metavar="NAME", help=profiles)
    add("--picture", metavar="OUT", help="for records: SVG picture of the score")
    add_output(add, "the explanation")
    add("--json", action="store_true", help="one JSON object, with both texts and the positions of their passages")
    add("--full", action="store_true", help="show long texts and paths in full")
    add_matching(parser)
    add_guards(parser)
    add_input(parser)
    allow_records(parser)
    return parser


def _check(parser: Parser, options: Namespace) -> None:
    live = options.config is not None or options.url is not None
    problems = [*_sources(options)]
    if options.one == options.other:
        problems.append(f"got the id {options.one!r} twice, expected two of them")
    if live:
        own = _OWN if options.url is None else _LIVE
        problems += [
            f"{name}: applies to files only; the configuration of the worker defines it"
            for name in _set_options(parser, options, own)
        ]
    elif options.profile is not None:
        problems += [
            f"{name}: applies to documents only; the profile defines how records are compared"
            for name in _set_options(parser, options, _OF_RECORDS)
        ]
    else:
        set_options = _set_options(parser, options, frozenset(vars(options)) - _ONLY_OF_RECORDS)
        problems += [f"{name}: applies to records only, which need --profile" for name in set_options]
    if options.picture is not None and not options.picture.endswith(".svg"):
        problems.append(f"--picture: got {options.picture}, expected a file with the ending svg")
    if problems:
        raise ConfigError(problems)
    check_outputs([options.output, options.picture], [*options.file, options.profile, options.config])
    if not live and options.profile is None:
        of_documents(options)


def _sources(options: Namespace) -> Iterator[str]:
    """The mistakes in the choice of a source: files, --config or --url."""
    given = [name for name in ("config", "url") if getattr(options, name) is not None]
    if not (given or options.file):
        yield "got neither files nor --config nor --url, expected one of them"
    if given and options.file:
        yield f"got --{given[0]} and {' '.join(options.file)}, expected one of them"
    if len(given) > 1:
        yield "got --config and --url, expected one of them"
    if not given and options.pipeline is not None:
        yield "--pipeline: got it without --config or --url, expected one of them: it names a running pipeline"
    if options.url is not None and options.pipeline is None:
        yield "--url: got it without --pipeline, expected the name of the pipeline"
    if options.url is None and options.token_file is not None:
        yield "--token-file: got it without --url, expected both: the token is that of the query API"


def _set_options(parser: Parser, options: Namespace, own: frozenset[str]) -> list[str]:
    """The options that differ from their defaults, without those in `own`; `named` is no option."""
    own |= {"named"}
    set_options = (
        name for name, value in vars(options).items() if name not in own and value != parser.get_default(name)
    )
    return [f"--{name.replace('_', '-')}" for name in set_options]


def _in_files(options: Namespace) -> "Explanation":
    inputs = find_inputs(options.file, options.format, delimiter=options.delimiter)
    from stream_lsh.cli.runs.dedup import limits_of, scheme_of  # noqa: PLC0415
    from stream_lsh.cli.runs.explain_evidence import evidence_in_files  # noqa: PLC0415
    from stream_lsh.kinds.explain import Settings, explain  # noqa: PLC0415

    scheme, limits = scheme_of(options), limits_of(options)
    evidence = evidence_in_files(options, inputs, scheme, limits)
    return explain(options.one, options.other, evidence, Settings(scheme, options.threshold, limits))


def _live_records(options: Namespace, config: "Config", pipeline: "PipelineConfig") -> int:
    from stream_lsh.cli.runs.explain_records import run_live  # noqa: PLC0415
    from stream_lsh.kinds.kind import as_kind  # noqa: PLC0415
    from stream_lsh.kinds.record.kind import RecordKind  # noqa: PLC0415
    from stream_lsh.worker.clients.live_evidence import live_records  # noqa: PLC0415

    profile = as_kind(pipeline.kind, RecordKind).loaded_profile
    return run_live(options, profile, run_client(live_records(config, pipeline)))


def _live(options: Namespace, config: "Config", pipeline: "PipelineConfig", scheme: "PairwiseScheme") -> "Explanation":
    from stream_lsh.kinds.explain import Settings, explain  # noqa: PLC0415
    from stream_lsh.worker.clients.live_evidence import evidence_of  # noqa: PLC0415

    evidence = run_client(evidence_of(config, pipeline, (options.one, options.other)))
    settings = Settings(scheme, pipeline.kind.least, pipeline.limits())
    return explain(options.one, options.other, evidence, settings)
