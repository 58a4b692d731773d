"""The versions of a table in one file, for the next start: `wire.mapped_arrays`.

    refs, times, keeps, digests, states   a column of `META` each
    ids, separator                        the ids in UTF-8, concatenated; the code point between any two of them
    shards                                the number of ids of each shard; they lie shard by shard
    spans                                 where the ids of each shard begin and end, in bytes: int64[shards, 2]
    retiring, counts                      positions of the versions that retired others, and their numbers
    retired_refs, retired_buckets         these, concatenated

RocksDB has the same data, but reads it version by version, at some 2 us each.  So the file is used with the entries of
RocksDB that have changed since it was written.
"""

import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.errors import DamagedBytes
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.documents.sharded_dict import ShardedIds, text_shard
from stream_lsh.pipeline.documents.versions import LIVE, MARKER, META, Retired, Versions
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
    if not isinstance(versions.ids, ShardedIds):
        raise ValueError("got ids in any order, expected them shard by shard")
    retired = sorted(versions.retired.items())
    shards = [versions.ids.read(number) for number in range(len(versions.ids.sizes))]
    separator = _not_in(id for ids in shards for id in ids)
    texts = [separator.join([*ids, ""]).encode("utf-8", "surrogatepass") for ids in shards]
    starts = _ends(np.array([len(text) for text in texts], np.int64))[:-1]
    gap = len(separator.encode("utf-8", "surrogatepass"))
    spans = [(start, start + max(0, len(text) - gap)) for start, text in zip(starts, texts, strict=True)]
    arrays = {name: versions.meta[field] for name, field in _COLUMNS.items()}
    arrays |= {
        "ids": np.frombuffer(b"".join(texts), np.uint8)[: -gap or None],
        "separator": np.array([ord(separator)], np.uint32),
        "shards": np.array(versions.ids.sizes, np.int64),
        "spans": np.array(spans, np.int64).reshape(-1, 2),
        "retiring": np.array([at for at, _ in retired], np.int64),
        "counts": np.array([one.refs.size for _, one in retired], np.int64),
        "retired_refs": np.concatenate([np.empty(0, np.uint64), *(one.refs for _, one in retired)]),
        "retired_buckets": np.concatenate([np.empty((0, width), np.uint64), *(one.buckets for _, one in retired)]),
    }
    write_arrays(path, arrays)


def read_versions(path: Path, horizon: Horizon, acknowledged: int = 0) -> Versions:
    """The written versions, under this horizon, with messages of the source acknowledged up to this offset.

    Cost: some 0.1 us a version, and as much later, when its id is read.

    Raises:
        DamagedBytes, FutureFormat, OSError: as `map_arrays`; DamagedBytes also when ids are read.
        KeyError: an older version wrote it.
    """
    arrays = map_arrays(path)
    meta = np.empty(arrays["refs"].size, META)
    for name, field in _COLUMNS.items():
        meta[field] = arrays[name]
    sizes, spans = arrays["shards"].tolist(), arrays["spans"].tolist()
    if sum(sizes) != meta.size or len(spans) != len(sizes):
        raise DamagedBytes(f"{path}: got {sum(sizes)} ids in {len(spans)} shards of {meta.size} versions")
    data, separator = arrays["ids"], chr(int(arrays["separator"][0]))

    def read(shard: int) -> list[str]:
        text = str(data[slice(*spans[shard])].data, "utf-8", "surrogatepass")
        ids = text.split(separator) if sizes[shard] else []
        if len(ids) != sizes[shard]:
            raise DamagedBytes(f"{path}: got {len(ids)} ids of {sizes[shard]} versions in shard {shard}")
        return ids

    between = pairwise(_ends(arrays["counts"]))
    retired = {
        at: Retired(arrays["retired_refs"][start:end].copy(), arrays["retired_buckets"][start:end].copy())
        for at, (start, end) in zip(arrays["retiring"].tolist(), between, strict=True)
    }
    return under_horizon(Versions(ShardedIds(sizes, read), meta, retired, horizon, acknowledged))


