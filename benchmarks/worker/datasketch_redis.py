"""The usual alternative to stream_lsh: a Kafka consumer with datasketch's index in Redis.

`python -m benchmarks.worker.datasketch_redis BROKERS SOURCE TARGET THRESHOLD REDIS_PORT` reads a topic for ever and
writes the matches to another.  Texts stay in the memory of the process, which flatters it: with several of them they
would be in Redis as well.
"""

import json
import sys

from confluent_kafka import Consumer, Producer

from benchmarks.documents.datasketch_dedup import Matcher


def main(brokers: str, source: str, target: str, threshold: float, redis_port: int) -> None:
    """Write matches for ever; prints `ready` once the topic exists."""
    matcher = Matcher(threshold, {"type": "redis", "redis": {"host": "127.0.0.1", "port": redis_port}})
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": target, "auto.offset.reset": "earliest"})
    producer = Producer({"bootstrap.servers": brokers, "linger.ms": 2})
    consumer.subscribe([source])
    print("ready", flush=True)
    while True:
        for message in consumer.consume(200, 0.05):
            if message.error() is None:
                id, text = (message.key() or b"").decode(), json.loads(message.value() or b"")["text"]
                for left, right, similarity in matcher.take(id, text):
                    value = {"left": left, "right": right, "similarity": similarity}
                    producer.produce(target, json.dumps(value).encode(), json.dumps([left, right]).encode())
        producer.poll(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5]))
