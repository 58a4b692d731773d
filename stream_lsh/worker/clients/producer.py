"""Sends documents, records, sets and vectors to the source topic of a pipeline."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka.errors import (  # type: ignore[import-untyped]
    KafkaError,
    MessageSizeTooLargeError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.model import PipelineConfig
from stream_lsh.errors import ConfigError, UnusableDocument
from stream_lsh.model import Document
from stream_lsh.worker.clients.topic_reader import admin_of
from stream_lsh.worker.engine.rights import drop_line_of_refusal, write_refused
from stream_lsh.worker.engine.topics.limits import TopicLimits
from stream_lsh.worker.engine.topics.required import find_topics
from stream_lsh.worker.security import client_security, unreachable

_LINGER_MS = 5
_UNDER_WAY = 2_000
_APPEAR_SECONDS = 8.0
"""The wait for a missing source, which a worker or the broker may be creating."""


class Feeder:
    """Sends documents as messages of the pipeline's kind, keyed by id; a deleted one has no value.

    With several sources that are rekeyed, it sends to the first one.

    The partition of a key is that of Kafka's murmur2 partitioner, as with the Java client.

    Args:
        kafka: the cluster.
        pipeline: whose source it is.

    Attributes:
        sent: the number of messages given to the brokers.
        rejected: ids of messages that are too large, with the reason; the caller clears it.
    """

    def __init__(self, kafka: KafkaConfig, pipeline: PipelineConfig) -> None:
        self.sent = 0
        self.rejected: list[tuple[str, UnusableDocument]] = []
        self._kafka, self._pipeline = kafka, pipeline
        self._producer: Any = None
        self._limits = TopicLimits(self.most_bytes)
        self._deliveries: list[tuple[bytes, int, Any]] = []
        self._started = 0.0

    @property
    def most_bytes(self) -> int:
        """The largest message with room for its key; a worker uses values of up to `max_document_bytes`."""
        return self._pipeline.max_message_bytes + 65_536

    async def __aenter__(self) -> Self:
        drop_line_of_refusal()
        self._limits.set(await self._topic_limit())
        self._producer = AIOKafkaProducer(
            bootstrap_servers=list(self._kafka.brokers),
            linger_ms=_LINGER_MS,
            max_batch_size=1 << 18,
            max_request_size=self.most_bytes,
            **client_security(self._kafka),
        )
        try:
            await self._producer.start()
            await self._wait_for_topic()
        except (ConfigError, asyncio.CancelledError):
            await self._producer.stop()
            raise
        except KafkaError as error:
            await self._producer.stop()
            raise unreachable(self._kafka, error) from error
        self._started = time.monotonic()
        return self

    async def _wait_for_topic(self) -> None:
        """Wait until the source exists; the client itself would wait for 40 s at the first message."""
        topic = self._pipeline.source
        try:
            async with asyncio.timeout(_APPEAR_SECONDS):
                await self._producer.partitions_for(topic)
        except (TimeoutError, UnknownTopicOrPartitionError) as error:
            raise self._missing() from error
        except TopicAuthorizationFailedError as error:
            raise write_refused(topic) from error

    def _missing(self) -> ConfigError:
        advice = "create it" if self._pipeline.rekey else "a worker creates it when it starts"
        return ConfigError(f"{self._pipeline.source}: the topic does not exist; {advice}")

    async def _topic_limit(self) -> dict[str, int]:
        """The limit of the source; empty where the broker does not report it, or denies the request."""
        topic = self._pipeline.source
        try:
            async with admin_of(self._kafka) as admin:
                topics, _ = await find_topics(admin, {topic})
        except (KafkaError, ConfigError):
            return {}
        return {topic: topics[topic].limit} if topic in topics and topics[topic].limit else {}

    async def send(self, documents: Sequence[Document], rate: int | None = None) -> None:
        """Send documents, at most `rate` a second; a document that is too large for a message is rejected."""
        kind, names = self._pipeline.kind, self._pipeline.fields
        await self.send_messages((kind.message(document, names) for document in documents), rate)

    async def send_messages(self, messages: Iterable[tuple[bytes, bytes | None]], rate: int | None = None) -> None:
        """Send keys with their values, at most `rate` a second; `rejected` gets those that are too large.

        Raises:
            ConfigError: there is no such topic -> start a worker first, or create it; the user may not write to it ->
                grant the right Write.
            DoubtError: a broker does not answer, or refuses a message -> send the missing ones again.
        """
        topic = self._pipeline.source
        for key, value in messages:
            if rate is not None:
                await asyncio.sleep(max(0.0, self._started + self.sent / rate - time.monotonic()))
            if excess := self._excess(key, value):
                self._reject(key, excess)
                continue
            try:
                self._deliveries.append((key, len(value or b""), await self._producer.send(topic, value, key=key)))
            except UnknownTopicOrPartitionError as error:
                raise self._missing() from error
            except TopicAuthorizationFailedError as error:
                raise write_refused(topic) from error
            except KafkaError as error:
                raise unreachable(self._kafka, error) from error
            self.sent += 1
            if len(self._deliveries) >= _UNDER_WAY:
                await self._delivered()

    async def _delivered(self) -> None:
        """Wait until all messages are stored, or were too large for the topic; raises for other failures."""
        deliveries, self._deliveries = self._deliveries, []
        for key, size, delivery in deliveries:
            try:
                await delivery
            except MessageSizeTooLargeError:
                self.sent -= 1
                self._reject(key, f"got {size} bytes, more than the topic takes: {self._raise_topic_limit}")
            except TopicAuthorizationFailedError as error:
                self.sent -= 1
                raise write_refused(self._pipeline.source) from error
            except KafkaError as error:
                raise unreachable(self._kafka, error) from error

    def _excess(self, key: bytes, value: bytes | None) -> str:
        """The problem with the size of a message; "" if the topic takes it and workers can use it."""
        pipeline, size = self._pipeline, len(value or b"")
        excess = self._limits.excess(pipeline.source, key, value, None)
        if excess and self._limits.of(pipeline.source) < self.most_bytes:
            return f"{excess}: {self._raise_topic_limit}"
        if size > pipeline.max_document_bytes:
            excess = f"got a value of {size} bytes, expected at most {pipeline.max_document_bytes}"
            return f"{excess}: shorten it, or raise `max_document_bytes` of the pipeline {pipeline.name}"
        return excess

    @property
    def _raise_topic_limit(self) -> str:
        return f"shorten it, or raise `max.message.bytes` of {self._pipeline.source}"

    def _reject(self, key: bytes, excess: str) -> None:
        self.rejected.append((key.decode("utf-8", "replace"), UnusableDocument("size", excess)))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                await self._delivered()
        finally:
            await self._producer.stop()
