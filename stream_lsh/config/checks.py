"""What no single key can tell: whether the settings fit each other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from stream_lsh.config.environment import folded
from stream_lsh.config.kafka import KafkaConfig, SecurityConfig
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.topics import INTERNAL_TOPICS
from stream_lsh.settings.problems import Notes
from stream_lsh.settings.schema import keys_of
from stream_lsh.settings.toml_lines import Path
from stream_lsh.settings.value_types import LONGEST_TOPIC, Secret

_SECURITY: Path = ("kafka", "security")


def check(config: Config, notes: Notes) -> None:
    """Note everything about the whole that cannot be."""
    _check_replication(config.kafka, notes)
    if config.kafka.security is not None:
        _check_security(config.kafka.security, notes)
    for at, pipeline in enumerate(config.pipelines):
        pipeline.kind.check(("pipeline", at), notes, pipeline)
        _check_guards(pipeline, ("pipeline", at, "guards"), notes)
    _check_names(config.pipelines, notes)
    _check_sources(config.pipelines, notes)
    _check_topics(config, notes)


def with_password(security: SecurityConfig, notes: Notes) -> SecurityConfig:
    """The same, with the password that its file says."""
    path = (*_SECURITY, "password_file")
    if security.password_file is None:
        return security
    if security.password is not None:
        notes.problem(path, "got a file and `password` as well, expected one of them")
        return security
    try:
        text = security.password_file.read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        notes.problem(path, "got a file that cannot be read as UTF-8, expected one line with the password")
        return security
    if not text or len(text.splitlines()) > 1:
        notes.problem(path, f"got a file of {len(text.splitlines())} lines, expected one line with the password")
        return security
    return replace(security, password=Secret(text))


def _check_replication(kafka: KafkaConfig, notes: Notes) -> None:
    path = ("kafka", "min_insync_replicas")
    if notes.sound(path, ("kafka", "replication")) and kafka.min_insync_replicas > kafka.replication:
        notes.problem(
            path,
            f"got {kafka.min_insync_replicas}, expected at most the {kafka.replication} of `replication`: nothing could"
            " ever be written",
        )


def _check_security(security: SecurityConfig, notes: Notes) -> None:
    """Whatever the protocol needs is there, and nothing that it would not use."""
    protocol, has_password = security.protocol, security.password is not None or security.password_file is not None
    told: list[tuple[str, str]] = []
    if security.uses_sasl:
        if not security.username:
            told.append(("username", f"got none, expected a user, as the protocol is {protocol}"))
        if not has_password and notes.sound((*_SECURITY, "password_file")):
            told.append(("password", f"got none, expected it or `password_file`, as the protocol is {protocol}"))
    else:
        given = {"username": security.username, "password": security.password, "password_file": security.password_file}
        told += [(key, _unused(security, "SASL_SSL and SASL_PLAINTEXT")) for key, value in given.items() if value]
    if not security.uses_tls:
        files = ("ca_file", "cert_file", "key_file")
        told += [(key, _unused(security, "SSL and SASL_SSL")) for key in files if getattr(security, key)]
    elif security.key_file is not None and security.cert_file is None:
        told.append(("key_file", "got a key without a certificate, expected `cert_file` as well"))
    if notes.sound((*_SECURITY, "protocol")):
        for key, problem in told:
            if notes.sound((*_SECURITY, key)):
                notes.problem((*_SECURITY, key), problem)


def _unused(security: SecurityConfig, users: str) -> str:
    return f"got one, expected none, as the protocol is {security.protocol}: only {users} use it"


def _check_guards(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    if not notes.sound(*((*path[:2], name) for name in ("kind", *keys_of(type(pipeline.kind))))):
        return
    for name, problem in pipeline.guards.problems(pipeline.kind.link_from or pipeline.kind.least):
        if notes.sound((*path, name)):
            notes.problem((*path, name), problem)


def _check_names(pipelines: Sequence[PipelineConfig], notes: Notes) -> None:
    first: dict[str, int] = {}
    for at, pipeline in enumerate(pipelines):
        path: Path = ("pipeline", at, "name")
        if not notes.sound(path):
            continue
        before = first.setdefault(folded(pipeline.name), at)
        if before != at:
            notes.problem(
                path,
                f"got {pipeline.name!r}, which is too like {pipelines[before].name!r} "
                f"({notes.place(('pipeline', before, 'name'))}), expected names that differ in more than case and "
                "-, . and _",
            )


def _check_sources(pipelines: Sequence[PipelineConfig], notes: Notes) -> None:
    first: dict[str, int] = {}
    for at, pipeline in enumerate(pipelines):
        path: Path = ("pipeline", at, "source")
        if not notes.sound(path):
            continue
        if len(pipeline.sources) > 1 and not pipeline.rekey and notes.sound(("pipeline", at, "rekey")):
            told = f"got {len(pipeline.sources)} topics, expected one: `rekey = true` copies several to one keyed by id"
            notes.problem(path, told)
        for source in pipeline.sources:
            before = first.setdefault(source, at)
            if before != at:
                notes.problem(
                    path,
                    f"got {source!r}, which the pipeline {pipelines[before].name!r} reads "
                    f"({notes.place(('pipeline', before, 'source'))}), expected another source: for the same one run "
                    "two applications, each with its own `app_id`",
                )


class _Use(NamedTuple):
    """A topic that a user names: the pipeline's number, the key, the name."""

    pipeline: int
    key: str
    topic: str

    @property
    def path(self) -> Path:
        """Where it stands."""
        return ("pipeline", self.pipeline, *self.key.split("."))


