"""Texts of a record of the documents changelog in compressed blocks, which the copy on disk stores unchanged.

    u32 n, u32 0 | texts[n]

A block ends with the text that makes it `BLOCK_BYTES` long.
"""

from collections.abc import Iterator, Sequence
from struct import Struct

from stream_lsh.wire.layout import INFLATE_LIMIT, Reader, Writer
from stream_lsh.wire.tables import COUNTS

BLOCK_BYTES = 8 << 10
"""Of characters.  A text is read with its whole block, at some 8 us; smaller blocks are longer in all."""

_HEADER = Struct("<IIIIQQ")
"""The count, then the fields of the texts: form, 0, compressed bytes, bytes in UTF-8."""


def packed(texts: Sequence[str]) -> list[bytes]:
    """The blocks of some texts, in order.

    Cost: some 7 us for a text of 3 KB.

    Example:
        >>> blocks = packed(["a text", "another one " * 2_000, "the last"])
        >>> [unpacked(block)[-1][:8] for block in blocks]
        ['another ', 'the last']
    """
    return [_block(texts[start:stop]) for start, stop in _spans(texts)]


def announced(block: bytes) -> tuple[int, int]:
    """The number of texts in a block, and their bytes in UTF-8, as its header states them.

    Raises:
        DamagedBytes: it has no header.
    """
    count, _, _, _, _, size = _reader(block).fields(_HEADER)
    return count, size


def unpacked(block: bytes) -> list[str]:
    """The texts of a block.

    Raises:
        DamagedBytes: it is not a block, or announces more than `INFLATE_LIMIT` bytes.
    """
    reader = _reader(block)
    count, _ = reader.fields(COUNTS)
    texts = reader.texts(count, INFLATE_LIMIT)
    reader.finish()
    return texts


def _reader(block: bytes) -> Reader:
    return Reader(block, 0, len(block), "TEXT_BLOCK")


def _spans(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The texts of each block: from the first one up to the one behind the last."""
    start = size = 0
    for stop, length in enumerate(map(len, texts), 1):
        size += length
        if size >= BLOCK_BYTES:
            yield start, stop
            start, size = stop, 0
    if start < len(texts):
        yield start, len(texts)


def _block(texts: Sequence[str]) -> bytes:
    writer = Writer()
    writer.raw(COUNTS.pack(len(texts), 0))
    writer.texts(texts, len(texts))
    return writer.body()
