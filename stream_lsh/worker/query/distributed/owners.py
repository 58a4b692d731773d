"""The workers by partition: each worker announces its URL, and the assignment contains the URL of each owner.

    http://<address>/v1#<instance>      a worker with a query API
    none://<instance>                   a worker without one

The instance is new at each start.  So two workers with the same address, which is a mistake, are still two in the
assignment, and a restarted worker does not answer for its predecessor.  A worker of an older version announces
`http://<hostname>:6066`, without a path: it answers no queries.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import uuid4

from stream_lsh.config.worker import WorkerConfig
from stream_lsh.worker.engine.membership.assignor import STANDBY
from stream_lsh.worker.query.http.routes import VERSION_PATH

_HTTP = "http://"
Distribution = Mapping[str, Mapping[str, Sequence[int]]]
"""The partitions of each changelog by URL, as the assignment has them."""


class Peer(NamedTuple):
    """A worker with a query API.

    Attributes:
        url: the base of its routes.
        instance: of the process.
    """

    url: str
    instance: str


def new_instance() -> str:
    """A name for this process: 64 random bits."""
    return uuid4().hex[:16]


def worker_url(config: WorkerConfig, instance: str) -> str:
    """The URL that a worker announces to its group.

    Example:
        >>> worker_url(WorkerConfig(ask="127.0.0.1:6067"), "a1"), worker_url(WorkerConfig(), "a1")
        ('http://127.0.0.1:6067/v1#a1', 'none://a1')
    """
    address = config.ask_advertised or config.ask
    return f"{_HTTP}{address}{VERSION_PATH}#{instance}" if config.ask else f"none://{instance}"


def peer_of(url: str) -> Peer | None:
    """The worker behind a URL of the assignment; None for one without a query API.

    Example:
        >>> peer_of("http://10.0.0.1:6067/v1#a1"), peer_of("http://host:6066"), peer_of("none://a1")
        (Peer(url='http://10.0.0.1:6067/v1', instance='a1'), None, None)
    """
    base, _, instance = url.partition("#")
    return Peer(base, instance) if base.startswith(_HTTP) and base.endswith(VERSION_PATH) and instance else None


def owners(distribution: Distribution, topic: str) -> dict[int, Peer]:
    """The worker that owns each partition of a changelog, without those that have no query API."""
    return {
        partition: peer
        for url, topics in distribution.items()
        if (peer := peer_of(url)) is not None
        for partition in topics.get(topic, ())
    }


def followers(distribution: Distribution, topic: str) -> dict[int, list[Peer]]:
    """The workers that follow each partition of a changelog, as `owners`."""
    found: dict[int, list[Peer]] = {}
    for url, topics in distribution.items():
        if url.startswith(STANDBY) and (peer := peer_of(url.removeprefix(STANDBY))) is not None:
            for partition in topics.get(topic, ()):
                found.setdefault(partition, []).append(peer)
    return found
