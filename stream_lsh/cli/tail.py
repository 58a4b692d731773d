"""`stream-lsh tail`: what a pipeline publishes, as it comes: one line a message."""

import asyncio
import os
from collections.abc import Sequence

from stream_lsh.cli.outputs import STDOUT, Output
from stream_lsh.cli.parsing import Parser
from stream_lsh.cli.pipelines import one_of

KINDS = ("matches", "members", "clusters", "dead-letters")
"""What can be followed: the public topics of a pipeline."""
CANDIDATES = "candidates"
"""And what is on its way to the exact check: pairs of versions, by partition and offset."""

_EPILOG = """\
examples:
  stream-lsh tail matches --config news.toml
  stream-lsh tail candidates --config news.toml
  stream-lsh tail clusters --config news.toml --from-beginning --no-follow --json > clusters.jsonl
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    parser = Parser("tail", "Show what a pipeline publishes, as it comes.", _EPILOG)
    parser.add_argument("kind", choices=(*KINDS, CANDIDATES), help="what to show")
    parser.add_argument("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    parser.add_argument("--pipeline", metavar="NAME", help="the pipeline, where the configuration has several")
    parser.add_argument("--from-beginning", action="store_true", help="begin with what is there already")
    parser.add_argument("--no-follow", action="store_true", help="end with what is there now")
    parser.add_argument("--json", action="store_true", help="JSON lines with key, value and headers")
    options = parser.parse(arguments)
    from stream_lsh.config import load  # noqa: PLC0415
    from stream_lsh.worker.following import candidate_lines, messages, readable  # noqa: PLC0415

    config = load(options.config, os.environ)
    pipeline = one_of(config, options.pipeline)
    inner = options.kind == CANDIDATES
    topic = pipeline.internal_topic(CANDIDATES) if inner else pipeline.public_topics[options.kind.replace("-", "_")]

    async def show() -> None:
        with Output(STDOUT) as out:
            async for message in messages(config.kafka, topic, options.from_beginning, follow=not options.no_follow):
                if inner:
                    out.write(candidate_lines(pipeline, message, as_json=options.json))
                else:
                    out.write([readable(options.kind, message, as_json=options.json)])

    asyncio.run(show())
    return 0
