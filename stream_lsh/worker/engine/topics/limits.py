"""The size limits of topics: a larger record never reaches the client.

Fault (aiokafka 0.14): `send` compares a record with `max_request_size` alone.  A refusal by a topic is only known when
the broker answers, with the records behind it in flight; and either refusal ends the worker, which reads the same
message again after its restart.

Delete when: never; this is the one place with all three limits.
"""

from collections.abc import Mapping, Sequence

from aiokafka.record.default_records import DefaultRecordBatchBuilder  # type: ignore[import-untyped]

from stream_lsh.errors import InvariantError

_MOST_ADDED = 128
"""More than a batch of one record without headers adds to key and value."""
Headers = Mapping[str, bytes] | Sequence[tuple[str, bytes]]


class TopicLimits:
    """The largest record of each topic: the least that the producer, the broker and the topic allow.

    Args:
        request_bytes: of the producer, for all topics.

    Example:
        >>> limits = TopicLimits(1_000)
        >>> limits.set({"matches": 200})
        >>> limits.of("matches"), limits.of("members")
        (200, 1000)
        >>> limits.check("matches", b"key", b"value", None)
        >>> limits.excess("matches", b"key", bytes(1_000), None)
        'got a record of 1089 bytes, expected at most 200'
    """

    def __init__(self, request_bytes: int) -> None:
        self._request_bytes = request_bytes
        self._topics: dict[str, int] = {}

    def set(self, topics: Mapping[str, int]) -> None:
        """Set the `max.message.bytes` of topics, their own or the broker's."""
        self._topics.update(topics)

    def of(self, topic: str) -> int:
        """The bytes of the largest batch of one record."""
        return min(self._request_bytes, self._topics.get(topic, self._request_bytes))

    def excess(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers | None) -> str:
        """The problem with the size of a record; "" where the topic takes it.

        Cost:
            .3 us; 1 us for a record with headers, or close to the limit.
        """
        if not headers and len(key or b"") + len(value or b"") + _MOST_ADDED <= self.of(topic):
            return ""
        pairs = [*(headers.items() if isinstance(headers, Mapping) else headers or ())]
        size = DefaultRecordBatchBuilder.estimate_size_in_bytes(key, value, pairs)
        limit = self.of(topic)
        return f"got a record of {size} bytes, expected at most {limit}" if size > limit else ""

    def check(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers | None) -> None:
        """Compare a record with the limit of its topic.

        Raises:
            InvariantError: it is larger -> nothing was sent.  Every producer bounds its records in advance.
        """
        if excess := self.excess(topic, key, value, headers):
            raise InvariantError(
                f"{topic}: {excess}: this is a bug, please report it; until it is fixed, raise `max_document_bytes` "
                "and `max.message.bytes` of the topic"
            )
