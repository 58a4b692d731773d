"""The checks of a run with records, in place of those of texts: pairs, decisions, entities, scores, counts."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from math import inf

import numpy as np

from stream_lsh.ledger.changes import EntitySummary, MatchChange
from stream_lsh.ledger.decisions import DIFFERENT, SAME, Decision
from stream_lsh.ledger.graph.pairs import MATCH
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from tests.simulation.oracles.oracle import Pair, components
from tests.simulation.oracles.view import View
from tests.simulation.pipelines.entities import Records, differs, entities, golden

_ROUNDING = 1e-9


def _records(view: View) -> Records:
    assert view.setup.records is not None
    return view.setup.records


def _verdict(view: View, pair: Pair) -> str | None:
    decisions = view.truth.decisions.get(pair)
    return None if decisions is None else decisions[-1].verdict


def _current(view: View, topic: dict[Pair, MatchChange]) -> dict[Pair, MatchChange]:
    """Pairs of a topic without those that an expired end keeps there."""
    return {pair: change for pair, change in topic.items() if not view.aside(change)}


def _linking(view: View) -> dict[Pair, MatchChange]:
    """The published pairs that connect, by their score or a decision."""
    link_from = _records(view).link_from
    return {
        pair: change
        for pair, change in (view.matches | view.reviews).items()
        if _verdict(view, pair) == SAME or (change.similarity or 0.0) >= link_from
    }


def _is_chosen(view: View, pair: Pair) -> bool:
    """Whether both records are in the same cluster, or matches are not chosen."""
    left, right = (view.members.get(id) for id in pair)
    return not _records(view).one_per_source or (
        left is not None and right is not None and left.cluster == right.cluster
    )


def pairs_are_true(view: View) -> Iterator[str]:
    """Each pair of live newest versions is a match, a review, or neither, by its score and the last decision.

    Where sources have no duplicates, a match also needs both records in the same cluster.
    """
    truth, records, threshold = view.truth, _records(view), view.setup.threshold
    matches, reviews = _current(view, view.matches), _current(view, view.reviews)
    for pair in sorted(matches.keys() & reviews.keys()):
        yield f"{pair} is a match and a review: {matches[pair]}, {reviews[pair]}"
    for topic, found in (("matches", matches), ("reviews", reviews)):
        for pair, change in sorted(found.items()):
            if not all(id in truth.live for id in pair):
                yield f"{topic}: {change} names a record that is not live"
                continue
            left, right = (truth.live[id] for id in pair)
            score, most = change.similarity, float(truth.similarity(left, right))
            assert score is not None
            if (change.left_time_ms, change.right_time_ms) != (left.time_ms, right.time_ms):
                yield f"{topic}: {change} is not of {left} and {right}"
            if not most - records.slack - _ROUNDING <= score <= most:
                yield f"{topic}: {change}, but the score is {most} less {records.slack} at the most"
            if change.evidence != (repr(score) if most else ""):
                yield f"{topic}: {change} has the evidence of another score"
            verdict = _verdict(view, pair)
            is_match = verdict == SAME or (verdict is None and score >= records.link_from and _is_chosen(view, pair))
            is_review = verdict is None and threshold <= score and not is_match
            if not (is_match if topic == "matches" else is_review):
                yield f"{topic}: {change}, and the last decision is {verdict}"
    known = sorted(truth.live.keys() - truth.ambiguous)
    for pair in combinations(known, 2):
        least = float(truth.similarity(truth.live[pair[0]], truth.live[pair[1]])) - records.slack
        if least >= threshold and _verdict(view, pair) != DIFFERENT and not {pair} & {*view.matches, *view.reviews}:
            yield f"{pair} is true and not published"


def a_record_has_one_match_in_each_source(view: View) -> Iterator[str]:
    """Where sources have no duplicates, a live record has one match at most in each other source, besides decisions."""
    live, partners = view.truth.live, defaultdict[tuple[str, str], set[str]](set)
    for pair in _current(view, view.matches) if _records(view).one_per_source else ():
        for id, other in (pair, pair[::-1]):
            if _verdict(view, pair) is None and live[other].about.source:
                partners[id, live[other].about.source].add(other)
    for (id, source), others in sorted(partners.items()):
        if len(others) > 1:
            yield f"{id} matches {sorted(others)} of {source}"


def decisions_count(view: View) -> Iterator[str]:
    """The ledger holds the last decision about each pair, and no other."""
    true = [decisions[-1] for _, decisions in sorted(view.truth.decisions.items())]
    found: list[Decision] = view.settler.ledger.decisions.rows()
    if found != true:
        yield f"the ledger holds {found}, true are {true}"


def entities_are_true(view: View) -> Iterator[str]:
    """Clusters follow from the published matches and the guard; with a past, each of them passes the guard."""
    truth, of = view.truth, {id: change.cluster for id, change in view.members.items()}
    for id in sorted(of.keys() - truth.live.keys() - truth.ambiguous):
        yield f"{id} is a member of {of[id]} and not live"
    parts: dict[str | None, set[str]] = defaultdict(set)
    for id in of.keys() & truth.live.keys() - truth.ambiguous:
        parts[of[id]].add(id)
    for cluster, members in sorted(parts.items(), key=str):
        if not _may_be_together(view, members):
            yield f"{cluster} has {sorted(members)}, which may not be together"
    if view.expires or truth.ambiguous:
        yield from _are_connected(view, [sorted(members) for members in parts.values()])
        return
    true = {frozenset(part) for part in _greedy(view) if len(part) > 1}
    found = {frozenset(members) for members in parts.values()}
    if found != true:
        yield f"published are {found}, true are {true}"
    best: dict[str, float] = defaultdict(lambda: -1.0)
    for pair, change in view.matches.items():
        for id in pair:
            best[id] = max(best[id], change.similarity or 0.0)
    for id, member in sorted(view.members.items()):
        if member.similarity != best[id]:
            yield f"{member}, but the best of its pairs has {best[id]}"


def _may_be_together(view: View, members: set[str]) -> bool:
    sources = Counter(view.truth.live[id].about.source for id in members)
    if _records(view).one_per_source and any(count > 1 for source, count in sources.items() if source):
        return False
    return not any(_verdict(view, pair) == DIFFERENT for pair in combinations(sorted(members), 2))


def _greedy(view: View) -> list[set[str]]:
    """The best pairs unite first, of equal ones those of older records, unless the guard forbids it."""
    live = view.truth.live
    age = {id: place for place, (_, id) in enumerate(sorted((v.time_ms, v.id) for v in live.values()))}
    ranked = list[tuple[float, list[int], Pair]]()
    for pair, change in _linking(view).items():
        score = inf if _verdict(view, pair) == SAME else change.similarity or 0.0
        ranked.append((-score, sorted(age[id] for id in pair), pair))
    parts = [{id} for id in live]
    for *_, (one, other) in sorted(ranked):
        ours, theirs = (next(part for part in parts if id in part) for id in (one, other))
        if ours is not theirs and _may_be_together(view, ours | theirs):
            parts = [part for part in parts if part is not ours and part is not theirs] + [ours | theirs]
    return parts


def _are_connected(view: View, groups: list[list[str]]) -> Iterator[str]:
    """Members of a cluster are connected by pairs of any versions, or by decisions."""
    truth = view.truth
    versions = [version for of in truth.versions.values() for version in of]
    links = [(a.id, b.id) for a, b in combinations(versions, 2) if truth.match(a, b)]
    links += [pair for pair, of in truth.decisions.items() if any(one.verdict == SAME for one in of)]
    number = components(truth.versions, [link for link in links if {*link} <= truth.versions.keys()])
    for group in groups:
        if len({number[id] for id in group}) > 1:
            yield f"{group} share a cluster and are not connected"
    if _records(view).one_per_source or any(_verdict(view, pair) == DIFFERENT for pair in truth.decisions):
        return
    of = {id: group for group in groups for id in group}
    for left, right in sorted(_current(view, view.matches)):
        if left not in of or right not in of[left]:
            yield f"{left} and {right} match and share no cluster"


def golden_records_are_true(view: View) -> Iterator[str]:
    """Every cluster has its members, newest first, and the golden record of their newest versions."""
    live = view.truth.live
    for id, change in sorted(view.clusters.items()):
        if not all(member in live and member not in view.truth.ambiguous for member in change.members):
            continue
        versions = sorted((live[member] for member in change.members), key=lambda one: (one.time_ms, one.id))
        rows = [(one.id, one.about.source, one.time_ms, one.about.title) for one in versions]
        summary = EntitySummary(tuple((one.id, one.about.source) for one in reversed(versions)), golden(rows))
        if (change.representative, change.summary) != (versions[0].id, summary):
            yield f"cluster {id} is published as {change}, true are {summary}"


def scores_stay(view: View) -> Iterator[str]:
    """A pair of the same versions keeps its score until one counts more records; gone ones too, if scores are calm."""
    known: dict[tuple[object, ...], tuple[int, float]] = {}
    for offset, results in sorted(view.run.broker.settled.items()):
        changes = results[0].changes
        if not _records(view).is_calm:
            gone = {*changes.pairs_gone}
            known = {key: score for key, score in known.items() if key[:2] not in gone}
        for state in changes.pairs:
            score, before = (state.union, state.similarity), known.get(state[:4], (-1, 0.0))
            known[state[:4]] = score
            if score[0] < before[0] or (score[0] == before[0] and score != before):
                yield f"at {offset} the score of {state} was {before}"


def no_score_is_outdated(view: View) -> Iterator[str]:
    """A score counts more than half of the records that the partition of its right end has reported, or none."""
    graph, records = view.settler.ledger.graph, view.settler.outdated.records
    for pair in graph.pairs.numbers().tolist():
        partition = graph.nodes.refs[graph.pairs.ends[2 * pair + 1]] >> 48
        if 0 < 2 * graph.pairs.union[pair] <= records.get(partition, -1):
            yield f"{graph.pairs.state(pair)} counts too few of {records[partition]} records"


def settled_again_gives_the_same(view: View) -> Iterator[str]:
    """A message gives the same result again after a crash."""
    for offset, results in sorted(view.run.broker.settled.items()):
        if len(results) > 1:
            yield f"at {offset}: {results}"


def frequencies_are_those_of_live_records(view: View) -> Iterator[str]:
    """After every rebalance those of the table; in the end those of the produced documents that the table holds."""
    yield from view.run.miscounted
    for worker in view.run.workers:
        for partition, state in worker.partitions.items() if not view.truth.ambiguous else ():
            newest = [version for version in view.truth.newest.values() if version.ref >> 48 == partition]
            # Records before the start of a trimmed log are gone for its next owner, whatever its horizon.
            rows = state.documents.rows(np.array([version.ref for version in newest], np.uint64)).tolist()
            kept = [version for version, row in zip(newest, rows, strict=True) if row >= 0]
            for version in newest:
                if version.id in view.truth.live and version not in kept:
                    yield f"partition {partition}: {version} is live and not counted"
            found = differs(state.documents, [" ".join(map(str, sorted(version.shingles))) for version in kept])
            if found:
                yield f"partition {partition}: {found}"


def no_pair_flickers(view: View) -> Iterator[str]:
    """A pair that is a match, or a review, in all versions, and has no decision, is never withdrawn.

    Where sources have no duplicates, a match may become a review, in one message.
    """
    truth, records = view.truth, _records(view)
    lost = {(pair, version) for pair, version, change in view.history["reviews"] if change.similarity is not None}
    lost = lost if records.one_per_source else set()
    bounds = {"matches": (records.link_from, 2.0), "reviews": (view.setup.threshold, records.link_from)}
    for topic, (least, below) in bounds.items() if records.is_calm else ():
        for (left, right), version, change in view.history[topic]:
            if change.similarity is not None or (left, right) in truth.decisions:
                continue
            if topic == "matches" and ((left, right), version) in lost:
                continue
            versions = truth.versions[left] + truth.versions[right]
            if truth.deletes[left] or truth.deletes[right] or any(truth.expired(version) for version in versions):
                continue
            if all(
                least <= truth.similarity(*pair) < below
                for pair in product(truth.versions[left], truth.versions[right])
            ):
                yield f"{topic}: ({left}, {right}) was withdrawn: {change}"


def memory_gives_the_same(view: View) -> Iterator[str]:
    """The in-memory pipeline, given the decisions and the surviving records, finds the same pairs and entities."""
    setup, records, truth = view.setup, _records(view), view.truth
    held = any((change.similarity or 0.0) < setup.threshold for change in view.matches.values())
    if view.expires or not setup.matches_at_any_distance or records.drift or held:
        return
    limits = Limits(
        cap_postings=0, cap_candidates=0, guards=records.guards, link_from=records.link_from, describer=entities()
    )
    local = LocalPipeline(setup.scheme, setup.threshold, limits)
    for (left, right), decisions in truth.decisions.items():
        local.decide(left, right, decisions[-1].verdict)
    local.process([truth.documents[id] for id in truth.newest])
    ledger = local.settler.ledger
    pairs = {(pair.left, pair.right): pair.similarity for pair in ledger.snapshot().pairs}
    published = {pair: change.similarity for pair, change in (view.matches | view.reviews).items()}
    apart = {pair for pair in pairs if _verdict(view, pair) == DIFFERENT}
    if {pair: score for pair, score in pairs.items() if pair not in apart} != published:
        yield f"pairs: {pairs} in memory, {published} published"
    slots, stored = ledger.graph.nodes.slots, ledger.graph.pairs
    matched = {pair for pair in pairs if stored.topic(stored.find(*(slots[id] for id in pair))) == MATCH}
    if matched != view.matches.keys():
        yield f"matches: {matched} in memory, {view.matches.keys()} published"
    groups = {frozenset(cluster) for id in ledger.ids.live if len(cluster := ledger.members(id)) > 1}
    found = {frozenset(id for id, member in view.members.items() if member.cluster == one) for one in view.clusters}
    if groups != found:
        yield f"groups: {groups} in memory, {found} published"


CHECKS = (
    pairs_are_true,
    a_record_has_one_match_in_each_source,
    decisions_count,
    entities_are_true,
    golden_records_are_true,
    scores_stay,
    no_score_is_outdated,
    settled_again_gives_the_same,
    frequencies_are_those_of_live_records,
    no_pair_flickers,
    memory_gives_the_same,
)
"""In place of the checks of texts."""
