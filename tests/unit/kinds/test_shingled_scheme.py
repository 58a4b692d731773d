"""The scheme of a text pipeline: its settings, its buckets."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.pipeline.batches import Signatures
from tests.texts import AWKWARD, batches

SCHEME = TextScheme(0.8, "char:3")


VARIANTS = {
    "as it is": TextScheme(0.8, "word:3"),
    "threshold": TextScheme(0.5, "word:3"),
    "shingles": TextScheme(0.8, "word:2"),
    "kind of shingles": TextScheme(0.8, "char:3"),
    "recall": TextScheme(0.8, "word:3", recall=0.5),
    "slots": TextScheme(0.8, "word:3", slots=256),
    "normalise": TextScheme(0.8, "word:3", normalise=("nfkc",)),
    "nothing normalised": TextScheme(0.8, "word:3", normalise=()),
    "sketch": TextScheme(0.8, "word:3", sketch="classic"),
    "seed": TextScheme(0.8, "word:3", seed=2),
}


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(VARIANTS, 2)))
def test_schemes_that_give_other_bytes_have_other_settings(one: str, other: str) -> None:
    assert VARIANTS[one].settings != VARIANTS[other].settings


def test_the_length_of_a_signature_is_a_setting_even_where_the_bands_are_the_same() -> None:
    one, other = TextScheme(0.8, slots=128), TextScheme(0.8, slots=129)
    assert (one.banding.bands, one.banding.rows) == (other.banding.bands, other.banding.rows)
    assert one.settings != other.settings


def test_equal_arguments_have_equal_settings_and_give_equal_bytes() -> None:
    one, other = TextScheme(0.8), TextScheme(0.8)
    assert one.settings == other.settings
    texts = ["the cat sat on the mat", ""]
    assert_array_equal(one.buckets(one.sign(texts)), other.buckets(other.sign(texts)))


def test_the_settings_do_not_change_where_the_bytes_do_not() -> None:
    assert TextScheme(0.8).settings == TextScheme(0.8, recall=0.9900001).settings


@settings(max_examples=60)
@given(batches)
def test_buckets_are_0_exactly_for_texts_without_shingles(texts: list[str]) -> None:
    signatures = SCHEME.sign(texts)
    buckets = SCHEME.buckets(signatures)
    assert buckets.shape == (len(texts), SCHEME.banding.bands + 1)
    assert signatures.values.shape == (len(texts), SCHEME.slots)
    empty = np.array([not made.size for made in SCHEME.shingle_sets(texts)], np.bool_)
    assert_array_equal(signatures.digests == 0, empty)
    assert_array_equal(buckets[:, -1] == 0, empty)
    assert not buckets[empty].any()
    assert (buckets[~empty, -1] & np.uint64(1)).all(), "bit 0 is set on the digest band"
    assert not (buckets[:, :-1] & np.uint64(1)).any(), "and nowhere else"


@settings(max_examples=40)
@given(batches)
def test_a_text_gets_the_same_alone_as_in_any_batch(texts: list[str]) -> None:
    signatures = SCHEME.sign(texts)
    sets = SCHEME.shingle_sets(texts)
    for row, text in enumerate(texts):
        alone = SCHEME.sign([text])
        assert_array_equal(alone.values[0], signatures.values[row])
        assert alone.digests[0] == signatures.digests[row]
        assert_array_equal(SCHEME.shingle_sets([text])[0], sets[row])
        assert (sets[row][1:] > sets[row][:-1]).all()


def test_huge_and_awkward_texts_keep_their_places() -> None:
    signatures = SCHEME.sign(AWKWARD)
    for row in (0, 4, 6, len(AWKWARD) - 1):
        assert_array_equal(SCHEME.sign([AWKWARD[row]]).values[0], signatures.values[row])


def test_copies_share_all_buckets_and_forms_of_a_letter_are_one() -> None:
    signatures = SCHEME.sign(["caf\u00e9 noir", "cafe\u0301 noir", "cafe noir"])
    buckets = SCHEME.buckets(signatures)
    assert_array_equal(buckets[0], buckets[1])
    assert (buckets[0] != buckets[2]).any()


def test_buckets_are_a_new_array_and_leave_the_signatures_alone() -> None:
    signatures = SCHEME.sign(["abc def", ""])
    values, digests = signatures.values.copy(), signatures.digests.copy()
    SCHEME.buckets(signatures)[:] = 7
    assert_array_equal(signatures.values, values)
    assert_array_equal(signatures.digests, digests)
    assert len(signatures) == 2


def test_no_texts_give_no_rows() -> None:
    signatures = SCHEME.sign([])
    assert len(signatures) == 0
    assert SCHEME.buckets(signatures).shape == (0, SCHEME.banding.bands + 1)
    assert SCHEME.shingle_sets([]) == []
    assert len(Signatures(signatures.values, signatures.digests)) == 0


def test_the_estimate_asked_for_is_below_the_threshold() -> None:
    for threshold in (0.3, 0.5, 0.8, 0.95):
        assert 0 < SCHEME.least_matching(threshold) < threshold * SCHEME.slots
