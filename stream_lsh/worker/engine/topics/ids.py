"""The ids of topics: a topic that was deleted and recreated under its name has a different one.

Fault (aiokafka 0.14.0): its metadata requests end at version 5; brokers report the ids from version 10 on.  Version 12,
which every broker from Kafka 3.0 on supports, is described here.

Delete when: the admin client's `describe_topics` reports the id of a topic.
"""

from collections.abc import Collection
from io import BytesIO
from typing import Any
from uuid import UUID

from aiokafka.errors import IncompatibleBrokerVersion  # type: ignore[import-untyped]
from aiokafka.protocol.api import Request, RequestStruct, Response  # type: ignore[import-untyped]
from aiokafka.protocol.types import (  # type: ignore[import-untyped]
    AbstractType,
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)

_NONE = UUID(int=0)


class _Uuid(AbstractType):  # type: ignore[misc]  # untyped
    @classmethod
    def encode(cls, value: UUID) -> bytes:
        return value.bytes

    @classmethod
    def decode(cls, data: BytesIO) -> UUID:
        return UUID(bytes=data.read(16))


class _Metadata12Response(Response):  # type: ignore[misc]  # untyped
    API_KEY = 3
    API_VERSION = 12
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32),
                ("host", CompactString("utf-8")),
                ("port", Int32),
                ("rack", CompactString("utf-8")),
                ("tags", TaggedFields),
            ),
        ),
        ("cluster_id", CompactString("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("topic", CompactString("utf-8")),
                ("topic_id", _Uuid),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline_replicas", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("topic_authorized_operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _Metadata12(RequestStruct):  # type: ignore[misc]  # untyped
    API_KEY = 3
    API_VERSION = 12
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = _Metadata12Response
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", _Uuid), ("topic", CompactString("utf-8")), ("tags", TaggedFields))),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        ("tags", TaggedFields),
    )


class _TopicIds(Request[_Metadata12]):  # type: ignore[misc]  # untyped
    API_KEY = 3

    def __init__(self, names: Collection[str]) -> None:
        self._names = sorted(names)

    def build(self, request_struct_class: type[_Metadata12]) -> _Metadata12:
        tags: dict[int, bytes] = {}
        return request_struct_class([(_NONE, name, tags) for name in self._names], False, False, tags)


async def topic_ids(admin: Any, names: Collection[str]) -> dict[str, str] | None:
    """The ids of the topics of these names that exist, by name.

    Args:
        admin: a started admin client of aiokafka.
        names: of the topics; the request creates none.

    Returns:
        None where the broker does not report ids: before Kafka 3.0, or embedded.
    """
    try:
        response = await admin._send_request(_TopicIds(names))
    except (IncompatibleBrokerVersion, NotImplementedError):
        return None
    ids = {topic: topic_id for code, topic, topic_id, *_ in response.topics if code == 0}
    return None if _NONE in ids.values() else {topic: str(topic_id) for topic, topic_id in ids.items()}
