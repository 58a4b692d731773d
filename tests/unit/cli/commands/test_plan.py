"""`stream-lsh plan`: its table, its JSON, and everything that is wrong with its options at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.runs import ran


def plan_json(*arguments: str) -> list[dict[str, Any]]:
    done = ran("plan", *arguments, "--format", "json")
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


def mistakes(*arguments: str) -> list[str]:
    done = ran("plan", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    return [line.removeprefix("stream-lsh: ") for line in done.stderr.decode().splitlines()]


def test_the_table_names_the_deployment_the_steps_the_topics_and_the_bottleneck() -> None:
    done = ran("plan", "--rate", "50", "--size", "2KB", "--replication", "3")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    firsts = {line.split("  ")[0] for line in text.splitlines()}
    assert {
        "workers",
        "partitions",
        "memory of a worker",
        "disk of all brokers",
        "ceiling of settle",
        "start",
    } <= firsts
    assert {"sign", "index", "gather", "verify", "settle", "event time", "together"} <= firsts
    assert {"bands", "edges", "ledger-changelog", "matches", "members", "clusters"} <= firsts
    assert "<- bottleneck" in text
    assert "with 3 copies of each topic" in text
    assert max(map(len, text.splitlines())) <= 110


def test_numbers_of_a_large_stream_can_be_read_and_the_table_agrees_with_the_notes() -> None:
    text = ran("plan", "--rate", "1e6").stdout.decode()
    assert "at the peak 3 million; 263 billion documents kept" in text
    assert "workers              128, one for each partition, but the peak needs more than 1,000\n" in text
    assert "the peak needs more than 1,000 workers, and each needs a partition" in text
    assert "6 days from disk, 7 days from the changelogs\n" in text
    assert "of this stream: the peak needs 152.3 times that\n" in text
    assert "Settle needs 152.3 times what one worker can do, 1,970 pairs a second." in text
    assert "memory of a worker   21 TB; " in text
    assert "The worker that settles needs 21 TB: keep fewer documents" in text
    assert "event time            419.430" in text
    marks = ran("plan", "--rate", "1e5").stdout.decode()
    assert "Marks of event time take 419 cores." in marks
    assert "e+0" not in text + marks


def test_json_has_the_same_numbers_for_programs() -> None:
    (plan,) = plan_json("--rate", "50", "--near-duplicates", "0.2", "--matches", "1")
    assert plan["workers"] == plan["needed"] >= 1
    assert plan["partitions"] >= plan["workers"]
    assert plan["cores"] == pytest.approx(sum(plan["cpu"].values()))
    assert plan["bottleneck"] in plan["cpu"]
    assert plan["topics"]["matches"]["messages"] == pytest.approx(50)
    assert plan["documents"] == 50 * 73 * 3_600


def test_matches_alone_or_near_duplicates_alone_are_enough() -> None:
    for given, messages in (
        (("--matches", "0.05"), 0.5),
        (("--near-duplicates", "0.3"), 3.0),
        (("--matches", "6"), 60.0),
    ):
        (plan,) = plan_json("--rate", "10", *given)
        assert plan["topics"]["matches"]["messages"] == pytest.approx(messages, rel=0.01)


def test_a_configuration_has_a_plan_for_each_pipeline(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(
        '[kafka]\nreplication = 3\n[worker]\nstandbys = 1\n[[pipeline]]\nname = "news"\nsource = "a"\npreset = "news"\n'
        '[[pipeline]]\nname = "people"\nsource = "b"\nkind = "record"\nprofile = "people"\nmax_documents = 1000\n'
    )
    assert [plan["pipeline"] for plan in plan_json("--rate", "5", "--config", str(file))] == ["news", "people"]
    (plan,) = plan_json("--rate", "5", "--config", str(file), "--pipeline", "people", "--partitions", "2")
    assert (plan["documents"], plan["partitions"]) == (2_000, 2)
    assert {"entities", "reviews"} <= plan["topics"].keys()


@pytest.mark.parametrize(
    "options",
    [
        ("--kind", "record", "--profile", "companies", "--documents", "1000"),
        ("--kind", "set", "--threshold", "0.9"),
        ("--kind", "vector", "--dimension", "64", "--distance", "12.5"),
        ("--preset", "news", "--retention", "12h"),
    ],
)
def test_options_of_a_pipeline_need_no_configuration(options: tuple[str, ...]) -> None:
    (plan,) = plan_json("--rate", "3", *options)
    assert plan["documents"] > 0


def test_everything_that_is_wrong_is_reported_at_once() -> None:
    found = mistakes("--rate", "5", "--kind", "record", "--threshold", "0.8", "--near-duplicates", "2")
    assert [line.partition(":")[0] for line in found] == ["--near-duplicates", "--profile", "--threshold"]


def test_options_of_a_pipeline_contradict_a_configuration(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text('[pipeline]\nsource = "a"\n')
    found = mistakes("--rate", "5", "--config", str(file), "--kind", "set", "--threshold", "0.5")
    assert [line.partition(":")[0] for line in found] == ["--kind", "--threshold"]


def test_a_pipeline_that_keeps_everything_needs_the_number_of_documents() -> None:
    (line,) = mistakes("--rate", "5", "--retention", "")
    assert line.startswith("--documents: got none")


@pytest.mark.parametrize(
    "arguments",
    [("--rate", "0"), ("--rate", "5", "--size", "big"), ("--rate", "5", "--peak", "0.5"), ("--rate", "5", "extra")],
)
def test_a_wrong_value_is_wrong_use(arguments: tuple[str, ...]) -> None:
    assert mistakes(*arguments)


def test_the_plan_of_examples_that_cannot_match_names_the_size() -> None:
    (line,) = mistakes("--rate", "5", "--size", "30", "--threshold", "0.98")
    assert line.startswith("--size: got 30")
