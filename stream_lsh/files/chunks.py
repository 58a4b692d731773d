"""The bytes that the reading process sends to the comparing one.

A part as bytes:  u32 size of the head | head | all ids and texts, joined, as UTF-8
The head is JSON: lengths of ids and of texts in code points (-1: no text), times, abouts where there are any, refusals,
position.
"""

import json
import os
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from stream_lsh.errors import InputError
from stream_lsh.files.inflate import STDIN
from stream_lsh.model import NO_ABOUT, About, Document

_SIZE = 4


class Refused(NamedTuple):
    """A rejected document: its input, its line or file there, a reason code and a message."""

    path: str
    at: int | str
    reason: str
    message: str

    @classmethod
    def of(cls, path: str, at: int | str, error: InputError) -> "Refused":
        """The document that an error rejects; the message names options in place of keys of a configuration."""
        message = str(error).replace("`time_unit`", "--time-unit")
        if (path, at, error.reason) == (STDIN, 1, "json"):
            message += "; standard input is read as JSON lines unless an option names another format"
        return cls(path, at, error.reason, message)

    @property
    def place(self) -> str:
        """Its origin, for a message: `FILE:LINE`, or the path of the file in a folder."""
        return f"{self.path}:{self.at}" if isinstance(self.at, int) else os.path.join(self.path, self.at)


class Part(NamedTuple):
    """Consecutive documents.

    Attributes:
        documents: in order.
        refused: the rejects among them.
        position: the number of bytes of all inputs that were read so far.
    """

    documents: Sequence[Document]
    refused: Sequence[Refused]
    position: int


def packed(part: Part) -> bytes:
    """A part as bytes."""
    ids, texts, times, abouts = zip(*part.documents, strict=True) if part.documents else ((), (), (), ())
    lengths = [-1 if text is None else len(text) for text in texts]
    kept_abouts = abouts if any(about is not NO_ABOUT for about in abouts) else ()
    head = json.dumps([list(map(len, ids)), lengths, times, kept_abouts, part.refused, part.position]).encode()
    strings = "".join([*ids, *(text or "" for text in texts)]).encode("utf-8", "surrogatepass")
    return b"".join((len(head).to_bytes(_SIZE, "little"), head, strings))


def unpacked(data: bytes) -> Part:
    """The part that was packed."""
    end = _SIZE + int.from_bytes(data[:_SIZE], "little")
    id_lengths, lengths, times, kept_abouts, refused, position = json.loads(data[_SIZE:end])
    strings = str(memoryview(data)[end:], "utf-8", "surrogatepass")
    ids = _cut(strings, 0, id_lengths)
    texts: list[str | None] = [*_cut(strings, sum(id_lengths), [max(length, 0) for length in lengths])]
    for row in [row for row, length in enumerate(lengths) if length < 0]:
        texts[row] = None
    abouts = [About(*about) for about in kept_abouts] if kept_abouts else [NO_ABOUT] * len(times)
    documents = list(map(Document, ids, texts, times, abouts))
    return Part(documents, [Refused(*refusal) for refusal in refused], position)


def _cut(strings: str, start: int, lengths: Sequence[int]) -> Iterator[str]:
    ends = accumulate(lengths, initial=start)
    return (strings[begin:end] for begin, end in pairwise(ends))