def versions_of(entries: Iterable[tuple[str, bytes]], width: int, horizon: Horizon, acknowledged: int) -> Versions:
    """The versions of these entries of RocksDB, by id; `width` as for `write_versions`."""
    return under_horizon(Versions(*_parsed(entries, width), horizon, acknowledged))


def _parsed(
    entries: Iterable[tuple[str, bytes]], width: int
) -> tuple[list[str], np.ndarray[tuple[int], np.dtype[np.void]], dict[int, Retired]]:
    """The ids of entries, their `META`, and what they retired, by position."""
    ids, metas, retired = list[str](), list[bytes](), dict[int, Retired]()
    size = META.itemsize
    for id, value in entries:
        if len(value) > size:
            table = np.frombuffer(value[size:], "<u8").reshape(-1, 1 + width)
            retired[len(ids)] = Retired(table[:, 0].copy(), table[:, 1:].copy())
        ids.append(id)
        metas.append(value[:size])
    return ids, np.frombuffer(bytearray().join(metas), META), retired


def under_horizon(versions: Versions) -> Versions:
    """These versions, with markers in place of those that the horizon has passed.

    A version that expired before an older one of its id keeps its row, and has lost its contents.
    """
    meta = versions.meta
    meta["state"][(meta["state"] == LIVE) & (meta["time"] < versions.horizon.time_ms)] = MARKER
    return versions


def revised(versions: Versions, changed: Mapping[str, bytes | None], width: int) -> Versions:
    """The versions of a file with some entries of RocksDB in their place.

    Args:
        versions: of the file.
        changed: the present entry of each id that may have changed; None where it has none.
        width: as for `write_versions`.

    Cost: some 3 us for each of them, and 0.3 us for each version of the file.
    """
    if not changed or not isinstance(versions.ids, ShardedIds):
        return versions
    stored = [id for shard in range(len(versions.ids.sizes)) for id in versions.ids.read(shard)]
    kept = np.array([id not in changed for id in stored], np.bool_)
    present = ((id, value) for id, value in changed.items() if value is not None)
    added, added_meta, added_retired = _parsed(present, width)
    ids = [id for id, stays in zip(stored, kept.tolist(), strict=True) if stays] + added
    shards = np.repeat(np.arange(len(versions.ids.sizes)), versions.ids.sizes)[kept]
    shards = np.concatenate([shards, np.array([text_shard(id) for id in added], np.int64)])
    order = np.argsort(shards, kind="stable")
    at = np.empty(order.size, np.int64)
    at[order] = np.arange(order.size)
    places = np.cumsum(kept) - 1
    retired = {int(at[places[row]]): one for row, one in versions.retired.items() if kept[row]}
    retired |= {int(at[len(ids) - len(added) + row]): one for row, one in added_retired.items()}
    sizes = np.bincount(shards, minlength=len(versions.ids.sizes))
    ends, in_order = _ends(sizes), [ids[place] for place in order.tolist()]
    sharded = ShardedIds(sizes.tolist(), lambda shard: in_order[ends[shard] : ends[shard + 1]])
    meta = np.concatenate([versions.meta[kept], added_meta])[order]
    return under_horizon(versions._replace(ids=sharded, meta=meta, retired=retired))


def _not_in(ids: Iterable[str]) -> str:
    """The first character that occurs in none of them."""
    used = set("".join(ids))
    return next(one for one in map(chr, range(sys.maxunicode + 1)) if one not in used)


def _ends(lengths: I64) -> list[int]:
    """The end of each of them, with a 0 before."""
    return [0, *np.cumsum(lengths, dtype=np.int64).tolist()]


def retired_values(record: DocumentsRecord) -> dict[int, bytes]:
    """The stored form of the versions that each one retired, by position, where it retired some."""
    table = np.column_stack((record.retired_refs, record.retired_buckets)).astype("<u8", copy=False)
    rows, starts = np.unique(record.retired_rows, return_index=True)
    return dict(zip(rows.tolist(), (part.tobytes() for part in np.split(table, starts[1:])), strict=False))
