"""The partition of a key, as Kafka's default partitioner chooses it, for many keys at once.

Fault (aiokafka 0.14): its murmur2 is a loop in Python, 3 us for a key of 23 bytes.  Delete when: it is compiled.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from aiokafka.partitioner import murmur2  # type: ignore[import-untyped]

from stream_lsh.arrays import I64, U8, U32

_FACTOR, _SEED = np.uint32(0x5BD1E995), 0x9747B28C
_FEW = 8
"""So few keys of one length cost less one by one."""


def key_partitions(keys: Sequence[bytes], partitions: int) -> I64:
    """The partition of each key: int64[n].

    Guarantees:
        the partitions of the Java client and of librdkafka's `murmur2_random`.

    Cost:
        0.1 us a key from some hundred keys of one length on, 3 us for a single one.

    Source:
        Apache Kafka, `Utils.murmur2` and `BuiltInPartitioner`; Appleby, MurmurHash2.

    Example:
        >>> key_partitions([b"21", b"foobar"], 8).tolist()
        [4, 6]
    """
    hashes = np.empty(len(keys), np.uint32)
    by_length = defaultdict[int, list[int]](list)
    for at, key in enumerate(keys):
        by_length[len(key)].append(at)
    for length, places in by_length.items():
        if len(places) < _FEW:
            hashes[places] = [murmur2(keys[at]) for at in places]
        else:
            joined = np.frombuffer(b"".join([keys[at] for at in places]), np.uint8)
            hashes[places] = _murmur2(joined.reshape(len(places), length))
    return (hashes & np.uint32(0x7FFFFFFF)).astype(np.int64) % partitions


def _murmur2(keys: U8) -> U32:
    """The hashes of keys of one length, uint8[n, length]."""
    count, length = keys.shape
    whole = length - length % 4
    hashes = np.full(count, _SEED ^ length, np.uint32)
    words = np.ascontiguousarray(keys[:, :whole]).view("<u4").astype(np.uint32) * _FACTOR
    words ^= words >> np.uint32(24)
    words *= _FACTOR
    for at in range(whole // 4):
        hashes *= _FACTOR
        hashes ^= words[:, at]
    for at in range(whole, length):
        hashes ^= keys[:, at].astype(np.uint32) << np.uint32(8 * (at - whole))
    if whole < length:
        hashes *= _FACTOR
    hashes ^= hashes >> np.uint32(13)
    hashes *= _FACTOR
    hashes ^= hashes >> np.uint32(15)
    return hashes
