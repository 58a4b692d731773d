"""The index of signatures against a plain comparison of all with all."""

from importlib import import_module

import numpy as np
import pytest

from stream_lsh.errors import ConfigError, FingerprintMismatch
from stream_lsh.interop.datasketch_bytes import read_lean_minhashes
from stream_lsh.interop.signature_index import Estimated, SignatureIndex
from stream_lsh.lsh.banding import Bands
from stream_lsh.sketch.catalog import SCHEMES, scheme
from stream_lsh.sketch.datasketch import from_hashvalues, token_shingles
from stream_lsh.sketch.estimate import matching_slots
from stream_lsh.sketch.signature_batch import SignatureBatch, signed

peer = import_module("datasketch")  # it has no types


def near_copies(seed: int, count: int) -> list[list[str]]:
    """Documents of 40 tokens in families of five, each with some tokens of its own."""
    generator = np.random.default_rng(seed)
    documents = []
    for number in range(count):
        own = int(generator.integers(0, 15))
        documents.append(
            [f"{number // 5} {token}" for token in range(40 - own)] + [f"x{number} {n}" for n in range(own)]
        )
    return documents


def by_comparing_all(
    index: SignatureIndex, keys: list[str], kept: SignatureBatch, asked: SignatureBatch, threshold: float
) -> list[list[Estimated]]:
    bands = Bands(index.banding.bands, index.banding.rows)
    answers = []
    for row in range(len(asked)):
        question = np.repeat(asked.values[row : row + 1], len(kept), axis=0)
        share_a_band = (bands(question) == bands(kept.values)).any(axis=1)
        estimates = matching_slots(question, kept.values) / kept.scheme.slots
        chosen = [
            Estimated(key, estimate)
            for key, estimate, candidate in zip(keys, estimates.tolist(), share_a_band.tolist(), strict=True)
            if candidate and estimate >= threshold and estimate > 0
        ]
        answers.append(sorted(chosen, key=lambda answer: (-answer.estimate, answer.key)))
    return answers


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_answers_are_those_of_comparing_with_all_that_share_a_band(name: str) -> None:
    made = scheme(name)
    documents = [*near_copies(1, 200), []]
    kept = signed(made, token_shingles(documents))
    keys = [f"d{number}" for number in range(len(documents))]
    index = SignatureIndex(made, threshold=0.6)
    index.add(keys, kept)
    asked = signed(made, token_shingles([*near_copies(2, 60), [], ["unknown"]]))
    answers = index.query(asked)
    assert answers == by_comparing_all(index, keys, kept, asked, 0.6)
    assert sum(map(len, answers)) > 100
    assert answers[-2:] == [[], []]
    assert index.candidates(asked) == by_comparing_all(index, keys, kept, asked, 0.0)
    assert index.query(asked, threshold=0.9) == by_comparing_all(index, keys, kept, asked, 0.9)


def test_adding_one_by_one_is_adding_all_at_once() -> None:
    made = scheme("datasketch", 64)
    documents = near_copies(3, 50)
    batch = signed(made, token_shingles(documents))
    at_once, one_by_one = SignatureIndex(made, 0.5), SignatureIndex(made, 0.5)
    at_once.add([str(number) for number in range(50)], batch)
    for number in range(50):
        one_by_one.add([str(number)], SignatureBatch(made, batch.values[number : number + 1]))
    assert len(at_once) == len(one_by_one) == 50
    assert at_once.query(batch) == one_by_one.query(batch)


def test_a_key_that_comes_again_has_its_new_signature_only() -> None:
    made = scheme("fast")
    old, new = (signed(made, token_shingles([[f"{word} {n}" for n in range(30)]])) for word in ("old", "new"))
    index = SignatureIndex(made)
    index.add(["a"], old)
    index.add(["a"], new)
    assert len(index) == 1
    assert index.query(old) == [[]]
    assert index.query(new) == [[Estimated("a", 1.0)]]


def test_a_removed_signature_is_found_no_more() -> None:
    made = scheme("fast")
    batch = signed(made, token_shingles([["a", "b"], ["a", "b"], []]))
    index = SignatureIndex(made)
    index.add(["x", "y", "empty"], batch)
    index.remove(["x", "empty", "x"])
    assert ("x" in index, "y" in index, len(index)) == (False, True, 1)
    assert index.query(batch) == [[Estimated("y", 1.0)], [Estimated("y", 1.0)], []]
    index.remove([])
    with pytest.raises(ConfigError, match="got 'x'"):
        index.remove(["x"])
    index.add(["x"], SignatureBatch(made, batch.values[:1]))
    assert [answer.key for answer in index.query(batch)[0]] == ["x", "y"]


def test_signatures_of_another_scheme_are_refused() -> None:
    index = SignatureIndex(scheme("datasketch"))
    for other in (scheme("datasketch-legacy"), scheme("datasketch", seed=2), scheme("datasketch", 64)):
        batch = signed(other, token_shingles([["a"]]))
        with pytest.raises(FingerprintMismatch, match="cannot be compared"):
            index.add(["a"], batch)
        with pytest.raises(FingerprintMismatch, match="cannot be compared"):
            index.query(batch)
    assert len(index) == 0


def test_keys_must_be_as_many_as_signatures_and_different() -> None:
    made = scheme("fast")
    batch = signed(made, token_shingles([["a"], ["b"]]))
    index = SignatureIndex(made)
    for keys in (["a"], ["a", "a"]):
        with pytest.raises(ConfigError, match="expected one each and none twice"):
            index.add(keys, batch)
    assert len(index) == 0


@pytest.mark.parametrize("theirs", ["affine32", "legacy"])
def test_a_stored_signature_of_datasketch_is_found_with_a_new_text(theirs: str) -> None:
    documents = near_copies(4, 100)
    stored, objects = [], []
    for document in documents:
        minhash = peer.MinHash(num_perm=128, seed=5, scheme=theirs)
        minhash.update_batch([token.encode() for token in document])
        lean = peer.LeanMinHash(minhash)
        buffer = bytearray(lean.bytesize())
        lean.serialize(buffer)
        stored.append(bytes(buffer))
        objects.append(minhash)
    yesterday = read_lean_minhashes(stored)
    index = SignatureIndex(yesterday.scheme, threshold=0.5)
    index.add([str(number) for number in range(100)], yesterday)
    today = signed(yesterday.scheme, token_shingles([documents[17]]))
    answers = index.query(today)[0]
    assert answers[0] == Estimated("17", 1.0)
    assert {answer.estimate for answer in answers} <= {objects[17].jaccard(minhash) for minhash in objects}
    assert np.array_equal(from_hashvalues([minhash.hashvalues for minhash in objects]), yesterday.values)
