"""Views of a ledger: they show what is published, and pages of a list are parts of the whole list in order."""

import random
from collections.abc import Iterator
from typing import Any, Literal

import pytest

from stream_lsh.ledger import cluster_columns, state, views
from stream_lsh.ledger.changes import ClusterChange, MatchChange, StorySummary
from stream_lsh.ledger.clusters.guards.choice import EntityGuards
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.ledger.views import ClusterFilter, ClusterOrder, Page, Selection, SortKey
from tests.evaluation.edges import edges_of
from tests.ledger_histories import History
from tests.ledger_oracle import Topics
from tests.unit.ledger.test_stories import Retitled


def histories(seed: int, count: int, **settings: Any) -> Iterator[tuple[Ledger, Topics]]:
    """Ledgers after every frame of random histories, with everything that they have published."""
    for number in range(count):
        history = (Retitled if {"stories", "guards"} & settings.keys() else History)(seed + number)
        ledger, published = Ledger(0.8, history.retention_ms, **settings), Topics()
        for offset, (retirements, edges, horizon) in enumerate(history.frames()):
            published.read(ledger.settle(offset, retirements=retirements, edges=edges_of(edges), horizon=horizon))
            yield ledger, published


def live_pairs(ledger: Ledger, topic: dict[tuple[str, str], MatchChange]) -> dict[tuple[str, str], MatchChange]:
    """The pairs of a topic whose ends have not expired since: an expired pair stays on its topic."""
    return {key: change for key, change in topic.items() if views.pair_of(ledger, *key) == change}


def read(selection: Selection) -> Page:
    """The page of a selection that nothing interrupts."""
    while True:
        try:
            next(selection)
        except StopIteration as end:
            page: Page = end.value
            return page


def sort_value(change: ClusterChange, ledger: Ledger, order: ClusterOrder) -> float:
    """The sort value of a published cluster."""
    counts = {
        "size": change.size,
        "growing": sum(ledger.graph.nodes.times[slot] >= order.since_ms for slot in ledger.ids.live[change.id]),
    }
    if order.by in counts:
        return -(counts[order.by] + change.last_time_ms / (1 << 43))
    return -change.last_time_ms if order.by == "newest" else change.first_time_ms


def list_of(ledger: Ledger, order: ClusterOrder, filter: ClusterFilter, limit: int) -> list[SortKey]:
    """All pages of a list of clusters, one after the other."""
    keys, after = list[SortKey](), None
    while True:
        page = read(views.select_clusters(ledger, order, filter, limit, after))
        keys += page.keys
        if page.next is None:
            assert len(keys) == page.total
            return keys
        after = page.next


@pytest.mark.parametrize("settings", [{}, {"stories": True}, {"link_from": 0.85}], ids=["plain", "stories", "reviews"])
def test_clusters_and_matches_are_as_published(settings: dict[str, Any], seed: int) -> None:
    seen = 0
    for ledger, published in histories(seed, 25, **settings):
        live = {id: cluster for id, cluster in ledger.ids.live.items() if len(cluster) >= ledger.least_published}
        shown = {id: views.cluster_view(ledger, cluster)._replace(event=None) for id, cluster in live.items()}
        assert shown == published.clusters
        for id, slot in ledger.graph.nodes.slots.items():
            matches, page = views.matches_of(ledger, id, 1_000)
            assert {match[:2]: match for match in matches} == {
                key: change for key, change in live_pairs(ledger, published.matches).items() if id in key
            }
            assert [-match.similarity for match in matches if match.similarity] == [value for value, *_ in page.keys]
            cluster = ledger.graph.nodes.clusters[slot]
            members = views.members_of(ledger, cluster, 1_000)
            assert [member.id for member in members] == ledger.members(cluster.id)
            for member in members:
                assert (member.partner is None) == (member.similarity is None)
                assert member.partner is None or member.partner in ledger.members(cluster.id)
        seen += len(shown)
    assert seen > 300


@pytest.mark.parametrize("limit", [1, 3, 50])
@pytest.mark.parametrize("by", ["newest", "oldest", "size", "growing"])
def test_the_pages_of_a_list_are_the_list(
    by: Literal["newest", "oldest", "size", "growing"], limit: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_columns, "SLICE", 2)
    listed = 0
    for number, (ledger, published) in enumerate(histories(seed, 15, link_from=0.85)):
        rng = random.Random(number)
        if rng.random() < 0.5:  # the columns hold over several frames without a list
            continue
        filter, order = ClusterFilter(rng.choice((1, 3))), ClusterOrder(by, views.newest_time(ledger) - 3)
        whole = sorted(
            (sort_value(change, ledger, order), id, "")
            for id, change in published.clusters.items()
            if change.size >= filter.least_size
        )
        assert list_of(ledger, order, filter, limit) == whole
        listed += len(whole)
    assert listed > 100


