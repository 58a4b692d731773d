"""What a table of documents knows of a version, beside its contents."""

from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import U64
from stream_lsh.retention import Horizon

FREE, MARKER, LIVE = 0, 1, 2
META = np.dtype([("ref", "<u8"), ("time", "<i8"), ("keep", "<i8"), ("digest", "<u8"), ("state", "u1")])


class Version(NamedTuple):
    """The newest version of an id: where it stands, and what sign needs of it."""

    row: int
    ref: int
    time_ms: int
    keep_until_ms: int
    live: bool


class Retired(NamedTuple):
    """What a version retired: uint64[m] refs and uint64[m, bands + 1] buckets."""

    refs: U64
    buckets: U64


class Versions(NamedTuple):
    """Everything that a table holds, but the contents.

    Attributes:
        ids: n of them, all different.
        meta: META[n], no row free.
        retired: by position.
        horizon: what has been dropped.
        shards: where the ids lie shard by shard, how many each has.
    """

    ids: list[str]
    meta: np.ndarray
    retired: dict[int, Retired]
    horizon: Horizon
    shards: tuple[int, ...] | None = None
