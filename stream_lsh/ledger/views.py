"""Views of a ledger for queries: the present pairs of a document, the members of a cluster, and pages of lists.

A view reads the state, so it may be ahead of the public topics by messages that are not sent yet.  It changes nothing.

Long lists are read in slices: a selection is a generator that yields after each slice, so that its caller can let other
work run, and returns the page.  The ledger may change between two slices.  An entry whose sort value changes may then
be missing from a listing, or be in it twice; all others are in it once.  A listed cluster may have closed meanwhile.
"""

from bisect import bisect_left
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from typing import Literal, NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64
from stream_lsh.ledger.changes import ClusterChange, MatchChange, MirrorChange
from stream_lsh.ledger.cluster_columns import ClusterColumns, Heading
from stream_lsh.ledger.clusters.entities import Entities
from stream_lsh.ledger.clusters.ids import NOWHERE, Cluster
from stream_lsh.ledger.frame_notes import ClusterView, FrameNotes
from stream_lsh.ledger.graph.nodes import view_f64, view_i64, view_u32
from stream_lsh.ledger.graph.pairs import MATCH
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import About

PAIR_SLICE = 20_000
"""Pairs that are read at a time: at most some 2 ms."""

_LATEST_MS = float(1 << 43)
"""Event times are below it (year 2248), so that a time does not outweigh a count."""

SortKey = tuple[float, str, str]
"""A value, ascending, and the ids of the row, which make the order total: two for a pair, one and "" for others."""


class Member(NamedTuple):
    """A member of a cluster, and its most similar partner in it; neither is set for a member without a match in it."""

    id: str
    time_ms: int
    about: About
    similarity: float | None
    partner: str | None


class Links(NamedTuple):
    """The pairs of the members of a cluster.

    Attributes:
        inside: places of two connected members, the earlier first, and their similarity; in order.
        outside: ids of a member and of another document, its cluster if it is published, and their similarity: a guard,
            the range for review or a decision keeps them apart.  The most similar first.
    """

    inside: Sequence[tuple[int, int, float]]
    outside: Sequence[tuple[str, str, str | None, float]]


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


def matches_of(ledger: Ledger, id: str, limit: int, after: SortKey | None = None) -> tuple[list[MatchChange], Page]:
    """The matches of a document, the most similar first; a sort key has the id of the partner.

    Cost: O(pairs of the document).
    """
    graph = ledger.graph
    slot, ids = graph.nodes.slots.get(id), graph.nodes.ids
    partners = [] if slot is None else graph.pairs.partners(slot)
    matches = {ids[partner]: pair for partner, pair in partners if graph.pairs.topic(pair) == MATCH}
    partner_ids = [*matches]
    values = -np.array([graph.pairs.similarity[pair] for pair in matches.values()], np.float64)
    page = _page(values, lambda at: (partner_ids[at], ""), limit, after)
    return [graph.pairs.state(matches[partner]).change() for _, partner, _ in page.keys], page


def cluster_view(ledger: Ledger, cluster: Cluster) -> ClusterChange:
    """A cluster as on its topic, except for its event."""
    size, members, representative, first_ms, last_ms, summary = _public_view(ledger, cluster)
    return ClusterChange(
        cluster.id, "changed", size, members, representative, (), None, first_ms, last_ms, None, summary
    )


def _public_view(ledger: Ledger, cluster: Cluster) -> ClusterView:
    return FrameNotes(-1, ledger.graph, ledger.describer).public_view(cluster)


def origins_of(ledger: Ledger, cluster: Cluster) -> Mapping[str, str] | None:
    """The member that each value of an entity's golden record comes from, by field; None for other clusters."""
    describer = ledger.describer
    return describer.origins(cluster, ledger.graph.nodes) if isinstance(describer, Entities) else None


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


def links_of(ledger: Ledger, cluster: Cluster, most_outside: int) -> Links:
    """The pairs of the members of a cluster, at most `most_outside` with other documents.  Cost: O(pairs)."""
    nodes, pairs = ledger.graph.nodes, ledger.graph.pairs
    places = {slot: place for place, slot in enumerate(cluster)}
    inside, outside = list[tuple[int, int, float]](), list[tuple[str, str, str | None, float]]()
    for slot, place in places.items():
        for partner, pair in pairs.partners(slot):
            similarity, other = pairs.similarity[pair], nodes.clusters[partner]
            if other is not cluster:
                name = other.id if len(other) >= ledger.least_published else None
                outside.append((nodes.ids[slot], nodes.ids[partner], name, similarity))
            elif place < places[partner] and pairs.links(pair):
                inside.append((place, places[partner], similarity))
    return Links(sorted(inside), nsmallest(most_outside, outside, key=lambda link: (-link[3], link[:2])))


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


class ClusterOrder(NamedTuple):
    """The order of a list of clusters.

    Attributes:
        by: `newest`, by the newest member; `oldest`, by the oldest one; `size`, the largest first; `growing`, by the
            number of members with an event time from `since_ms` on.  Of equal sizes, the newest is first.
        since_ms: for `growing`.
    """

    by: Literal["newest", "oldest", "size", "growing"]
    since_ms: int = 0


def select_clusters(
    ledger: Ledger, order: ClusterOrder, filter: ClusterFilter, limit: int, after: SortKey | None = None
) -> Selection:
    """Select the first clusters of an order; returns a page of their sort keys.

    Cost: O(clusters), some 10 ns each, and O(clusters that have changed since the last list).
    """
    columns = ledger.cluster_columns()
    yield from columns.update()
    rows = _passing(ledger, columns, filter)
    if filter.least_sources or filter.text:
        yield from columns.describe(rows.tolist(), partial(_heading, ledger))
        rows = np.array([row for row in rows.tolist() if _is_headed_so(columns, row, filter)], np.int64)
    values = _values(ledger, columns, rows, order)
    return _page(values, lambda at: (columns.ids[rows[at]], ""), limit, after)