def _check_topics(config: Config, notes: Notes) -> None:
    """No two topics that users name are one, none stands among the internal ones, no name is too long."""
    names: list[Path] = [("pipeline", at, "name") for at in range(len(config.pipelines))]
    sound = [(at, config.pipelines[at]) for at, path in enumerate(names) if notes.sound(path)]
    prefixes = [pipeline.internal_prefix for _, pipeline in sound if notes.sound(("worker", "app_id"))]
    uses = [_Use(at, key, topic) for at, pipeline in sound for key, topic in _topics(pipeline)]
    first: dict[str, _Use] = {}
    told: set[Path] = set()
    for use in [use for use in uses if notes.sound(use.path)]:
        before = first.setdefault(_as_kafka(use.topic), use)
        problem = _name_problem(use.topic, prefixes)
        if problem is None and before != use and not use.key == before.key == "source":
            spelt = "" if before.topic == use.topic else f" ({before.topic!r}: to Kafka . and _ are the same)"
            problem = (
                f"got the topic {use.topic!r}, which is `{before.key}` of the pipeline "
                f"{config.pipelines[before.pipeline].name!r}{spelt}, expected topics that differ"
            )
        # A topic that nobody named comes from the pipeline's name, which is told once.
        blamed = use.path if notes.has(use.path) else names[use.pipeline]
        if problem is not None and blamed not in told:
            told.add(blamed)
            notes.problem(blamed, problem)
    _check_internal_topics(config, notes)


def _name_problem(topic: str, prefixes: Sequence[str]) -> str | None:
    if len(topic) > LONGEST_TOPIC:
        return f"got the topic {topic[:40]}… of {len(topic)} characters, expected at most {LONGEST_TOPIC}"
    prefix = next((prefix for prefix in prefixes if _as_kafka(topic).startswith(_as_kafka(prefix))), None)
    if prefix is None:
        return None
    return f"got the topic {topic!r}, expected one that does not begin with {prefix!r}, as internal topics do"


def _check_internal_topics(config: Config, notes: Notes) -> None:
    """None is too long; that no two are one follows from the names of the pipelines, which differ."""
    for at, pipeline in enumerate(config.pipelines):
        path: Path = ("pipeline", at, "name")
        longest = max(map(pipeline.internal_topic, INTERNAL_TOPICS), key=len)
        if len(longest) > LONGEST_TOPIC and notes.sound(path, ("worker", "app_id")):
            notes.problem(
                path,
                f"got {f'{pipeline.name:.20}…'!r}, whose topic {longest[:40]}… has {len(longest)} characters, "
                f"expected at most {LONGEST_TOPIC}: shorten it or `app_id`",
            )


def _topics(pipeline: PipelineConfig) -> Iterator[tuple[str, str]]:
    """The topics that users name: key and name."""
    yield from (("source", topic) for topic in pipeline.sources)
    for key, topic in pipeline.named_topics.items():
        yield f"topics.{key}", topic


def _as_kafka(topic: str) -> str:
    """A topic as Kafka compares it: it refuses names that differ in . and _ only."""
    return topic.replace(".", "_")
