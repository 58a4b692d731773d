"""Summaries of stories follow from the members, through all their creations, updates and deletions."""

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from stream_lsh.ledger import ledger as ledger_module
from stream_lsh.ledger.changes import ClusterChange, LedgerChanges, StorySummary
from stream_lsh.ledger.clusters import stories as stories_module
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.clusters.stories import Outlets
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import NO_ABOUT, About, First, Outlet, Retirement
from stream_lsh.retention import Horizon
from tests.evaluation.edges import edges_of
from tests.ledger_histories import History
from tests.ledger_inside import check_graph, members_of
from tests.ledger_oracle import Topics

SOURCES = ("", "", "wire", "post", "herald", "globe")


def about(ref: int) -> About:
    """The metadata of a version; few lengths, so that many are equal."""
    rng = random.Random(ref)
    return About(f"title {ref}", rng.choice(SOURCES), rng.randint(0, 4))


def slow_story(members: Sequence[tuple[int, str]], abouts: dict[str, About], listed: int) -> tuple[str, StorySummary]:
    """The representative and the summary of these members."""
    members = sorted(members)
    longest = max(abouts[id].length for _, id in members[:10])
    representative = next(id for _, id in members if abouts[id].length == longest)
    firsts = dict[str, Outlet]()
    for time_ms, id in members:
        source = abouts[id].source
        if source:
            first_ms, documents = firsts.get(source, (source, time_ms, 0))[1:]
            firsts[source] = Outlet(source, first_ms, documents + 1)
    time_ms, oldest = members[0]
    outlets = (*firsts.values(),)[:listed]
    first = First(oldest, abouts[oldest].source, time_ms)
    return representative, StorySummary(abouts[representative].title, outlets, len(firsts), first)


class Retitled(History):
    """Some versions say the same as the one before, under another title."""

    def _version(self, id: str) -> End:
        version = super()._version(id)
        before = self._versions[id][:-1]
        if before and self._rng.random() < 0.4:
            version = version._replace(time_ms=before[-1].time_ms, digest=before[-1].digest)
        version = self._versions[id][-1] = version._replace(about=about(version.ref))
        return version

    def _retirement(self) -> Retirement:
        retired = super()._retirement()
        version_about = NO_ABOUT if retired.deleted else about(retired.ref)
        return Retirement(
            retired.id,
            retired.ref,
            retired.time_ms,
            retired.digest,
            retired.deleted,
            retired.keep_until_ms,
            version_about,
        )


def check_stories(ledger: Ledger, topics: Topics, listed: int) -> None:
    nodes = ledger.graph.nodes
    abouts = {id: about(nodes.refs[slot]) for id, slot in nodes.slots.items()}
    published = {id: (change.representative, change.summary) for id, change in topics.clusters.items()}
    assert published == {id: slow_story(members, abouts, listed) for id, members in members_of(ledger).items()}


@pytest.mark.parametrize("guards", [NO_GUARDS, Guards(strong_links=True, max_size=6)], ids=["free", "guarded"])
@pytest.mark.parametrize("few", [0, 32])
def test_stories_follow_from_the_members_after_every_frame(
    guards: Guards, few: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stories_module, "_FEW", few)
    published = 0
    for number in range(50):
        case = seed + number
        print(f"history {case}")
        rng, history = random.Random(case), Retitled(case)
        monkeypatch.setattr(ledger_module, "LEAST_ROWS", rng.choice((1, 6)))
        listed = rng.choice((1, 2, 100))
        monkeypatch.setattr(stories_module, "OUTLETS_LISTED", listed)
        ledger, topics = Ledger(0.8, history.retention_ms, guards, stories=True), Topics()
        snapshot, log = ledger.snapshot(), list[LedgerChanges]()
        for offset, (retirements, edges, horizon) in enumerate(history.frames()):
            settled = ledger.settle(offset, retirements=retirements, edges=edges_of(edges), horizon=horizon)
            for change in settled.clusters:
                topics._read_cluster(change)
            check_stories(ledger, topics, listed)
            published += len(topics.clusters)
            log.append(settled.changes)
            if rng.random() < 0.1:
                live, ledger = ledger, Ledger(0.8, history.retention_ms, guards, stories=True)
                for changes in (snapshot, *log):
                    ledger.apply(changes)
                assert ledger.snapshot() == live.snapshot()
                snapshot, log = ledger.snapshot(), []
        if not guards:
            check_graph(ledger)
    assert published > 1_000


def end(id: str, ref: int, time_ms: int, about: About, digest: int = 0) -> End:
    return End(id, ref, time_ms, digest, about)


def retitled(version: End, title: str, ref: int) -> Retirement:
    """The same version under another title."""
    about = version.about._replace(title=title)
    return Retirement(version.id, ref, version.time_ms, version.digest, False, version.time_ms, about)


def chained(versions: Iterable[End]) -> list[Edge]:
    first, *others = versions
    return [Edge(first, other, 0.9, 9, 10) for other in others]


def headline(change: ClusterChange) -> str:
    """The headline of a story."""
    assert isinstance(change.summary, StorySummary)
    return change.summary.headline


FLASH = end("b", 1, 10, About("Fire in the port", "wire", 90))
FULL = end("a", 2, 12, About("Two ships burn in the port", "herald", 2_400))
COPY = end("d", 3, 15, About("Two ships burn", "post", 2_400))


