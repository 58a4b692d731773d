"""Checks across several keys: whether the settings are consistent with each other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from stream_lsh.config.environment import folded
from stream_lsh.config.kafka import KafkaConfig, SecurityConfig, tls_context
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.query_api import check_query_api
from stream_lsh.config.topics import INTERNAL_TOPICS
from stream_lsh.errors import ConfigError
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.schema import keys_of
from stream_lsh.settings.toml import Path
from stream_lsh.settings.value_types import LONGEST_TOPIC, Secret

_SECURITY: Path = ("kafka", "security")


def check(config: Config, problems: Problems) -> None:
    """Report all contradictions between settings."""
    _check_replication(config.kafka, problems)
    if config.kafka.security is not None:
        _check_security(config.kafka.security, problems)
    check_query_api(config.worker, problems)
    for at, pipeline in enumerate(config.pipelines):
        pipeline.kind.check(("pipeline", at), problems, pipeline)
        _check_guards(pipeline, ("pipeline", at, "guards"), problems)
    _check_names(config.pipelines, problems)
    _check_sources(config.pipelines, problems)
    _check_topics(config, problems)


def with_password(security: SecurityConfig, problems: Problems) -> SecurityConfig:
    """The same settings, with the password read from `password_file`."""
    path = (*_SECURITY, "password_file")
    if security.password_file is None:
        return security
    if security.password is not None:
        problems.add(path, "got a file and `password` as well, expected one of them")
        return security
    try:
        text = security.password_file.read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        problems.add(path, "got a file that cannot be read as UTF-8, expected one line with the password")
        return security
    if not text or len(text.splitlines()) > 1:
        problems.add(path, f"got a file of {len(text.splitlines())} lines, expected one line with the password")
        return security
    return replace(security, password=Secret(text))


def _check_replication(kafka: KafkaConfig, problems: Problems) -> None:
    path = ("kafka", "min_insync_replicas")
    if problems.is_valid(path, ("kafka", "replication")) and kafka.min_insync_replicas > kafka.replication:
        problems.add(
            path,
            f"got {kafka.min_insync_replicas}, expected at most the {kafka.replication} of `replication`: nothing could"
            " ever be written",
        )


def _check_security(security: SecurityConfig, problems: Problems) -> None:
    """Check that the settings of the protocol are complete, and that none of them is unused."""
    protocol, has_password = security.protocol, security.password is not None or security.password_file is not None
    issues: list[tuple[str, str]] = []
    if security.uses_sasl:
        if not security.username:
            issues.append(("username", f"got none, expected a user, as the protocol is {protocol}"))
        if not has_password and problems.is_valid((*_SECURITY, "password_file")):
            issues.append(("password", f"got none, expected it or `password_file`, as the protocol is {protocol}"))
    else:
        credentials = {
            "mechanism": problems.has((*_SECURITY, "mechanism")),
            "username": security.username,
            "password": security.password,
            "password_file": security.password_file,
        }
        issues += [
            (key, _unused(security, "SASL_SSL and SASL_PLAINTEXT")) for key, value in credentials.items() if value
        ]
    if not security.uses_tls:
        files = ("ca_file", "cert_file", "key_file")
        issues += [(key, _unused(security, "SSL and SASL_SSL")) for key in files if getattr(security, key)]
    elif security.key_file is not None and security.cert_file is None:
        issues.append(("key_file", "got a key without a certificate, expected `cert_file` as well"))
    if problems.is_valid((*_SECURITY, "protocol")):
        for key, problem in issues:
            if problems.is_valid((*_SECURITY, key)):
                problems.add((*_SECURITY, key), problem)
        _check_certificates(security, problems)


def _check_certificates(security: SecurityConfig, problems: Problems) -> None:
    """Check that the files of certificates and keys hold them."""
    if not security.uses_tls:
        return
    try:
        tls_context(security)
    except ConfigError as error:
        for problem in error.problems:
            key, _, message = problem.partition(": ")
            if problems.is_valid((*_SECURITY, key)):
                problems.add((*_SECURITY, key), message)


def _unused(security: SecurityConfig, users: str) -> str:
    return f"got one, expected none, as the protocol is {security.protocol}: only {users} use it"


def _check_guards(pipeline: PipelineConfig, path: Path, problems: Problems) -> None:
    if not problems.is_valid(*((*path[:2], name) for name in ("kind", *keys_of(type(pipeline.kind))))):
        return
    for name, problem in pipeline.guards.problems(pipeline.kind.link_from or pipeline.kind.least):
        if problems.is_valid((*path, name)):
            problems.add((*path, name), problem)


def _check_names(pipelines: Sequence[PipelineConfig], problems: Problems) -> None:
    first: dict[str, int] = {}
    for at, pipeline in enumerate(pipelines):
        path: Path = ("pipeline", at, "name")
        if not problems.is_valid(path):
            continue
        before = first.setdefault(folded(pipeline.name), at)
        if before != at:
            _report_alike(pipelines, before, at, problems)


def _report_alike(pipelines: Sequence[PipelineConfig], before: int, at: int, problems: Problems) -> None:
    """Report two names that are too alike; the cause may be that one of them is not given."""
    for one, other in ((at, before), (before, at)):
        path, place = ("pipeline", one, "name"), problems.place(("pipeline", other, "name"))
        if not problems.has(path):
            problems.add(
                path,
                f"got none, and the default {pipelines[one].name!r} is too like the name of another pipeline "
                f"({place}), expected a name for each of several pipelines",
            )
            return
    problems.add(
        ("pipeline", at, "name"),
        f"got {pipelines[at].name!r}, which is too like {pipelines[before].name!r} "
        f"({problems.place(('pipeline', before, 'name'))}), expected names that differ in more than case and "
        "-, . and _",
    )


def _check_sources(pipelines: Sequence[PipelineConfig], problems: Problems) -> None:
    first: dict[str, int] = {}
    for at, pipeline in enumerate(pipelines):
        path: Path = ("pipeline", at, "source")
        if not problems.is_valid(path):
            continue
        if len(pipeline.sources) > 1 and not pipeline.rekey and problems.is_valid(("pipeline", at, "rekey")):
            message = (
                f"got {len(pipeline.sources)} topics, expected one: `rekey = true` copies several to one keyed by id"
            )
            problems.add(path, message)
        for source in pipeline.sources:
            before = first.setdefault(source, at)
            if before != at:
                problems.add(
                    path,
                    f"got {source!r}, which the pipeline {pipelines[before].name!r} reads "
                    f"({problems.place(('pipeline', before, 'source'))}), expected another source: for the same one "
                    "run two applications, each with its own `app_id`",
                )


class _Use(NamedTuple):
    """A topic named by the user: the pipeline's number, the key, the name."""

    pipeline: int
    key: str
    topic: str

    @property
    def path(self) -> Path:
        """The path of the key."""
        return ("pipeline", self.pipeline, *self.key.split("."))


