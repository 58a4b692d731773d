"""The guarantees that every scheme gives, and the formulas that each one computes."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.arrays import U32
from stream_lsh.errors import ConfigError
from stream_lsh.sketch.classic import ClassicMinHash
from stream_lsh.sketch.estimate import union
from stream_lsh.sketch.fast_similarity import FastSimilarity
from stream_lsh.sketch.permuted import PermutedMinHash
from stream_lsh.sketch.scheme import EMPTY_SLOT, SignatureScheme
from stream_lsh.text.shingles import Shingles, offsets_of
from tests.evaluation.oracles import MASK64, classic_minhash, fast_similarity, permuted_minhash

Documents = list[list[int]]
any_scheme = pytest.mark.parametrize(
    "scheme",
    [
        FastSimilarity(),
        FastSimilarity(slots=256, seed=3),
        FastSimilarity(slots=100, rounds=1),
        FastSimilarity(slots=7, rounds=254),
        FastSimilarity(slots=1),
        ClassicMinHash(),
        ClassicMinHash(slots=33, seed=4),
        PermutedMinHash(),
        PermutedMinHash(slots=33, seed=4),
    ],
    ids=lambda s: f"{s.name}-{s.slots}-{s.seed}-{getattr(s, 'rounds', '')}",
)
hashes = st.integers(0, MASK64)
documents = st.lists(st.lists(hashes, max_size=30), max_size=6)


def batch(documents: Iterable[Iterable[int]]) -> Shingles:
    lists = [list(d) for d in documents]
    counts = np.array([len(d) for d in lists], np.int64)
    return Shingles(np.array([h for d in lists for h in d], np.uint64), offsets_of(counts))


def oracle(scheme: SignatureScheme) -> Callable[[Iterable[int]], list[int]]:
    if isinstance(scheme, FastSimilarity):
        rounds = scheme.rounds
        return lambda document: fast_similarity(document, scheme.slots, scheme.seed, rounds)
    if isinstance(scheme, PermutedMinHash):
        return lambda document: permuted_minhash(document, scheme.slots, scheme.seed)
    return lambda document: classic_minhash(document, scheme.slots, scheme.seed)


def random_documents(seed: int, sizes: Iterable[int]) -> Documents:
    generator = np.random.default_rng(seed)
    return [generator.integers(0, 1 << 64, size, np.uint64).tolist() for size in sizes]


@any_scheme
@given(documents)
def test_a_batch_has_the_signatures_of_the_formulas(scheme: SignatureScheme, documents: Documents) -> None:
    signatures = scheme(batch(documents))
    assert signatures.dtype == np.uint32
    assert signatures.shape == (len(documents), scheme.slots)
    assert signatures.tolist() == [oracle(scheme)(document) for document in documents]


@any_scheme
@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 300, 700, 2047, 2048, 2049, 6000])
def test_larger_documents_have_the_signatures_of_the_formulas(scheme: SignatureScheme, size: int) -> None:
    (document,) = random_documents(size, [size])
    assert scheme(batch([document]))[0].tolist() == oracle(scheme)(document)


@any_scheme
def test_a_document_does_not_depend_on_its_neighbours(scheme: SignatureScheme) -> None:
    documents = random_documents(1, [0, 3, 900, 40, 0, 1, 70_000, 250, 140_000, 20, 0])
    together = scheme(batch(documents))
    for row, document in enumerate(documents):
        assert np.array_equal(together[row], scheme(batch([document]))[0])


@any_scheme
@given(st.lists(hashes, min_size=1, max_size=20), st.lists(st.integers(0, 19), max_size=20))
def test_repetitions_and_order_change_nothing(scheme: SignatureScheme, document: list[int], again: list[int]) -> None:
    repeated = [document[i % len(document)] for i in again] + document[::-1]
    first, second = scheme(batch([document, repeated]))
    assert np.array_equal(first, second)


@any_scheme
@pytest.mark.parametrize("distinct", [1, 3, 50])
def test_a_very_long_repetitive_document_has_the_signature_of_its_few_shingles(
    scheme: SignatureScheme, distinct: int
) -> None:
    (document,) = random_documents(distinct, [distinct])
    long = document * (300_000 // distinct)
    first, second, third = scheme(batch([document, long, document[:1]]))
    assert np.array_equal(first, second)
    assert np.array_equal(scheme(batch([long]))[0], first)
    assert np.array_equal(third, scheme(batch([document[:1]]))[0])


@any_scheme
@given(st.lists(hashes, max_size=20), st.lists(hashes, max_size=20))
def test_the_signature_of_a_union_is_the_minimum(scheme: SignatureScheme, left: list[int], right: list[int]) -> None:
    of_left, of_right, of_both = scheme(batch([left, right, left + right]))
    assert np.array_equal(union(of_left, of_right), of_both)


@any_scheme
def test_large_and_small_documents_merge(scheme: SignatureScheme) -> None:
    for sizes in ((1, 5000), (40, 700), (700, 900)):
        left, right = random_documents(sum(sizes), sizes)
        of_left, of_right, of_both = scheme(batch([left, right, left + right]))
        assert np.array_equal(union(of_left, of_right), of_both)


@any_scheme
@given(documents)
def test_the_empty_slot_is_kept_for_empty_documents(scheme: SignatureScheme, documents: Documents) -> None:
    for document, signature in zip(documents, scheme(batch(documents)), strict=True):
        assert (signature == EMPTY_SLOT).all() if not document else (signature != EMPTY_SLOT).all()


def test_a_minimum_that_is_the_empty_slot_becomes_the_next_smaller_value() -> None:
    scheme = ClassicMinHash(slots=1)
    factor, term = int(scheme._factors[0]), int(scheme._terms[0])
    unlucky = (EMPTY_SLOT - term) * pow(factor, -1, 1 << 32) % (1 << 32)
    assert scheme(batch([[unlucky]]))[0, 0] == EMPTY_SLOT - 1


@any_scheme
def test_the_arguments_are_left_alone(scheme: SignatureScheme) -> None:
    shingles = batch(random_documents(5, [900, 2, 30]))
    before = shingles.hashes.copy()
    scheme(shingles)
    assert np.array_equal(shingles.hashes, before)


def test_seeds_and_rounds_make_other_schemes() -> None:
    shingles = batch(random_documents(6, [20]))
    made: list[U32] = [
        s(shingles)[0] for s in (FastSimilarity(), FastSimilarity(seed=2), FastSimilarity(rounds=8), ClassicMinHash())
    ]
    for i, one in enumerate(made):
        for other in made[:i]:
            assert not np.array_equal(one, other)


def test_rounds_out_of_range_are_refused() -> None:
    for rounds in (0, 255):
        with pytest.raises(ConfigError, match="rounds"):
            FastSimilarity(rounds=rounds)
