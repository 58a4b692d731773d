"""Views of a ledger for queries: the present pairs of a document, the members of a cluster, and pages of lists.

A view reads the state, so it may be ahead of the public topics by messages that are not sent yet.  It changes nothing.

Long lists are read in slices: a selection is a generator that yields after each slice, so that its caller can let other
work run, and returns the page.  The ledger may change between two slices.  An entry whose sort value changes may then
be missing from a listing, or be in it twice; all others are in it once.
"""

from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import islice
from typing import NamedTuple

from stream_lsh.ledger.changes import ClusterChange, MatchChange, MirrorChange, PairState
from stream_lsh.ledger.clusters.ids import Cluster
from stream_lsh.ledger.frame_notes import Frame, Seen
from stream_lsh.ledger.graph.nodes import view_i64
from stream_lsh.ledger.graph.pairs import MATCH, REVIEW
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import About

SLICE = 2_000
"""Clusters or pairs that are read at a time: some 2 ms."""
DESCRIBED_SLICE = 50
"""Clusters that are read at a time if the summary of each is needed."""

SortKey = tuple[float, str, str]
"""A value, ascending, and the ids of the row, which make the order total: two for a pair, one and "" for others."""


class Member(NamedTuple):
    """A member of a cluster, and its most similar partner in it; neither is set for a member without a match in it."""

    id: str
    time_ms: int
    about: About
    similarity: float | None
    partner: str | None


class Page(NamedTuple):
    """Some rows of a list, by their sort keys.

    Attributes:
        keys: in order.
        next: the last of them, if more follow.
        total: the rows that pass the filter, on all pages.
    """

    keys: Sequence[SortKey]
    next: SortKey | None
    total: int


Selection = Generator[None, None, Page]


def present(pair: PairState) -> MatchChange:
    """A pair as on its topic."""
    times = (pair.left_time_ms, pair.right_time_ms)
    counts = (pair.similarity, pair.shared, pair.union)
    return MatchChange(pair.left, pair.right, *counts, *times, None, pair.left_shingles, pair.evidence)


def matches_of(ledger: Ledger, id: str, limit: int, after: SortKey | None = None) -> tuple[list[MatchChange], Page]:
    """The matches of a document, the most similar first; a sort key has the id of the partner.

    Cost: O(pairs of the document).
    """
    graph = ledger.graph
    slot, ids = graph.nodes.slots.get(id), graph.nodes.ids
    partners = [] if slot is None else graph.pairs.partners(slot)
    keys = {
        (-graph.pairs.similarity[pair], ids[partner], ""): pair
        for partner, pair in partners
        if graph.pairs.place(pair) == MATCH
    }
    page = _page(keys, limit, after)
    return [present(graph.pairs.state(keys[key])) for key in page.keys], page


def cluster_view(ledger: Ledger, cluster: Cluster) -> ClusterChange:
    """A cluster as on its topic, except for its event."""
    size, members, representative, first_ms, last_ms, summary = _seen(ledger, cluster)
    return ClusterChange(
        cluster.id, "changed", size, members, representative, (), None, first_ms, last_ms, None, summary
    )


def _seen(ledger: Ledger, cluster: Cluster) -> Seen:
    return Frame(-1, ledger.graph, ledger.describer).seen(cluster)


def successor(ledger: Ledger, id: str) -> str | None:
    """The cluster that now contains the document that gave a closed cluster its id; None if there is none."""
    founder = id
    while founder not in ledger.graph.nodes.slots and "~" in founder:
        founder = founder.rpartition("~")[0]
    return ledger.cluster_of(founder)


def members_of(ledger: Ledger, cluster: Cluster, limit: int, start: int = 0) -> list[Member]:
    """Members of a cluster from a place on, oldest first.  Cost: O(pairs of the members)."""
    graph = ledger.graph
    nodes, pairs, members = graph.nodes, graph.pairs, list[Member]()
    for slot in cluster[start : start + limit]:
        inside = (
            (-pairs.similarity[pair], nodes.ids[partner])
            for partner, pair in pairs.linked(slot)
            if nodes.clusters[partner] is cluster
        )
        best = min(inside, default=None)
        similarity, partner = (None, None) if best is None else (-best[0], best[1])
        members.append(Member(nodes.ids[slot], nodes.times[slot], nodes.abouts[slot], similarity, partner))
    return members


def grown(ledger: Ledger, cluster: Cluster, since_ms: int) -> int:
    """The members of a cluster with an event time from `since_ms` on.  Cost: O(log members)."""
    times = ledger.graph.nodes.times
    return len(cluster) - bisect_left(cluster, since_ms, key=times.__getitem__)


