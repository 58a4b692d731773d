"""Removals under caps: documents that remain stay together, although the caps never compared them at first.

The oracles keep every bucket as a list of live documents in order of arrival, and compare all pairs.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest

from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from tests.evaluation import oracles
from tests.evaluation.offline import components
from tests.simulation.pipelines.scheme import NamedShingles
from tests.streamed import Pairs, Public, run

THRESHOLD = 0.5
CAPS = [(1, 1), (1, 4), (2, 1), (3, 2), (5, 20)]


def words_of(document: Document) -> list[str]:
    return sorted(set((document.text or "").split()))


def similarity(one: Document, other: Document) -> float:
    return oracles.jaccard(words_of(one), words_of(other))


class Feed:
    """Documents that come, change and go, and those that are live, in the order of arrival."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.live: dict[str, Document] = {}
        self._count = 0

    def batches(self, texts: Iterator[str], count: int) -> Iterator[list[Document]]:
        """Batches of new documents, updates and deletes, each id once: of several versions only the last arrives."""
        for _ in range(count):
            batch, known = list[Document](), [*self.live]
            for _ in range(self.rng.randint(1, 12)):
                known = [id for id in known if id not in {document.id for document in batch}]
                kind = self.rng.random()
                if known and kind < 0.35:
                    document = Document(self.rng.choice(known), None)
                elif known and kind < 0.5:
                    document = Document(self.rng.choice(known), next(texts))
                else:
                    self._count += 1
                    document = Document(f"d{self._count}", next(texts))
                batch.append(document)
                self._take(document)
            yield batch

    def _take(self, document: Document) -> None:
        before = self.live.get(document.id)
        if document.text is None:
            del self.live[document.id]
        elif before is None or before.text != document.text:  # the same text is no new version
            self.live.pop(document.id, None)
            self.live[document.id] = document

    def close(self, window: int) -> Pairs:
        """The similarities of live documents that match and are at most `window` apart in a bucket."""
        buckets: dict[str, list[Document]] = defaultdict(list)
        for document in self.live.values():
            for bucket in (*words_of(document), " ".join(words_of(document))):
                buckets[bucket].append(document)
        found: Pairs = {}
        for documents in buckets.values():
            for at, other in enumerate(documents):
                for one in documents[max(0, at - window) : at]:
                    if similarity(one, other) >= THRESHOLD:
                        found[min(one.id, other.id), max(one.id, other.id)] = similarity(one, other)
        return found

    def true_groups(self) -> set[frozenset[str]]:
        """The components of all pairs that share a bucket and match."""
        pairs = {
            (min(one.id, other.id), max(one.id, other.id)): similarity(one, other)
            for one, other in combinations(self.live.values(), 2)
            if similarity(one, other) >= THRESHOLD
        }
        return components(pairs)


def alike(rng: random.Random) -> Iterator[str]:
    """Texts of five of the six words of one of four groups: those that share a word match."""
    while True:
        group = 10 * rng.randrange(4)
        yield " ".join(str(group + word) for word in sorted(rng.sample(range(6), rng.choice((5, 5, 6)))))


def mixed(rng: random.Random) -> Iterator[str]:
    """Texts of a small vocabulary: in every bucket some match and others do not."""
    while True:
        yield " ".join(map(str, sorted(rng.sample(range(12), rng.randint(2, 5)))))


def fed(feed: Feed, texts: Iterator[str], limits: Limits) -> Iterator[Public]:
    """The results after each batch."""
    pipeline, public = LocalPipeline(NamedShingles(), THRESHOLD, limits), Public()
    for batch in feed.batches(texts, 25):
        yield run(pipeline, batch, len(batch), public)


@pytest.mark.parametrize("postings", [1, 2])
def test_two_documents_stay_together_without_the_one_between_them(postings: int) -> None:
    pipeline = LocalPipeline(NamedShingles(), THRESHOLD, Limits(cap_postings=postings, cap_candidates=1))
    texts = ["1 2 3", "1 2 4", "1 2 5", "1 2 6", "1 2 3 4"]
    public = run(pipeline, [Document(f"d{number}", text) for number, text in enumerate(texts)], 1)
    assert public.groups == {frozenset(f"d{number}" for number in range(5))}
    run(pipeline, [Document("d2", None), Document("d1", "9"), Document("d3", None)], 1, public)
    assert public.groups == {frozenset({"d0", "d4"})}


