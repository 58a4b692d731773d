"""Views of a ledger: they show what is published, and pages of a list are parts of the whole list in order."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from stream_lsh.ledger import views
from stream_lsh.ledger.changes import MatchChange, StorySummary
from stream_lsh.ledger.clusters.ids import Cluster
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.ledger.views import ClusterFilter, Page, Selection, SortKey
from tests.evaluation.edges import edges_of
from tests.ledger_histories import History
from tests.ledger_oracle import Topics
from tests.unit.ledger.test_stories import Retitled


def histories(seed: int, count: int, **settings: Any) -> Iterator[tuple[Ledger, Topics]]:
    """Ledgers after every frame of random histories, with everything that they have published."""
    for number in range(count):
        history = (Retitled if settings.get("stories") else History)(seed + number)
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


def newest_first(ledger: Ledger) -> Any:
    def value(cluster: Cluster) -> float:
        return -float(ledger.graph.nodes.times[cluster[-1]])

    return value


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
def test_the_pages_of_a_list_are_the_list(limit: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "SLICE", 2)
    pages = 0
    for ledger, published in histories(seed, 6, link_from=0.85):
        filter, least = ClusterFilter(random.Random(pages).choice((1, 3))), newest_first(ledger)
        whole = sorted(
            (-float(change.last_time_ms), id, "")
            for id, change in published.clusters.items()
            if change.size >= filter.least_size
        )
        read_keys, after = list[SortKey](), None
        while True:
            page = read(views.select_clusters(ledger, least, filter, limit, after))
            assert page.total == len(whole)
            read_keys += page.keys
            pages += 1
            if page.next is None:
                break
            after = page.next
        assert read_keys == whole
        reviews = read(views.select_reviews(ledger, 10_000))
        assert {(left, right) for _, left, right in reviews.keys} == live_pairs(ledger, published.reviews).keys()
    assert pages > 60


def test_a_list_can_be_filtered_by_time_outlets_and_words(seed: int) -> None:
    found = 0
    for ledger, published in histories(seed, 20, stories=True):
        rng = random.Random(found)
        filter = ClusterFilter(1, rng.choice((0, 2)), rng.choice((None, views.newest_time(ledger) - 3)), "TITLE 1")
        page = read(views.select_clusters(ledger, len, filter, 1_000))
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
