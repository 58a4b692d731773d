"""The recall monitor against all pairs by brute force on the texts: its counts, and the width of its interval."""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest

from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS
from stream_lsh.lsh.recall import Recall
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.containment import Containment
from stream_lsh.model import Document
from stream_lsh.pipeline.cap_model import CapModel
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from stream_lsh.pipeline.recall_monitor import BINS, MOST_PAIRS, RING, RecallCounts, RecallMonitor
from stream_lsh.retention import Horizon
from tests.evaluation import oracles
from tests.unit.pipeline.makers import signed

ALL = 1 - 2.0**-53
"""As a share: every version is checked."""
THRESHOLD = 0.6
WORDS = 60


def poor(measure: Measure = JACCARD) -> TextScheme:
    """Bands that miss many pairs."""
    return TextScheme(THRESHOLD, "word:1", recall=0.4, measure=measure)


SCHEME = poor()


class Shadowed:
    """A table of documents with its recall monitor."""

    def __init__(
        self, scheme: TextScheme = SCHEME, share: float = ALL, caps: CapModel | None = None, **more: int | None
    ) -> None:
        self.scheme, self.table, self.counts = scheme, DocumentTable(scheme.slots), RecallCounts()
        criteria = scheme.criteria(THRESHOLD, more.pop("retention_ms", None))
        settings = {name: value for name, value in more.items() if value is not None}
        self.recall_monitor = RecallMonitor(
            scheme, criteria, scheme.comparer(), self.counts, share, caps=caps, **settings
        )
        self._offset = 0

    def feed(self, documents: Sequence[Document], batch: int = 200) -> "Shadowed":
        """Sign documents and show them to the monitor, batch by batch."""
        for start in range(0, len(documents), batch):
            part = documents[start : start + batch]
            record = signed(self.table, self.scheme, self._offset, part).record
            self._offset += len(part)
            if record is not None:
                self.recall_monitor.observe(record, self.table)
        return self

    def plain(self) -> dict[str, object]:
        """The counts as values that can be compared."""
        names = ("documents", "identical", "left_out", "squares")
        numbers = {name: getattr(self.counts, name) for name in names}
        promised = self.counts.promised.round(9).tolist()
        return {**numbers, "found": self.counts.found.tolist(), "missed": self.counts.missed.tolist(), "p": promised}


def families(rng: random.Random, count: int, most: int = 4) -> list[Document]:
    """Documents in families: the first one's words, of which each other one has some replaced."""
    texts = []
    for _ in range(count):
        first = [f"w{rng.getrandbits(40)}" for _ in range(WORDS)]
        for _ in range(rng.randint(1, most)):
            replaced = rng.sample(range(WORDS), rng.choice((0, 1, 3, 5, 7, 8, 9)))
            texts.append(" ".join(f"x{rng.getrandbits(40)}" if at in replaced else first[at] for at in range(WORDS)))
    rng.shuffle(texts)
    return [Document(f"d{number}", text, number) for number, text in enumerate(texts)]


def true_pairs(
    documents: Sequence[Document], scheme: TextScheme = SCHEME, window: int = RING
) -> Iterator[tuple[float, bool, bool]]:
    """Of every pair that matches the similarity, whether it is found, whether it is of equal documents."""
    texts = [document.text or "" for document in documents]
    shingles = [set(oracles.word_windows(text, 1)) for text in texts]
    buckets = [set(row) - {0} for row in scheme.buckets(scheme.sign(texts)).tolist()]
    for one, other in combinations(range(len(texts)), 2):
        if other - one > window:
            continue
        if isinstance(scheme.measure, Containment):
            similarity = oracles.containment(shingles[one], shingles[other], scheme.measure.size_ratio)
        else:
            similarity = oracles.jaccard(shingles[one], shingles[other])
        if similarity >= THRESHOLD:
            yield similarity, bool(buckets[one] & buckets[other]), shingles[one] == shingles[other]


def binned(similarities: Sequence[float]) -> list[int]:
    return [sum(min(int(s * BINS), BINS - 1) == row for s in similarities) for row in range(BINS)]


# -- counts


