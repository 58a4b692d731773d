"""The stored form of texts, which lie in the blocks of the changelog's records, and of metadata.

A place is the key of a block behind its prefix, then the number of the text in the block: u32.
"""

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any

import numpy as np

from stream_lsh.arrays import Bools
from stream_lsh.errors import DamagedBytes
from stream_lsh.model import About
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.wire.text_blocks import announced, packed, unpacked

NO_METADATA = bytes(8)
_BLOCK, _NUMBER, _ABOUT = Struct(">QI"), Struct("<I"), Struct("<II")


def put_texts(batch: Any, record: DocumentsRecord, needed: Bools, offset: int) -> None:
    """Write the blocks with some texts of a record, and the place of each text.

    Args:
        batch: of writes to RocksDB.
        record: in the changelog.
        needed: bool[n], the versions whose texts are needed.
        offset: of the record.
    """
    keys, end = record.refs.astype(">u8").tobytes(), 0
    for number, block in enumerate(record.blocks or packed(record.texts)):
        start, end = end, end + announced(block)[0]
        inside = np.flatnonzero(needed[start:end]).tolist()
        if inside:
            key = _BLOCK.pack(offset, number)
            batch.put(b"b" + key, block)
            for at in inside:
                batch.put(b"t" + keys[8 * (start + at) : 8 * (start + at) + 8], key + _NUMBER.pack(at))


def texts_at(places: Sequence[bytes], read: Callable[[Sequence[bytes]], Sequence[bytes | None]]) -> list[str]:
    """The texts at some places.

    Args:
        places: in any order.
        read: gives the value of each key, None for a missing one.

    Raises:
        DamagedBytes: a block is missing, or cannot be read.
    """
    keys = list(dict.fromkeys(place[: _BLOCK.size] for place in places))
    blocks = dict[bytes, list[str]]()
    for key, block in zip(keys, read([b"b" + key for key in keys]) if keys else (), strict=True):
        if block is None:
            offset, number = _BLOCK.unpack(key)
            raise DamagedBytes(f"block {number} of the record at offset {offset} is missing")
        blocks[key] = unpacked(block)
    return [blocks[place[: _BLOCK.size]][_NUMBER.unpack_from(place, _BLOCK.size)[0]] for place in places]


def encode_metadata(about: About) -> bytes:
    """The stored form of metadata."""
    return _ABOUT.pack(about.length, len(about.title)) + (about.title + about.source).encode("utf-8", "surrogatepass")


def decode_metadata(value: bytes) -> About:
    """The metadata in their stored form."""
    length, end = _ABOUT.unpack_from(value)
    joined = value[_ABOUT.size :].decode("utf-8", "surrogatepass")
    return About(joined[:end], joined[end:], length)