# -- lists


class ClusterFilter(NamedTuple):
    """The clusters of a list.

    Attributes:
        least_size: members.
        least_sources: outlets, of stories.
        since_ms: the newest member is not older; None: any.
        text: a part of the id or of the headline, in upper or lower case.
    """

    least_size: int = 1
    least_sources: int = 0
    since_ms: int | None = None
    text: str = ""


def newest_time(ledger: Ledger) -> int:
    """The greatest event time of a member of the ledger, 0 if it is empty.  Cost: O(members), 1 ns each."""
    return int(view_i64(ledger.graph.nodes.times).max(initial=0))


def select_clusters(
    ledger: Ledger,
    value: Callable[[Cluster], float],
    filter: ClusterFilter,
    limit: int,
    after: SortKey | None = None,
) -> Selection:
    """Select the clusters with the least values; returns a page of their sort keys."""
    waiting = iter(tuple(ledger.ids.live))
    live, nodes = ledger.ids.live, ledger.graph.nodes
    is_described = bool(filter.least_sources or filter.text)
    slice_size = min(SLICE, DESCRIBED_SLICE) if is_described else SLICE

    def keys() -> Iterator[SortKey]:
        for id in islice(waiting, slice_size):
            cluster = live.get(id)
            if cluster is None or len(cluster) < max(filter.least_size, ledger.least_published):
                continue
            if filter.since_ms is not None and nodes.times[cluster[-1]] < filter.since_ms:
                continue
            if is_described and not _described_so(ledger, cluster, filter):
                continue
            yield value(cluster), id, ""

    return (yield from _selected(keys, len(live), limit, after, slice_size))


def _described_so(ledger: Ledger, cluster: Cluster, filter: ClusterFilter) -> bool:
    summary = _seen(ledger, cluster)[-1]
    headline, sources = getattr(summary, "headline", ""), getattr(summary, "source_count", 0)
    wanted = filter.text.casefold()
    return sources >= filter.least_sources and (wanted in cluster.id.casefold() or wanted in headline.casefold())


def select_reviews(
    ledger: Ledger, limit: int, after: SortKey | None = None, *, newest_first: bool = False
) -> Selection:
    """Select pairs for review, the most similar or the newest first."""
    pairs, times, ids = ledger.graph.pairs, ledger.graph.nodes.times, ledger.graph.nodes.ids
    waiting = iter(range(len(pairs.similarity) if pairs.link_from or pairs.chosen else 0))

    def keys() -> Iterator[SortKey]:
        for number in islice(waiting, SLICE):
            left, right = pairs.ends[2 * number], pairs.ends[2 * number + 1]
            if left != right and pairs.place(number) == REVIEW:
                value = max(times[left], times[right]) if newest_first else pairs.similarity[number]
                yield -value, ids[left], ids[right]

    return (yield from _selected(keys, len(pairs.similarity), limit, after, SLICE))


def pair_of(ledger: Ledger, left: str, right: str) -> MatchChange | None:
    """The pair of two documents, in either order; None if there is none."""
    slots, pairs = ledger.graph.nodes.slots, ledger.graph.pairs
    if left not in slots or right not in slots or left == right:
        return None
    pair = pairs.find(slots[left], slots[right])
    return present(pairs.state(pair)) if pair >= 0 else None


def mirrors(ledger: Ledger, site: str = "") -> list[MirrorChange]:
    """The published pairs of sites, of one site or of all, by the names of the sites."""
    published = [] if ledger.mirrors is None else ledger.mirrors.published()
    return [pair for pair in published if not site or site in (pair.left, pair.right)]


def _selected(
    keys: Callable[[], Iterable[SortKey]], most: int, limit: int, after: SortKey | None, slice_size: int
) -> Selection:
    """The page of the least keys after a key; `keys` gives those of one slice, of `most` in all."""
    least, total = list[SortKey](), 0
    for _ in range(-(-most // slice_size)):
        found = list(keys())
        total += len(found)
        least = nsmallest(limit + 1, [*least, *(key for key in found if after is None or key > after)])
        yield
    return Page(least[:limit], least[limit - 1] if len(least) > limit else None, total)


def _page(keys: Iterable[SortKey], limit: int, after: SortKey | None) -> Page:
    found = list(keys)
    least = nsmallest(limit + 1, (key for key in found if after is None or key > after))
    return Page(least[:limit], least[limit - 1] if len(least) > limit else None, len(found))
