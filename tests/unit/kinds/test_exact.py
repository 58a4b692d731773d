"""The method `exact`: every pair that a comparison of every two finds, whatever comes, changes and goes."""

import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh import Document, NearDuplicates
from stream_lsh.arrays import U64
from stream_lsh.errors import ConfigError
from stream_lsh.hashing import fmix64
from stream_lsh.kinds.shingled.exact_scheme import ExactScheme
from stream_lsh.kinds.shingled.methods import METHODS, method_problems, most_candidates, text_scheme
from stream_lsh.kinds.shingled.prefix_buckets import Prefixes
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.containment import Containment
from stream_lsh.measure.firsts import first_members, most_shared, sizes_of
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Criteria
from stream_lsh.pipeline.local import LocalPipeline
from tests.evaluation import oracles
from tests.evaluation.offline import components
from tests.streamed import UNCAPPED, Pairs, Public, run

quotients = st.tuples(st.integers(1, 20), st.integers(1, 20)).map(lambda two: min(two) / max(two))
thresholds = st.one_of(st.sampled_from([0.5, 2 / 3, 0.75, 0.8, 0.9, 1.0]), quotients)
members = st.frozensets(st.integers(0, 40), min_size=1)


def hashed(numbers: Sequence[int] | frozenset[int]) -> U64:
    return np.sort(fmix64(np.array(sorted(numbers), np.uint64) + np.uint64(1)))


def with_few_halves(numbers: frozenset[int]) -> U64:
    """Hashes of which many have the upper half in common."""
    hashes = hashed(numbers)
    return np.sort(hashes % np.uint64(5) << np.uint64(32) | hashes >> np.uint64(32))


def signed(sets: Sequence[U64], slots: int) -> Signatures:
    digests = np.array([int(fmix64(one.sum(keepdims=True))[0]) if one.size else 0 for one in sets], np.uint64)
    return Signatures(first_members(sets, slots), digests)


# -- stored rows


@given(st.lists(st.tuples(members, members), min_size=1, max_size=6), st.integers(2, 45), st.booleans())
def test_two_rows_bound_the_shared_members_from_above_and_are_exact_where_they_have_room(
    pairs: list[tuple[frozenset[int], frozenset[int]]], slots: int, colliding: bool
) -> None:
    sets = [tuple(with_few_halves(one) if colliding else hashed(one) for one in pair) for pair in pairs]
    ones, others = (first_members([pair[side] for pair in sets], slots) for side in (0, 1))
    shared = [len(one & other) for one, other in pairs]
    bound = most_shared(ones, others)
    assert (bound >= shared).all()
    assert bound.tolist() == most_shared(others, ones).tolist()
    assert sizes_of(ones).tolist() == [len(one) for one, _ in pairs]
    if slots > 42 and not colliding:
        assert bound.tolist() == shared


def test_a_half_that_is_all_ones_counts_like_any_other() -> None:
    top = np.array([0xFFFFFFFF << 32], np.uint64)
    two = np.array([1 << 32, 0xFFFFFFFF << 32], np.uint64)
    for slots in (2, 3, 4):
        assert most_shared(first_members([top, top], slots), first_members([two, top], slots)).tolist() == [1, 1]


# -- buckets


@given(st.lists(members, min_size=2, max_size=12), thresholds, st.integers(2, 45))
def test_every_two_sets_that_reach_the_threshold_share_a_bucket_and_are_not_ruled_out(
    sets: list[frozenset[int]], threshold: float, slots: int
) -> None:
    prefixes = Prefixes(threshold, slots)
    made = signed([hashed(one) for one in sets], slots)
    keys = prefixes.buckets(made)
    assert keys.shape == (len(sets), prefixes.width)
    for a, b in combinations(range(len(sets)), 2):
        if oracles.jaccard(sets[a], sets[b]) >= threshold:
            assert set(keys[a][keys[a] != 0].tolist()) & set(keys[b].tolist())
            assert prefixes.may_match(made.values[[a]], made.values[[b]], Criteria(threshold))[0]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.9, 0.97, 1.0])
@pytest.mark.parametrize("slots", [2, 3, 8, 40])
def test_any_two_sizes_that_can_match_meet_whatever_their_members(threshold: float, slots: int) -> None:
    """One is within the other, and its first members are the last of the other one: the least that they can meet."""
    prefixes = Prefixes(threshold, slots)
    for larger in range(1, 130):
        whole = np.arange(1, larger + 1, dtype=np.uint64) << np.uint64(32)
        smaller = [size for size in range(1, larger + 1) if size / larger >= threshold]
        keys = prefixes.buckets(signed([whole, *(whole[larger - size :] for size in smaller)], slots))
        met = [np.intersect1d(keys[0], one[one != 0]).size for one in keys[1:]]
        assert min(met) > 0, (larger, smaller[int(np.argmin(met))])


