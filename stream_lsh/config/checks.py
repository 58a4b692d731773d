"""What no single key can tell: whether the settings fit each other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from stream_lsh.config.environment import folded
from stream_lsh.config.kafka import KafkaConfig, SecurityConfig
from stream_lsh.config.model import Config, PipelineConfig
from stream_lsh.config.topics import INTERNAL_TOPICS
from stream_lsh.config.value_checks import check_values
from stream_lsh.config.values import GRID
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.shingled.methods import EXACT, LSH, text_scheme, unfit
from stream_lsh.measure.catalog import no_size_ratio
from stream_lsh.measure.containment import SIZE_RATIO, Containment
from stream_lsh.settings.problems import Notes
from stream_lsh.settings.toml_lines import Path
from stream_lsh.settings.value_types import LONGEST_TOPIC, Secret
from stream_lsh.text.page import require

_SECURITY: Path = ("kafka", "security")


def check(config: Config, notes: Notes) -> None:
    """Note everything about the whole that cannot be."""
    _check_replication(config.kafka, notes)
    if config.kafka.security is not None:
        _check_security(config.kafka.security, notes)
    for at, pipeline in enumerate(config.pipelines):
        _check_html(pipeline, ("pipeline", at), notes)
        _check_mirrors(pipeline, ("pipeline", at), notes)
        _check_measure(pipeline, ("pipeline", at), notes)
        _check_method(pipeline, ("pipeline", at), notes)
        _check_banding(pipeline, ("pipeline", at), notes)
        check_values(pipeline, ("pipeline", at), notes)
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


def _check_mirrors(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    share, stories = (*path, "mirror_share"), (*path, "stories")
    if not pipeline.mirror_share or pipeline.stories or not notes.sound(share, stories):
        return
    why = "only with stories are the sites of pages known"
    if notes.has(share):
        notes.problem(share, f"got {pipeline.mirror_share:g}, expected 0 without `stories`: {why}")
    else:
        notes.problem(stories, f"got false, expected true with a `mirror_share` of {pipeline.mirror_share:g}: {why}")


def _check_html(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    if pipeline.html != "off":
        try:
            require()
        except ConfigError as error:
            notes.problem((*path, "html"), str(error))


def _check_measure(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    place = (*path, "size_ratio")
    if pipeline.kind == "vector":
        return
    unused = pipeline.measure != Containment.name and pipeline.size_ratio != SIZE_RATIO  # a default is always right
    if unused and notes.sound(place, (*path, "measure")):
        notes.problem(place, no_size_ratio(pipeline.size_ratio))


def _check_method(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    if not notes.sound((*path, "method")):
        return
    for name, problem in unfit(pipeline.method, pipeline.recall, pipeline.max_candidates):
        if notes.sound((*path, name)):
            notes.problem((*path, name), problem)
    for name in ("bands", "rows") if pipeline.method == EXACT else ():
        if getattr(pipeline, name) and notes.sound((*path, name)):
            notes.problem((*path, name), f"got it, expected none, as the method is {EXACT}: only {LSH} has bands")
    if pipeline.method == EXACT and notes.sound((*path, "slots")):
        try:
            text_scheme(EXACT, 1.0, slots=pipeline.slots)
        except ConfigError as error:
            notes.problem((*path, "slots"), str(error).removeprefix("slots: "))


def _check_banding(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    if pipeline.method != LSH or pipeline.kind == "vector" or pipeline.family == GRID:
        return
    names = ["slots", "recall", "threshold"]
    if pipeline.measure == Containment.name:
        names.insert(0, "size_ratio")
    pinned = ("bands", "rows")
    if not notes.sound(*((*path, name) for name in (*names, *pinned, "measure"))):
        return
    given = [name for name in pinned if getattr(pipeline, name)]
    if len(given) == 1:
        notes.problem(
            (*path, given[0]), f"got it alone, expected {' and '.join(f'`{name}`' for name in pinned)} or neither"
        )
        return
    names[:0] = given
    try:
        pipeline.banding()
    except ConfigError as error:
        name = next(name for name in names if notes.has((*path, name)))  # the defaults go together
        *others, last = [f"`{other}`" for other in sorted(names, reverse=True) if other != name]
        notes.problem((*path, name), f"with {', '.join(others)} and {last}: {error}")


def _check_guards(pipeline: PipelineConfig, path: Path, notes: Notes) -> None:
    about = ("threshold", "profile", "kind", "measure", "dimension", "distance", "line_width")
    if not notes.sound(*((*path[:2], name) for name in about)):
        return
    for name, problem in pipeline.guards.problems(pipeline.link_from or pipeline.least):
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