@pytest.mark.parametrize(
    "settings", [{}, {"link_from": 0.85}, {"link_from": 0.85, "guards": EntityGuards(one_per_source=True)}]
)
@pytest.mark.parametrize("newest_first", [True, False])
def test_the_reviews_of_a_list_are_those_of_the_topic(
    settings: dict[str, Any], newest_first: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PAIR_SLICE", 3)
    listed = 0
    for ledger, published in histories(seed, 10, **settings):
        live, slots, times = live_pairs(ledger, published.reviews), ledger.graph.nodes.slots, ledger.graph.nodes.times
        whole = sorted(
            (-float(max(times[slots[id]] for id in key) if newest_first else one.similarity or 0), *key)
            for key, one in live.items()
        )
        keys, after = list[SortKey](), None
        while (page := read(views.select_reviews(ledger, 2, after, newest_first=newest_first))).next is not None:
            keys += page.keys
            after = page.next
        assert [*keys, *page.keys] == whole
        assert page.total == len(whole)
        listed += len(whole)
    assert (listed > 20) == bool(settings)


def test_a_follower_lists_the_same_as_the_ledger(seed: int) -> None:
    listed, filter = 0, ClusterFilter(2)
    for number in range(10):
        history = History(seed + number)
        ledger, follower = Ledger(0.8, history.retention_ms), Ledger(0.8, history.retention_ms)
        for offset, (retirements, edges, horizon) in enumerate(history.frames()):
            settled = ledger.settle(offset, retirements=retirements, edges=edges_of(edges), horizon=horizon)
            follower.apply(settled.changes)
            for order in (ClusterOrder("newest"), ClusterOrder("size")):
                followed = list_of(follower, order, filter, 5)
                assert followed == list_of(ledger, order, filter, 5)
                listed += len(followed)
    assert listed > 100


def test_columns_that_no_list_uses_are_dropped(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_LEAST_DROPPED", 3)
    history, kept = History(seed), list[bool]()
    ledger = Ledger(0.8, history.retention_ms)
    for offset, (retirements, edges, horizon) in enumerate(history.frames()):
        if offset == 1:
            ledger.cluster_columns()
        ledger.settle(offset, retirements=retirements, edges=edges_of(edges), horizon=horizon)
        kept.append(ledger.columns is not None)
        assert ledger.columns is None or len(ledger.columns.changed) <= max(3, len(ledger.ids.live))
    assert kept[1]
    assert not kept[-1]


def test_a_list_can_be_filtered_by_time_outlets_and_words(seed: int) -> None:
    found = 0
    for ledger, published in histories(seed, 20, stories=True):
        rng = random.Random(found)
        filter = ClusterFilter(1, rng.choice((0, 2)), rng.choice((None, views.newest_time(ledger) - 3)), "TITLE 1")
        page = read(views.select_clusters(ledger, ClusterOrder("newest"), filter, 1_000))
        expected = {
            id
            for id, change in published.clusters.items()
            if isinstance(change.summary, StorySummary)
            if "title 1" in change.summary.headline and change.summary.source_count >= filter.least_sources
            if filter.since_ms is None or change.last_time_ms >= filter.since_ms
        }
        assert {id for _, id, _ in page.keys} == expected
        found += len(expected)
    assert found > 20


def test_the_growth_of_a_cluster_counts_its_members_from_a_time_on(seed: int) -> None:
    for ledger, _ in histories(seed, 5):
        for cluster in ledger.ids.live.values():
            times = sorted(ledger.graph.nodes.times[slot] for slot in cluster)
            for since_ms in (times[0] - 1, times[0], times[-1], times[-1] + 1):
                assert views.grown(ledger, cluster, since_ms) == sum(time >= since_ms for time in times)


def test_the_successor_of_a_closed_cluster_has_its_founder(seed: int) -> None:
    closed = 0
    for ledger, published in histories(seed, 15):
        for id in ledger.ids.closed:
            into = views.successor(ledger, id)
            assert into is None or into in published.clusters
            closed += into is not None
    assert closed


def _ordered(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


@pytest.mark.parametrize("block", range(6))
def test_the_pairs_of_a_cluster_are_those_that_are_published(block: int) -> None:
    seen = {"inside": 0, "outside": 0}
    guarded = {"link_from": 0.85, "guards": EntityGuards(one_per_source=True)}
    every: list[dict[str, Any]] = [{}, {"link_from": 0.85}, guarded]
    for settings in every:
        for ledger, published in histories(400 * block, 8, **settings):
            known = live_pairs(ledger, published.matches) | live_pairs(ledger, published.reviews)
            for cluster in ledger.ids.live.values():
                links, ids = views.links_of(ledger, cluster, 3), [ledger.graph.nodes.ids[slot] for slot in cluster]
                inside = {_ordered(ids[left], ids[right]): one for left, right, one in links.inside}
                assert {pair: known[pair].similarity for pair in inside} == inside
                others = [_ordered(link[0], link[1]) for link in links.outside]
                assert [known[pair].similarity for pair in others] == [link[3] for link in links.outside]
                for pair in known:
                    within = set(pair) & set(ids)
                    assert len(within) < 2 or pair in inside or pair in published.reviews
                    assert len(within) != 1 or pair in others or len(others) == 3
                seen["inside"] += len(inside)
                seen["outside"] += len(others)
    assert all(seen.values()), seen