def _passing(ledger: Ledger, columns: ClusterColumns, filter: ClusterFilter) -> I64:
    """The rows of the published clusters that pass a filter, except for its words and outlets."""
    passing = view_i64(columns.sizes) >= max(filter.least_size, ledger.least_published)
    if filter.since_ms is not None:
        passing &= view_i64(columns.newest) >= filter.since_ms
    rows: I64 = passing.nonzero()[0]
    return rows


def _values(ledger: Ledger, columns: ClusterColumns, rows: I64, order: ClusterOrder) -> F64:
    """The sort values of rows."""
    if order.by == "oldest":
        return view_i64(columns.oldest)[rows].astype(np.float64)
    newest = view_i64(columns.newest)[rows]
    if order.by == "newest":
        return -newest.astype(np.float64)
    if order.by == "size":
        counts = view_i64(columns.sizes)[rows].astype(np.float64)
    else:
        counts, live = np.zeros(rows.size, np.float64), ledger.ids.live
        for at in (newest >= order.since_ms).nonzero()[0].tolist():
            counts[at] = grown(ledger, live.get(columns.ids[rows[at]], NOWHERE), order.since_ms)
    return -(counts + newest / _LATEST_MS)


def _heading(ledger: Ledger, cluster: Cluster) -> Heading:
    summary = _public_view(ledger, cluster)[-1]
    return getattr(summary, "headline", "").casefold(), getattr(summary, "source_count", 0)


def _is_headed_so(columns: ClusterColumns, row: int, filter: ClusterFilter) -> bool:
    headline, sources = columns.heading(row)
    wanted = filter.text.casefold()
    return sources >= filter.least_sources and (wanted in columns.ids[row].casefold() or wanted in headline)


def select_reviews(
    ledger: Ledger, limit: int, after: SortKey | None = None, *, newest_first: bool = False
) -> Selection:
    """Select pairs for review, the most similar or the newest first.  Cost: O(pairs), some 10 ns each."""
    pairs, times, ids = ledger.graph.pairs, ledger.graph.nodes.times, ledger.graph.nodes.ids
    found = [np.empty(0, np.int64)]
    for start in range(0, len(pairs.similarity), PAIR_SLICE):
        found.append(_reviews(ledger, pairs.numbers(start, start + PAIR_SLICE)))
        yield
    numbers = np.concatenate(found)
    ends = view_u32(pairs.ends).reshape(-1, 2)[numbers]
    numbers = _reviews(ledger, numbers[ends[:, 0] != ends[:, 1]])  # a pair may have changed between two slices
    ends = view_u32(pairs.ends).reshape(-1, 2)[numbers]
    if newest_first:
        values = -view_i64(times)[ends].max(axis=1).astype(np.float64)
    else:
        values = -view_f64(pairs.similarity)[numbers]
    return _page(values, lambda at: (ids[ends[at, 0]], ids[ends[at, 1]]), limit, after)


def _reviews(ledger: Ledger, numbers: I64) -> I64:
    """Those of some pairs whose topic is that of reviews, as `Pairs.topic`."""
    pairs = ledger.graph.pairs
    is_review = view_f64(pairs.similarity)[numbers] < pairs.link_from
    if pairs.chosen:
        clusters, ends = ledger.graph.nodes.clusters, view_u32(pairs.ends).reshape(-1, 2)[numbers].tolist()
        is_review |= np.array([clusters[left] is not clusters[right] for left, right in ends], np.bool_)
    if pairs.verdicts:
        is_review &= ~np.isin(numbers, [*pairs.verdicts])
    reviews: I64 = numbers[is_review]
    return reviews


def pair_of(ledger: Ledger, left: str, right: str) -> MatchChange | None:
    """The pair of two documents, in either order; None if there is none."""
    slots, pairs = ledger.graph.nodes.slots, ledger.graph.pairs
    if left not in slots or right not in slots or left == right:
        return None
    pair = pairs.find(slots[left], slots[right])
    return pairs.state(pair).change() if pair >= 0 else None


def mirrors(ledger: Ledger, site: str = "") -> list[MirrorChange]:
    """The published pairs of sites, of one site or of all, by the names of the sites."""
    published = [] if ledger.mirrors is None else ledger.mirrors.published()
    return [pair for pair in published if not site or site in (pair.left, pair.right)]


def _page(values: F64, key: Callable[[int], tuple[str, str]], limit: int, after: SortKey | None) -> Page:
    """The page of the least keys after a key.

    Args:
        values: the sort value of each row.
        key: the ids of a row, unique; called for the rows of the page, and for those with the same value as its ends.
        limit: rows of the page.
        after: the last key of the previous page.
    """
    rows = np.arange(values.size)
    if after is not None:
        same = (values == after[0]).nonzero()[0].tolist()
        rows = np.append((values > after[0]).nonzero()[0], [at for at in same if key(at) > after[1:]]).astype(np.int64)
    if rows.size > limit + 1:
        # Of the rows with the last value of the page, the ids decide.
        last = np.partition(values[rows], limit)[limit]
        ties = rows[values[rows] == last].tolist()
        rows = rows[values[rows] < last]
        least = nsmallest(limit + 1 - rows.size, ties, key=key)
        rows = np.append(rows, least).astype(np.int64)
    keys = sorted((float(values[at]), *key(at)) for at in rows.tolist())
    return Page(keys[:limit], keys[limit - 1] if len(keys) > limit else None, values.size)