def test_a_story_has_the_headline_of_its_fullest_early_version_and_its_outlets_in_order() -> None:
    ledger = Ledger(0.8, stories=True)
    (created,) = ledger.settle(0, edges=chained([COPY, FULL, FLASH])).clusters
    outlets = (Outlet("wire", 10, 1), Outlet("herald", 12, 1), Outlet("post", 15, 1))
    summary = StorySummary("Two ships burn in the port", outlets, 3, First("b", "wire", 10))
    assert created == ClusterChange("a", "created", 3, ("d", "a", "b"), "a", (), None, 10, 15, None, summary)


def test_a_new_title_alone_publishes_only_its_cluster() -> None:
    ledger = Ledger(0.8, stories=True)
    ledger.settle(0, edges=chained([FULL, FLASH, COPY]))
    (changed,) = ledger.settle(1, retirements=[retitled(FULL, "Port in flames", 20)]).clusters
    assert (changed.event, headline(changed)) == ("changed", "Port in flames")
    assert ledger.settle(2, retirements=[retitled(COPY, "Ships on fire", 21)]).clusters == []


def test_an_edge_that_overtakes_the_retirement_publishes_the_new_title() -> None:
    ledger = Ledger(0.8, stories=True)
    ledger.settle(0, edges=chained([FULL, FLASH, COPY]))
    newer = FULL._replace(ref=20, about=FULL.about._replace(title="Port in flames"))
    (changed,) = ledger.settle(1, edges=chained([newer, FLASH])).clusters
    assert headline(changed) == "Port in flames"
    assert ledger.settle(2, retirements=[retitled(FULL, "Port in flames", 20)]).clusters == []


def test_a_new_title_is_published_if_only_an_identical_document_connects_its_document() -> None:
    ledger, full, copy = Ledger(0.8, 100, stories=True), FULL._replace(digest=7), COPY._replace(digest=7)
    ledger.settle(0, edges=chained([full, copy]))
    ledger.settle(1, edges=[Edge(full, copy, 0.0, 0, 10)])  # the pair is gone, the twins stay
    (changed,) = ledger.settle(2, retirements=[retitled(full, "Port in flames", 20)]).clusters
    assert (changed.event, headline(changed)) == ("changed", "Port in flames")


def test_without_stories_the_oldest_represents_and_no_summary_is_published() -> None:
    (created,) = Ledger(0.8).settle(0, edges=chained([COPY, FULL, FLASH])).clusters
    assert (created.representative, created.summary) == ("b", None)


def test_an_outlet_goes_with_its_last_document_and_falls_back_behind_others() -> None:
    again = end("c", 4, 20, About("More", "wire", 5))
    ledger = Ledger(0.8, stories=True)
    ledger.settle(0, edges=chained([FULL, FLASH, COPY, again]))
    gone = [Retirement("b", 30, 10, 0, True, 10), Retirement("d", 31, 15, 0, True, 15)]
    (left,) = ledger.settle(1, retirements=gone).clusters
    assert isinstance(left.summary, StorySummary)
    assert left.summary.sources == (Outlet("herald", 12, 1), Outlet("wire", 20, 1))
    assert left.summary.first == First("a", "herald", 12)


def test_an_event_in_a_large_story_costs_as_much_as_in_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    built, compared = [0], [0]
    for owner, name, count in ((Outlets, "__init__", built), (type(Ledger(0.8).graph.nodes), "age", compared)):
        plain = getattr(owner, name)

        def counted(*arguments: Any, _plain: Any = plain, _count: list[int] = count) -> Any:
            _count[0] += 1
            return _plain(*arguments)

        monkeypatch.setattr(owner, name, counted)
    size = 6_000
    versions = [end(f"d{n}", n, n, About("", f"outlet {n % 2_500}", n % 7)) for n in range(size)]
    ledger = Ledger(0.8, 10 * size, stories=True)
    hub = end("hub", size, size, NO_ABOUT)
    ledger.settle(0, edges=edges_of(chained([hub, *versions])))
    built[0] = compared[0] = 0
    for number in range(20):
        late, middle = versions[-1 - number], versions[2_600 + number]
        new = end(f"e{number}", size + 1 + number, size + 1 + number, About("", f"outlet {number}", 9))
        moved = middle.about._replace(source="outlet 17")
        update = Retirement(middle.id, 2 * size + number, middle.time_ms, 0, False, middle.time_ms, moved)
        ledger.settle(4 * number + 1, edges=[Edge(hub, new, 0.9, 9, 10)])
        ledger.settle(4 * number + 2, retirements=[Retirement(late.id, 3 * size, late.time_ms, 0, True, late.time_ms)])
        ledger.settle(4 * number + 3, retirements=[update])
        ledger.settle(4 * number + 4, horizon=Horizon(1 + number))
    assert built == [0]
    assert compared[0] < 20 * 400
    (cluster,) = ledger.ids.live.values()
    assert isinstance(cluster.describer_state, Outlets)
    afresh = Outlets(ledger.graph.nodes, cluster)
    assert (cluster.describer_state.members, cluster.describer_state.firsts) == (afresh.members, afresh.firsts)
