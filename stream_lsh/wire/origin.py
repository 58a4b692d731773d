"""Where a message of the intake topic comes from: one header, so that the value can stay as it came.

    origin      topic/partition/offset/timestamp/generation

as text, such as `crawl/3/1017/1714564800000/12`; no topic has a slash in its name.  The message is the id's: its key is
the id in UTF-8, its value that of the source, byte for byte.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stream_lsh.errors import DamagedBytes

_HEADER = "origin"
_FORM = re.compile(rb"([A-Za-z0-9._-]{1,249})/([0-9]+)/([0-9]+)/(-?[0-9]+)/([0-9]+)")


class Origin(NamedTuple):
    """A message of a source.

    Attributes:
        timestamp_ms: Kafka's, of the message.
        generation: of the consumer group, when it was copied; each rebalance has a higher one.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    generation: int


def origin_header(origin: Origin) -> Mapping[str, bytes]:
    """The headers of a copy.

    Example:
        >>> headers = origin_header(Origin("crawl", 3, 1017, 1714564800000, 12))
        >>> headers
        {'origin': b'crawl/3/1017/1714564800000/12'}
        >>> origin_of(headers.items()).offset
        1017
    """
    return {_HEADER: "/".join(map(str, origin)).encode()}


def origin_of(headers: Iterable[tuple[str, bytes]]) -> Origin:
    """The origin of a copy.

    Raises:
        DamagedBytes: no header of ours -> find who else writes to the intake topic.
    """
    found = dict(headers).get(_HEADER)
    match = None if found is None else _FORM.fullmatch(found)
    if match is None:
        raise DamagedBytes(
            f"got {ascii(found)[:80]} as the header `{_HEADER}`, expected topic/partition/offset/timestamp/generation; "
            "check what else writes to this topic, and rebuild the state from the source if it persists"
        )
    topic, *numbers = match.groups()
    partition, offset, timestamp_ms, generation = map(int, numbers)
    return Origin(topic.decode(), partition, offset, timestamp_ms, generation)
