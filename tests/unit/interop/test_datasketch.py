"""Signatures equal to those of datasketch, its serialised bytes, and combinations that are rejected."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.errors import ConfigError, DamagedBytes, FingerprintMismatch, InvariantError, StateError
from stream_lsh.interop.datasketch_bytes import ByteOrder, read_lean_minhashes
from stream_lsh.sketch.catalog import scheme
from stream_lsh.sketch.datasketch import from_hashvalues, token_shingles
from stream_lsh.sketch.scheme import EMPTY_SLOT
from stream_lsh.sketch.signature_batch import SignatureBatch, require_same, signed

peer = import_module("datasketch")  # it has no types

NAMES = {"affine32": "datasketch", "legacy": "datasketch-legacy"}
both = pytest.mark.parametrize("theirs", sorted(NAMES))
ORDERS: list[ByteOrder] = ["@", "=", "<", ">", "!"]
tokens = st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=30), max_size=4)


def made_by_peer(documents: list[list[str]], theirs: str, slots: int, seed: int) -> list[Any]:
    data = [[token.encode() for token in document] for document in documents]
    return list(peer.MinHash.bulk(data, num_perm=slots, seed=seed, scheme=theirs))


def random_documents(seed: int, sizes: list[int]) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    return [[f"token {n}" for n in generator.integers(0, 1 << 40, size).tolist()] for size in sizes]


def written(minhash: Any, order: str = "@") -> bytes:
    lean = peer.LeanMinHash(minhash)
    buffer = bytearray(lean.bytesize(order))
    lean.serialize(buffer, order)
    return bytes(buffer)


SMALL = {theirs: written(made_by_peer([["a", "b"]], theirs, 3, 1)[0]) for theirs in NAMES}


# -- equal signatures


@both
@pytest.mark.parametrize("slots", [1, 2, 16, 127, 128, 256, 1000])
@pytest.mark.parametrize("seed_of_scheme", [0, 1, 42, (1 << 32) - 1])
def test_signatures_equal_those_of_datasketch(theirs: str, slots: int, seed_of_scheme: int) -> None:
    documents = random_documents(slots, [0, 1, 2, 60, 700])
    want = [minhash.hashvalues.tolist() for minhash in made_by_peer(documents, theirs, slots, seed_of_scheme)]
    got = scheme(NAMES[theirs], slots, seed_of_scheme)(token_shingles(documents))
    assert got.tolist() == want


@both
@given(documents=tokens)
def test_signatures_of_any_tokens_equal_those_of_datasketch(theirs: str, documents: list[list[str]]) -> None:
    want = [minhash.hashvalues.tolist() for minhash in made_by_peer(documents, theirs, 32, 7)]
    assert scheme(NAMES[theirs], 32, 7)(token_shingles(documents)).tolist() == want


@both
def test_a_long_text_in_several_pieces_equals_that_of_datasketch(theirs: str) -> None:
    documents = random_documents(5, [9000])
    (want,) = made_by_peer(documents, theirs, 128, 1)
    assert scheme(NAMES[theirs])(token_shingles(documents))[0].tolist() == want.hashvalues.tolist()


@both
def test_tokens_that_came_one_by_one_are_those_of_a_batch(theirs: str) -> None:
    one_by_one = peer.MinHash(num_perm=64, scheme=theirs)
    for token in ("to", "be", "or", "not", "to", "be"):
        one_by_one.update(token.encode())
    assert scheme(NAMES[theirs], 64)(token_shingles([["not", "or", "be", "to"]]))[0].tolist() == (
        one_by_one.hashvalues.tolist()
    )


def test_tokens_may_be_text_or_bytes() -> None:
    shingles = token_shingles([["é", "x"], [], ["é".encode(), b"x"]])
    assert shingles.counts.tolist() == [2, 0, 2]
    assert shingles.document(0).tolist() == shingles.document(2).tolist()
    assert int(shingles.hashes.max()) < 1 << 32


def test_seeds_that_datasketch_cannot_have_are_refused() -> None:
    for name in NAMES.values():
        for seed in (-1, 1 << 32):
            with pytest.raises(ConfigError, match="seed"):
                scheme(name, 128, seed)


# -- given values


@both
def test_hashvalues_of_objects_are_signatures(theirs: str) -> None:
    documents = random_documents(6, [0, 5, 50])
    objects = made_by_peer(documents, theirs, 16, 3)
    got = from_hashvalues([minhash.hashvalues for minhash in objects])
    assert got.dtype == np.uint32
    assert np.array_equal(got, scheme(NAMES[theirs], 16, 3)(token_shingles(documents)))


def test_no_hashvalues_are_no_signatures() -> None:
    assert from_hashvalues([]).shape == (0, 0)


def test_hashvalues_of_64_bits_or_of_different_lengths_are_refused() -> None:
    wide = made_by_peer([["a"]], "affine64", 4, 1)[0].hashvalues
    with pytest.raises(ConfigError, match="affine64 is not read"):
        from_hashvalues([wide])
    with pytest.raises(ConfigError, match="got 3 and 4 values"):
        from_hashvalues([[1, 2, 3], [1, 2, 3, 4]])
    with pytest.raises(ConfigError, match="beyond 32 bits"):
        from_hashvalues([[-1]])


# -- stored bytes


@both
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("slots", [1, 4, 128])
def test_stored_signatures_are_read_with_their_scheme(theirs: str, order: ByteOrder, slots: int) -> None:
    documents = random_documents(7, [0, 3, 200])
    stored = [written(minhash, order) for minhash in made_by_peer(documents, theirs, slots, 11)]
    batch = read_lean_minhashes(stored, order)
    assert (batch.scheme.name, batch.scheme.slots, batch.scheme.seed) == (NAMES[theirs], slots, 11)
    assert np.array_equal(batch.values, batch.scheme(token_shingles(documents)))


def test_a_document_without_tokens_is_read_as_one() -> None:
    (minhash,) = made_by_peer([[]], "legacy", 8, 1)
    assert (read_lean_minhashes([written(minhash)]).values == EMPTY_SLOT).all()


@both
def test_every_truncation_and_trailing_bytes_are_refused(theirs: str) -> None:
    whole = SMALL[theirs]
    for data in [whole[:end] for end in range(len(whole))] + [whole + b"\0", whole + bytes(4), whole * 2]:
        with pytest.raises(DamagedBytes, match="restore it"):
            read_lean_minhashes([data])


@both
@given(place=st.integers(0, 15), bit=st.integers(0, 7))
def test_a_flipped_bit_before_the_values_is_refused_or_shows_as_another_seed(theirs: str, place: int, bit: int) -> None:
    whole = SMALL[theirs]
    place = min(place, len(whole) - 3 * 4 - 1)
    data = bytearray(whole)
    data[place] ^= 1 << bit
    if place < 4:
        assert read_lean_minhashes([bytes(data)]).scheme.seed != 1
        with pytest.raises(FingerprintMismatch):
            read_lean_minhashes([whole, bytes(data)])
    else:
        with pytest.raises(StateError):
            read_lean_minhashes([bytes(data)])


@given(data=st.binary(max_size=60))
def test_foreign_bytes_end_in_an_error_of_stored_state_or_in_values(data: bytes) -> None:
    try:
        batch = read_lean_minhashes([data])
    except StateError:
        return
    assert batch.values.nbytes <= len(data)


def test_the_other_byte_order_is_noticed() -> None:
    for theirs in NAMES:
        big = written(made_by_peer([["a"]], theirs, 128, 1)[0], ">")
        with pytest.raises(DamagedBytes, match="perhaps it was not written with @"):
            read_lean_minhashes([big])
    with pytest.raises(ConfigError, match="middle"):
        read_lean_minhashes([big], "middle")  # type: ignore[arg-type]


def test_signatures_of_64_bits_are_refused_by_name() -> None:
    for order in ORDERS:
        with pytest.raises(StateError, match="affine64"):
            read_lean_minhashes([written(made_by_peer([["a"]], "affine64", 4, 1)[0], order)], order)


def test_padding_must_be_declared_and_empty() -> None:
    (minhash,) = made_by_peer([["a"]], "affine32", 4, 1)
    for order, read_as in (("@", "<"), ("<", "@")):
        with pytest.raises(DamagedBytes):
            read_lean_minhashes([written(minhash, order)], read_as)  # type: ignore[arg-type]
    data = bytearray(written(minhash))
    data[14] = 1
    with pytest.raises(DamagedBytes, match="padding"):
        read_lean_minhashes([bytes(data)])


def test_an_unknown_scheme_code_is_refused() -> None:
    data = bytearray(SMALL["affine32"])
    data[12] = 7
    with pytest.raises(DamagedBytes, match="scheme code 7"):
        read_lean_minhashes([bytes(data)])


def test_an_empty_input_is_rejected_since_it_has_no_scheme() -> None:
    with pytest.raises(ConfigError, match="got none"):
        read_lean_minhashes([])


# -- rejected combinations


def test_mixed_signatures_are_refused() -> None:
    legacy, current = SMALL["legacy"], SMALL["affine32"]
    longer = written(made_by_peer([["a"]], "legacy", 4, 1)[0])
    other_seed = written(made_by_peer([["a"]], "legacy", 3, 2)[0])
    for stored in ([legacy, current], [current, legacy], [legacy, longer], [legacy, other_seed]):
        with pytest.raises(FingerprintMismatch, match="cannot be compared"):
            read_lean_minhashes(stored)


def test_batches_of_one_scheme_only_are_compared() -> None:
    require_same(scheme("datasketch", 64, 2), scheme("datasketch", 64, 2))
    for other in (scheme("datasketch-legacy", 64, 2), scheme("datasketch", 32, 2), scheme("datasketch", 64, 3)):
        with pytest.raises(FingerprintMismatch, match="sign the texts again"):
            require_same(scheme("datasketch", 64, 2), other)


def test_a_batch_of_values_has_as_many_slots_as_its_scheme() -> None:
    batch = signed(scheme("datasketch", 16), token_shingles([["a"], ["b"]]))
    assert len(batch) == 2
    with pytest.raises(InvariantError, match=r"expected \(n, 8\)"):
        SignatureBatch(scheme("datasketch", 8), batch.values)