@pytest.mark.parametrize("seed_", range(4))
@pytest.mark.parametrize(("postings", "candidates"), CAPS)
def test_documents_whose_buckets_hold_matches_only_are_in_their_true_groups(
    postings: int, candidates: int, seed_: int
) -> None:
    rng = random.Random(seed_)
    feed = Feed(rng)
    for public in fed(feed, alike(rng), Limits(cap_postings=postings, cap_candidates=candidates)):
        assert public.groups == feed.true_groups()


@pytest.mark.parametrize("seed_", range(4))
@pytest.mark.parametrize(("postings", "candidates"), CAPS)
def test_neighbours_of_a_bucket_that_match_are_a_pair_whatever_was_removed(
    postings: int, candidates: int, seed_: int
) -> None:
    rng = random.Random(seed_)
    feed = Feed(rng)
    for public in fed(feed, mixed(rng), Limits(cap_postings=postings, cap_candidates=candidates)):
        assert feed.close(1).items() <= public.pairs.items()


@pytest.mark.parametrize("seed_", range(4))
@pytest.mark.parametrize("postings", [1, 2, 5, 40])
def test_without_a_cap_on_candidates_all_pairs_of_a_new_run_are_found(postings: int, seed_: int) -> None:
    rng = random.Random(seed_)
    feed, limits = Feed(rng), Limits(cap_postings=postings, cap_candidates=0)
    for public in fed(feed, mixed(rng), limits):
        assert feed.close(postings).items() <= public.pairs.items()
    again = run(LocalPipeline(NamedShingles(), THRESHOLD, limits), [*feed.live.values()], 7)
    assert again.pairs == feed.close(postings)
    assert again.pairs.items() <= public.pairs.items()
    assert all(any(group <= other for other in public.groups) for group in again.groups)


@pytest.mark.parametrize("when", [0, 20])
def test_a_pipeline_restored_from_its_snapshot_keeps_documents_together(when: int) -> None:
    """Which pairs the caps have omitted is unknown to it."""
    rng = random.Random(when)
    feed, limits = Feed(rng), Limits(cap_postings=2, cap_candidates=1)
    pipeline, public = LocalPipeline(NamedShingles(), THRESHOLD, limits), Public()
    for number, batch in enumerate(feed.batches(alike(rng), 40)):
        if number >= when:
            state = pipeline.snapshot()
            pipeline = LocalPipeline(NamedShingles(), THRESHOLD, limits)
            pipeline.restore([state.documents], state.ledger, (state.next_offset, state.newest_ms))
        run(pipeline, batch, len(batch), public)
        assert public.groups == feed.true_groups()


def removed(pipeline: LocalPipeline, ids: Sequence[str]) -> int:
    """The candidates that the removal of documents causes."""
    before = pipeline.counts.candidates
    pipeline.process([Document(id, None) for id in ids])
    return pipeline.counts.candidates - before


def test_a_removal_compares_no_more_than_an_arrival_and_one_pair_for_each_bucket() -> None:
    for candidates in (3, 10, 60):
        pipeline = LocalPipeline(NamedShingles(), THRESHOLD, Limits(cap_postings=40, cap_candidates=candidates))
        rng = random.Random(candidates)
        texts = mixed(rng)
        run(pipeline, [Document(f"d{number}", next(texts)) for number in range(600)], 50)
        widest = max(len(words_of(Document("d", next(texts)))) for _ in range(100))
        for number in rng.sample(range(600), 60):
            assert removed(pipeline, [f"d{number}"]) <= candidates + widest + 40


def test_nothing_is_compared_again_while_the_caps_have_omitted_nothing() -> None:
    texts = mixed(random.Random(1))
    documents = [Document(f"d{number}", next(texts)) for number in range(100)]
    pipeline = LocalPipeline(NamedShingles(), THRESHOLD, Limits(cap_postings=100, cap_candidates=100))
    run(pipeline, documents, 10)
    assert pipeline.counts.capped_candidates == 0
    assert removed(pipeline, [f"d{number}" for number in range(0, 100, 3)]) == 0
    capped = LocalPipeline(NamedShingles(), THRESHOLD, Limits(cap_postings=3, cap_candidates=3))
    run(capped, documents, 10)
    assert removed(capped, [f"d{number}" for number in range(0, 100, 3)]) > 0
