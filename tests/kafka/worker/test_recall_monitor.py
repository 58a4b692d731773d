"""The recall that a worker reports, against the recall of the bands on the sent documents."""

import asyncio
import random
import time
from collections import defaultdict
from pathlib import Path

from stream_lsh.worker.brokers import Broker
from stream_lsh.worker.brokers.maven import free_port
from tests.kafka.clients.test_web import Values, metrics, wait_ready
from tests.kafka.harness import read
from tests.kafka.pipelines import configured, send, written
from tests.kafka.processes import processes
from tests.patience import PATIENCE
from tests.unit.pipeline.test_recall_monitor import SCHEME, THRESHOLD, families, true_pairs

PARTITIONS = 2


def metrics_after(port: int, source: str, documents: int) -> Values:
    """The metrics of a worker once it has acknowledged all documents, or after `seconds`."""
    end = time.monotonic() + PATIENCE
    while True:
        values = metrics(port)
        passed = sum(value for key, value in values.items() if key[0] == "stream_lsh_documents_total")
        lags = [values.get(("stream_lsh_lag_messages", str(partition), source)) for partition in range(PARTITIONS)]
        if (passed >= documents and not any(lags)) or time.monotonic() > end:
            return values
        time.sleep(0.2)


def test_the_reported_interval_contains_the_recall_of_poor_bands(
    broker: Broker, name: str, tmp_path: Path, seed: int
) -> None:
    config, port = configured(broker, name, PARTITIONS, threshold=THRESHOLD, shingles="word:1"), free_port()
    documents, pipeline = families(random.Random(seed), 400), config.pipelines[0]
    file = written(config, tmp_path, web=f"127.0.0.1:{port}")
    with file.open("a") as lines:
        lines.write(f"recall = {SCHEME.banding.recall}\nshadow = 0.5\n")
    with processes(file, 1):
        assert (200, "ready\n") in wait_ready(port)
        asyncio.run(send(broker.address, pipeline.source, documents))
        values = metrics_after(port, pipeline.source, len(documents))
        records = asyncio.run(read(broker.address, pipeline.source))
    by_id = {document.id: document for document in documents}
    by_partition = defaultdict(list)
    for record in records:
        by_partition[record.partition].append(by_id[record.key.decode()])
    pairs = [pair for there in by_partition.values() for pair in true_pairs(there) if not pair[2]]
    truth = sum(found for _, found, _ in pairs) / len(pairs)
    assert len(by_partition) == PARTITIONS
    assert 0.5 < truth < 0.9

    prefix, of = "stream_lsh_shadow_", pipeline.name
    low, high = (values[f"{prefix}recall_{end}", of] for end in ("low", "high"))
    assert low <= truth <= high
    assert high - low < 0.3
    assert low <= values[f"{prefix}recall_promised", of] <= high
    found, missed = (
        sum(value for key, value in values.items() if key[:2] == (f"{prefix}pairs_total", word))
        for word in ("true", "false")
    )
    assert values[f"{prefix}recall", of] == found / (found + missed)
    # A document has at most three pairs, drawn together: a variance of 3/4 a pair at most, and five deviations.
    assert abs(found + missed - len(pairs) / 2) < 5 * (0.75 * len(pairs)) ** 0.5
    assert abs(values[f"{prefix}documents_total", of] - len(documents) / 2) < 0.05 * len(documents)
