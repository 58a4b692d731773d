"""The checks of a run with texts: matches, members, stories and sites."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

from stream_lsh.ledger.changes import StorySummary
from stream_lsh.model import Document, First, Outlet
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from tests.simulation.drivers.tables import order_in_buckets
from tests.simulation.log.codec import decoded
from tests.simulation.oracles.oracle import Version, components
from tests.simulation.oracles.view import View
from tests.simulation.pipelines.intake import documents_of


def matches_are_true(view: View) -> Iterator[str]:
    """Pairs of live newest versions that reach the threshold, with the right similarity; fewer only under a cap."""
    truth = view.truth
    wanted = {key: pair for key, pair in truth.pairs().items() if not truth.ambiguous.intersection(key)}
    found = {key: match for key, match in view.matches.items() if not view.aside(match)}
    for key in sorted(found.keys() - wanted.keys()):
        yield f"{key} is published and not true: {found[key]}"
    for key in sorted(wanted.keys() - view.matches.keys()):
        if not view.setup.cap_postings:
            yield f"{key} is true and not published"
    for key in sorted(wanted.keys() & view.matches.keys()):
        left, right = wanted[key]
        match = view.matches[key]
        similarity = float(truth.similarity(left, right))
        found_values = (match.similarity, match.left_time_ms, match.right_time_ms, match.shared)
        true = (similarity, left.time_ms, right.time_ms, len(left.shingles & right.shingles))
        counts = len(left.shingles), len(right.shingles)
        sizes = counts if view.setup.scheme.measure.reports_sizes else (0, 0)
        if (*found_values, match.left_shingles, match.right_shingles) != (*true, *sizes):
            yield f"{key} is published as {match}, true are {left} and {right}"


def members_are_true(view: View) -> Iterator[str]:
    """Documents with a match, a twin or a past; two share a cluster if and only if they are connected."""
    truth, cluster = view.truth, {id: change.cluster for id, change in view.members.items()}
    for id in sorted(cluster.keys() - truth.live.keys() - truth.ambiguous):
        yield f"{id} is a member of {cluster[id]} and not live"
    live = truth.live.keys() - truth.ambiguous
    wanted = [(a, b) for a, b in truth.pairs() if a in live and b in live]
    if view.setup.cap_postings:
        wanted = [(a, b) for a, b in wanted if truth.live[a].shingles == truth.live[b].shingles]
    for one, other in wanted:
        if cluster.get(one) is None or cluster.get(one) != cluster.get(other):
            yield f"{one} in {cluster.get(one)} and {other} in {cluster.get(other)} are connected"
    together = truth.remembered_components() if view.expires else components(truth.live, truth.pairs())
    for one, other in combinations(sorted(live & cluster.keys()), 2):
        if cluster[one] == cluster[other] and together[one] != together[other]:
            yield f"{one} and {other} share {cluster[one]} and are not connected"
    alone = {id for id in live & cluster.keys() if list(together.values()).count(together[id]) == 1}
    for id in sorted(alone):
        yield f"{id} is a member of {cluster[id]} without a match or a past"


def neighbours_are_compared(view: View) -> Iterator[str]:
    """Under caps, two live documents that match are a pair if they are next to each other in a bucket.

    Without a cap on candidates, so are all within the cap on postings.
    """
    truth, setup = view.truth, view.setup
    window = 1 if setup.cap_candidates else setup.cap_postings
    live = {version.ref: version for id, version in truth.live.items() if id not in truth.ambiguous}
    everything = {ref for ref, _ in documents_of(view.run.broker, setup)} if window else set()
    for worker in view.run.workers if window else ():
        for partition, state in worker.partitions.items():
            for bucket, refs in order_in_buckets(state.table, everything).items():
                close = [pair for at, ref in enumerate(refs) for pair in product([ref], refs[at + 1 : at + 1 + window])]
                for one, other in close:
                    if not {one, other} <= live.keys() or not truth.match(live[one], live[other]):
                        continue
                    key = min(live[one].id, live[other].id), max(live[one].id, live[other].id)
                    if key not in view.matches:
                        yield f"{key} is not published, bucket {bucket} of partition {partition} holds {refs}"


def stories_are_true(view: View) -> Iterator[str]:
    """The summary of every cluster follows from the newest versions of its members."""
    live = view.truth.live
    for id, change in sorted(view.clusters.items()):
        if not all(member in live and member not in view.truth.ambiguous for member in change.members):
            continue
        versions = sorted(
            (live[member] for member in change.members), key=lambda version: (version.time_ms, version.id)
        )
        true = _story(versions) if view.setup.stories else (versions[0].id, None)
        if (change.representative, change.summary) != true:
            yield f"cluster {id} is published as {change}, true are {true}"


def _story(versions: list[Version]) -> tuple[str, StorySummary]:
    """The representative and the summary; at most some forty members."""
    fullest = max(versions[:10], key=lambda version: version.about.length)
    outlets = list(dict.fromkeys(version.about.source for version in versions if version.about.source))
    of = {outlet: [version.time_ms for version in versions if version.about.source == outlet] for outlet in outlets}
    sources = tuple(Outlet(outlet, times[0], len(times)) for outlet, times in of.items())
    first = First(versions[0].id, versions[0].about.source, versions[0].time_ms)
    return fullest.id, StorySummary(fullest.about.title, sources, len(sources), first)


def sites_are_true(view: View) -> Iterator[str]:
    """Two sites are published if and only if enough pages of one are in the other, with the right numbers."""
    least, truth = view.setup.mirror_share, view.truth
    if not least or truth.ambiguous:
        return
    pages = _pages(view)
    partners: dict[tuple[str, str], set[str]] = defaultdict(set)  # pages of a site that are in another one
    together: dict[tuple[str, str], list[int]] = defaultdict(list)
    for key, pair in truth.pairs().items():
        match = view.matches.get(key)  # a cap may have kept it from being found
        if match is None or (match.left_time_ms, match.right_time_ms) != (pair[0].time_ms, pair[1].time_ms):
            continue
        for one, other in (pair, pair[::-1]):
            sites = one.about.source, other.about.source
            if not all(sites) or sites[0] == sites[1]:
                continue
            together[min(sites), max(sites)].append(max(one.time_ms, other.time_ms))
            share = Fraction(len(one.shingles & other.shingles), len(one.shingles))
            if share >= view.setup.threshold or not view.setup.scheme.measure.reports_sizes:
                partners[sites].add(one.id)
    true: dict[tuple[str, str], tuple[int, ...]] = {}
    for left, right in together:
        counts = len(partners[left, right]), len(partners[right, left])
        if counts[0] >= least * pages[left] or counts[1] >= least * pages[right]:
            true[left, right] = pages[left], pages[right], *counts
    found = {key: change.now.sites[2:] for key, change in view.sites.items() if change.now is not None}
    if found != true:
        yield f"published are {found}, true are {true}"
    for key, change in view.sites.items():
        if change.now is not None and key in together and change.now.first_ms > min(together[key]):
            yield f"{key} is published as first seen at {change.now.first_ms}, true is {min(together[key])}"


def sites_wait_for_all_pages(view: View) -> Iterator[str]:
    """No sites are published before every partition has ended a report of its pages; in the end all have."""
    ended: dict[int, int] = {}
    for offset in range(view.run.broker.end("edges", 0) if view.setup.mirror_share else 0):
        pages = decoded("edges", view.run.broker.at("edges", 0, offset).value).pages
        if pages is not None and pages.ends:
            ended.setdefault(pages.partition, offset)
    if view.setup.mirror_share and len(ended) < view.setup.partitions:
        yield f"only {ended} have ended a report of {view.setup.partitions} partitions"
    for key, version, change in view.history["mirror-sites"]:
        if version < max(ended.values()):
            yield f"{key} is published at {version}: {change}, reports ended at {ended}"


def _pages(view: View) -> Counter[str]:
    """Live pages by site, by the horizons of the owners of the partitions."""
    horizons = {
        partition: state.documents.horizon
        for worker in view.run.workers
        for partition, state in worker.partitions.items()
    }
    return Counter(
        version.about.source
        for version in view.truth.newest.values()
        if not horizons[version.ref >> 48].passed(version.time_ms, version.ref) and version.about.source
    )


def nothing_flickers(view: View) -> Iterator[str]:
    """A pair that matches in all versions of its two documents is never withdrawn."""
    truth = view.truth
    for (left, right), _, change in view.history["matches"]:
        if change.similarity is not None or truth.deletes[left] or truth.deletes[right]:
            continue
        versions = truth.versions[left] + truth.versions[right]
        if view.expires and any(truth.expired(version) for version in versions):
            continue
        if all(truth.match(*pair) for pair in product(truth.versions[left], truth.versions[right])):
            yield f"({left}, {right}) was withdrawn: {change}"


def local_gives_the_same(view: View) -> Iterator[str]:
    """The in-memory pipeline, given the surviving documents, finds the same pairs and the same groups."""
    setup = view.setup
    if view.expires or setup.cap_postings or not setup.matches_at_any_distance:
        return
    local = LocalPipeline(setup.scheme, setup.threshold, Limits(cap_postings=0, cap_candidates=0))
    texts = {id: " ".join(map(str, sorted(version.shingles))) for id, version in view.truth.newest.items()}
    local.process([Document(id, texts[id], version.time_ms) for id, version in view.truth.newest.items()])
    snapshot = local.settler.ledger.snapshot()
    pairs = {(pair.left, pair.right): pair.similarity for pair in snapshot.pairs}
    if pairs != {key: match.similarity for key, match in view.matches.items()}:
        yield f"pairs: {pairs} locally, {view.matches} published"
    groups = {frozenset(n.id for n in snapshot.nodes if n.cluster == c.id) for c in snapshot.clusters}
    published = {frozenset(id for id, m in view.members.items() if m.cluster == c) for c in view.clusters}
    if groups != published:
        yield f"groups: {groups} locally, {published} published"


CHECKS = (
    matches_are_true,
    members_are_true,
    neighbours_are_compared,
    stories_are_true,
    sites_are_true,
    sites_wait_for_all_pages,
    nothing_flickers,
    local_gives_the_same,
)
"""The checks that only runs with texts have."""
