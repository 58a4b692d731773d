"""Samples of a long run: memory of a process, bytes of files and topics, sizes that a worker reports."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from stream_lsh.config import Config
from stream_lsh.config.topics import TABLES

Sample = dict[str, float]

MB = 1 << 20


def memory_of(pid: int) -> Sample:
    """Resident memory of a process in bytes: all of it, and what is backed by no file."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = {name: int(kb) << 10 for name, kb in re.findall(r"^(VmRSS|RssAnon):\s+(\d+) kB", status, re.MULTILINE)}
    return {"resident": found["VmRSS"], "anonymous": found["RssAnon"]}


def bytes_in(folder: Path) -> int:
    """Bytes that the files of a folder take on the disk; those that vanish meanwhile do not count."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(Path(path, name)).st_blocks * 512
            except FileNotFoundError:
                continue
    return total


def last_line(file: Path) -> Sample:
    """The latest report of an observed worker; empty if there is none yet."""
    lines = file.read_bytes().split(b"\n") if file.exists() else []
    return dict(json.loads(lines[-2])) if len(lines) > 1 else {}


class Topics:
    """The topics of an application with one pipeline.

    Args:
        config: of its workers.
        logs: the folder of the broker, which is of this machine.
    """

    def __init__(self, config: Config, logs: Path) -> None:
        self._pipeline, self._logs = config.pipelines[0], logs
        group, brokers = config.worker.app_id, ",".join(config.kafka.brokers)
        # It asks what the group has committed, and never joins it.
        self._consumer = Consumer({"bootstrap.servers": brokers, "group.id": group, "enable.auto.commit": False})

    def taken(self) -> int:
        """Messages of the source that were acknowledged."""
        source = self._pipeline.source
        tps = [TopicPartition(source, partition) for partition in range(self._pipeline.partitions)]
        return sum(max(0, tp.offset) for tp in self._consumer.committed(tps, 30))

    def sizes(self) -> Sample:
        """Bytes on the broker, by kind: files of segments, and what of them is not deleted yet.

        Kafka deletes a segment once all of it was trimmed, so files are up to a segment a partition longer.
        """
        pipeline = self._pipeline
        kinds = {f"changelog of {table}": [pipeline.changelog_topic(table)] for table in TABLES}
        kinds |= {"internal topics": pipeline.step_topics, "public topics": list(pipeline.public_topics.values())}
        found: Sample = {}
        for kind, topics in kinds.items():
            files, kept = zip(*(self._size(topic) for topic in topics), strict=True)
            found |= {f"{kind}, files": sum(files), kind: sum(kept)}
        changelogs = [f"changelog of {table}" for table in TABLES]
        found["changelogs"] = sum(found[name] for name in changelogs)
        found["changelogs, files"] = sum(found[f"{name}, files"] for name in changelogs)
        return found

    def _size(self, topic: str) -> tuple[int, float]:
        """Bytes of the files of a topic, and of what lies behind the starts of its logs."""
        total, kept = 0, 0.0
        for folder in self._logs.glob(f"{topic}-*"):
            partition = folder.name.removeprefix(f"{topic}-")
            if not partition.isdigit():
                continue
            logs = {int(log.stem): log.stat().st_size for log in folder.glob("*.log")}
            begin, end = self._consumer.get_watermark_offsets(TopicPartition(topic, int(partition)), 30)
            total += sum(logs.values())
            kept += sum(logs.values()) * (end - begin) / max(1, end - min(logs, default=0))
        return total, kept

    def close(self) -> None:
        """Close the client."""
        self._consumer.close()


def ratios(samples: Sequence[Sample], filled: float, total: float) -> dict[str, tuple[float, float, float]]:
    """For each measure its mean in the second quarter, that in the last one, and the second over the first.

    Args:
        samples: each with the "documents taken" until then.
        filled: documents after which everything is full for the first time; in the first quarter.
        total: documents of the run.
    """
    if filled > total / 4:
        raise RuntimeError(
            f"the retention is full after {filled:,.0f} documents, and the run has {total:,.0f}: feed more"
        )
    early = [one for one in samples if total / 4 <= one["taken"] < total / 2]
    late = [one for one in samples if one["taken"] >= total * 3 / 4]
    if not early or not late:
        raise RuntimeError(f"{len(early)} and {len(late)} samples in the quarters that are compared: sample more often")
    found = {}
    for name in sorted(set(early[-1]) & set(late[-1]) - {"at", "taken", "documents taken"}):
        first, last = (sum(one.get(name, 0.0) for one in part) / len(part) for part in (early, late))
        found[name] = first, last, last / first if first else float(last > 0)
    return found
