"""The size of messages as a function of their rows, from the real bytes of whole and divided messages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stream_lsh.pipeline.batches import BandsFrame, Postings, Verifications, VerificationsFrame
from stream_lsh.wire.frames import Frame, encode

_FINGERPRINT = 0


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes, or messages: a fixed number for each message, and one for each row of two kinds.

    Attributes:
        fixed: of a message.
        document: of a document in it.
        pair: of a pair in it, or of a posting.

    Example:
        >>> Size(100, 10, 1).of(2, documents=3, pairs=4)
        234
    """

    fixed: float
    document: float = 0.0
    pair: float = 0.0

    def of(self, messages: float, documents: float = 0.0, pairs: float = 0.0) -> float:
        """The sum over a number of messages that have these rows together."""
        return self.fixed * messages + self.document * documents + self.pair * pairs


def encoded_bytes(frame: Frame) -> int:
    """The length of a message."""
    return len(encode(frame, _FINGERPRINT))


def line(parts: Sequence[float], whole: float) -> tuple[float, float]:
    """The fixed and the additional part of a size, from messages of one row each and from one with all these rows.

    Example:
        >>> line([30, 30, 30], 50)
        (20.0, 10.0)
    """
    if len(parts) < 2:
        return float(sum(parts)), 0.0
    first = sum(parts) / len(parts)
    row = (whole - first) / (len(parts) - 1)
    return first - row, row


def size_of_postings(postings: Postings) -> Size:
    """The size of a message of `bands`."""
    half = postings.rows.size // 2
    fewer = replace(postings, rows=postings.rows[:half], buckets=postings.buckets[:half])
    none = replace(postings, rows=postings.rows[:0], buckets=postings.buckets[:0])
    whole, without = (encoded_bytes(BandsFrame(postings=one)) for one in (postings, none))
    posting = (encoded_bytes(BandsFrame(postings=fewer)) - without) / max(half, 1)
    row = np.zeros(1, np.int64)
    first = Postings(postings.refs[row], postings.times[row], postings.retired[row], row[:0], postings.buckets[:0])
    fixed, version = line([encoded_bytes(BandsFrame(postings=first))] * len(postings), without)
    return Size(fixed, version, max(posting, (whole - without) / postings.rows.size))


def size_of_verifications(asked: Verifications) -> Size:
    """The size of a message of `verifications`."""
    one_each = _with_pairs(asked, 1)
    more = [encoded_bytes(VerificationsFrame(verifications=_with_pairs(asked, count))) for count in (1, 9)]
    pair = (more[1] - more[0]) / (8 * asked.refs.size)
    singles = [
        encoded_bytes(VerificationsFrame(verifications=_document(one_each, row))) for row in range(asked.refs.size)
    ]
    fixed, document = line(singles, more[0])
    return Size(fixed, document - pair, pair)


def _with_pairs(asked: Verifications, count: int) -> Verifications:
    """The same documents with this number of pairs each."""
    rows = np.repeat(np.arange(asked.refs.size), count)
    return replace(asked, rows=rows, old=np.resize(asked.old, rows.size), kinds=np.resize(asked.kinds, rows.size))


def _document(asked: Verifications, row: int) -> Verifications:
    """One of the documents, with one pair."""
    at = slice(row, row + 1)
    return Verifications(
        asked.refs[at],
        asked.times[at],
        asked.digests[at],
        asked.ids[at],
        asked.texts[at],
        asked.signatures[at],
        np.zeros(1, np.int64),
        asked.old[:1],
        asked.kinds[:1],
        asked.abouts[at],
    )
