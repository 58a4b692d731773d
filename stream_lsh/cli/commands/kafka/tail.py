"""`stream-lsh tail`: follows the results of a pipeline: a line per message; clusters on a terminal as a table."""

import asyncio
import os
import shutil
import time
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.options.pipelines import one_of
from stream_lsh.cli.output.atomic_files import STDOUT, Output
from stream_lsh.cli.output.cluster_table import ClusterTable
from stream_lsh.cli.output.terminal import Screen, plain
from stream_lsh.cli.process import run_client
from stream_lsh.errors import ConfigError

if TYPE_CHECKING:
    from stream_lsh.config import Config, PipelineConfig

KINDS = ("matches", "members", "clusters", "entities", "reviews", "mirror-sites", "dead-letters")
"""The public topics of a pipeline."""
_MISSING_TOPICS = {
    "mirror_sites": "publishes no mirror sites, expected `mirror_share` above 0, for example by preset mirrors",
    "clusters": "publishes entities, because its kind is record, expected `tail entities`",
    "entities": "publishes no entities, expected a pipeline of kind record, or `tail clusters`",
    "reviews": "publishes no reviews, expected a pipeline of kind record",
}
CANDIDATES = "candidates"
"""The topic of pairs that await verification: versions by partition and offset."""

_REDRAWN_EVERY_S = 0.25

_EPILOG = """\
examples:
  stream-lsh tail matches --config news.toml
  stream-lsh tail candidates --config news.toml
  stream-lsh tail clusters --config news.toml --from-beginning --no-follow --json > clusters.jsonl
  stream-lsh tail entities --config customers.toml
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    from stream_lsh.config import load  # noqa: PLC0415

    config = load(options.config, os.environ)
    pipeline = one_of(config, options.pipeline)
    screen = Screen()
    as_table = options.kind == "clusters" and options.kind in pipeline.public_topics
    as_lines = not as_table or options.lines or options.json or options.no_follow
    run_client(
        _lines(config, pipeline, options)
        if as_lines or not screen.watched
        else _table(config, pipeline, options, screen)
    )
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "tail",
        "Follow the results of a pipeline: one line per message, on a terminal a table of clusters.",
        _EPILOG,
        first=("config", "from_beginning", "no_follow", "json"),
    )
    add = parser.add_argument
    add("kind", choices=(*KINDS, CANDIDATES), metavar="TOPIC", help=", ".join((*KINDS, CANDIDATES)))
    add("--config", required=True, metavar="FILE", help="the configuration, a TOML file")
    add("--pipeline", metavar="NAME", help="the pipeline, if the configuration has several")
    add("--from-beginning", action="store_true", help="start with the oldest message")
    add("--no-follow", action="store_true", help="stop at the newest message")
    add("--json", action="store_true", help="JSON lines with key, value and headers")
    add("--lines", action="store_true", help="print clusters as lines, on a terminal too")
    return parser


async def _lines(config: "Config", pipeline: "PipelineConfig", options: Namespace) -> None:
    """Every message as a line."""
    from stream_lsh.worker.clients.tail import candidate_lines, messages, readable  # noqa: PLC0415

    inner, name = options.kind == CANDIDATES, options.kind.replace("-", "_")
    topic = pipeline.internal_topic(CANDIDATES) if inner else pipeline.public_topics.get(name)
    if topic is None:
        raise ConfigError(f"{pipeline.name}: {_MISSING_TOPICS[name]}")
    if inner:
        from stream_lsh.worker.checks.startup import as_stored  # noqa: PLC0415

        pipeline = one_of(await as_stored(config), options.pipeline)
    with Output(STDOUT) as out:
        async for message in messages(config.kafka, [topic], options.from_beginning, follow=not options.no_follow):
            if inner:
                out.write(candidate_lines(pipeline, message, as_json=options.json))
            else:
                line = readable(options.kind, message, as_json=options.json)
                out.write([(line if options.json else plain(line)).encode("utf-8", "replace")])


async def _table(config: "Config", pipeline: "PipelineConfig", options: Namespace, screen: Screen) -> None:
    """Clusters as a table that follows what happens, until Ctrl-C."""
    cluster_table = ClusterTable(pipeline.name)

    async def show() -> None:
        try:
            while True:
                screen.page(cluster_table.view(shutil.get_terminal_size().lines))
                await asyncio.sleep(_REDRAWN_EVERY_S)
        finally:
            screen.close()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(show())
        await _follow(config, pipeline, cluster_table, from_beginning=options.from_beginning)


async def _follow(
    config: "Config", pipeline: "PipelineConfig", cluster_table: ClusterTable, *, from_beginning: bool
) -> None:
    from stream_lsh.worker.clients.tail import messages  # noqa: PLC0415

    topics = [pipeline.clusters_topic, pipeline.members_topic]
    waited = time.monotonic()
    async for message in messages(config.kafka, topics, from_beginning, follow=True):
        take = cluster_table.cluster if message.topic == pipeline.clusters_topic else cluster_table.member
        take(message.key.decode("utf-8", "surrogatepass"), message.value)
        if time.monotonic() - waited > _REDRAWN_EVERY_S:  # where there are many, the screen has its turn all the same
            waited = time.monotonic()
            await asyncio.sleep(0)
