"""faust, with its faults worked around: one fault a file, and when the file can be deleted.

    app                   puts everything into one app
    transport             puts the parts into faust's transport
    versions              refuses an engine that was not tested
    admin                 a client that creates topics and deletes records
    crash                 an exception ends the process
    rights                refusals of the broker name the missing right

    topics/               required  checks and creates every topic      ids       detects one that was recreated
                          limits    refuses a record that is too large  trimming  deletes obsolete records
    reading/              ordered_recovery      sources wait for the tables
                          fetch_gate            closes sources within the client
                          backpressure          closes the sources, not the streams
                          read_committed        the consumer of a worker
                          polling               a recovery never waits for ever
                          handover              fetched records reach the streams at once
                          per_partition_buffer  a full stream delays only its own partitions
                          coalescing            many records an event, in order
                          batching              waiting events become one batch
                          contiguity            the alarm: a gap in the offsets
    membership/           group     observes the membership             fence     a zombie must not write
                          assignor  partitions and standbys are even    watchdog  a worker that cannot join ends
    acknowledging/        acker     in order after confirmed delivery   commits   the offsets that are confirmed

A loss-free agent, in one piece:

    app = EngineApp("news", broker="kafka://localhost:9092", required_topics=[...], chunks={"documents": 500})

    async def agent(stream):                            # concurrency 1, one agent a topic
        acker, guard = OrderedAcker(app), ContiguityGuard(app.committed_offset)
        async for batch in app.current(stream, guard):
            deliveries = [await app.produce(topic, key, value, partition), ...]
            await acker.add_batch(batch, deliveries)

    app.add_agent("news", "documents", agent)
"""

from stream_lsh.worker.engine.acknowledging.acker import OrderedAcker
from stream_lsh.worker.engine.admin import admin_client
from stream_lsh.worker.engine.app import DEFAULTS, EngineApp
from stream_lsh.worker.engine.crash import halt
from stream_lsh.worker.engine.reading.backpressure import Backpressure
from stream_lsh.worker.engine.reading.batching import Batch
from stream_lsh.worker.engine.reading.coalescing import RecordList
from stream_lsh.worker.engine.reading.contiguity import ContiguityGuard
from stream_lsh.worker.engine.topics.required import TopicSpec, ensure_topics, own_topic, public_topic
from stream_lsh.worker.engine.topics.trimming import Trimmer

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