def test_short_sets_are_filed_under_their_first_members_long_ones_under_their_size_and_some_under_both() -> None:
    prefixes = Prefixes(0.9, 9)  # eight members: up to 79 of them
    sizes = (10, 70, 72, 79, 80, 100)
    keys = prefixes.buckets(signed([hashed(range(size)) for size in sizes], 9))
    filed = [(int(np.count_nonzero(row[:8])), int(np.count_nonzero(row[8:9]))) for row in keys]
    assert filed == [(2, 0), (8, 0), (8, 1), (8, 1), (0, 1), (0, 1)]
    assert (keys[:, :9] != 0).tolist() == (keys[:, 9:18] != 0).tolist(), "in two classes"
    assert (keys[:, :-1] & np.uint64(1) == 0).all()
    assert (keys[:, -1] & np.uint64(1) == 1).all()


def test_a_set_without_members_is_in_no_bucket_and_no_bucket_is_named_twice() -> None:
    prefixes = Prefixes(0.5, 6)
    twins = np.array([(7 << 32) + 1, (7 << 32) + 2, 9 << 32], np.uint64)
    keys = prefixes.buckets(signed([np.empty(0, np.uint64), twins], 6))
    assert not keys[0].any()
    filed = keys[1][keys[1] != 0].tolist()
    assert len(filed) == len(set(filed)) == 3
    assert prefixes.buckets(signed([], 6)).shape == (0, prefixes.width)


def test_a_member_with_a_zero_half_is_filed_once() -> None:
    members = np.sort(np.append(hashed(range(72))[1:], np.uint64(5)))
    row = Prefixes(0.9, 9).buckets(signed([members], 9))[0]
    filed = row[row != 0].tolist()
    assert len(filed) == len(set(filed)) == 2 * 8 + 1


def test_a_bucket_follows_from_what_is_stored_and_not_from_the_batch() -> None:
    sets = [hashed(range(size)) for size in (3, 500, 40, 9_000)]
    together = Prefixes(0.9, 16).buckets(signed(sets, 16))
    for row, one in enumerate(sets):
        assert Prefixes(0.9, 16).buckets(signed([one], 16))[0].tolist() == together[row].tolist()


# -- the pipeline


WORDS = "abcdefghij"


def similarity(one: Document, other: Document, measure: Measure) -> float:
    words = (one.text or "").split(), (other.text or "").split()
    if isinstance(measure, Containment):
        return oracles.containment(*words, measure.size_ratio)
    return oracles.jaccard(*words)


def pairs_of(documents: Sequence[Document], threshold: float, measure: Measure = JACCARD) -> Pairs:
    newest = {one.id: one for one in documents}
    live = [newest[id] for id in sorted(newest) if newest[id].text]
    found = {(a.id, b.id): similarity(a, b, measure) for a, b in combinations(live, 2)}
    return {pair: value for pair, value in found.items() if value >= threshold}


texts = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)
histories = st.lists(st.tuples(st.sampled_from("uvwxyz"), st.one_of(st.none(), texts)), max_size=25)
measures = st.sampled_from([JACCARD, JACCARD, Containment(1.5), Containment(2.0)])


@settings(max_examples=60)
@given(histories, thresholds, measures, st.sampled_from([2, 3, 4, 8, 128]), st.sampled_from([1, 3, 25]))
def test_updates_and_deletes_end_in_the_pairs_of_a_comparison_of_every_two(
    history: list[tuple[str, str | None]], threshold: float, measure: Measure, slots: int, size: int
) -> None:
    documents = [Document(id, text, at) for at, (id, text) in enumerate(history)]
    scheme = ExactScheme(threshold, "word:1", slots=slots, measure=measure)
    public = run(LocalPipeline(scheme, threshold, UNCAPPED), documents, size)
    expected = pairs_of(documents, threshold, measure)
    assert public.pairs == expected
    assert public.groups == components(expected)


def long_documents(rng: random.Random, count: int, longest: int) -> list[Document]:
    """Texts of any length, and for most of them some that differ in a few words."""
    documents: list[Document] = []
    while len(documents) < count:
        text = [f"w{rng.randrange(10 * longest)}" for _ in range(rng.randint(1, longest))]
        documents.append(Document(f"d{rng.randrange(count // 2)}", " ".join(text)))
        for _ in range(rng.randrange(4)):
            rate = rng.choice((0.0, 0.01, 0.05, 0.1))
            copy = ["new" if rng.random() < rate else word for word in text]
            documents.append(Document(f"d{rng.randrange(count // 2)}", " ".join(copy)))
    return [one if rng.random() > 0.1 else one._replace(text=None) for one in documents]


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("slots", [4, 32, 128])
def test_texts_longer_than_what_is_stored_of_them_are_found_as_well(threshold: float, slots: int, seed: int) -> None:
    documents = long_documents(random.Random(seed), 160, 300)
    pipeline = LocalPipeline(ExactScheme(threshold, "word:1", slots=slots), threshold, UNCAPPED)
    assert run(pipeline, documents, 20).pairs == pairs_of(documents, threshold)
    assert len(pairs_of(documents, threshold)) > 10


