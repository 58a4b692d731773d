"""The versions in a table of documents, without their contents."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64
from stream_lsh.pipeline.documents.sharded_dict import ShardedIds
from stream_lsh.retention import Horizon

FREE, MARKER, LIVE = 0, 1, 2
META = np.dtype([("ref", "<u8"), ("time", "<i8"), ("keep", "<i8"), ("digest", "<u8"), ("state", "u1")])


class Version(NamedTuple):
    """The newest version of an id: its place in the table, and the columns that sign needs."""

    row: int
    ref: int
    time_ms: int
    keep_until_ms: int
    live: bool


class Retired(NamedTuple):
    """The versions that one version retired: uint64[m] refs and uint64[m, bands + 1] buckets."""

    refs: U64
    buckets: U64


class Versions(NamedTuple):
    """All columns of a table, without the contents.

    Attributes:
        ids: n of them, all different; shard by shard, or in any order.
        meta: META[n], no row free.
        retired: by position.
        horizon: the limit of what has expired.
        acknowledged: the offset of the source below which no message is read again.
    """

    ids: list[str] | ShardedIds
    meta: np.ndarray
    retired: dict[int, Retired]
    horizon: Horizon
    acknowledged: int = 0


def refs_in_order(chunks: Sequence[np.ndarray]) -> tuple[U64, I64]:
    """The refs of all used rows, ascending, and the row of each; at least one is used: uint64[n], int64[n]."""
    rows = np.flatnonzero(np.concatenate([meta["state"] for meta in chunks]) != FREE)
    refs = np.concatenate([meta["ref"] for meta in chunks])[rows]
    # One sort of plain integers takes a seventh of an argsort; a million rows leave room for 2^44 offsets.
    first, bits = refs.min(), np.uint64(int(rows[-1]).bit_length())
    if int(refs.max() - first).bit_length() + int(bits) > 64:
        order = np.argsort(refs)
        return refs[order], rows[order]
    packed = refs - first << bits | rows.astype(np.uint64)
    packed.sort()
    return (packed >> bits) + first, (packed & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
