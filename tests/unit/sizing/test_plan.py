"""The plan of a deployment: how it grows with the stream, and what it reports at its limits."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from stream_lsh.config import Config, parse
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.registry import KINDS
from stream_lsh.sizing import costs
from stream_lsh.sizing.load import BATCH, Load
from stream_lsh.sizing.plan import GROWTH, SETTLE, SHARE, Plan, documents_kept, members_of, plan
from stream_lsh.sizing.sample import GROUPS, sample_of
from stream_lsh.sizing.traffic import VERIFICATIONS, discoveries, occupied, traffic_of
from stream_lsh.worker.topology import _SOURCE_CHUNK

SPARSE = Load(rate=100, size=1_000)


def config_of(lines: str = "", kafka: str = "", worker: str = "") -> Config:
    text = f"[kafka]\n{kafka}\n[worker]\n{worker}\n[pipeline]\nname = 'p'\nsource = 's'\n{lines}\n"
    return parse(text, "plan.toml", {})


def planned(load: Load, lines: str = "", **settings: Any) -> Plan:
    partitions = settings.pop("partitions", 0)
    config = config_of(lines, **settings)
    return plan(config, config.pipelines[0], load, partitions)


# -- the load


def test_all_problems_of_a_load_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        Load(rate=0, peak=0.5, matches=-1)
    assert [problem.partition(":")[0] for problem in error.value.problems] == ["rate", "peak", "matches"]


@pytest.mark.parametrize("excessive", [{"rate": 1e300}, {"peak": 1e12}, {"candidates": 1e9}, {"matches": 1e9}])
def test_a_load_that_no_stream_has_is_rejected(excessive: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="expected"):
        replace(SPARSE, **excessive)


def test_documents_that_are_too_large_for_the_pipeline_and_too_many_partitions_are_rejected() -> None:
    with pytest.raises(ConfigError, match="size: got 1000000000, expected less, or a `max_document_bytes`"):
        planned(Load(rate=1, size=10**9))
    with pytest.raises(ConfigError, match="partitions: got 10001, expected at most 10000"):
        planned(SPARSE, partitions=10_001)


@pytest.mark.parametrize(
    ("matches", "share", "problem"),
    [
        (0.1, 0.2, "each near-duplicate has at least one"),
        (0.1, 0.0, "expected more"),
        (2.0, 1.5, "expected 0 to 1"),
    ],
)
def test_matches_and_near_duplicates_have_to_agree(matches: float, share: float, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Load(rate=1, matches=matches, near_duplicates=share)


def test_a_batch_grows_with_the_rate_of_a_partition_up_to_that_of_the_worker() -> None:
    assert [SPARSE.batch_at(rate, 4) for rate in (1, 400, 1_000_000)] == [1, 10, BATCH]
    assert replace(SPARSE, batch=7).batch_at(1_000_000, 4) == 7
    assert BATCH == _SOURCE_CHUNK


# -- the formulas


def test_items_occupy_as_many_places_as_in_an_experiment() -> None:
    assert occupied(1, 3) == 1
    assert occupied(7, 1) == pytest.approx(1)
    assert occupied(5, 10_000) == pytest.approx(5)


@pytest.mark.parametrize(("partitions", "shared"), [(1, 3.0), (4, 8.0), (16, 1.0)])
def test_all_partners_are_discovered_the_earlier_ones_first(partitions: int, shared: float) -> None:
    found = [*discoveries(partitions, shared, 5.0)]
    assert sum(found) == pytest.approx(5.0)
    assert found == sorted(found, reverse=True)


def test_traffic_without_matches_is_bands_and_changelogs_alone() -> None:
    load, pipeline = Load(rate=10, matches=0, near_duplicates=0), config_of().pipelines[0]
    traffic = traffic_of(load, sample_of(pipeline, 1_000, load.partners), 4, 10, 5)
    sent = {topic for topic, flow in traffic.topics.items() if flow.messages}
    assert sent == {"source", "bands", "documents-changelog", "buckets-changelog"}


# -- the sample


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "preset = 'news'",
        "measure = 'containment'",
        "method = 'exact'\nthreshold = 0.9",
        "kind = 'record'\nprofile = 'people'",
        "kind = 'record'\nprofile = 'products'",
        "kind = 'set'\nbag = true",
        "kind = 'vector'\ndimension = 64\ndistance = 12.0",
    ],
)
def test_every_kind_has_a_sample_whose_messages_have_the_size_of_real_ones(lines: str) -> None:
    pipeline = config_of(lines).pipelines[0]
    sample = sample_of(pipeline, 800, 2.0)
    sizes = (sample.documents, sample.postings, sample.candidates, sample.verifications, sample.edges, sample.ledger)
    assert all(size.fixed > 24 for size in sizes), "every message has a header"
    assert sample.postings.pair == pytest.approx(12, rel=0.01)
    assert sample.documents.document > 0
    assert sample.edges.pair > 70
    assert sample.published["matches"].messages.of(0, 0, 5) == pytest.approx(5, rel=0.1), "of records some are reviews"
    assert 0 < sample.shared <= sample.joined <= sample.buckets <= pipeline.kind.scheme().width


def test_documents_that_cannot_match_are_a_mistake_in_the_size() -> None:
    pipeline = config_of("threshold = 0.97\nmin_characters = 1_000").pipelines[0]
    with pytest.raises(ConfigError, match="size: got 100"):
        sample_of(pipeline, 100, 1.0)


def test_a_sample_is_the_same_each_time() -> None:
    pipeline = config_of().pipelines[0]
    assert sample_of(pipeline, 500, 3.0) == sample_of(pipeline, 500, 3.0)
    assert GROUPS > 2


# -- the plan


def test_a_larger_stream_needs_no_less_of_anything() -> None:
    plans = [planned(replace(SPARSE, rate=rate), "retention = '1h'") for rate in (10, 1_000, 10_000)]
    for smaller, larger in pairwise(plans):
        assert smaller.cores < larger.cores
        assert smaller.workers <= larger.workers
        assert smaller.partitions <= larger.partitions
        assert smaller.documents < larger.documents
        for topic, size in smaller.topics.items():
            grows = topic != VERIFICATIONS or larger.workers > 1
            assert (size.bytes < larger.topics[topic].bytes) if grows else (size == larger.topics[topic])
    assert plans[-1].workers > 1


def test_a_plan_that_fits_has_room_for_more_workers_and_for_the_peak() -> None:
    made = planned(replace(SPARSE, rate=2_000), "retention = '6h'")
    assert made.partitions >= GROWTH * made.workers
    assert made.cores <= SHARE * made.workers


def test_the_ceiling_of_settle_depends_on_the_pairs_and_not_on_the_workers() -> None:
    dense = Load(rate=2_000, matches=20, near_duplicates=0.9, documents=100_000)
    made = planned(dense)
    assert made.bottleneck == SETTLE
    assert made.ceiling.used > 1
    assert made.ceiling.documents == pytest.approx(dense.rate * dense.peak / made.ceiling.used)
    assert made.ceiling.pairs == pytest.approx(20 * made.ceiling.documents)
    assert "Divide the stream" in made.notes[0]


def test_copies_cost_disk_and_traffic_of_the_brokers_and_nothing_else() -> None:
    one, three = planned(SPARSE), planned(SPARSE, kafka="replication = 3")
    for topic in one.topics:
        assert three.topics[topic].disk == pytest.approx(3 * one.topics[topic].disk)
        assert three.topics[topic].written == pytest.approx(3 * one.topics[topic].written)
        assert three.topics[topic].bytes == one.topics[topic].bytes
    assert (one.cpu, one.memory, one.disk) == (three.cpu, three.memory, three.disk)


def test_without_a_copy_on_disk_all_state_is_in_memory() -> None:
    with_disk, without = planned(SPARSE), planned(SPARSE, worker="data_dir = ''")
    assert without.disk == 0 < with_disk.disk
    assert without.memory > with_disk.memory
    assert without.recovery.from_disk == without.recovery.from_changelogs


def test_a_standby_doubles_the_documents_of_a_worker() -> None:
    load = replace(SPARSE, rate=4_000)
    one, two = planned(load, "retention = '1h'"), planned(load, "retention = '1h'", worker="standbys = 1")
    assert one.workers == two.workers > 1
    assert two.disk == pytest.approx(2 * one.disk)


def test_more_documents_than_memory_need_more_workers_or_fewer_documents() -> None:
    many = planned(replace(SPARSE, documents=60_000_000), "retention = ''")
    few = planned(replace(SPARSE, documents=600_000), "retention = ''")
    assert many.workers > few.workers
    huge = planned(Load(rate=100, matches=2, near_duplicates=0.9, documents=10**9), "retention = ''")
    assert any("keep fewer documents" in note for note in huge.notes)


def test_too_few_partitions_are_reported() -> None:
    made = planned(replace(SPARSE, rate=20_000), "retention = '1h'", partitions=4)
    assert (made.partitions, made.workers) == (4, 4)
    assert made.needed > 4
    assert any(f"the peak needs {made.needed} workers" in note for note in made.notes)
    assert any("4 partitions are too few" in note for note in made.notes)


def test_many_partitions_cost_marks_of_event_time() -> None:
    made = planned(replace(SPARSE, rate=20), partitions=64)
    assert any("marks of event time" in note for note in made.notes)


def test_documents_are_kept_for_the_retention_or_up_to_a_number() -> None:
    load = Load(rate=10)
    assert documents_kept(config_of("retention = '1h'\nlateness = '1h'").pipelines[0], load, 4) == 72_000
    assert documents_kept(config_of("retention = ''\nmax_documents = 5_000").pipelines[0], load, 4) == 20_000
    assert documents_kept(config_of().pipelines[0], replace(load, documents=7), 4) == 7
    with pytest.raises(ConfigError, match="documents: got none"):
        documents_kept(config_of("retention = ''").pipelines[0], load, 4)


def test_members_are_the_near_duplicates_and_one_document_more_for_each_group() -> None:
    assert members_of(Load(rate=1, matches=0.1, near_duplicates=0.1), 1_000) == pytest.approx(200)
    assert members_of(Load(rate=1, matches=0, near_duplicates=0), 1_000) == 0
    assert members_of(Load(rate=1, matches=30, near_duplicates=1), 1_000) == 1_000


def test_every_kind_has_measured_costs() -> None:
    assert costs.STEPS.keys() == {*KINDS}
