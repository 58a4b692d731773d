"""A user without a right: the message names the resource and the right, and the command ends with 2."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import admin as kafka_admin

from stream_lsh.config import Config
from stream_lsh.worker.brokers import MavenBroker
from stream_lsh.worker.clients import health
from stream_lsh.worker.monitoring.metrics import LagTimes, WorkerCollector
from tests.kafka.harness import make_topics, running, until
from tests.kafka.messages import eventually, matched, pair, put, started, twins
from tests.kafka.pipelines import configured, written
from tests.kafka.worker.test_maintenance import often
from tests.patience import PATIENCE

_AUTHORIZER = """
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
"""
_admin: Any = kafka_admin  # re-exports without `__all__`
GROUP, TOPIC = _admin.ResourceType.GROUP, _admin.ResourceType.TOPIC
_Operation = _admin.AclOperation
READ, WRITE, DESCRIBE = _Operation.READ, _Operation.WRITE, _Operation.DESCRIBE
CREATE, DESCRIBE_CONFIGS = _Operation.CREATE, _Operation.DESCRIBE_CONFIGS


class AuthorizingBroker(MavenBroker):
    """A broker with an authorizer: a resource that has no grant is open to all users."""

    def _settings(self, template: str) -> str:
        return super()._settings(template) + _AUTHORIZER

    def grant(self, kind: Any, name: str, *operations: Any, user: str = "ANONYMOUS", prefix: bool = False) -> None:
        """Grant the user of the tests these operations on a resource, and no others."""
        pattern = _admin.ResourcePatternType.PREFIXED if prefix else _admin.ResourcePatternType.LITERAL
        allow = _admin.AclPermissionType.ALLOW
        acls = [
            _admin.AclBinding(kind, name, pattern, f"User:{user}", "*", operation, allow) for operation in operations
        ]
        admin = _admin.AdminClient({"bootstrap.servers": self.address})
        for future in admin.create_acls(acls).values() if acls else ():
            future.result(30)


@pytest.fixture(scope="module")
def authorizing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuthorizingBroker]:
    with AuthorizingBroker(tmp_path_factory.mktemp("authorizing")) as broker:
        yield broker


def ended(config: Config, folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """A command of `stream-lsh` that ends."""
    arguments = [sys.executable, "-m", "stream_lsh", *command, "--config", str(written(config, folder))]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603 - ourselves


def one_line(error: str) -> str:
    """The message of a command that ends without a traceback.

    If the stop takes too long, the worker is ended, and the message is the last line of the log.
    """
    assert "Traceback" not in error
    *_, last = error.strip().splitlines()
    _, is_ended, message = last.rpartition("ending the process: ")
    if is_ended:
        return f"stream-lsh: {message}"
    assert last.startswith("stream-lsh: ")
    return last


@pytest.mark.parametrize("operations", [(), (DESCRIBE,)], ids=["no right", "Describe only"])
def test_a_worker_without_read_on_its_group_ends_at_once(
    operations: tuple[Any, ...], authorizing: AuthorizingBroker, name: str, tmp_path: Path
) -> None:
    config = configured(authorizing, name, 1)
    authorizing.grant(GROUP, name, READ, user="other")
    authorizing.grant(GROUP, name, *operations)
    worker = ended(config, tmp_path, "worker")
    assert worker.returncode == 2
    assert one_line(worker.stderr) == (
        f"stream-lsh: ConfigError: the broker refuses the consumer group {name}: this user lacks the right Read on "
        "it: see `Rights` in docs/operations/topics-and-rights.md"
    )


@pytest.mark.parametrize(
    "topic",
    ["{0}-source", "{0}-{0}-p-manifest", "{0}-p-matches", "{0}-{0}-p-documents-changelog"],
    ids=["source", "manifest", "matches", "changelog"],
)
def test_a_worker_without_read_on_a_topic_ends_with_its_name(
    topic: str, authorizing: AuthorizingBroker, name: str, tmp_path: Path
) -> None:
    config = configured(authorizing, name, 1)
    denied = topic.format(name)

    async def run() -> None:
        async with running(await started(config)):
            await put(authorizing, config.pipelines[0].source, twins(0))
            assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}

    asyncio.run(run())
    authorizing.grant(TOPIC, denied, DESCRIBE, DESCRIBE_CONFIGS, WRITE)
    (tmp_path / "empty").mkdir()
    worker = ended(config, tmp_path / "empty", "worker")
    assert worker.returncode == 2
    assert one_line(worker.stderr).startswith(f"stream-lsh: ConfigError: {denied}: the broker refuses to read it")


def test_a_worker_without_delete_warns_once_and_check_reports_it(
    authorizing: AuthorizingBroker, name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(authorizing, name, 1)
    bands = f"{name}-{name}-p-bands"
    authorizing.grant(TOPIC, f"{name}-{name}-p-", CREATE, READ, WRITE, DESCRIBE_CONFIGS, prefix=True)
    monkeypatch.setattr(health, "UNTRIMMED", 1)

    async def run() -> tuple[dict[str, float], list[health.Finding]]:
        app = often(await started(config))
        async with running(app):
            await put(authorizing, config.pipelines[0].source, twins(0))
            await until(lambda: app.maintenance.failed_trims.get(bands, 0) > 2)
            samples = [
                sample
                for metric in WorkerCollector(app, app.pipelines, app.maintenance, {}, LagTimes()).collect()
                for sample in metric.samples
                if sample.name == "stream_lsh_failed_trims_total"
            ]
        counts = {sample.labels["topic"]: sample.value for sample in samples}
        return counts, await health.check(config, config.pipelines)

    with caplog.at_level("WARNING", "stream_lsh"):
        counts, findings = asyncio.run(run())
    (warning,) = [message for message in caplog.messages if bands in message and "the right Delete" in message]
    assert "these topics grow without limit" in warning
    assert counts[bands] > 2
    (note,) = [finding for finding in findings if finding.subject == f"trimming of {name}-p"]
    assert note.state == "note"
    assert bands in note.message


@pytest.mark.parametrize(
    "topic", ["{0}-source", "{0}-{0}-p-manifest", "{0}-p-members"], ids=["source", "manifest", "members"]
)
def test_an_audit_without_read_is_a_wrong_line(
    topic: str, authorizing: AuthorizingBroker, name: str, tmp_path: Path
) -> None:
    config = configured(authorizing, name, 1)
    denied = topic.format(name)

    async def run() -> None:
        async with running(await started(config)):
            await put(authorizing, config.pipelines[0].source, twins(0))
            assert await eventually(lambda: matched(config), {pair(0)}) == {pair(0)}

    asyncio.run(run())
    authorizing.grant(TOPIC, denied, DESCRIBE, DESCRIBE_CONFIGS, WRITE)
    audit = ended(config, tmp_path, "check", "--audit")
    assert (audit.returncode, audit.stderr) == (2, "")
    (line,) = [line for line in audit.stdout.splitlines() if line.startswith("wrong")]
    assert f"{denied}: the broker refuses to read it: this user lacks the right Read on it" in line


def test_tail_without_read_ends_with_the_name_of_the_topic(
    authorizing: AuthorizingBroker, name: str, tmp_path: Path
) -> None:
    config = configured(authorizing, name, 1)
    asyncio.run(make_topics(authorizing.address, f"{name}-p-matches"))
    asyncio.run(put_one(authorizing, f"{name}-p-matches"))
    authorizing.grant(TOPIC, f"{name}-p-matches", DESCRIBE)
    tail = ended(config, tmp_path, "tail", "matches", "--from-beginning", "--no-follow")
    assert tail.returncode == 2
    assert one_line(tail.stderr).startswith(f"stream-lsh: {name}-p-matches: the broker refuses to read it")


@pytest.mark.parametrize("operations", [(), (DESCRIBE,)], ids=["no right", "Describe only"])
def test_feed_without_write_ends_with_the_name_of_the_topic(
    operations: tuple[Any, ...], authorizing: AuthorizingBroker, name: str, tmp_path: Path
) -> None:
    config = configured(authorizing, name, 1)
    source = config.pipelines[0].source
    asyncio.run(make_topics(authorizing.address, source))
    authorizing.grant(TOPIC, source, READ, user="other")
    authorizing.grant(TOPIC, source, *operations)
    document = tmp_path / "a.txt"
    document.write_text("some text")
    fed = ended(config, tmp_path, "feed", "--quiet", str(document))
    assert fed.returncode == 2
    assert fed.stderr == (
        f"stream-lsh: {source}: the broker refuses to write to it: this user lacks the right Write on it: see `Rights` "
        "in docs/operations/topics-and-rights.md\n"
    )


def test_a_check_without_describe_on_the_group_is_one_wrong_line(
    authorizing: AuthorizingBroker, name: str, tmp_path: Path
) -> None:
    config = configured(authorizing, name, 1)
    asyncio.run(make_topics(authorizing.address, config.pipelines[0].source))
    authorizing.grant(GROUP, name, READ, user="other")
    check = ended(config, tmp_path, "check")
    assert (check.returncode, check.stderr) == (2, "")
    (line,) = [line for line in check.stdout.splitlines() if line.startswith("wrong")]
    assert line == (
        f"wrong group {name}: the broker refuses the consumer group {name}: this user lacks the right Describe on it: "
        "see `Rights` in docs/operations/topics-and-rights.md"
    )


async def put_one(broker: AuthorizingBroker, topic: str) -> None:
    await put(broker, topic, twins(0))
