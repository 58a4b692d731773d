"""`stream-lsh check`: how a configuration, its brokers, topics and state stand; with --audit, whether results are true.

Exit code 0 if nothing is wrong, 2 otherwise.  Nothing is written to Kafka.
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
from stream_lsh.cli.process.signals import run_cancellable

if TYPE_CHECKING:
    from stream_lsh.config import Config, PipelineConfig
    from stream_lsh.worker.clients.health import Finding

_EPILOG = """\
examples:
  stream-lsh check --config news.toml
  stream-lsh check --config news.toml --pipeline news --audit

`ok` is as it should be, `note` is worth knowing, `wrong` says what to do.
--audit holds all texts of the source in memory; it is exact when nothing is under way, so let the workers finish first.
The topics of clusters and of mirror sites it does not judge.
"""
_WRONG = 2


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    parser = Parser("check", "Say how everything stands that the pipelines of a configuration need.", _EPILOG)
    parser.add_argument("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    parser.add_argument("--pipeline", metavar="NAME", help="this pipeline only")
    parser.add_argument("--audit", action="store_true", help="compute matches and members anew, and compare")
    parser.add_argument("--json", action="store_true", help="JSON lines with state, subject and what is said")
    options = parser.parse(arguments)
    from stream_lsh.config import load  # noqa: PLC0415

    config = load(options.config, os.environ)
    chosen = some_of(config, options.pipeline)
    findings = run_cancellable(_findings(config, chosen, options))
    with Output(STDOUT) as out:
        out.write([_line(finding, as_json=options.json) for finding in findings])
    return _WRONG if any(finding.state == "wrong" for finding in findings) else 0


async def _findings(config: "Config", chosen: "list[PipelineConfig]", options: Namespace) -> "list[Finding]":
    from stream_lsh.worker.clients.audit import audit  # noqa: PLC0415
    from stream_lsh.worker.clients.health import check  # noqa: PLC0415

    findings = await check(config, chosen, options.config)
    if options.audit and not any(finding.state == "wrong" for finding in findings):
        for pipeline in chosen:
            findings += await audit(config, pipeline)
    return findings


def _line(finding: "Finding", *, as_json: bool) -> bytes:
    if as_json:
        return json.dumps(asdict(finding), ensure_ascii=False).encode()
    return f"{finding.state:<5} {finding.subject}: {finding.said}".encode("utf-8", "backslashreplace")
