"""The process of `stream-lsh serve`."""

from stream_lsh.config.model import Config
from stream_lsh.worker.guards import as_stored
from stream_lsh.worker.query.following import Follower
from stream_lsh.worker.topology import source_partitions


async def serve(config: Config) -> None:
    """Answer queries until cancelled.

    Raises:
        ConfigError: the configuration has no address for queries.
        DoubtError: no broker answers.
    """
    await Follower(await as_stored(config), await source_partitions(config)).run()
