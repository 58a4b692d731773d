"""`stream-lsh check`: checks configuration, brokers, topics and lag; with --audit, also the results.

Exit code 0 if nothing is wrong, 2 otherwise.  The command writes nothing to Kafka.
"""

import json
import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.options.pipelines import some_of
from stream_lsh.cli.output.atomic_files import STDOUT, Output
from stream_lsh.cli.process import run_client

if TYPE_CHECKING:
    from stream_lsh.config import Config, PipelineConfig
    from stream_lsh.worker.clients.health import Finding

_EPILOG = """\
examples:
  stream-lsh check --config news.toml
  stream-lsh check --config news.toml --pipeline news --audit

`ok` needs no action, `note` is information, `wrong` names the action.
--audit holds all texts of the source in memory.  It is exact if the workers have processed everything.
It does not check the topics of clusters and of mirror sites.
"""
_WRONG = 2


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.config import load  # noqa: PLC0415

    config = load(options.config, os.environ)
    chosen = some_of(config, options.pipeline)
    findings = run_client(_findings(config, chosen, options))
    with Output(STDOUT) as out:
        out.write([_line(finding, as_json=options.json) for finding in findings])
    return _WRONG if any(finding.state == "wrong" for finding in findings) else 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "check",
        "Check configuration, brokers, topics, consumer groups and lag; with --audit, the results, too.",
        _EPILOG,
        first=("config", "audit", "json"),
    )
    add = parser.add_argument
    add("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    add("--pipeline", metavar="NAME", help="check this pipeline only")
    add("--audit", action="store_true", help="recompute matches and members, and compare")
    add("--json", action="store_true", help="JSON lines: state, subject, message")
    return parser


async def _findings(config: "Config", chosen: "list[PipelineConfig]", options: Namespace) -> "list[Finding]":
    from stream_lsh.worker.clients.audit import audit  # noqa: PLC0415
    from stream_lsh.worker.clients.health import check  # noqa: PLC0415

    findings = await check(config, chosen, options.config)
    if options.audit and not any(finding.state == "wrong" for finding in findings):
        from stream_lsh.worker.checks.startup import as_stored  # noqa: PLC0415

        config = await as_stored(config)
        for pipeline in some_of(config, options.pipeline):
            findings += await audit(config, pipeline)
    return findings


def _line(finding: "Finding", *, as_json: bool) -> bytes:
    if as_json:
        return json.dumps(asdict(finding), ensure_ascii=False).encode()
    return f"{finding.state:<5} {finding.subject}: {finding.message}".encode("utf-8", "backslashreplace")
