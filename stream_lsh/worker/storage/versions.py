"""The versions of a table in one file, for the start after an orderly end: `wire.arrays`.

    refs, times, keeps, digests, states   a column of `META` each
    ids, lengths                          the ids in UTF-8 one behind the other; how many characters each has
    shards                                how many ids each shard has; they lie shard by shard
    retiring, counts                      positions of the versions that retired some, and how many
    retired_refs, retired_buckets         these, one behind the other

RocksDB has the same, and gives it version by version, at some 2 us each.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.errors import DamagedBytes
from stream_lsh.pipeline.documents import META, Retired, Versions
from stream_lsh.retention import Horizon
from stream_lsh.wire.arrays import map_arrays, write_arrays

_COLUMNS = {"refs": "ref", "times": "time", "keeps": "keep", "digests": "digest", "states": "state"}


def write_versions(path: Path, versions: Versions, width: int) -> None:
    """Write a file.

    Args:
        path: of the file.
        versions: as `DocumentTable.versions` gives them.
        width: buckets of a version that was retired.

    Raises:
        OSError: it cannot be written.
    """
    if versions.shards is None:
        raise ValueError("got ids in any order, expected them shard by shard")
    retired = sorted(versions.retired.items())
    arrays = {name: versions.meta[field] for name, field in _COLUMNS.items()}
    arrays |= {
        "ids": np.frombuffer("".join(versions.ids).encode("utf-8", "surrogatepass"), np.uint8),
        "lengths": np.fromiter(map(len, versions.ids), np.uint32, len(versions.ids)),
        "shards": np.array(versions.shards, np.int64),
        "retiring": np.array([at for at, _ in retired], np.int64),
        "counts": np.array([one.refs.size for _, one in retired], np.int64),
        "retired_refs": np.concatenate([np.empty(0, np.uint64), *(one.refs for _, one in retired)]),
        "retired_buckets": np.concatenate([np.empty((0, width), np.uint64), *(one.buckets for _, one in retired)]),
    }
    write_arrays(path, arrays)


def read_versions(path: Path, horizon: Horizon) -> Versions:
    """What was written, under this horizon.

    Cost: some 0.2 us a version.

    Raises:
        DamagedBytes, FutureFormat, OSError: as `map_arrays`.
    """
    arrays = map_arrays(path)
    meta = np.empty(arrays["refs"].size, META)
    for name, field in _COLUMNS.items():
        meta[field] = arrays[name]
    text = str(arrays["ids"].data, "utf-8", "surrogatepass")
    ends = _ends(arrays["lengths"])
    if ends[-1] != len(text):
        raise DamagedBytes(f"{path}: got ids of {ends[-1]} characters, and {len(text)} are there")
    between = pairwise(_ends(arrays["counts"]))
    retired = {
        at: Retired(arrays["retired_refs"][start:end].copy(), arrays["retired_buckets"][start:end].copy())
        for at, (start, end) in zip(arrays["retiring"].tolist(), between, strict=True)
    }
    ids = [text[start:end] for start, end in pairwise(ends)]
    return Versions(ids, meta, retired, horizon, tuple(arrays["shards"].tolist()))


def _ends(lengths: I64) -> list[int]:
    """Where each of them ends, with a 0 before."""
    return [0, *np.cumsum(lengths, dtype=np.int64).tolist()]
