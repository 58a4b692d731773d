"""The origin of a message of the intake topic: two headers, so that the value can stay unchanged.

    origin      topic/partition/offset/timestamp/generation
    copied      milliseconds since 1970 at which the copy was made; copies of earlier versions lack it

as text, such as `crawl/3/1017/1714564800000/12`; no topic has a slash in its name.  The key of the message is
the id in UTF-8, its value that of the source, byte for byte.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stream_lsh.errors import DamagedBytes

_HEADER, _COPIED = "origin", "copied"
_DIGITS = re.compile(rb"[0-9]{1,19}")
_FORM = re.compile(rb"([A-Za-z0-9._-]{1,249})/([0-9]{1,19})/([0-9]{1,19})/(-?[0-9]{1,19})/([0-9]{1,19})")


class Origin(NamedTuple):
    """The origin of a copy: a message of a source.

    Attributes:
        timestamp_ms: Kafka's, of the message.
        generation: of the consumer group, at the time of the copy; each rebalance has a higher one.
        copied_ms: the time of the copy; 0 if unknown.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    generation: int
    copied_ms: int = 0


def origin_header(origin: Origin) -> Mapping[str, bytes]:
    """The headers of a copy.

    Example:
        >>> headers = origin_header(Origin("crawl", 3, 1017, 1714564800000, 12, 1714564801234))
        >>> headers
        {'origin': b'crawl/3/1017/1714564800000/12', 'copied': b'1714564801234'}
        >>> origin_of(headers.items()).offset
        1017
    """
    *place, copied_ms = origin
    headers = {_HEADER: "/".join(map(str, place)).encode()}
    return {**headers, _COPIED: b"%d" % copied_ms} if copied_ms else headers


def origin_of(headers: Iterable[tuple[str, bytes]]) -> Origin:
    """The origin of a copy.

    Raises:
        DamagedBytes: no valid header -> find the other program that writes to the intake topic.
    """
    named = dict(headers)
    value, copied = named.get(_HEADER), named.get(_COPIED, b"0")
    match = None if value is None else _FORM.fullmatch(value)
    if match is None or not _DIGITS.fullmatch(copied):
        raise DamagedBytes(
            f"got {ascii(value)[:80]} as the header `{_HEADER}`, expected topic/partition/offset/timestamp/generation; "
            "check what else writes to this topic, and rebuild the state from the source if it persists"
        )
    topic, *numbers = match.groups()
    partition, offset, timestamp_ms, generation = map(int, numbers)
    return Origin(topic.decode(), partition, offset, timestamp_ms, generation, int(copied))


class CopyGenerations:
    """The newest generation of the consumer group in which each partition of a source was copied.

    A worker that lost its partition of the source may have copies in its buffers that arrive after its successor has
    copied newer versions.  The successor began at the committed offset, and all committed copies had arrived before.
    So every copy of an older generation, behind a copy of a newer one from the same partition, is copied again.

    Once Kafka has forgotten the group, generations begin at 1 again, and earlier copies of a later generation must not
    make the new copies late.  The new ones were made after them; the copies of a late worker were made before its
    successor began, by at least the session timeout, so clocks may differ by as much.
    """

    def __init__(self) -> None:
        self._newest: dict[tuple[str, int], tuple[int, int]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no copy is known."""
        return not self._newest

    def begin(self, generation: int) -> None:
        """Begin a generation of the consumer group: copies of a later one are from a group that Kafka has forgotten."""
        self._newest = {place: newest for place, newest in self._newest.items() if newest[0] <= generation}

    def is_late(self, origin: Origin) -> bool:
        """Whether the worker that made this copy had lost its partition of the source: the caller drops the copy.

        Example:
            >>> generations = CopyGenerations()
            >>> [generations.is_late(Origin("crawl", 3, offset, 0, of)) for offset, of in ((7, 1), (7, 2), (8, 1))]
            [False, False, True]
        """
        place = origin.topic, origin.partition
        newest, copied_ms = self._newest.get(place, (0, 0))
        if origin.generation < newest and origin.copied_ms <= copied_ms:
            return True
        self._newest[place] = origin.generation, max(copied_ms, origin.copied_ms)
        return False
