"""Summaries of clusters of records follow from their members, and are computed only after a change."""

import json
import random
from collections.abc import Sequence

from stream_lsh.ledger.changes import ClusterChange, EntitySummary, LedgerChanges
from stream_lsh.ledger.clusters.entities import Entities
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import NO_ABOUT, About, Retirement
from stream_lsh.retention import Horizon
from tests.evaluation.edges import edges_of
from tests.ledger_histories import History
from tests.ledger_inside import members_of

Member = tuple[str, str, int, str]


def all_of_them(members: Sequence[Member]) -> str:
    """A golden record that shows everything that it was made of."""
    return json.dumps(members)


def fields(ref: int) -> About:
    """Few are different, so that versions often say the same."""
    rng = random.Random(ref)
    return About(json.dumps({"name": rng.choice("xy")}), rng.choice(("crm", "erp", "")))


class Records(History):
    """Versions are records."""

    def _version(self, id: str) -> End:
        version = super()._version(id)
        version = self._versions[id][-1] = version._replace(about=fields(version.ref))
        return version

    def _retirement(self) -> Retirement:
        retired = super()._retirement()
        about = NO_ABOUT if retired.deleted else fields(retired.ref)
        rest = retired.digest, retired.deleted, retired.keep_until_ms
        return Retirement(retired.id, retired.ref, retired.time_ms, *rest, about)


def expected(ledger: Ledger) -> dict[str, EntitySummary]:
    """The summary of each cluster of two or more, from its members."""
    nodes, summaries = ledger.graph.nodes, dict[str, EntitySummary]()
    for id, members in members_of(ledger).items():
        rows = [(one, fields(nodes.refs[nodes.slots[one]]), time_ms) for time_ms, one in members]
        golden = json.dumps([(one, about.source, time_ms, about.title) for one, about, time_ms in rows])
        if len(members) > 1:
            summaries[id] = EntitySummary(tuple((one, about.source) for one, about, _ in rows[:-101:-1]), golden)
    return summaries


def test_entities_follow_from_the_members_after_every_frame(seed: int) -> None:
    seen = 0
    for number in range(40):
        rng, history = random.Random(seed + number), Records(seed + number)
        guards = Guards(one_per_source=rng.random() < 0.3)

        def empty(history: Records = history, guards: Guards = guards) -> Ledger:
            return Ledger(0.8, history.retention_ms, guards, link_from=0.9, describer=Entities(all_of_them))

        ledger, topic, log = empty(), dict[str, ClusterChange](), list[LedgerChanges]()
        for offset, (retirements, edges, horizon) in enumerate(history.frames()):
            settled = ledger.settle(offset, retirements=retirements, edges=edges_of(edges), horizon=horizon)
            log.append(settled.changes)
            for change in settled.clusters:
                bare = change._replace(event=None, merged_from=(), split_from=None)
                assert topic.pop(change.id, None) != bare, "nothing new"
                if change.event is not None:
                    topic[change.id] = bare
            assert {id: change.summary for id, change in topic.items()} == expected(ledger)
            seen += len(topic)
            if rng.random() < 0.1:
                live, ledger = ledger, empty()
                for changes in log:
                    ledger.apply(changes)
                assert ledger.snapshot() == live.snapshot()
    assert seen > 500


def record(id: str, ref: int, name: str) -> End:
    return End(id, ref, ref, 0, About(json.dumps({"name": name}), "crm"))


def test_golden_records_are_made_once_for_each_change() -> None:
    made = list[int]()

    def golden(members: Sequence[Member]) -> str:
        made.append(len(members))
        return members[-1][3]

    ledger = Ledger(0.8, link_from=0.9, describer=Entities(golden))
    one, two, three = record("a", 1, "x"), record("b", 2, "y"), record("c", 3, "z")
    (created,) = ledger.settle(0, edges=[Edge(one, two, 0.95, 1, 2)]).clusters
    assert created.summary == EntitySummary((("b", "crm"), ("a", "crm")), two.about.title)
    assert made == [2]
    ledger.settle(1, edges=[Edge(two, three, 0.85, 1, 2)])
    assert made == [2], "a review changes no summary"
    (joined,) = ledger.settle(2, edges=[Edge(one, three, 0.95, 1, 2)]).clusters
    assert (joined.event, joined.summary and joined.summary[1]) == ("joined", three.about.title)
    assert made == [2, 3], "the published record is cached"
    newer = record("b", 9, "new")
    (changed,) = ledger.settle(3, retirements=[Retirement("b", 9, 9, 0, False, 9, newer.about)]).clusters
    assert (changed.event, changed.summary and changed.summary[1]) == ("changed", newer.about.title)
    assert made == [2, 3, 3]
    ledger.settle(4, horizon=Horizon(0))
    assert made == [2, 3, 3]


def test_a_cluster_with_the_same_golden_record_is_not_published_again() -> None:
    ledger = Ledger(0.8, link_from=0.9, describer=Entities(lambda members: "same"))
    one, two = record("a", 1, "x"), record("b", 2, "y")
    ledger.settle(0, edges=[Edge(one, two, 0.95, 1, 2)])
    retold = Retirement("b", 9, two.time_ms, 0, False, 9, About("{}", "crm"))
    assert ledger.settle(1, retirements=[retold]).clusters == []