@pytest.mark.parametrize(("measure", "window"), [(JACCARD, RING), (JACCARD, 37), (Containment(1.5), RING)])
def test_where_all_are_checked_every_pair_that_matches_is_found_or_missed(
    seed: int, measure: Measure, window: int
) -> None:
    scheme, documents = poor(measure), families(random.Random(seed), 80)
    pairs = list(true_pairs(documents, scheme, window))
    seen = Shadowed(scheme, most=window).feed(documents, 17)
    found, missed = ([s for s, shares, equal in pairs if shares == wanted and not equal] for wanted in (True, False))
    assert len(found) > 20
    assert len(missed) > 20 or measure is not JACCARD or window < RING
    assert seen.counts.found.tolist() == binned(found)
    assert seen.counts.missed.tolist() == binned(missed)
    assert seen.counts.identical == sum(equal for _, _, equal in pairs) > 0
    assert (seen.counts.documents, len(seen.recall_monitor)) == (len(documents), min(window, len(documents)))


def test_a_ring_that_is_overwritten_many_times_in_one_batch_has_the_newest(seed: int) -> None:
    documents = families(random.Random(seed), 60)
    at_once, one_by_one = (Shadowed(most=5).feed(documents, batch) for batch in (1_000, 1))
    pairs = [(s, shares) for s, shares, equal in true_pairs(documents, window=5) if not equal]
    assert pairs
    assert at_once.plain() == one_by_one.plain()
    assert at_once.counts.pairs == len(pairs)


def test_retired_and_deleted_versions_are_no_pairs() -> None:
    words = [f"word{number}" for number in range(WORDS)]
    text, near, far = " ".join(words), " ".join([*words, "more"]), " ".join(f"other{number}" for number in range(WORDS))
    seen = Shadowed().feed([Document("a", text, 0), Document("b", text, 0)])
    assert (seen.counts.identical, seen.counts.pairs) == (1, 0)
    seen.feed([Document("a", far, 0), Document("b", None, 0)])
    seen.feed([Document("c", near, 0)])
    assert (seen.counts.identical, seen.counts.pairs) == (1, 0)
    seen.feed([Document("a", text, 0)])  # is like c, and no more like itself as it was
    assert (seen.counts.identical, seen.counts.pairs) == (1, 1)


def test_dissimilar_and_expired_documents_are_no_pair() -> None:
    text = " ".join(f"word{number}" for number in range(WORDS))
    near = [Document(str(number), f"{text} {number}", time_ms) for number, time_ms in enumerate((0, 100, 101, 5_000))]
    assert Shadowed(retention_ms=100).feed(near).counts.pairs == 2
    seen = Shadowed().feed(near[:2])
    seen.table.expire(Horizon(1))
    assert seen.feed(near[2:3]).counts.pairs == 2


def test_documents_without_shingles_are_neither_checked_nor_stored() -> None:
    seen = Shadowed().feed([Document("a", "", 0), Document("b", "...", 0), Document("c", "one", 0)])
    assert (len(seen.recall_monitor), seen.counts.documents) == (1, 1)


def test_a_document_of_a_flood_counts_for_some_of_its_pairs_and_the_others_are_counted() -> None:
    words = " ".join(f"word{number}" for number in range(WORDS))
    flood = [Document(str(number), f"{words} n{number}", 0) for number in range(100)]
    seen = Shadowed().feed(flood, 7)
    compared = sum(min(before, MOST_PAIRS) for before in range(100))
    assert seen.counts.pairs == compared
    assert seen.counts.left_out == sum(range(100)) - compared
    assert seen.counts.squares == sum(min(before, MOST_PAIRS) ** 2 for before in range(100))


def test_the_ring_is_shorter_where_signatures_are_longer() -> None:
    documents = [Document(str(number), f"word{number}", 0) for number in range(300)]
    long = Shadowed(TextScheme(THRESHOLD, "word:1", slots=8_192), share=0.0).feed(documents)
    assert len(long.recall_monitor) == RING * 128 // 8_192 < len(documents)


# -- the sample


def test_the_sample_does_not_depend_on_batches(seed: int) -> None:
    documents = families(random.Random(seed), 100)
    plain = [Shadowed(share=0.3).feed(documents, batch).plain() for batch in (1, 7, 1_000)]
    assert plain[0] == plain[1] == plain[2]
    assert 10 < Shadowed(share=0.3).feed(documents).counts.pairs < Shadowed().feed(documents).counts.pairs


def test_the_configured_share_is_checked_and_the_seed_chooses_the_documents() -> None:
    documents = [Document(str(number), f"word{number}", 0) for number in range(4_000)]
    checked = [Shadowed(share=0.1, seed=seed).feed(documents).counts.documents for seed in range(3)]
    # Spread evenly, they are closer to 400 than if each was drawn by itself: then 95 were five standard deviations.
    assert all(abs(count - 400) <= 95 for count in checked)
    assert len(set(checked)) > 1
    assert Shadowed(share=0.0).feed(documents).counts.documents == 0


