"""faust, with its faults worked around: one fault a file, and when the file can be deleted.

    versions              refuses an engine that was not tested
    topics                checks and creates every topic; `topic_ids` detects one that was recreated
    ordered_recovery      sources wait for the tables
    assignor              partitions and standbys are even
    polling               a recovery never waits for ever
    handover              fetched records reach the streams at once
    coalescing            many records an event, in order
    batching              waiting events become one batch
    per_partition_buffer  a full stream delays only its own partitions
    contiguity            the alarm: a gap in the offsets
    acker                 acks in order after confirmed delivery
    fence                 a zombie must not write
    limits                a record that a topic would refuse is never sent
    crash                 an exception ends the process
    watchdog              a worker that cannot join ends
    rights                refusals of the broker name the missing right
    backpressure          closes the sources, not the streams
    trimming              deletes obsolete records of internal topics
    transport             puts the parts into faust's transport
    app                   puts everything into one app

A loss-free agent, in one piece:

    app = EngineApp("news", broker="kafka://localhost:9092", required_topics=[...], chunks={"documents": 500})

    @app.agent(app.topic("documents", schema=RecordList()))
    async def agent(stream):                            # concurrency 1, one agent a topic
        acker, guard = OrderedAcker(app), ContiguityGuard(app.committed_offset)
        async for batch in app.current(stream, guard):
            deliveries = [await app.produce(topic, key, value, partition), ...]
            await acker.add_batch(batch, deliveries)
"""

from stream_lsh.worker.engine.acker import OrderedAcker
from stream_lsh.worker.engine.admin import admin_client
from stream_lsh.worker.engine.app import DEFAULTS, EngineApp
from stream_lsh.worker.engine.backpressure import Backpressure
from stream_lsh.worker.engine.batching import Batch
from stream_lsh.worker.engine.coalescing import RecordList
from stream_lsh.worker.engine.contiguity import ContiguityGuard
from stream_lsh.worker.engine.crash import halt
from stream_lsh.worker.engine.topics import TopicSpec, ensure_topics, own_topic, public_topic
from stream_lsh.worker.engine.trimming import Trimmer

__all__ = [
    "DEFAULTS",
    "Backpressure",
    "Batch",
    "ContiguityGuard",
    "EngineApp",
    "OrderedAcker",
    "RecordList",
    "TopicSpec",
    "Trimmer",
    "admin_client",
    "ensure_topics",
    "halt",
    "own_topic",
    "public_topic",
]
