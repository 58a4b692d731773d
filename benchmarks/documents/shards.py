"""A ledger divided into shards: `python -m benchmarks.documents.shards`, what each part would have to do.

A pair belongs to the shard of its older document.  A shard settles its pairs, publishes their matches, and keeps the
components of its own pairs.  Of these it sends only the pairs that join two components, the links, to one ledger of
labels, which publishes members and clusters.  The links of all shards connect the same documents as all pairs do.

For each stream, the existing ledger settles all pairs, those of the busiest shard, and all links.  The times are CPU
time per pair of the stream.  The gain is the time of the whole ledger over that of the slower part, if each part had a
core of its own and a message cost nothing.  So it is an upper bound.
"""

import argparse
import gc
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.documents.ledger import COLLECT_AFTER, FRAME, THRESHOLD
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import make_ref
from stream_lsh.wire.public import cluster_messages, match_messages, member_messages
from tests.evaluation.edges import edges_of

SHARDS = (2, 4, 8)


class Stream(NamedTuple):
    """Groups of near-duplicates that form side by side.

    Attributes:
        size: documents of a group.
        documents: in all.
        beside: groups that form at a time.
        dense: whether a document has a pair with each older one of its group; otherwise with one of them.
    """

    name: str
    size: int
    documents: int
    beside: int
    dense: bool = True


STREAMS = (
    Stream("groups of 2", 2, 20_000, 150),
    Stream("groups of 4", 4, 20_000, 1),
    Stream("groups of 10", 10, 10_000, 15),
    Stream("groups of 50", 50, 4_000, 15),
    Stream("groups of 200", 200, 1_600, 8),
    Stream("groups of 200, one pair for each document", 200, 20_000, 100, dense=False),
)


class Pair(NamedTuple):
    """A pair of documents of a group, by their numbers in it."""

    group: int
    old: int
    new: int
    shared: int


@dataclass(frozen=True, slots=True)
class Row:
    """A stream with a number of shards; times are us of CPU per pair of the stream."""

    stream: str
    pairs: int
    whole_us: float
    shards: int
    links: float
    busiest_shard_us: float
    labels_us: float
    gain: float


def main(argv: Sequence[str]) -> int:
    """Measure, print a table, and write the rows as JSON where asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.documents.shards",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, help="where the rows go, as JSON")
    options = parser.parse_args(argv)
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
    print("| stream | pairs | whole, us | shards | links per pair | busiest shard, us | labels, us | gain, at most |")
    print("|---|---|---|---|---|---|---|---|")
    rows = list[Row]()
    for stream in STREAMS:
        for row in measured(stream):
            rows.append(row)
            print(
                "| " + " | ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in asdict(row).values()) + " |"
            )
    if options.out is not None:
        options.out.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0


def measured(stream: Stream) -> Iterator[Row]:
    """A row for each number of shards."""
    pairs = list(_pairs(stream))
    whole = sum(_seconds(pairs, stream.size)) / len(pairs)
    for shards in SHARDS:
        parts, links = divided(pairs, shards)
        core, matches, _ = _seconds(max(parts, key=len), stream.size)
        shard = (core + matches) / len(pairs)
        core, _, clusters = _seconds(links, stream.size)
        labels = (core + clusters) / len(pairs)
        gain = whole / max(shard, labels)
        us = [round(1e6 * seconds, 2) for seconds in (whole, shard, labels)]
        yield Row(stream.name, len(pairs), us[0], shards, len(links) / len(pairs), us[1], us[2], gain)


def divided(pairs: Sequence[Pair], shards: int) -> tuple[list[list[Pair]], list[Pair]]:
    """The pairs of each shard, and the links of all shards."""
    parts, links = [list[Pair]() for _ in range(shards)], list[Pair]()
    components = [_Components() for _ in range(shards)]
    for pair in pairs:
        shard = (_digest(_ref(pair.group, pair.old)) >> 32) % shards
        parts[shard].append(pair)
        if components[shard].join((pair.group, pair.old), (pair.group, pair.new)):
            links.append(pair)
    return parts, links


def _pairs(stream: Stream) -> Iterator[Pair]:
    rng = random.Random(7)
    for first in range(0, stream.documents // stream.size, stream.beside):
        for new in range(1, stream.size):
            for group in range(first, first + stream.beside):
                for old in range(new) if stream.dense else (rng.randrange(new),):
                    yield Pair(group, old, new, rng.randint(80, 99))


class _Components:
    """Disjoint sets of documents, with path halving."""

    def __init__(self) -> None:
        self._above: dict[tuple[int, int], tuple[int, int]] = {}

    def join(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Whether the two were in different sets; from now on they are in the same."""
        one, other = self._root(one), self._root(other)
        self._above[one] = other
        return one != other

    def _root(self, one: tuple[int, int]) -> tuple[int, int]:
        above = self._above
        while (next_one := above.setdefault(one, one)) != one:
            above[one] = above[next_one]
            one = above[one]
        return one


def _digest(ref: int) -> int:
    return ref * 0x9E3779B97F4A7C15 % (1 << 64)


def _ref(group: int, number: int) -> int:
    return make_ref(number % 4, group * 1_000 + number)


def _end(group: int, number: int, size: int) -> End:
    ref = _ref(group, number)
    return End(f"document-{group}-{number}", ref, 1_000 * (group * size + number), _digest(ref))


def _seconds(pairs: Sequence[Pair], size: int) -> tuple[float, float, float]:
    """CPU seconds of settling, of the messages of matches, and of those of members and clusters."""
    ledger, core, matches, clusters = Ledger(THRESHOLD), 0.0, 0.0, 0.0
    for offset, start in enumerate(range(0, len(pairs), FRAME)):
        edges = edges_of(
            [
                Edge(_end(one.group, one.old, size), _end(one.group, one.new, size), one.shared / 100, one.shared, 100)
                for one in pairs[start : start + FRAME]
            ]
        )
        began = time.process_time()
        settled = ledger.settle(offset, edges=edges)
        decided = time.process_time()
        match_messages("news", settled.matches, 1_700_000_000_000)
        matched = time.process_time()
        member_messages(settled.members)
        cluster_messages(settled.clusters, offset)
        core, matches = core + decided - began, matches + matched - decided
        clusters += time.process_time() - matched
    return core, matches, clusters


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
