"""Division by partition, against loops."""

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from stream_lsh.errors import InvariantError
from stream_lsh.pipeline.batches import Candidates, Postings, Verifications
from stream_lsh.wire.route import (
    bucket_partitions,
    candidates_by_partition,
    postings_by_partition,
    verifications_by_partition,
)
from tests.unit.wire import strategies as batches
from tests.unit.wire.test_split import posting_rows, verification_rows

PARTITIONS = st.integers(1, 5)


def slow_partition(bucket: int, partitions: int) -> int:
    return (((bucket >> 1) & 0xFFFFFFFF) * partitions) >> 32


def rows_of(shares: Sequence[Any], rows: Any) -> list[list[Any]]:
    return [[] if share is None else rows(share) for share in shares]


@given(st.lists(batches.U64S), st.integers(1, 1 << 16))
def test_the_partition_of_a_bucket_is_that_of_the_formula(buckets: list[int], partitions: int) -> None:
    got = bucket_partitions(np.array(buckets, np.uint64), partitions).tolist()
    assert got == [slow_partition(bucket, partitions) for bucket in buckets]
    assert all(0 <= partition < partitions for partition in got)


@given(batches.postings(), PARTITIONS)
def test_postings_go_where_their_bucket_belongs(batch: Postings, partitions: int) -> None:
    shares = postings_by_partition(batch, partitions)
    assert len(shares) == partitions
    for partition, got in enumerate(rows_of(shares, posting_rows)):
        expected = [
            (*version, [bucket for bucket in buckets if slow_partition(bucket, partitions) == partition])
            for *version, buckets in posting_rows(batch)
        ]
        if partitions > 1:
            expected = [row for row in expected if row[-1]]
        assert got == (expected if batch.rows.size else [])


@given(st.data(), PARTITIONS)
def test_candidates_go_where_the_new_document_is(data: st.DataObject, partitions: int) -> None:
    batch = data.draw(batches.candidates(partitions))
    shares = candidates_by_partition(batch, partitions)

    def rows(share: Candidates) -> list[tuple[int, int, int]]:
        return list(zip(share.new.tolist(), share.old.tolist(), share.kinds.tolist(), strict=True))

    expected = [[row for row in rows(batch) if row[0] >> 48 == partition] for partition in range(partitions)]
    assert rows_of(shares, rows) == expected
    assert [share is None for share in shares] == [not some for some in expected]


@given(st.data(), PARTITIONS)
def test_verifications_go_where_the_old_document_is(data: st.DataObject, partitions: int) -> None:
    batch = data.draw(batches.verifications(partitions=partitions))
    shares = verifications_by_partition(batch, partitions)
    assert len(shares) == partitions
    for partition, got in enumerate(rows_of(shares, verification_rows)):
        expected = [
            (document, [pair for pair in pairs if pair[0] >> 48 == partition])
            for document, pairs in verification_rows(batch)
        ]
        if partitions > 1:
            expected = [row for row in expected if row[1]]
        assert got == (expected if len(batch) else [])


def test_with_one_partition_the_input_itself_comes_back() -> None:
    one = np.ones(1, np.uint64)
    row, flag, kind = np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1, np.uint8)
    postings = Postings(one, row, flag, row, one)
    candidates = Candidates(one, one, kind)
    verifications = Verifications(one, row, one, ["a"], ["t"], np.zeros((1, 2), np.uint32), row, one, kind)
    assert postings_by_partition(postings, 1)[0] is postings
    assert candidates_by_partition(candidates, 1)[0] is candidates
    assert verifications_by_partition(verifications, 1)[0] is verifications


def test_a_ref_of_a_partition_that_there_is_not_is_a_bug() -> None:
    ref = np.array([7 << 48], np.uint64)
    with pytest.raises(InvariantError, match="partition 7, expected less than 2"):
        candidates_by_partition(Candidates(ref, ref, np.zeros(1, np.uint8)), 2)
