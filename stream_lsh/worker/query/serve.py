"""The process of `stream-lsh serve`."""

from stream_lsh.config.model import Config
from stream_lsh.config.topics import TABLES
from stream_lsh.errors import ConfigError
from stream_lsh.worker.checks.startup import as_stored, before_topics
from stream_lsh.worker.clients.topic_reader import admin_of
from stream_lsh.worker.engine.topics.required import find_topics, raise_all
from stream_lsh.worker.query.following import Follower
from stream_lsh.worker.topology import source_partitions


async def serve(config: Config) -> None:
    """Answer queries until cancelled.

    Raises:
        ConfigError: the configuration has no address for queries or differs from that of the states, or no worker has
            run.
        DoubtError: no broker answers.
    """
    config, partitions = await as_stored(config), await source_partitions(config)
    follower = Follower(config, partitions)
    logs = {pipeline.changelog_topic(table) for pipeline in config.pipelines for table in TABLES}
    async with admin_of(config.kafka) as admin:
        found, _ = await find_topics(admin, logs)
        if missing := sorted(logs - found.keys()):
            raise ConfigError(
                f"got no topic {missing[0]}, expected the changelogs of a running application: is `app_id` correct, "
                "and has a worker been started?"
            )
        raise_all(await before_topics(admin, config, partitions))
    await follower.run()