@pytest.mark.slow
def test_the_interval_of_a_sample_holds_the_recall_of_the_banding(seed: int) -> None:
    documents = families(random.Random(seed), 200)
    pairs = [shares for _, shares, equal in true_pairs(documents) if not equal]
    truth = sum(pairs) / len(pairs)
    assert 0.5 < truth < 0.9, "the bands are poor on purpose"
    table, intervals = DocumentTable(SCHEME.slots), list[Recall]()
    record = signed(table, SCHEME, 0, documents).record
    criteria, comparer = SCHEME.criteria(THRESHOLD, None), SCHEME.comparer()
    for number in range(40):
        counts = RecallCounts()
        assert record is not None
        RecallMonitor(SCHEME, criteria, comparer, counts, 0.2, seed=number).observe(record, table)
        recall = counts.recall()
        assert recall is not None
        intervals.append(recall)
    # An interval of 99 % misses in one of 100; more than 4 of 40 have odds of 1e-5.
    assert sum(low <= truth <= high for _, low, high in intervals) >= 36
    assert max(high - low for _, low, high in intervals) < 0.6
    assert np.mean([share for share, _, _ in intervals]) == pytest.approx(truth, abs=0.05)


# -- the promised recall


def test_the_promised_recall_is_the_s_curve_at_the_similarities_of_the_pairs(seed: int) -> None:
    documents = families(random.Random(seed), 150)
    seen = Shadowed().feed(documents)
    promised = [SCHEME.banding.probability_at(s) for s, _, equal in true_pairs(documents) if not equal]
    assert seen.counts.expected() == pytest.approx(np.mean(promised))
    recall = seen.counts.recall()
    assert recall is not None
    assert recall.low <= np.mean(promised) <= recall.high
    assert not seen.counts.falls_short(0.99), "the bands reach the promised recall, if less than the configured one"


def seen_at_90(found: int, missed: int, promised: float) -> RecallCounts:
    """Pairs at 0.9, each of another document."""
    counts = RecallCounts()
    for number in range(found + missed):
        counts.add(np.array([0.9]), np.array([number < found]), np.array([promised]))
    return counts


def test_bands_fall_short_once_the_interval_lies_below_the_configured_and_the_promised_recall() -> None:
    assert not RecallCounts().falls_short(0.99)
    assert RecallCounts().recall() is None
    assert seen_at_90(9, 1, 0.0).expected() is None
    assert not seen_at_90(9, 1, 0.99).falls_short(0.99), "ten pairs prove nothing"
    assert seen_at_90(900, 100, 0.99).falls_short(0.99)
    assert not seen_at_90(900, 100, 0.99).falls_short(0.9)
    assert not seen_at_90(900, 100, 0.9).falls_short(0.99)
    assert seen_at_90(900, 100, 0.0).falls_short(0.99), "a kind without a promise must reach the configured recall"


# -- caps


def resembling(rng: random.Random, families: int, members: int) -> list[Document]:
    """Large families, in random order: each member has some words of its own in place of those of the family."""
    texts = []
    for family in range(families):
        first = [f"w{family}x{number}" for number in range(WORDS)]
        for _ in range(members):
            own = rng.sample(range(WORDS), rng.choice((1, 3, 5, 7)))
            texts.append(" ".join(f"x{rng.getrandbits(40)}" if at in own else first[at] for at in range(WORDS)))
    rng.shuffle(texts)
    return [Document(f"d{number}", text, number) for number, text in enumerate(texts)]


@pytest.mark.parametrize("cap", [40, 80, 200])
def test_the_recall_includes_what_the_caps_of_the_index_omit(cap: int, seed: int) -> None:
    documents = resembling(random.Random(seed), 3, 110)
    pipeline = LocalPipeline(SCHEME, THRESHOLD, Limits.of(cap, None, NO_GUARDS))
    found = sum(len(settled.matches) for settled in pipeline.process(documents))
    pairs = [shares_bucket for _, shares_bucket, _ in true_pairs(documents)]
    counts = Shadowed(caps=CapModel(cap, cap)).feed(documents).counts
    recall, of_bands = counts.recall(), counts.recall_of_bands()
    assert recall is not None
    assert of_bands is not None
    assert recall.share == pytest.approx(found / len(pairs), abs=0.02)
    assert of_bands.share == pytest.approx(np.mean(pairs), abs=0.02)
    assert bool(counts.capped.sum()) == (cap < 110)
