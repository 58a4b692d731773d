"""The URLs of workers in the assignment, and the size of what the members of a group send and receive."""

from types import SimpleNamespace
from typing import Any

import pytest

from stream_lsh.config import parse
from stream_lsh.worker.engine.app import EngineApp
from stream_lsh.worker.engine.membership.assignor import STANDBY
from stream_lsh.worker.query.distributed.owners import Peer, followers, owners
from stream_lsh.worker.topology import build_app

LIMIT = 1_048_588
"""`message.max.bytes` of a broker: a record of `__consumer_offsets` has the metadata and the assignments of a group."""
WORKERS, PARTITIONS = 50, 64


def grouped(workers: int, standbys: int, rounds: int) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    """The metadata and the assignments of a group of workers after some rebalances, and the assignors."""
    log, number = "stream-lsh-documents-{}-changelog", 0
    topics = {log.format(table): PARTITIONS for table in ("documents", "buckets")} | {log.format("ledger"): 1}
    topics |= {"source": PARTITIONS, "stream-lsh-documents-edges": 1}
    topics |= {f"stream-lsh-documents-{step}": PARTITIONS for step in ("bands", "candidates", "verifications")}
    apps = []
    for number in range(workers):
        url = f"http://10.233.64.{number}:6067/v1#{number:016x}"
        app = EngineApp("stream-lsh", canonical_url=url, table_standby_replicas=standbys)
        for table, partitions in (("documents", PARTITIONS), ("buckets", PARTITIONS), ("ledger", 1)):
            app.Table(f"documents-{table}", partitions=partitions)
        apps.append(app)
    cluster = SimpleNamespace(partitions_for_topic=lambda topic: set(range(topics[topic])))
    assignors: list[Any] = [app.assignor for app in apps]
    metadata: dict[str, Any] = {}
    assigned: dict[str, Any] = {}
    for _ in range(rounds):
        metadata = {f"worker-{number:036}": assignor.metadata(set(topics)) for number, assignor in enumerate(assignors)}
        assigned = assignors[0].assign(cluster, metadata)
        for assignor, member in zip(assignors, metadata, strict=True):
            assignor.on_assignment(assigned[member])
    return metadata, assigned, assignors


@pytest.mark.parametrize("standbys", [0, 1])
def test_the_group_metadata_of_many_workers_are_within_the_limit_of_a_broker(standbys: int) -> None:
    metadata, assigned, _ = grouped(WORKERS, standbys, 2)
    size = sum(len(one.encode()) for one in (*metadata.values(), *assigned.values()))
    assert sum(len(one.encode()) for one in metadata.values()) < LIMIT / 8
    assert size < LIMIT / 2


def test_every_partition_has_an_owner_and_a_follower_in_the_assignment_of_each_worker() -> None:
    _, _, assignors = grouped(3, 1, 2)
    log = "stream-lsh-documents-documents-changelog"
    for assignor in assignors:
        distribution = assignor.tables_metadata()
        owned, followed = owners(distribution, log), followers(distribution, log)
        assert owned.keys() == followed.keys() == set(range(PARTITIONS))
        assert all(owned[partition] not in followed[partition] for partition in owned)
        assert {peer.instance for peer in owned.values()} == {f"{number:016x}" for number in range(3)}


def test_a_worker_of_another_version_or_without_a_listener_answers_nothing() -> None:
    distribution = {"http://old:6066": {"log": [0]}, "none://a": {"log": [1]}, "http://b:1/v1#b": {"log": [2]}}
    assert owners(distribution, "log") == {2: Peer("http://b:1/v1", "b")}
    followed = {f"{STANDBY}{url}": topics for url, topics in distribution.items()}
    assert followers(followed, "log") == {2: [Peer("http://b:1/v1", "b")]}
    assert (owners(followed, "log"), followers(distribution, "log")) == ({}, {})


def test_two_workers_of_a_machine_announce_two_urls() -> None:
    config = parse("pipeline.source = 'news'\nworker.ask = '127.0.0.1:6067'", "news.toml", {})
    urls = {str(build_app(config, {"documents": 1}, embedded=True).conf.canonical_url) for _ in range(2)}
    assert len(urls) == 2
    assert {url.partition("#")[0] for url in urls} == {"http://127.0.0.1:6067/v1"}
