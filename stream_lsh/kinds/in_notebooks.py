"""The library classes in a notebook: their counts, the distribution of the matches, the largest clusters."""

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from stream_lsh.arrays import F64
from stream_lsh.markup.bars import histogram
from stream_lsh.markup.page import paragraph, table
from stream_lsh.markup.texts import line
from stream_lsh.model import Cluster

_MOST_CLUSTERS, _MOST_MEMBERS, _MOST_BINS = 5, 8, 12


class Distribution(NamedTuple):
    """The values of all pairs, and the thresholds among them.

    Attributes:
        name: of the values.
        values: float64[n].
        marks: the names of the thresholds.
    """

    name: str
    values: F64
    marks: Mapping[float, str]


def overview(title: str, pairs: Distribution, clusters: Sequence[Cluster]) -> Iterator[str]:
    """The HTML of a collection, some 10 KB at most.

    Args:
        title: unescaped.
        pairs: that are stored.
        clusters: all.
    """
    yield paragraph(title)
    caption = f"Pairs by {pairs.name}; the length of a bar is logarithmic."
    yield from histogram(pairs.values, pairs.marks, caption, _MOST_BINS)
    if clusters:
        largest = nsmallest(_MOST_CLUSTERS, clusters, key=lambda cluster: (-len(cluster.members), cluster.id))
        caption = f"The {len(largest)} largest clusters" if len(largest) < len(clusters) else "Clusters"
        yield from table(["cluster", "#size", "members"], map(_row, largest), caption)


def _row(cluster: Cluster) -> Sequence[str]:
    named = ", ".join(line(member, 60) for member in cluster.members[:_MOST_MEMBERS])
    more = len(cluster.members) - _MOST_MEMBERS
    return line(cluster.id, 60), f"{len(cluster.members):,}", f"{named} and {more:,} more" if more > 0 else named
