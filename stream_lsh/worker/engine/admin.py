"""The admin client of aiokafka, with the app's address and credentials."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient  # type: ignore[import-untyped]
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth, server_list

ANSWER_MS = 15_000
"""The timeout of the clients that are needed for a start: each asks brokers in random order, and the first one may
be down."""


@asynccontextmanager
async def admin_client(app: Any) -> AsyncIterator[Any]:
    """A started admin client for the cluster of `app`, closed at the end."""
    conf = app.conf
    admin = AIOKafkaAdminClient(
        bootstrap_servers=server_list(conf.broker, 9092),
        request_timeout_ms=ANSWER_MS,
        **credentials_to_aiokafka_auth(conf.broker_credentials, conf.ssl_context),
    )
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()