def _check_topics(config: Config, problems: Problems) -> None:
    """Check that the topics named by users are distinct, are not internal ones, and have no name that is too long."""
    names: list[Path] = [("pipeline", at, "name") for at in range(len(config.pipelines))]
    valid = [(at, config.pipelines[at]) for at, path in enumerate(names) if problems.is_valid(path)]
    prefixes = [pipeline.internal_prefix for _, pipeline in valid if problems.is_valid(("worker", "app_id"))]
    uses = [_Use(at, key, topic) for at, pipeline in valid for key, topic in _topics(pipeline)]
    first: dict[str, _Use] = {}
    reported: set[Path] = set()
    for use in [use for use in uses if problems.is_valid(use.path)]:
        before = first.setdefault(_as_kafka(use.topic), use)
        problem = _name_problem(use.topic, prefixes)
        if problem is None and before != use and not use.key == before.key == "source":
            spelt = "" if before.topic == use.topic else f" ({before.topic!r}: to Kafka . and _ are the same)"
            problem = (
                f"got the topic {use.topic!r}, which is `{before.key}` of the pipeline "
                f"{config.pipelines[before.pipeline].name!r}{spelt}, expected topics that differ"
            )
        # The default name of a topic comes from the name of the pipeline, whose problem is reported once.
        blamed = use.path if problems.has(use.path) else names[use.pipeline]
        if problem is not None and blamed not in reported:
            reported.add(blamed)
            problems.add(blamed, problem)
    _check_internal_topics(config, problems)


def _name_problem(topic: str, prefixes: Sequence[str]) -> str | None:
    if len(topic) > LONGEST_TOPIC:
        return f"got the topic {topic[:40]}… of {len(topic)} characters, expected at most {LONGEST_TOPIC}"
    prefix = next((prefix for prefix in prefixes if _as_kafka(topic).startswith(_as_kafka(prefix))), None)
    if prefix is None:
        return None
    return f"got the topic {topic!r}, expected one that does not begin with {prefix!r}, as internal topics do"


def _check_internal_topics(config: Config, problems: Problems) -> None:
    """Check that no name is too long; the names are distinct because those of the pipelines are."""
    for at, pipeline in enumerate(config.pipelines):
        path: Path = ("pipeline", at, "name")
        longest = max(map(pipeline.internal_topic, INTERNAL_TOPICS), key=len)
        if len(longest) > LONGEST_TOPIC and problems.is_valid(path, ("worker", "app_id")):
            problems.add(
                path,
                f"got {f'{pipeline.name:.20}…'!r}, whose topic {longest[:40]}… has {len(longest)} characters, "
                f"expected at most {LONGEST_TOPIC}: shorten it or `app_id`",
            )


def _topics(pipeline: PipelineConfig) -> Iterator[tuple[str, str]]:
    """The topics named by users: key and name."""
    yield from (("source", topic) for topic in pipeline.sources)
    for key, topic in pipeline.named_topics.items():
        yield f"topics.{key}", topic


def _as_kafka(topic: str) -> str:
    """A topic as Kafka compares it: it refuses names that differ in . and _ only."""
    return topic.replace(".", "_")
