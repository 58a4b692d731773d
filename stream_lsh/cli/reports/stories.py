"""Stories of files: built when all documents have been read, as text or as JSON lines."""

import json
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from stream_lsh.cli.output.results import Answers
from stream_lsh.cli.output.terminal import clipped, paragraphs, plain
from stream_lsh.cli.output.time_format import apart, moment
from stream_lsh.ledger.clusters.ids import Cluster as Slots
from stream_lsh.ledger.clusters.stories import story
from stream_lsh.ledger.graph.nodes import Nodes
from stream_lsh.model import About, Cluster, Story

_NAMED = 5
"""Documents and outlets that a text lists by name."""


def lines(answers: Answers, metadata: Mapping[str, tuple[int, About]], options: Namespace) -> Iterator[bytes]:
    """One JSON line for each story; as text several lines, with an empty one between two stories."""
    stories = stories_of(answers.clusters(), metadata)
    if options.json:
        return map(as_json, stories)
    width = shutil.get_terminal_size().columns if os.isatty(1) else sys.maxsize
    return paragraphs(as_text(story, width) for story in stories)


def stories_of(clusters: Iterable[Cluster], metadata: Mapping[str, tuple[int, About]]) -> list[Story]:
    """The stories of clusters, the largest first.

    Args:
        clusters: their documents are in `metadata`.
        metadata: event time and title, outlet and length of each document, by id.
    """
    stories = []
    for cluster in clusters:
        nodes = Nodes()
        oldest_first = sorted(cluster.members, key=lambda id: (metadata[id][0], id))
        slots = [nodes.add(id, 0, metadata[id][0], 0, metadata[id][1]) for id in oldest_first]
        stories.append(story(Slots(cluster.id, 0, slots), nodes))
    return sorted(stories, key=lambda made: (-len(made.members), -made.last_time_ms, made.id))


def as_json(story: Story) -> bytes:
    """One line, with the names that a message of `clusters` has; all members."""
    value = {
        "cluster": story.id,
        "headline": story.headline,
        "size": len(story.members),
        "representative": story.representative,
        "sources": [
            {"source": source.source, "first_time": source.first_time_ms, "documents": source.documents}
            for source in story.sources
        ],
        "source_count": story.source_count,
        "first": {"id": story.first.id, "source": story.first.source, "time": story.first.time_ms},
        "first_time": story.first.time_ms,
        "last_time": story.last_time_ms,
        "members": story.members,
    }
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(value, separators=(",", ":")).encode()


def as_text(story: Story, width: int) -> Iterator[str]:
    """The lines of text of a story."""
    yield clipped(plain(story.headline or story.representative), width)
    yield clipped(f"  {len(story.members):,} documents: {_named(story.members, len(story.members))}", width)
    yield from (clipped(f"  {line}", width) for line in outlet_lines(story))


def outlet_lines(story: Story) -> Iterator[str]:
    """The outlets of a story in their order, and its times; without the parts that are not known."""
    if story.sources:
        first_ms = story.first.time_ms
        outlets = [f"{source.source} {_after(source.first_time_ms - first_ms)}".rstrip() for source in story.sources]
        yield f"{story.source_count:,} outlet{'s' * (story.source_count != 1)}: {_named(outlets, story.source_count)}"
    if story.last_time_ms:
        yield f"from {moment(story.first.time_ms)} to {moment(story.last_time_ms)}"


def _named(names: Iterable[str], count: int) -> str:
    shown = [plain(name) for name, _ in zip(names, range(_NAMED), strict=False)]
    return ", ".join(shown) + (f" and {count - len(shown):,} more" if count > len(shown) else "")


def _after(ms: int) -> str:
    return f"+{apart(ms)}" if ms else ""
