"""The versions of a table in one file, for the start after an orderly end: `wire.mapped_arrays`.

    refs, times, keeps, digests, states   a column of `META` each
    ids, separator                        the ids in UTF-8, concatenated; the code point between any two of them
    shards                                the number of ids of each shard; they lie shard by shard
    retiring, counts                      positions of the versions that retired others, and their numbers
    retired_refs, retired_buckets         these, concatenated

RocksDB has the same data, but reads it version by version, at some 2 us each.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.errors import DamagedBytes
from stream_lsh.pipeline.documents.versions import META, Retired, Versions
from stream_lsh.retention import Horizon
from stream_lsh.wire.mapped_arrays import map_arrays, write_arrays

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
    separator = _not_in(versions.ids)
    arrays = {name: versions.meta[field] for name, field in _COLUMNS.items()}
    arrays |= {
        "ids": np.frombuffer(separator.join(versions.ids).encode("utf-8", "surrogatepass"), np.uint8),
        "separator": np.array([ord(separator)], np.uint32),
        "shards": np.array(versions.shards, np.int64),
        "retiring": np.array([at for at, _ in retired], np.int64),
        "counts": np.array([one.refs.size for _, one in retired], np.int64),
        "retired_refs": np.concatenate([np.empty(0, np.uint64), *(one.refs for _, one in retired)]),
        "retired_buckets": np.concatenate([np.empty((0, width), np.uint64), *(one.buckets for _, one in retired)]),
    }
    write_arrays(path, arrays)


def read_versions(path: Path, horizon: Horizon, acknowledged: int = 0) -> Versions:
    """The written versions, under this horizon, with messages of the source acknowledged up to this offset.

    Cost: some 0.2 us a version.

    Raises:
        DamagedBytes, FutureFormat, OSError: as `map_arrays`.
    """
    arrays = map_arrays(path)
    meta = np.empty(arrays["refs"].size, META)
    for name, field in _COLUMNS.items():
        meta[field] = arrays[name]
    text, separator = str(arrays["ids"].data, "utf-8", "surrogatepass"), chr(int(arrays["separator"][0]))
    ids = text.split(separator) if meta.size else []  # a tenth of the time of a cut for each
    if len(ids) != meta.size:
        raise DamagedBytes(f"{path}: got {len(ids)} ids of {meta.size} versions")
    between = pairwise(_ends(arrays["counts"]))
    retired = {
        at: Retired(arrays["retired_refs"][start:end].copy(), arrays["retired_buckets"][start:end].copy())
        for at, (start, end) in zip(arrays["retiring"].tolist(), between, strict=True)
    }
    return Versions(ids, meta, retired, horizon, acknowledged, tuple(arrays["shards"].tolist()))


def _not_in(ids: list[str]) -> str:
    """The first character that occurs in none of them."""
    used = set("".join(ids))
    return next(one for one in map(chr, range(sys.maxunicode + 1)) if one not in used)


def _ends(lengths: I64) -> list[int]:
    """The end of each of them, with a 0 before."""
    return [0, *np.cumsum(lengths, dtype=np.int64).tolist()]
