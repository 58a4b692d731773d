"""The admin client of aiokafka, with the app's address and credentials."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient  # type: ignore[import-untyped]
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth, server_list

from stream_lsh.errors import DoubtError

ANSWER_MS = 15_000
"""The timeout of the clients that are needed for a start: each asks brokers in random order, and the first one may
be down."""

_AGAIN_SECONDS = 0.1


@asynccontextmanager
async def admin_client(app: Any) -> AsyncIterator[Any]:
    """A started admin client for the cluster of `app`, closed at the end."""
    conf = app.conf
    admin = AIOKafkaAdminClient(
        bootstrap_servers=server_list(conf.broker, 9092),
        request_timeout_ms=ANSWER_MS,
        **credentials_to_aiokafka_auth(conf.broker_credentials, conf.ssl_context),
    )
    try:
        await start_admin(admin)
        yield admin
    finally:
        await admin.close()


async def start_admin(admin: Any) -> None:
    """Start an admin client, and wait until the cluster has a broker to ask.

    A broker that starts, or was suspended, answers before the controller admits it, and names no broker.  The client
    would then fail at its first request.

    Raises:
        KafkaError: no broker answers -> try again later.
        DoubtError: none is admitted within `ANSWER_MS` -> the same, and look at the controllers of the cluster.
    """
    await admin.start()
    client, loop = admin._client, asyncio.get_running_loop()
    end = loop.time() + ANSWER_MS / 1000
    while not client.cluster.brokers():
        if loop.time() > end:
            raise DoubtError(
                f"kafka.brokers: got a cluster without a broker for {ANSWER_MS / 1000:g} s, expected one that its "
                "controller has admitted: is the controller running?"
            )
        await asyncio.sleep(_AGAIN_SECONDS)
        await client.force_metadata_update()
