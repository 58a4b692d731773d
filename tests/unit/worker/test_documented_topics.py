"""The page about topics and rights lists the topics that a worker needs, with their settings and the rights on them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stream_lsh.config import parse
from stream_lsh.config.model import Config
from stream_lsh.worker.engine.topics.required import TopicSpec
from stream_lsh.worker.topology import topics

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "operations" / "topics-and-rights.md").read_text("utf-8")
KINDS = {
    "texts": "",
    "texts with `mirror_share`": "stories = true\nmirror_share = 0.1",
    "records": "kind = 'record'\nprofile = 'people'",
    "sets": "kind = 'set'",
    "vectors": "kind = 'vector'\ndimension = 8\ndistance = 0.2",
}
PARTITIONS = 6
READ_WRITE = {"Create", "Read", "Write", "DescribeConfigs"}
RIGHTS = {
    "source": {"Create", "Read", "DescribeConfigs"},
    "internal": READ_WRITE | {"Delete"},
    "result": READ_WRITE,
    "dead letters": READ_WRITE - {"Read"},
}


def config_of(kind: str, rekey: bool) -> Config:
    source = "['articles']\nrekey = true" if rekey else "'articles'"
    pipeline = f"[pipeline]\nname = 'news'\nsource = {source}\nretention = '3d'\n{KINDS[kind]}"
    return parse(f"worker.app_id = 'newsroom'\n{pipeline}", "news.toml", {})


def needed(kind: str, rekey: bool = False) -> dict[str, TopicSpec]:
    config = config_of(kind, rekey)
    return {spec.name: spec for spec in topics(config, config.pipelines[0], PARTITIONS)}


def table(name: str) -> Iterator[list[str]]:
    """The rows of a table of the page, without its head."""
    found = PAGE.partition(f"<!-- {name} -->\n\n")[2].partition("\n\n")[0]
    for line in found.split("\n")[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def applies(pipelines: str, kind: str, rekey: bool) -> bool:
    """Whether a row of the table of topics belongs to a pipeline."""
    if pipelines in ("with `rekey`", "without `rekey`"):
        return rekey == (pipelines == "with `rekey`")
    if pipelines in ("all", kind):
        return True
    return kind.partition(" with ")[0] in re.split(", | and ", pipelines)


def settings_of(group: str) -> dict[str, str]:
    (cell,) = (cells[1] for cells in table("settings") if cells[0] == group)
    return dict(setting.split("=") for setting in re.findall(r"`([^`=]+=[^`]+)`", cell))


@pytest.mark.parametrize("rekey", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_lists_every_topic_with_its_partitions_and_settings(kind: str, rekey: bool) -> None:
    listed = {}
    for name, pipelines, partitions, group, *_ in table("topics"):
        if applies(pipelines, kind, rekey):
            topic = name.strip("`").replace("<app_id>", "newsroom").replace("<pipeline>", "news")
            listed[topic.replace("<source>", "articles")] = partitions, settings_of(group)
    found = {}
    for spec in needed(kind, rekey).values():
        partitions = {None: "any", PARTITIONS: "P"}.get(spec.partitions, str(spec.partitions))
        settings = {key: value for key, value in spec.config.items() if key != "min.insync.replicas"}
        assert ("min.insync.replicas" in spec.config) == (spec.name != "articles")
        found[spec.name] = partitions, settings
    assert listed == found


def test_results_need_messages_of_the_size_that_the_page_names() -> None:
    for name in ("news-matches", "news-members", "news-clusters", "news-mirror-sites"):
        assert f"at least {needed('texts with `mirror_share`')[name].least_limit}," in PAGE


def granted(user: str) -> list[tuple[str, bool, set[str]]]:
    """The rights on topics that the commands of the page grant: the name, whether it is a prefix, the operations."""
    (block,) = re.findall(r"^```sh\n(acls\(\).*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    rights = []
    for line in block.replace("\\\n", " ").split("\n"):
        topic = re.search(r"--topic (\S+)", line)
        if f"User:{user} " in line and topic:
            rights.append(
                (topic[1], "--resource-pattern-type prefixed" in line, {*re.findall(r"--operation (\w+)", line)})
            )
    return rights


def group_of(topic: str) -> str:
    if topic == "articles":
        return "source"
    if topic.startswith("newsroom-news-"):
        return "internal"
    return "dead letters" if topic == "news-dead-letters" else "result"


@pytest.mark.parametrize("kind", ["texts", "texts with `mirror_share`", "sets", "vectors"])
def test_the_commands_of_the_page_grant_what_a_worker_needs(kind: str) -> None:
    for topic in needed(kind):
        operations: set[str] = set()
        for name, is_prefix, some in granted("worker"):
            if topic == name or (is_prefix and topic.startswith(name)):
                operations |= some
        assert operations >= RIGHTS[group_of(topic)], topic
        assert ("Delete" in operations) == (group_of(topic) == "internal"), topic


def test_the_commands_of_the_page_let_a_person_on_call_read_everything_and_write_nothing() -> None:
    rights = granted("oncall")
    for topic in needed("texts"):
        assert any(topic == name or (is_prefix and topic.startswith(name)) for name, is_prefix, _ in rights), topic
    assert all(operations == {"Read", "DescribeConfigs"} for _, _, operations in rights)
