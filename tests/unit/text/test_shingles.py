import numpy as np

from stream_lsh.text.shingles import Shingles, join_shingles, offsets_of


def batch(*documents: list[int]) -> Shingles:
    counts = np.array([len(d) for d in documents], np.int64)
    return Shingles(np.array([h for d in documents for h in d], np.uint64), offsets_of(counts))


def test_a_batch_gives_back_each_document() -> None:
    shingles = batch([1, 2], [], [3])
    assert [shingles.document(row).tolist() for row in range(len(shingles))] == [[1, 2], [], [3]]


def test_joined_batches_are_the_documents_in_order() -> None:
    joined = join_shingles([batch([1], []), batch(), batch([2, 3])])
    assert [joined.document(row).tolist() for row in range(len(joined))] == [[1], [], [2, 3]]


def test_no_batches_join_to_no_documents() -> None:
    joined = join_shingles([])
    assert len(joined) == 0
    assert joined.hashes.dtype == np.uint64
    assert joined.offsets.dtype == np.int64