def test_candidates_that_only_begin_alike_are_ruled_out_before_their_texts_are_shingled(seed: int) -> None:
    rng = random.Random(seed)
    common = [f"c{n}" for n in range(60)]
    documents = [
        Document(str(n), " ".join([*rng.sample(common, 40), *(f"{n}x{m}" for m in range(160))])) for n in range(60)
    ]
    pipeline = LocalPipeline(ExactScheme(0.8, "word:1"), 0.8, UNCAPPED)
    assert run(pipeline, documents, 60).pairs == {}
    assert pipeline.counts.candidates > 500
    assert len(pipeline._shared.comparer) == 0, "sets of shingles that were made"


def test_a_restored_pipeline_goes_on_like_the_one_it_was_taken_from(seed: int) -> None:
    documents = long_documents(random.Random(seed), 120, 80)
    scheme = ExactScheme(0.8, "word:1", slots=8)
    pipeline, restored = (LocalPipeline(scheme, 0.8, UNCAPPED) for _ in range(2))
    public = run(pipeline, documents[:60], 7)
    state = pipeline.snapshot()
    restored.restore([state.documents], state.ledger, (state.next_offset, state.newest_ms))
    other = Public()
    other.matches, other.members = dict(public.matches), dict(public.members)
    assert public.pairs
    assert run(pipeline, documents[60:], 7, public).pairs == run(restored, documents[60:], 7, other).pairs
    assert public.pairs == pairs_of(documents, 0.8)


def test_a_query_finds_what_a_document_would(seed: int) -> None:
    documents = long_documents(random.Random(seed), 100, 120)
    near = NearDuplicates(0.8, "word:1", method="exact")
    near.add_many(documents)
    newest = {one.id: one for one in documents if one.text}
    asked = next(iter(newest.values())).text or ""
    held = {id: one for id, one in newest.items() if id in near}
    found = {one.id: one.similarity for one in near.query(asked)}
    compared = {id: oracles.jaccard(asked.split(), (one.text or "").split()) for id, one in held.items()}
    assert found == {id: value for id, value in compared.items() if value >= 0.8}


# -- settings


def test_a_restored_instance_finds_the_same(tmp_path: Path, seed: int) -> None:
    documents = long_documents(random.Random(seed), 100, 60)
    near = NearDuplicates(0.8, "word:1", method="exact")
    near.add_many(documents[:60])
    near.save(tmp_path / "near")
    again = NearDuplicates.load(tmp_path / "near")
    for one in (near, again):
        one.add_many(documents[60:])
        assert {(m.left, m.right): m.similarity for m in one.matches()} == pairs_of(documents, 0.8)


def test_the_stored_settings_of_the_methods_differ() -> None:
    schemes = [text_scheme(method, 0.9) for method in METHODS]
    assert [type(scheme) for scheme in schemes] == [TextScheme, ExactScheme]
    assert "method" not in schemes[0].settings
    assert schemes[1].settings["method"] == "exact"
    others = [ExactScheme(0.8), ExactScheme(0.9, slots=64), ExactScheme(0.9, seed=2), ExactScheme(0.9, "word:2")]
    assert all(other.settings != schemes[1].settings for other in others)
    assert ExactScheme(0.9).settings == schemes[1].settings


def test_settings_without_effect_on_the_method_are_rejected() -> None:
    assert (
        list(method_problems("exact", 0.99, 200))
        == list(method_problems("exact", 0.99, 0))
        == list(method_problems("lsh", 0.5, 7))
        == []
    )
    assert [name for name, _ in method_problems("exact", 0.5, 7)] == ["recall", "max_candidates"]
    assert (most_candidates("exact", 200), most_candidates("lsh", 7)) == (0, 7)
    with pytest.raises(ConfigError, match=r"recall: got 0\.5, expected none") as raised:
        NearDuplicates(0.9, recall=0.5, max_candidates=7, method="exact")
    assert "max_candidates: got 7, expected none" in raised.value.problems[1]
    with pytest.raises(ConfigError, match="method: got 'exakt', expected lsh or exact"):
        NearDuplicates(0.9, method="exakt")


@pytest.mark.parametrize("threshold", [0.0, 1.5, float("nan")])
def test_an_invalid_threshold_is_rejected(threshold: float) -> None:
    with pytest.raises(ConfigError, match="threshold: got"):
        ExactScheme(threshold)
    with pytest.raises(ConfigError, match="slots: got 1, expected 2 to 4096"):
        ExactScheme(0.9, slots=1)
